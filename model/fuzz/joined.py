"""Random events for the shipped controller and scheduler together, each of their steps held to the specification."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from impl.jobs import CHAT, IMAGE, Job, Lease, Policy, RequestId, Running, Snapshot, Waiting, by_priority
from impl.scheduler import Scheduler
from impl.worker_state import Command, Settings
from model.conform import events
from model.conform.monitor import Monitor
from model.conform.observe import key
from model.conform.worker_events import Event, JobEnded, Progressed, Tick
from model.explore.joined import Driver, Joined, leases
from model.explore.moments import shifted
from model.fuzz.counting import counted, rules_of
from model.fuzz.worker import SETTINGS, WorkerMachine
from spec.logic import Property

JOBS = st.builds(
    Job,
    request_id=st.integers(0, 5),
    priority=st.sampled_from((IMAGE, IMAGE, CHAT)),
    work=st.integers(1, 4),
    modality=st.just(""),
    arrived=st.just(0),
    deadline=st.none(),
)
CHOICES = st.integers(0, 11)
MOSTLY = st.sampled_from((True, True, False))


class Happened(NamedTuple):
    """What the controller is told, and the scheduler with it; `runs` says that it is of a run that goes on."""

    event: Event | None
    report: events.Event | None = None
    runs: bool = False


class JoinedMachine(WorkerMachine):
    """A controller, a scheduler and whatever may happen to both: jobs that come and go, workers that die under them and
    report late what they did before."""

    scheduler_type: ClassVar[type[Scheduler]] = Scheduler
    driver: ClassVar[Driver] = Driver()
    slots: ClassVar[tuple[int, ...]] = (1, 2, 3)
    urgencies: ClassVar[tuple[Policy, ...]] = (by_priority,)
    owed: ClassVar[tuple[Property, ...]] = ()
    waives: ClassVar[frozenset[str]] = frozenset()

    @initialize(settings=SETTINGS, slots=CHOICES, capacity=st.sampled_from((0, 1, 64)), urgency=CHOICES)
    def begin(self, settings: Settings, slots: int, capacity: int, urgency: int) -> None:
        policy = self.urgencies[urgency % len(self.urgencies)]
        scheduler = self.scheduler_type(self.slots[slots % len(self.slots)], capacity=capacity, urgency=policy)
        begun = settings, scheduler.snapshot(), policy
        self.told[:] = [begun]
        self.joined = self.start(*begun)
        self.watch = self.joined.loop
        self.living, self.adopted = set(), 0
        self.sent: list[tuple[Lease, int]] = []
        """Every run that was handed to a worker, and to which."""

    @classmethod
    def start(cls, settings: Settings, snapshot: Snapshot, policy: Policy) -> Joined:  # type: ignore[override]
        """Both, before anything has happened."""
        scheduler = cls.scheduler_type.restore(snapshot, urgency=policy)
        monitor = Monitor(snapshot, urgency=policy, owed=cls.owed, waives=cls.waives)
        return Joined(settings, scheduler, monitor, controller=cls.controller_type, driver=cls.driver)

    @classmethod
    def scheduler_of(cls, *begun: Any) -> Scheduler | None:
        """The one that the run began with."""
        snapshot, policy = begun
        return cls.scheduler_type.restore(snapshot, urgency=policy)

    @classmethod
    def again(cls, run: Joined, step: Happened) -> None:
        """The step that was taken, as seen from where the run is now."""
        event, report, runs = step
        now = run.loop.controller.snapshot()
        event = event and shifted(event, now.now, now.generation)
        if isinstance(event, Tick) and event.demand is not None:
            event = Tick(event.now, run.demand())
        if runs and isinstance(report, events.Complete | events.Progress):
            report = replace(report, lease=run.scheduler.lease_of(report.lease.request_id) or report.lease)
        run.meet(event, *(() if report is None else (report,)))

    @classmethod
    def simpler(cls, step: Happened) -> Iterator[Happened]:
        """What is tried in its place: less time."""
        return (step._replace(event=event) for event in super().simpler(step.event))

    @rule(jobs=st.lists(JOBS, min_size=1, max_size=4))
    @counted
    def arrive(self, jobs: list[Job]) -> None:
        self.happen(*map(events.Admit, jobs))

    @rule(jobs=st.lists(JOBS, max_size=3), choice=CHOICES)
    @counted
    def cancel(self, jobs: list[Job], choice: int) -> None:
        """Jobs come, and one leaves: some live job, or one that was never seen."""
        self.happen(*map(events.Admit, jobs))
        known = [*reversed(self.live()), -1]
        self.happen(events.Cancel(known[choice % len(known)]))

    @rule(jobs=st.lists(JOBS, max_size=2), seconds=st.integers(1, 3), idle=st.sampled_from((0, 3, 5)))
    @counted
    def serve(self, jobs: list[Job], seconds: int, idle: int) -> None:
        """A good time: jobs come, and those in flight get on; then perhaps an idle one, in which nothing is wanted."""
        self.happen(*map(events.Admit, jobs))
        for _ in range(seconds):
            self.second()
        if idle:
            for lease in self.flying():
                self.work_on(lease, self.last, None)
            self.happen(*map(events.Cancel, self.live()))
        for _ in range(idle):
            self.second()

    def warm_up(self) -> None:
        """For a job that comes, unless one is there."""
        if not self.live():
            self.happen(events.Admit(Job(0, IMAGE, 2)))
        super().warm_up()

    def second(self) -> None:
        """The world answers truly, and a step is done of each job in flight, or its end reported."""
        self.answer()
        self.tick_after(1, 1)
        for lease in self.flying():
            left = self.joined.monitor.state.remaining[key(lease.request_id)]
            self.work_on(lease, self.last, 1 if left else None)

    @rule(job=JOBS, reports=st.lists(st.sampled_from((None, 1, 0, 9)), min_size=1, max_size=3))
    @counted
    def report(self, job: Job, reports: list[int | None]) -> None:
        """The first job in flight reports steps, and perhaps its end, which is its last report or comes too early."""
        self.happen(events.Admit(job))
        self.warm_up()
        for lease in self.flying()[:1]:
            for steps in reports:
                self.work_on(lease, self.last, steps)

    @precondition(lambda self: self.sent)
    @rule(choice=CHOICES, steps=st.sampled_from((None, 1, 2)))
    @counted
    def report_late(self, choice: int, steps: int | None) -> None:
        """A worker reports once more of a run that it was handed."""
        self.work_on(*self.sent[-1 - choice % len(self.sent)], steps)

    @precondition(WorkerMachine.is_at_work)
    @rule(job=JOBS, seconds=st.integers(0, 4), living=MOSTLY, late=MOSTLY)
    @counted
    def restart_the_controller(self, job: Job, seconds: int, living: bool, late: bool) -> None:
        """After a good time; a report may have been on its way to the former one."""
        self.happen(events.Admit(job))
        for _ in range(seconds):
            self.second()
        self.adopt(living)
        if late and self.sent:
            self.work_on(*self.sent[-1], 1)

    @invariant()
    def every_job_is_accounted_for(self) -> None:
        """By what the scheduler answered, not by what a checker keeps."""
        if hasattr(self, "joined"):
            met = self.joined.met
            came = sum(met.count(name) for name in ("place", "preempt", "enqueue"))
            left = sum(name.startswith(("finish", "cancel")) and name != "cancel_nothing" for name in met)
            assert came - left == len(self.live()), "a job has come or gone unseen"

    def live(self) -> list[RequestId]:
        """The jobs that run or wait."""
        snapshot = self.joined.scheduler.snapshot()
        live: list[Running | Waiting] = [*filter(None, snapshot.running), *snapshot.queue]
        return [entry.job.request_id for entry in live]

    def flying(self) -> list[Lease]:
        """What is in flight, in the order of the slots."""
        return sorted(self.joined.in_flight, key=lambda lease: lease.slot)

    def work_on(self, lease: Lease, generation: int, steps: int | None) -> None:
        """A worker reports steps of a run, or its end, which both are told."""
        self.report_told = events.Complete(lease) if steps is None else events.Progress(lease, steps)
        self.meet(JobEnded(generation) if steps is None else Progressed(generation))

    report_told: events.Complete | events.Progress | None = None

    def happen(self, *reports: events.Event) -> None:
        """Something that the scheduler alone is told."""
        for report in reports:
            self.told.append(Happened(None, report))
            self._joined(None, report)

    def tick_after(self, gap: int, demand: int | None) -> None:
        """The demand is what the scheduler has, or is unknown."""
        super().tick_after(gap, None if demand is None else self.joined.demand())

    def drive(self, event: Event) -> Command | None:
        """Let both meet the event, and the report that comes with it."""
        report, self.report_told = self.report_told, None
        runs = report is not None and report.lease in leases(self.joined.scheduler.snapshot())
        self.told[-1] = Happened(self.told[-1], report, runs)
        return self._joined(event, *(() if report is None else (report,)))

    def _joined(self, event: Event | None, *reports: events.Event) -> Command | None:
        had, met = self.joined.in_flight, len(self.joined.met)
        command = self.joined.meet(event, *reports)
        self.sent += [(lease, self.last) for lease in self.joined.in_flight - had]
        self.actions.update(f"scheduler {name}" for name in self.joined.met[met:])
        self.look(self.joined.before, self.joined.state)
        return command


RULES = rules_of(JoinedMachine)
"""The names of the rules that are counted."""
