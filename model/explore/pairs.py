"""Every step of the controller and the scheduler together, up to the clock, the starts and the names of jobs.

Each of the two takes and judges its own steps once, at its moments and shapes. What joins them, and the claims on both,
are tried for every pair of a moment and a shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, NamedTuple, TypeAlias

from impl.jobs import Lease, Running, Snapshot, Waiting
from impl.worker_state import Do
from model.conform import events
from model.conform.monitor import Violation
from model.conform.witnesses import WORKER, look
from model.conform.worker_events import Event, JobEnded, Progressed, Tick
from model.conform.worker_monitor import CROWD
from model.explore.joined import Driver, Held, Joined, judge, with_jobs
from model.explore.loops import Loop, Turn
from model.explore.moments import Moment, shifted
from model.explore.shapes import Entry, Label, Move, Setting, Shape
from spec.worker_state import Place

NEVER = -1
"""The number of a run that there never was."""
Flags: TypeAlias = tuple[bool, ...]
Pair: TypeAlias = tuple[int, int, Flags, int]
"""The numbers of a moment and a shape, which of its running jobs are in flight, and how many jobs have come."""


class Joint(NamedTuple):
    """What happens: to the controller, to the scheduler, or to both as one report."""

    event: Event | None
    label: Label | None = None


@dataclass(eq=False)
class Pairs:
    """A finite instance: `jobs` arrive in each history."""

    loop: Loop
    setting: Setting
    jobs: int
    driver: Driver = field(default_factory=Driver)
    moments: list[Moment] = field(default_factory=list, repr=False)
    shapes: list[Shape] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._turns: dict[int, dict[Event, tuple[Turn, int]]] = {}
        self._moves: dict[int, dict[Label, Move]] = {}
        self._joined: dict[Any, tuple[int, Flags] | Violation] = {}
        self._judged: dict[Any, Violation | None] = {}

    @property
    def first(self) -> Pair:
        """Nothing has happened yet."""
        empty = Shape((None,) * self.setting.slots, ())
        return self._number(self.loop.first, self.moments), self._number(empty, self.shapes), (), 0

    def follow(self, pair: Pair) -> Iterator[tuple[Joint, Pair | Violation]]:
        """Whatever may happen to the pair, and the pair that follows."""
        moment, shape, in_flight, arrived = pair
        turns = self.turns(moment)
        for joint in self._joints(pair):
            event, label = joint
            turn, following = (None, moment) if event is None else turns[event]
            if turn is not None and isinstance(turn.after, Violation):
                yield joint, turn.after
                continue
            do = Do.HOLD if turn is None else None if turn.command is None else turn.command.do
            then = self._join(shape, in_flight, label, do)
            wrong = then if isinstance(then, Violation) else self._wrong(pair, following, label, do)
            if wrong is not None or isinstance(then, Violation):
                yield joint, wrong  # type: ignore[misc]
            else:
                yield joint, (following, *then, arrived + (label is not None and label.action == "admit"))

    @property
    def waived(self) -> set[str]:
        """What is waived, and broken."""
        return {claim for moves in self._moves.values() for move in moves.values() for claim in move.waived}

    @property
    def actions(self) -> Counter[str]:
        """What the specification calls the steps so far, the scheduler's so marked, and how often each was judged."""
        ours = (f"scheduler {move.action}" for moves in self._moves.values() for move in moves.values())
        return self.loop.actions + Counter(ours)

    @property
    def witnesses(self) -> set[str]:
        """The names of those that the steps of both have been."""
        return self.loop.witnesses | self.setting.witnesses

    def turns(self, moment: int) -> dict[Event, tuple[Turn, int]]:
        """The turns of a moment by their events, each with the number of the moment that follows; -1 if none does."""
        if moment not in self._turns:
            self._turns[moment] = {
                turn.event: (turn, self._number(turn.after, self.moments) if isinstance(turn.after, Moment) else -1)
                for turn in self.loop.turns(self.moments[moment])
            }
        return self._turns[moment]

    def moves(self, shape: int) -> dict[Label, Move]:
        """The moves of a shape by their labels."""
        if shape not in self._moves:
            of = self.shapes[shape]
            both = [move for arrivals in (False, True) for move in self.setting.moves(of, arrivals=arrivals)]
            self._moves[shape] = {move.label: move for move in both}
        return self._moves[shape]

    def _number(self, of: Any, all_of: list[Any]) -> int:
        number = self._numbers.setdefault(of, len(all_of))
        if number == len(all_of):
            all_of.append(of)
        return number

    def _joints(self, pair: Pair) -> Iterator[Joint]:
        """Whatever may happen: the demand that is told is counted, and the worker reports what is in flight; what it
        reports of an earlier run comes late."""
        moment, number, in_flight, arrived = pair
        last = self.moments[moment].snapshot.generation
        waiting = len(self.shapes[number].queue)
        told = (None, min(CROWD, self.driver.counts(len(in_flight), waiting)))
        for event in self.turns(moment):
            if event.demand in told if isinstance(event, Tick) else not isinstance(event, Progressed | JobEnded):
                yield Joint(event)
        for label, move in self.moves(number).items():
            match label.action:
                case "admit" if arrived < self.jobs:
                    yield Joint(None, label)
                case "cancel":
                    yield Joint(None, label)
                case "progress" if in_flight[label.place] and move.action != "refuse_the_steps":
                    yield Joint(Progressed(last), label)
                case "complete" if in_flight[label.place]:
                    yield Joint(JobEnded(last), label)
                case "stale" if last:
                    kind = Progressed if label.number else JobEnded
                    yield from (Joint(kind(generation), label) for generation in (last, last - 1))

    def _join(self, shape: int, in_flight: Flags, label: Label | None, do: Do | None) -> tuple[int, Flags] | Violation:
        """The shape that follows, and which of its running jobs are then in flight."""
        key = shape, in_flight, label, do
        known = self._joined.get(key)
        if known is None:
            known = self._joined[key] = self._driven(*key)
        return known

    def _driven(
        self, shape: int, in_flight: Flags, label: Label | None, do: Do | None
    ) -> tuple[int, Flags] | Violation:
        for each in (label, Label("restart") if do in self.driver.restarts else None):
            if each is not None:
                move = self.moves(shape)[each]
                if move.violation is not None:
                    return move.violation
                shape, in_flight = self._number(move.after, self.shapes), _kept(move, in_flight)
        return shape, (True,) * len(in_flight) if do in self.driver.dispatches else in_flight

    def _wrong(self, pair: Pair, following: int, label: Label | None, do: Do | None) -> Violation | None:
        """The violation of what is claimed of both, if there is one."""
        moment, shape, in_flight, _ = pair
        s, t = self.moments[moment], self.moments[following]
        key = s.snapshot.phase, s.runs, t.snapshot.phase, shape, in_flight, label, do
        if key not in self._judged:
            self._judged[key] = None
            try:
                self._judge(pair, following, label, do)
            except Violation as violation:
                self._judged[key] = violation
        return self._judged[key]

    def _judge(self, pair: Pair, following: int, label: Label | None, do: Do | None) -> None:
        moment, shape, in_flight, _ = pair
        then, flying = self._join(shape, in_flight, label, do)  # type: ignore[misc]
        before = self._held(shape, in_flight)
        places = range(len(before)) if label is None else self.moves(shape)[label].places
        after = dict(zip(places, self._held(then, flying), strict=True))
        if label is not None and label.action in ("complete", "cancel"):
            held = before[label.place]
            ended = Held(Place.DONE, held.work, 0, held.served + held.remaining)
            after[label.place] = ended if label.action == "complete" else held._replace(place=Place.CANCELLED)
        s, t = (self.loop.monitor(self.moments[each]).state for each in (moment, following))
        states = with_jobs(s, dict(enumerate(before))), with_jobs(t, after)
        judge(*states, do)
        look(WORKER, self.loop.witnesses, *states)

    def _held(self, number: int, in_flight: Flags) -> list[Held]:
        """The jobs of a shape by their places."""
        shape = self.shapes[number]
        held = []
        for flies, entry in zip_longest(in_flight, (*filter(None, shape.slots), *shape.queue), fillvalue=False):
            assert isinstance(entry, Entry)
            work = self.setting.job(entry.kind, "").work
            place = Place.IN_FLIGHT if flies else Place.WAITING
            held.append(Held(place, work, entry.remaining, work - entry.remaining))
        return held


def _kept(move: Move, in_flight: Flags) -> Flags:
    """Which of the running jobs are in flight after the move: those that were and run on."""
    running = sum(entry is not None for entry in move.after.slots)
    if move.label.action == "restart":
        return (False,) * running
    return tuple(place < len(in_flight) and in_flight[place] for place in move.places[:running])


def retold(pairs: Pairs, joints: Iterable[Joint]) -> Joined:
    """The history as the shipped code meets it, up to the first step that is wrong."""
    scheduler = pairs.setting.fresh()
    monitor = pairs.setting.monitor(scheduler.snapshot())
    joined = Joined(pairs.loop.settings, scheduler, monitor, controller=pairs.loop.controller, driver=pairs.driver)
    arrived = 0
    for event, label in joints:
        before = joined.loop.controller.snapshot()
        told = event and shifted(event, before.now, before.generation - min(before.generation, 1))
        if isinstance(told, Tick) and told.demand:
            told = replace(told, demand=joined.demand())
        reports = () if label is None else (named(pairs.setting, label, scheduler.snapshot(), arrived),)
        arrived += label is not None and label.action == "admit"
        try:
            joined.meet(told, *reports)
        except Exception:  # a broken controller or scheduler may fail in any way
            break
    return joined


def named(setting: Setting, label: Label, snapshot: Snapshot, arrived: int) -> events.Event:
    """What happens to the scheduler, where a newcomer is named by how many came before it."""
    if label.action == "admit":
        return events.Admit(setting.job(label.number, arrived, newcomer=True))
    live: list[Running | Waiting] = [*filter(None, snapshot.running), *snapshot.queue]
    entry = live[label.place]
    name = entry.job.request_id
    lease = entry.lease if isinstance(entry, Running) else Lease(0, name, NEVER)
    match label.action:
        case "cancel":
            return events.Cancel(name)
        case "complete":
            return events.Complete(lease)
        case "progress":
            return events.Progress(lease, label.number)
    late = lease._replace(run=NEVER)
    return events.Progress(late, label.number) if label.number else events.Complete(late)
