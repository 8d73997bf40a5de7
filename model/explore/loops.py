"""Every step that the shipped controller takes from a moment, each held to the specification.

A step is taken once for each moment, by the shipped code from a snapshot in its frame; that it is the same step in
another snapshot of that frame, under a longer wait and a greater demand, is tried each time. All that a controller
knows is its snapshot, so that the moments are finitely many and stand for ticks at any distance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from impl.probe import Verdict
from impl.worker import Controller
from impl.worker_state import Command, Phase, Settings, Snapshot
from model.conform.monitor import Violation, nonconforming
from model.conform.witnesses import WORKER, look
from model.conform.worker_events import Adopted, Event, Exited, Gone, JobEnded, Probed, Progressed, Tick, apply
from model.conform.worker_monitor import CROWD, ENDLESS, Monitor
from model.conform.worker_watch import Watch
from model.explore.moments import LATER, LONGER, MORE, Moment, elsewhere, framed, moment_of, shifted, starts_elsewhere
from spec.logic import Finite, Table
from spec.worker_state import Place, State

DEMANDS = (0, 1, CROWD, None)
"""What a tick may be told: nothing, one job, as many as the checker keeps, it is not known."""


class Turn(NamedTuple):
    """What an event does to a moment: which moment follows, what the controller answers, and the actions that the step
    was. After a violation nothing follows."""

    event: Event
    after: Moment | Violation
    command: Command | None = None
    actions: tuple[str, ...] = ()


@dataclass(eq=False)
class Loop:
    """A finite instance: a controller and its settings. What was judged once is remembered; `witnesses` names those
    that its steps have been."""

    settings: Settings
    controller: type[Controller] = Controller
    witnesses: set[str] = field(default_factory=set, repr=False)
    _turns: dict[Moment, list[Turn]] = field(default_factory=dict, repr=False)
    _sound: set[State] = field(default_factory=set, repr=False)

    @property
    def horizon(self) -> int:
        """The longest time in seconds that makes a difference."""
        of = self.settings
        return max(of.ttl, of.start_budget, of.alarm_after, of.hang_budget, of.longest_back_off)

    @property
    def first(self) -> Moment:
        """Nothing has happened yet."""
        return Moment(framed(self.controller(self.settings, 0).snapshot()))

    def events(self, moment: Moment) -> Iterator[Event]:
        """Whatever may happen at a moment, in its frame; what is late is of the start before the last."""
        last = moment.snapshot.generation
        yield from (Tick(gap, demand) for gap in range(self.horizon + 1) for demand in DEMANDS)
        for generation in (last, last - 1) if last else (last,):
            yield from (Probed(verdict, generation) for verdict in Verdict)
            yield Exited(generation)
            yield from (Gone(generation, port) for port in Verdict)
            yield Progressed(generation)
            yield JobEnded(generation)
        for living in (True, False) if moment.alive else (False,):
            yield Adopted(last, living, moment.snapshot.phase is Phase.STOPPING)

    def turns(self, moment: Moment) -> list[Turn]:
        """Every step of the shipped code from the moment."""
        if moment not in self._turns:
            self._turns[moment] = list(self._taken(moment))
        return self._turns[moment]

    def follow(self, moment: Moment) -> Iterator[tuple[Event, Moment | Violation]]:
        """The events of a moment, each with the moment that follows."""
        return ((turn.event, turn.after) for turn in self.turns(moment))

    @property
    def actions(self) -> Counter[str]:
        """What the specification calls the steps so far, and how often each was judged."""
        return Counter(action for turns in self._turns.values() for turn in turns for action in turn.actions)

    @property
    def judged(self) -> int:
        """How many steps were judged."""
        return sum(map(len, self._turns.values()))

    def _taken(self, moment: Moment) -> Iterator[Turn]:
        monitor = None
        for event in self.events(moment):
            try:
                monitor = monitor or self.monitor(moment)
                turn = self._turn(moment, event, monitor)
            except Violation as violation:
                yield Turn(event, violation)
                continue
            except Exception as error:  # whatever a broken controller raises is a finding
                yield Turn(event, nonconforming(f"It raised {error!r}."))
                continue
            if self._elsewhere(moment.snapshot, event) != _essence(turn):
                yield Turn(event, nonconforming(f"{event} does another thing where nothing differs that may matter."))
            else:
                yield turn

    def monitor(self, moment: Moment) -> Monitor:
        """One that holds the controller to the specification from the moment on."""
        monitor = _Monitor(moment.snapshot, self._sound)
        last = moment.snapshot.generation
        jobs = [f"job {number}" for number in range(moment.waiting + moment.in_flight)]
        places = [Place.WAITING] * moment.waiting + [Place.IN_FLIGHT] * moment.in_flight
        kept: dict[str, Any] = {
            "jobs": Finite(jobs),
            "place": Table(dict(zip(jobs, places, strict=True)), Place.NEW),
            "work": Table(dict.fromkeys(jobs, ENDLESS), 0),
            "remaining": Table(dict.fromkeys(jobs, ENDLESS), 0),
            "alive": Table({last: moment.alive}, False),
            "runs": Table({last: moment.runs}, False),
        }
        monitor.state = replace(monitor.state, **kept)
        return monitor

    def _turn(self, moment: Moment, event: Event, monitor: Monitor) -> Turn:
        """What the event does, held to the specification."""
        monitor, controller = copy(monitor), self._at(moment.snapshot, event)
        monitor.taken = Counter()
        command = apply(controller, event)
        before = monitor.state
        monitor.judge(event, command, controller.snapshot())
        look(WORKER, self.witnesses, before, monitor.state)
        return Turn(event, moment_of(controller.snapshot(), monitor.state), command, tuple(monitor.taken))

    def _elsewhere(self, snapshot: Snapshot, event: Event) -> Any:
        """What the event does elsewhere, where a long wait is longer, and any demand greater."""
        more = starts_elsewhere(snapshot)
        event = shifted(event, LATER, more)
        if isinstance(event, Tick):
            long = LONGER if event.now - LATER == self.horizon else 0
            event = Tick(event.now + long, event.demand and event.demand + MORE)
        try:
            controller = self._at(elsewhere(snapshot), event)
            command = apply(controller, event)
            return framed(controller.snapshot()), _plain(command, more)
        except Exception:
            return None

    def _at(self, snapshot: Snapshot, event: Event) -> Controller:
        """A controller that knows this, or at an adoption the new one."""
        if isinstance(event, Adopted):
            found = {"living": event.living, "stopping": event.stopping}
            return self.controller.adopt(self.settings, snapshot.now, event.generation, **found)
        controller = self.controller(self.settings, snapshot.now)
        controller._s = snapshot
        return controller


class _Monitor(Monitor):
    """Judges no state twice; `sound` are those in which nothing was wrong."""

    def __init__(self, snapshot: Snapshot, sound: set[State]) -> None:
        self._sound = sound
        super().__init__(snapshot)

    def _wrong(self, states: tuple[State, ...], action: str, about: tuple[Any, ...]) -> Iterator[Any]:
        if not self._sound.issuperset(states):
            wrongs = list(super()._wrong(states, action, about))
            self._sound.update(() if wrongs else states)
            yield from wrongs


def _essence(turn: Turn) -> Any:
    """What has to be the same elsewhere."""
    return isinstance(turn.after, Moment) and turn.after.snapshot, _plain(turn.command, 0)


def _plain(command: Command | None, shift: int) -> Any:
    """A command by the numbers of the frame; an alarm may name times."""
    return command and (command.do, command.why, command.generation - shift, command.alarm is not None)


def retold(loop: Loop, events: Iterable[Event]) -> list[Event]:
    """The history with its instants and generations, as the shipped code meets it, up to the first wrong step."""
    history: list[Event] = []
    with suppress(Exception):  # a broken controller may fail in any way
        watch = Watch(loop.settings, make=loop.controller)
        history = watch.history
        for event in events:
            now, last = watch.controller.snapshot().now, watch.controller.snapshot().generation
            watch.meet(shifted(event, now, last - min(last, 1)))
    return history
