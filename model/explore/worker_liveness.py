"""What happens sooner or later in the closed loop, on finite instances of the shipped controller.

Under FAIR-LOOP ticks go on, time with them, and a worker that was told to stop is seen gone; under PROBE-ANSWERS a
ready worker is seen WARM and a free port COLD, and nothing else is. "Once starts succeed" means that no worker fails
any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from impl.probe import Verdict
from impl.worker_state import Do, Phase
from model.conform.worker_events import Adopted, Event, Exited, Gone, Probed, Tick
from model.explore.components import components
from model.explore.loops import Loop, Turn
from model.explore.moments import TRUTH, Moment
from model.explore.reach import Reached, reach
from model.history.spoken import spoken

Moments: TypeAlias = Reached[Moment, Event]
Need: TypeAlias = Callable[[Moment, Turn], bool]


@dataclass(frozen=True)
class Lasso:
    """A way into a cycle that repeats for ever, each event in the frame of its moment: work is wanted, no worker fails
    and the world is fair, yet it is never served."""

    way: tuple[Event, ...]
    cycle: tuple[Event, ...]


def steps(loop: Loop, moment: Moment) -> Iterator[tuple[Turn, Moment]]:
    """The turns of a moment after which it goes on."""
    for turn in loop.turns(moment):
        if isinstance(turn.after, Moment):
            yield turn, turn.after


def serves(turn: Turn) -> bool:
    """A warm worker is used."""
    return turn.command is not None and turn.command.do is Do.SERVE


def stranded(loop: Loop, seen: Moments) -> list[Moment]:
    """The moments from which no warm worker can serve again, unless the controller is restarted."""
    before: dict[Moment, list[Moment]] = {}
    hopeful: set[Moment] = set()
    for moment in seen.parents:
        for turn, after in steps(loop, moment):
            if not isinstance(turn.event, Adopted):
                before.setdefault(after, []).append(moment)
            if serves(turn):
                hopeful.add(moment)
    waiting = list(hopeful)
    while waiting:
        for moment in before.get(waiting.pop(), ()):
            if moment not in hopeful:
                hopeful.add(moment)
                waiting.append(moment)
    return [moment for moment in seen.parents if moment not in hopeful]


def unserved(loop: Loop, seen: Moments) -> Lasso | None:
    """A way to a cycle on which wanted work is never served, though no worker fails on it and the world is as fair as
    it is assumed to be; None if there is none."""

    def follow(moment: Moment) -> Iterator[tuple[Turn, Moment]]:
        return ((turn, after) for turn, after in steps(loop, moment) if is_fair(moment, turn) and not serves(turn))

    for component in components(seen.parents, lambda moment: (after for _, after in follow(moment))):
        inside = {each: [step for step in follow(each) if step[1] in component] for each in component}
        # whoever leaves a phase again and again need not be answered there
        alone = len({moment.snapshot.phase for moment in component}) == 1
        needs: list[Need] = [passes_time, answers] if alone else [passes_time]
        if all(any(need(moment, turn) for moment in inside for turn, _ in inside[moment]) for need in needs):
            start = min(component, key=lambda moment: len(seen.way(moment)))
            return Lasso(seen.way(start), _cycle(start, inside, needs))
    return None


def is_fair(moment: Moment, turn: Turn) -> bool:
    """Where work is wanted, the world is fair and starts succeed, this still happens."""
    if turn.command is None or turn.command.do is Do.STOP:
        return False
    last, phase = moment.snapshot.generation, moment.snapshot.phase
    match turn.event:
        case Tick(_, demand):
            return bool(demand)
        case Probed(verdict, generation):
            return generation < last or verdict is TRUTH[phase]
        case Exited(generation) | Gone(generation, Verdict.COLD):
            return generation < last or phase is Phase.STOPPING
        case Gone() | Adopted():
            return False
    return True


def passes_time(_: Moment, turn: Turn) -> bool:
    """It is a tick at a later instant."""
    return isinstance(turn.event, Tick) and turn.event.now > 0


def answers(moment: Moment, turn: Turn) -> bool:
    """It is what the phase waits for."""
    last, phase = moment.snapshot.generation, moment.snapshot.phase
    return turn.event == (Gone(last) if phase is Phase.STOPPING else Probed(TRUTH[phase], last))


def _cycle(start: Moment, inside: dict[Moment, list[tuple[Turn, Moment]]], needs: Iterable[Need]) -> tuple[Event, ...]:
    """A cycle inside that meets each need."""
    cycle: list[Event] = []
    here = start
    for need in needs:
        ways = reach(here, inside.__getitem__)
        moment, (turn, after) = next(
            (moment, step) for moment in ways.parents for step in inside[moment] if need(moment, step[0])
        )
        cycle += [*(step.event for step in ways.way(moment)), turn.event]
        here = after
    return (*cycle, *(step.event for step in reach(here, inside.__getitem__).way(start)))


def unreaped(loop: Loop, seen: Moments) -> list[Moment]:
    """The moments with a warm worker that ticks of a second without demand, and probes that answer, do not reap within
    its ttl and one tick more."""
    wrong = []
    for moment in seen.parents:
        here: Moment | None = moment if moment.snapshot.phase is Phase.WARM else None
        for _ in range(loop.settings.ttl + 1):
            here = here and _idle(loop, here)
        if here is not None:
            wrong.append(moment)
    return wrong


def _idle(loop: Loop, moment: Moment) -> Moment | None:
    """The moment after a probe that answers and a second without demand; None if the worker was stopped."""
    for event in (Probed(Verdict.WARM, moment.snapshot.generation), Tick(1, 0)):
        turn = next(turn for turn in loop.turns(moment) if turn.event == event)
        if isinstance(turn.after, Moment):
            moment = turn.after
    return None if moment.snapshot.phase is Phase.STOPPING else moment


@dataclass(frozen=True)
class Liveness:
    """What was found of an instance: how many moments are stranded and unreaped, and how work waits for ever."""

    stranded: int
    lasso: Lasso | None
    unreaped: int

    @property
    def verdicts(self) -> dict[str, str]:
        """Of each question."""
        found = {
            "service_can_always_be_reached": not self.stranded,
            "demand_is_served_once_starts_succeed": self.lasso is None,
            "an_idle_worker_is_reaped_within_ttl_plus_one_tick": not self.unreaped,
        }
        return {name: "explored" if holds else "refuted" for name, holds in found.items()}

    @property
    def holds(self) -> bool:
        """Nothing was found."""
        return "refuted" not in self.verdicts.values()

    def lines(self) -> Iterator[str]:
        """For people."""
        for name, verdict in self.verdicts.items():
            yield f"{name}: {verdict} (FAIR-LOOP, PROBE-ANSWERS)"
        if self.lasso is not None:
            yield f"  first:    {', '.join(map(spoken, self.lasso.way))}"
            yield f"  for ever: {', '.join(map(spoken, self.lasso.cycle))}"

    def as_json(self) -> dict[str, object]:
        """For programs."""
        lasso = self.lasso and {
            "way": list(map(spoken, self.lasso.way)),
            "cycle": list(map(spoken, self.lasso.cycle)),
        }
        return {**self.verdicts, "stranded": self.stranded, "unreaped": self.unreaped, "lasso": lasso}


def liveness(loop: Loop, seen: Moments) -> Liveness:
    """All three questions, of an instance that was explored to its end."""
    return Liveness(len(stranded(loop, seen)), unserved(loop, seen), len(unreaped(loop, seen)))
