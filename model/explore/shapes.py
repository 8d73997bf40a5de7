"""States of the shipped scheduler up to the names of its jobs, and every step that it takes from each.

Jobs of one kind differ by name alone, and the scheduler must not look at names, tickets or run numbers except for their
order. So a step is taken once for each *shape* (which kinds sit where, with how much work left), by the shipped code on
a restored snapshot, and held to the specification. That it is the same step under other names is not assumed but
tried, with other names and numbers, at every shape; and so is that a scheduler which has lived through a history that
leads to the shape, with whatever it remembers of it, takes the same step as one restored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from impl.jobs import Job, Lease, Policy, RequestId, Running, Snapshot, Waiting, by_priority
from impl.scheduler import Scheduler
from model.conform.events import Admit, Cancel, Complete, Event, Progress, Restart, apply
from model.conform.monitor import Monitor, Violation, nonconforming
from model.conform.witnesses import SCHEDULER, look
from model.policy.file import PolicyError
from spec.logic import Property

ACTIONS = ("admit", "complete", "cancel", "progress", "restart", "stale", "duplicate", "nothing")
"""What may happen: `stale` is a late report, `duplicate` an arrival under a live name, `nothing` a cancel of nobody."""


class Entry(NamedTuple):
    """A job of a shape: the place of its kind in the list of kinds, and the steps that remain."""

    kind: int
    remaining: int


class Shape(NamedTuple):
    """`slots` has an entry a slot (None: free), `queue` is in ticket order."""

    slots: tuple[Entry | None, ...]
    queue: tuple[Entry, ...]


class Label(NamedTuple):
    """An event of a shape: `place` is that of its job among the running ones in slot order, then the waiting ones;
    `number` the kind of a newcomer, or steps."""

    action: str
    place: int = -1
    number: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """What an event does to a shape: which shape follows, where each of its jobs was before (a newcomer is the place
    behind the last), and what the specification calls the step. After a violation nothing follows. `life` are events
    that lead to the shape that follows."""

    label: Label
    after: Shape
    places: tuple[int, ...]
    action: str
    violation: Violation | None = None
    waived: tuple[str, ...] = ()
    life: tuple[Event, ...] | None = None


@dataclass(frozen=True)
class Setting:
    """A finite instance: how many slots and places, and which kinds of jobs may come under which urgency.

    With `every_order` and one kind, a newcomer may have any level among those of the live jobs: each of theirs, or one
    between, above or below. Then the kind of an entry is its rank among the live, and of a newcomer its place among the
    ranks and the gaps: 0 below all, 1 equal to the lowest, 2 between the lowest and the next, and so on.
    `witnesses` names those that its moves have been.
    """

    slots: int
    kinds: tuple[Job, ...]
    capacity: int = 64
    reserve: int | None = None
    actions: tuple[str, ...] = ACTIONS
    urgency: Policy = by_priority
    scheduler: type[Scheduler] = field(default=Scheduler)
    every_order: bool = False
    owed: tuple[Property, ...] = ()
    waives: frozenset[str] = frozenset()
    witnesses: set[str] = field(default_factory=set, compare=False, repr=False)

    def job(self, kind: int, name: RequestId, *, newcomer: bool = False) -> Job:
        """A job of that kind under that name."""
        if self.every_order:
            return self.kinds[0]._replace(request_id=name, priority=kind if newcomer else 2 * kind + 1)
        return self.kinds[kind]._replace(request_id=name)

    def monitor(self, snapshot: Snapshot) -> Monitor:
        """One that holds the scheduler to the specification from the snapshot on, and to what the policy owes."""
        return Monitor(snapshot, urgency=self.urgency, owed=self.owed, waives=self.waives)

    def fresh(self) -> Scheduler:
        """A scheduler that nothing has happened to."""
        return self.scheduler(self.slots, capacity=self.capacity, reserve=self.reserve, urgency=self.urgency)

    def moves(self, shape: Shape, *, arrivals: bool, life: tuple[Event, ...] | None = None) -> Iterator[Move]:
        """Every step of the shipped code from the shape: its arrivals, or all others. `life` are events that lead to it
        from the start."""
        plain, other = _Naming(self, shape, range), _Naming(self, shape, _odd_names)
        lived = None if life is None else _Lived(self, shape, life)
        for label in self._arrivals(shape) if arrivals else self._labels(shape):
            move = plain.move(label)
            if move.violation is None and other.taken(label) != (move.after, move.places):
                wrong = nonconforming(f"{label.action} does another thing when the jobs have other names or numbers.")
                move = replace(move, violation=wrong)
            if move.violation is None and lived is not None:
                move = replace(move, life=(*lived.life, lived.event(label)))
                if lived.taken(label) != (move.after, move.places):
                    wrong = nonconforming(f"{label.action} does another thing after its history than once restored.")
                    move = replace(move, violation=wrong)
            yield move

    def unjudged(self, shape: Shape) -> Iterator[tuple[Label, tuple[Shape, tuple[int, ...]] | None]]:
        """Every event at the shape, and what the shipped code does, right or wrong: the shape that follows, and where
        each of its jobs was before; None if the code raises."""
        naming = _Naming(self, shape, range)
        for label in (*self._labels(shape), *self._arrivals(shape)):
            yield label, naming.taken(label)

    def _labels(self, shape: Shape) -> Iterator[Label]:
        running = [entry for entry in shape.slots if entry is not None]
        everyone = range(len(running) + len(shape.queue))
        labels = {
            "complete": [Label("complete", place) for place in range(len(running))],
            "cancel": [Label("cancel", place) for place in everyone],
            "progress": [
                Label("progress", place, steps)
                for place, entry in enumerate(running)
                for steps in {0, 1, entry.remaining, entry.remaining + 1}
            ],
            "restart": [Label("restart")],
            "stale": [Label("stale", place, steps) for place in everyone for steps in (0, 1)],
            "duplicate": [Label("duplicate", place) for place in everyone],
            "nothing": [Label("nothing")],
        }
        for action, its_own in labels.items():
            if action in self.actions:
                yield from its_own

    def _arrivals(self, shape: Shape) -> Iterator[Label]:
        if "admit" in self.actions:
            place = sum(entry is not None for entry in shape.slots) + len(shape.queue)
            live = {entry.kind for entry in (*shape.slots, *shape.queue) if entry is not None}
            kinds = 2 * len(live) + 1 if self.every_order else len(self.kinds)
            yield from (Label("admit", place, kind) for kind in range(kinds))


def _odd_names(count: int) -> Sequence[RequestId]:
    """Names that sort against the order of the places."""
    return [f"j{count - place:03}" for place in range(count)]


class _Naming:
    """The jobs of a shape under certain names, and what the shipped code does with them."""

    def __init__(self, setting: Setting, shape: Shape, names: Any) -> None:
        self.setting = setting
        members = [*filter(None, shape.slots), *shape.queue]
        self.names: list[RequestId] = list(names(len(members) + 1))
        stretch = 1 if names is range else 3
        jobs = [setting.job(entry.kind, self.names[place]) for place, entry in enumerate(members)]
        self.kind_of = {job.request_id: entry.kind for job, entry in zip(jobs, members, strict=True)}
        entries = iter(zip(jobs, members, strict=True))
        running: list[Running | None] = []
        for slot, seat in enumerate(shape.slots):
            if seat is None:
                running.append(None)
            else:
                job, entry = next(entries)
                run = (len(shape.slots) - slot if stretch > 1 else slot) * stretch
                running.append(Running(job, setting.urgency(job), entry.remaining, slot, run))
        queue = tuple(
            Waiting(job, setting.urgency(job), entry.remaining, ticket * stretch)
            for ticket, (job, entry) in enumerate(entries)
        )
        reserve = setting.slots if setting.reserve is None else setting.reserve
        last = stretch * (len(shape.slots) + 1)
        self._monitor: Monitor | None = None
        self.before = Snapshot(setting.capacity, reserve, tuple(running), queue, len(queue), last, stretch * len(queue))

    def begin(self) -> Scheduler:
        """A scheduler in the state of the shape."""
        return self.setting.scheduler.restore(self.before, urgency=self.setting.urgency)

    def move(self, label: Label) -> Move:
        """What the event does, held to the specification."""
        event = self.event(label)
        try:
            scheduler = self.begin()
            outcome = apply(scheduler, event)
            after = scheduler.snapshot()
            monitor = self.monitor()
            action = monitor.judge(event, outcome, after)
        except PolicyError:
            raise
        except Violation as violation:
            return Move(label, Shape((), ()), (), "", violation)
        except Exception as error:  # whatever a broken scheduler raises is a finding
            return Move(label, Shape((), ()), (), "", nonconforming(f"It raised {error!r}."))
        look(SCHEDULER, self.setting.witnesses, monitor.before, monitor.state)
        if label.action == "admit":  # some are of the newcomer, before anything has come of it
            look(SCHEDULER, self.setting.witnesses, monitor.before, monitor.before)
        shape, places = self.read(label, after)
        return Move(label, shape, places, action, waived=tuple(monitor.waived))

    def monitor(self) -> Monitor:
        """One that has judged the shape itself, and nothing since."""
        if self._monitor is None:
            self._monitor = self.setting.monitor(self.before)
        return self._monitor.copy()

    def taken(self, label: Label) -> tuple[Shape, tuple[int, ...]] | None:
        """What the event does; None if the code raises."""
        try:
            scheduler = self.begin()
            apply(scheduler, self.event(label))
            return self.read(label, scheduler.snapshot())
        except PolicyError:
            raise
        except Exception:
            return None

    def read(self, label: Label, after: Snapshot) -> tuple[Shape, tuple[int, ...]]:
        """The shape of a snapshot, and where each of its jobs was before."""
        newcomer = label.number if label.action == "admit" else -1
        place = {name: index for index, name in enumerate(self.names)}

        live: list[Running | Waiting] = [*filter(None, after.running), *after.queue]
        ranks = {level: rank for rank, level in enumerate(sorted({of.job.priority for of in live}))}

        def entry(of: Running | Waiting) -> Entry:
            kind = ranks[of.job.priority] if self.setting.every_order else self.kind_of.get(of.job.request_id, newcomer)
            return Entry(kind, of.remaining)

        shape = Shape(tuple(run and entry(run) for run in after.running), tuple(map(entry, after.queue)))
        return shape, tuple(place[of.job.request_id] for of in live)

    def event(self, label: Label) -> Event:
        """The event under these names."""
        name = self.names[label.place]
        lease = next((run.lease for run in self.before.running if run and run.job.request_id == name), None)
        match label.action:
            case "admit" | "duplicate":
                return Admit(self.setting.job(label.number, name, newcomer=True))
            case "complete" if lease is not None:
                return Complete(lease)
            case "progress" if lease is not None:
                return Progress(lease, label.number)
            case "stale":
                late = Lease(lease.slot if lease else 0, name, -1)
                return Progress(late, label.number) if label.number else Complete(late)
            case "cancel" | "nothing":
                return Cancel(name)
        return Restart()


class _Lived(_Naming):
    """The jobs of a shape as a history has named them, and what the shipped code does after it."""

    def __init__(self, setting: Setting, shape: Shape, life: tuple[Event, ...]) -> None:
        self.setting = setting
        self.life = life
        self.before = self.begin().snapshot()
        live: list[Running | Waiting] = [*filter(None, self.before.running), *self.before.queue]
        members = [*filter(None, shape.slots), *shape.queue]
        self.names = [*(of.job.request_id for of in live), len(life)]
        self.kind_of = {name: entry.kind for name, entry in zip(self.names, members, strict=False)}

    def begin(self) -> Scheduler:
        """The scheduler after its history."""
        scheduler = self.setting.fresh()
        for event in self.life:
            apply(scheduler, event)
        return scheduler
