"""Who tells a scheduler what happens, and knows of it only what it was told."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

from impl.jobs import (
    Cancelled,
    Ended,
    Lease,
    Nothing,
    Outcome,
    Placed,
    Progressed,
    Queued,
    Refused,
    RequestId,
    Restarted,
    Snapshot,
    Stale,
)
from model.conform.events import Admit, Cancel, Complete, Event, Progress, Restart, apply
from model.conform.monitor import Monitor
from model.scenarios.notation import Failed, refused, trying

INSTANT = (Complete, Cancel, Admit)
"""The order in which the events of one instant count."""
Events: TypeAlias = tuple[Event, ...]
"""Those of one instant, in that order."""


class Met(NamedTuple):
    """An event of a step, what came of it, and the state after."""

    step: str
    event: Event
    outcome: Outcome
    after: Snapshot


class Caller:
    """It keeps what became of which job at which time (`records`), the leases that each was given, and the steps that
    each was served. `met` has each event with the `step` that it was of. With `judged`, each is held to the
    specification, and Violation ends the run."""

    def __init__(self, scheduler: Any, *, judged: bool) -> None:
        self.scheduler = scheduler
        self.after: Snapshot = scheduler.snapshot()
        self.clock = 0
        self.step = ""
        self.met: list[Met] = []
        self.records: list[tuple[str, Any, int]] = []
        self.leases: defaultdict[Any, list[Lease]] = defaultdict(list)
        self.served: Counter[Any] = Counter()
        self._monitor = Monitor(self.after) if judged else None

    def meet(self, *events: Event) -> None:
        """Let the scheduler meet the events of one instant, in the order of INSTANT. Raises Violation, and Failed if
        the scheduler raises."""
        before = self.after
        with trying():
            outcomes = self._tell(events)
            self.after = self.scheduler.snapshot()
        self._judge(events, outcomes, before)
        for event, outcome in zip(events, outcomes, strict=True):
            self.met.append(Met(self.step, event, outcome, self.after))
            self._keep(event, outcome, before)

    def be_refused(self, *events: Event) -> None:
        """Failed unless the events are bad input, which raises ValueError and changes nothing."""
        refused(lambda: self._tell(events), self.scheduler.snapshot)

    def reload(self) -> None:
        """Go on with a new scheduler, made of the state of the former. Failed if it is in another."""
        with trying():
            self.scheduler = type(self.scheduler).restore(self.after)
        if self.scheduler.snapshot() != self.after:
            raise Failed(f"the state is now {self.scheduler.snapshot()}, expected {self.after}")

    def lease(self, name: RequestId) -> Lease:
        """The last lease that the job was given. Failed unless it runs."""
        if name not in self.running() or not self.leases[name]:
            raise Failed(f"{name} should run under a lease that was told; in the slots are {self.running()}")
        return self.leases[name][-1]

    def running(self) -> list[Any]:
        """Who is in each slot; `-` is nobody."""
        return [run.job.request_id if run else "-" for run in self.after.running]

    def waiting(self) -> list[Any]:
        """Who waits, in the order of the tickets."""
        return [entry.job.request_id for entry in self.after.queue]

    def who(self, *words: str) -> Counter[Any]:
        """The jobs with such records, and how many each has."""
        return Counter(name for word, name, _ in self.records if word in words)

    def starvation(self, name: RequestId) -> tuple[list[str], list[str]] | None:
        """A way into a cycle, both as steps, that could be repeated for ever: it leads back to where it began, the job
        waits all along, and each slot is freed. None if there was none."""
        for first, last in combinations(range(len(self.met)), 2):
            way, cycle = self.met[: first + 1], self.met[first + 1 : last + 1]
            freed = {met.event.lease.slot for met in cycle if isinstance(met.event, Complete)}
            waits = all(name in (entry.job.request_id for entry in met.after.queue) for met in (way[-1], *cycle))
            if waits and len(freed) == len(self.after.running) and _picture(way[-1]) == _picture(cycle[-1]):
                return [met.step for met in way], [met.step for met in cycle]
        return None

    def _tell(self, events: Events) -> Sequence[Outcome]:
        if len(events) == 1:
            return [apply(self.scheduler, events[0])]
        leases = [event.lease for event in events if isinstance(event, Complete)]
        names = [event.request_id for event in events if isinstance(event, Cancel)]
        jobs = [event.job for event in events if isinstance(event, Admit)]
        return self.scheduler.at_once(leases, names, jobs)  # type: ignore[no-any-return]

    def _judge(self, events: Events, outcomes: Sequence[Outcome], before: Snapshot) -> None:
        """Hold each event to the specification; those of an instant one by one, which has to come to the same."""
        if self._monitor is None:
            return
        if len(events) == 1:
            self._monitor.judge(events[0], outcomes[0], self.after)
            return
        other = type(self.scheduler).restore(before)
        for event, outcome in zip(events, outcomes, strict=True):
            alone = apply(other, event)
            self._monitor.judge(event, alone, other.snapshot())
            if alone != outcome:
                raise Failed(f"at one instant {event} comes to {outcome}, alone to {alone}")
        if other.snapshot() != self.after:
            raise Failed(f"the events of an instant lead to {self.after}, one by one to {other.snapshot()}")

    def _keep(self, event: Event, outcome: Outcome, before: Snapshot) -> None:
        told: tuple[Lease | None, ...] = ()
        match event, outcome:
            case Admit(job), Placed(lease, victim):
                self._record("admitted", job.request_id)
                self._record("preempted", *([victim.request_id] if victim else []))
                told = (lease,)
            case Admit(job), Queued():
                self._record("admitted", job.request_id)
                self._record("queued", job.request_id)
            case Admit(job), Refused():
                self._record("refused", job.request_id)
            case Progress(lease, steps), Progressed():
                self.served[lease.request_id] += steps
            case Complete(), Ended(name, heir):
                left = (run.remaining for run in before.running if run and run.job.request_id == name)
                self.served[name] += sum(left)
                self._record("ended", name)
                told = (heir,)
            case Cancel(), Cancelled(name, heir):
                self._record("cancelled", name)
                told = (heir,)
            case Restart(), Restarted():
                told = outcome.leases
            case Complete(lease) | Progress(lease), Stale():
                self._record("stale", lease.request_id)
            case Cancel(name), Nothing():
                self._record("unknown", name)
        for lease_told in filter(None, told):
            self.leases[lease_told.request_id].append(lease_told)
            self._record("started", lease_told.request_id)

    def _record(self, word: str, *names: Any) -> None:
        self.records += [(word, name, self.clock) for name in names]


def _picture(met: Met) -> list[Any]:
    """Who is where with how much left, whatever the runs and tickets are."""
    return [entry and (entry.job, entry.remaining) for entry in (*met.after.running, *met.after.queue)]
