"""Random events for the shipped scheduler, each of its steps held to the specification."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, initialize, multiple, precondition, rule

from impl.jobs import (
    CHAT,
    IMAGE,
    Cancelled,
    Ended,
    Job,
    Lease,
    Outcome,
    Placed,
    Policy,
    RequestId,
    Restarted,
    Urgency,
    by_priority,
)
from impl.scheduler import Scheduler
from model.conform.events import Admit, Cancel, Complete, Event, Progress, Restart, apply
from model.conform.monitor import Monitor
from model.conform.witnesses import SCHEDULER as WITNESSES
from model.conform.witnesses import look
from model.explore.kinds import VARIED
from model.fuzz.counting import Counting, counted, fresh, rules_of
from spec.logic import Property

__all__ = ["RULES", "WITNESSES", "SchedulerMachine", "fresh"]


def by_deadline(job: Job) -> Urgency:
    """Within a priority an earlier deadline is more urgent, and any deadline more than none."""
    return (job.priority,) if job.deadline is None else (job.priority, -job.deadline)


IDS = st.sampled_from((*range(5), *"abcde"))
STEPS_DONE = st.sampled_from((1, 1, 1, 2, 3, 9, 0, -1))
CHOICES = st.integers(0, 11)
JOBS = st.builds(
    Job,
    request_id=IDS,
    priority=st.sampled_from((IMAGE, IMAGE, 5, CHAT)),
    work=st.integers(1, 5),
    modality=st.just(""),
    arrived=CHOICES,
    deadline=st.none() | st.integers(0, 2),
)
NO_NUMBERS = st.sampled_from(
    (True, False, 1.0, 0.5, float("nan"), float("inf"), "10", b"1", None, 10**30, -(10**30), (1,))
)
NO_JOBS = st.one_of(
    NO_NUMBERS,
    st.builds(Job._replace, JOBS, priority=NO_NUMBERS),
    st.builds(Job._replace, JOBS, work=NO_NUMBERS | st.integers(-2, 0)),
    st.builds(Job._replace, JOBS, request_id=st.sampled_from((None, True, 1.0, (), b"a"))),
    st.builds(Job._replace, JOBS, arrived=NO_NUMBERS),
    st.builds(Job._replace, JOBS, deadline=NO_NUMBERS.filter(lambda value: value is not None)),
)


class SchedulerMachine(Counting):
    """A scheduler of 1 to 8 slots and whatever may happen to it, late reports and reused ids among it."""

    scheduler_type: ClassVar[type[Scheduler]] = Scheduler
    slots: ClassVar[tuple[int, ...]] = (1, 1, 2, 2, 3, 8)
    urgencies: ClassVar[tuple[Policy, ...]] = (by_priority, by_deadline)
    arrivals: ClassVar[tuple[int, ...]] = VARIED["arrived"]
    owed: ClassVar[tuple[Property, ...]] = ()

    leases = Bundle[Lease]("leases")

    @initialize(
        slots=CHOICES,
        capacity=st.sampled_from((0, 1, 2, 64)),
        reserve=st.sampled_from((None, None, 0, 1)),
        urgency=CHOICES,
    )
    def begin(self, slots: int, capacity: int, reserve: int | None, urgency: int) -> None:
        self.urgency = self.urgencies[urgency % len(self.urgencies)]
        size = self.slots[slots % len(self.slots)]
        self.scheduler = self.scheduler_type(size, capacity=capacity, reserve=reserve, urgency=self.urgency)
        self.monitor = Monitor(self.scheduler.snapshot(), urgency=self.urgency, owed=self.owed, waives=self.waives)
        self.told[:] = [self.scheduler.snapshot()]

    @rule(target=leases, jobs=st.lists(JOBS, min_size=1, max_size=4))
    @counted
    def admit(self, jobs: list[Job]) -> MultipleResults[Lease]:
        return self.meet(*map(Admit, self.arriving(jobs)))

    def arriving(self, jobs: list[Job]) -> list[Job]:
        """The jobs at one of the `arrivals` each."""
        return [job._replace(arrived=self.arrivals[job.arrived % len(self.arrivals)]) for job in jobs]

    @rule(job=NO_JOBS)
    @counted
    def admit_what_is_no_job(self, job: Any) -> None:
        before = self.scheduler.snapshot()
        try:
            self.scheduler.admit(job)
        except ValueError:
            assert self.scheduler.snapshot() == before
        else:
            raise AssertionError(f"{job} was admitted")

    def somebody_runs(self) -> bool:
        return any(self.monitor.state.busy.entries.values())

    def present(self) -> list[Lease]:
        """The leases of the running jobs."""
        return [run.lease for run in self.scheduler.snapshot().running if run is not None]

    @precondition(somebody_runs)
    @rule(target=leases, late=st.none() | leases, choice=CHOICES)
    @counted
    def complete(self, late: Lease | None, choice: int) -> MultipleResults[Lease]:
        """A running job ends, or an earlier lease comes again."""
        present = self.present()
        return self.meet(Complete(late or present[choice % len(present)]))

    @rule(lease=leases, steps=STEPS_DONE)
    @counted
    def progress(self, lease: Lease, steps: int) -> None:
        """A running job reports steps done, or an earlier lease does."""
        self.meet(Progress(lease, steps))

    @precondition(somebody_runs)
    @rule(steps=st.integers(1, 2))
    @counted
    def work(self, steps: int) -> None:
        """All running jobs report steps done."""
        self.meet(*(Progress(lease, steps) for lease in self.present()))

    @precondition(somebody_runs)
    @rule(target=leases, choice=CHOICES)
    @counted
    def cancel(self, choice: int) -> MultipleResults[Lease]:
        """Some live job is cancelled."""
        live: list[Any] = list(self.monitor.state.jobs)
        return self.meet(Cancel(live[choice % len(live)]))

    @rule(target=leases)
    @counted
    def restart(self) -> MultipleResults[Lease]:
        return self.meet(Restart())

    def somebody_ran(self) -> bool:
        return bool(self.bundle("leases"))

    @precondition(somebody_ran)
    @rule(
        target=leases,
        completions=st.lists(leases, max_size=2),
        cancels=st.lists(IDS, max_size=2),
        arrivals=st.lists(JOBS, max_size=3),
    )
    @counted
    def at_once(
        self, completions: list[Lease], cancels: list[RequestId], arrivals: list[Job]
    ) -> MultipleResults[Lease]:
        """The same as one by one, which a twin shows."""
        arrivals = self.arriving(arrivals)
        all_at_once, self.scheduler = self.scheduler, self.twin()
        outcomes = all_at_once.at_once(iter(completions), iter(cancels), iter(arrivals))
        events: list[Event] = [*map(Complete, completions), *map(Cancel, cancels), *map(Admit, arrivals)]
        assert outcomes == tuple(map(self.judged, events))
        assert all_at_once.snapshot() == self.scheduler.snapshot()
        self.scheduler = all_at_once
        return new_leases(outcomes)

    @rule()
    @counted
    def snapshot_and_restore(self) -> None:
        self.scheduler = self.twin()

    def teardown(self) -> None:
        """Keep what was waived."""
        if hasattr(self, "monitor"):
            self.waived.update(self.monitor.waived)

    def twin(self) -> Scheduler:
        """Another scheduler in the same state."""
        before = self.scheduler.snapshot()
        twin = self.scheduler_type.restore(before, urgency=self.urgency)
        assert twin.snapshot() == before
        return twin

    def meet(self, *events: Event) -> MultipleResults[Lease]:
        """The new leases that the events bring."""
        return new_leases(map(self.judged, events))

    def judged(self, event: Event) -> Outcome:
        self.told.append(event)
        outcome = apply(self.scheduler, event)
        self.actions[self.monitor.judge(event, outcome, self.scheduler.snapshot())] += 1
        before = self.monitor.before
        look(WITNESSES, self.witnesses, before, before)
        look(WITNESSES, self.witnesses, before, self.monitor.state)
        return outcome


def new_leases(outcomes: Iterable[Outcome]) -> MultipleResults[Lease]:
    """The leases that the outcomes give away."""
    leases: list[Lease] = []
    for outcome in outcomes:
        match outcome:
            case Placed(lease):
                leases.append(lease)
            case Ended(_, heir) | Cancelled(_, heir) if heir is not None:
                leases.append(heir)
            case Restarted(renewed):
                leases.extend(renewed)
    return multiple(*leases)


RULES = rules_of(SchedulerMachine)
"""The names of the rules that are counted."""
