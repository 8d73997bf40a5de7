"""The controller and the scheduler together, as whoever drives both joins them, under observation.

Each is held to its own specification. Beside it the claims of the loop that speak of jobs are held against the jobs of
the scheduler itself, which the loop alone cannot see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from operator import add
from typing import Any, NamedTuple

from impl.jobs import Cancelled, Ended, Lease, Outcome, RequestId, Snapshot
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Command, Do, Settings
from model.conform import events, worker_events
from model.conform.monitor import Monitor, Violation, settle
from model.conform.worker_watch import Watch
from spec import worker_claims as claims
from spec.logic import Finite, Table
from spec.worker_state import Demand, Place, State

OF_JOBS = (
    claims.what_was_served_and_what_remains_are_the_work,
    claims.work_is_in_flight_only_on_a_warm_worker,
    claims.work_progresses_only_on_a_warm_worker,
    claims.a_crash_loses_no_job,
    claims.never_reap_while_busy,
)
"""The claims that need no more than the phase, whether the process runs, and the jobs."""
ALWAYS = tuple(each for each in claims.ALWAYS if each.claim in OF_JOBS)
STEPS = tuple(each for each in claims.STEPS if each.claim in OF_JOBS)


@dataclass(frozen=True)
class Driver:
    """What whoever drives both owes them: demand `counts` what runs and what waits, a command in `dispatches` hands the
    running jobs to the worker, and one in `restarts` restarts them; None is a new controller."""

    counts: Callable[[int, int], int] = add
    dispatches: frozenset[Do | None] = frozenset((Do.SERVE,))
    restarts: frozenset[Do | None] = frozenset((Do.STOP, None))


class Held(NamedTuple):
    """A job: where it is, and its work in steps, remaining and served."""

    place: Place
    work: int
    remaining: int
    served: int


def with_jobs(worker: State, jobs: Mapping[Any, Held]) -> State:
    """The loop with these jobs in place of those that its checker infers."""
    tables = {
        name: Table({job: getattr(held, name) for job, held in jobs.items()}, 0)
        for name in ("work", "remaining", "served")
    }
    place = Table({job: held.place for job, held in jobs.items()}, Place.NEW)
    return replace(worker, jobs=Finite(jobs), place=place, **tables)  # type: ignore[arg-type]


def judge(s: State, t: State, do: Do | None) -> None:
    """Violation if a claim of jobs does not hold of a step at which this is commanded, or of the state after."""
    wrong = [each for each in STEPS if not each.about and not each.claim(s, t)]
    wrong += [each for each in STEPS if do is Do.REAP and each.about and not each.claim(s, t, Demand.NONE)]
    wrong += [each for each in ALWAYS if not each.claim(t)]
    settle(Violation(each.name, each.sentence, "It is not so of the jobs of the scheduler.") for each in wrong)


def leases(snapshot: Snapshot) -> frozenset[Lease]:
    """Those of the running jobs."""
    return frozenset(run.lease for run in snapshot.running if run is not None)


class Joined:
    """A controller and a scheduler: whatever they do is judged at once, and Violation ends the run.

    `in_flight` are the leases of the jobs that the worker has; `history` holds every event, the last one perhaps wrong.
    """

    def __init__(
        self,
        settings: Settings,
        scheduler: Scheduler,
        monitor: Monitor,
        *,
        controller: type[Controller] = Controller,
        driver: Driver = Driver(),
    ) -> None:
        self.loop = Watch(settings, make=controller)
        self.scheduler, self.monitor, self.driver = scheduler, monitor, driver
        self.in_flight: frozenset[Lease] = frozenset()
        self.history: list[worker_events.Event | events.Event] = []
        self.met: list[str] = []
        """What the specification of the scheduler calls its steps."""
        self.before = self.state = self._state({})
        """The loop with the jobs of the scheduler, before and after the last step."""

    def demand(self) -> int:
        """What the driver counts."""
        snapshot = self.scheduler.snapshot()
        return self.driver.counts(sum(run is not None for run in snapshot.running), snapshot.waiting)

    def meet(self, event: worker_events.Event | None = None, *reports: events.Event) -> Command | None:
        """Let the controller meet the event, and the scheduler the reports that come with it."""
        self.before = self._state({})
        do: Do | None = Do.HOLD
        command = None
        if event is not None:
            self.history.append(event)
            command = self.loop.meet(event)
            do = None if command is None else command.do
        left = dict(chain.from_iterable(map(self._report, reports)))
        if do in self.driver.restarts:
            self._report(events.Restart())
        now = leases(self.scheduler.snapshot())
        self.in_flight = now if do in self.driver.dispatches else self.in_flight & now
        self.state = self._state(left)
        judge(self.before, self.state, do)
        return command

    def _report(self, event: events.Event) -> list[tuple[RequestId, Held]]:
        """Let the scheduler meet the event; the job that left by it, if one did."""
        self.history.append(event)
        before = self.monitor.state
        outcome: Outcome = events.apply(self.scheduler, event)
        self.met.append(self.monitor.judge(event, outcome, self.scheduler.snapshot()))
        if not isinstance(outcome, Ended | Cancelled):
            return []
        job: Any = outcome.request_id
        work, remaining, served = before.work[job], before.remaining[job], before.served[job]
        if isinstance(outcome, Ended):
            return [(job, Held(Place.DONE, work, 0, served + remaining))]
        return [(job, Held(Place.CANCELLED, work, remaining, served))]

    def _state(self, left: Mapping[Any, Held]) -> State:
        jobs = self.monitor.state
        flying: set[Any] = {lease.request_id for lease in self.in_flight}
        held = {
            job: Held(
                Place.IN_FLIGHT if job in flying else Place.WAITING,
                jobs.work[job],
                jobs.remaining[job],
                jobs.served[job],
            )
            for job in jobs.jobs
        }
        return with_jobs(self.loop.state, {**held, **left})
