"""The shipped scheduler: every argument is checked before anything changes, then the core decides."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from impl.checks import check_id, check_job, check_lease, check_size, check_snapshot, check_steps, ordinal, reject
from impl.core import Core
from impl.jobs import (
    CAPACITY,
    Cancelled,
    Ended,
    Job,
    Lease,
    Nothing,
    Outcome,
    Placed,
    Policy,
    Progressed,
    Queued,
    Refused,
    RequestId,
    Restarted,
    Snapshot,
    Stale,
    Urgency,
    by_priority,
)


class Scheduler:
    """Chat and renders share `slots` >= 1 slots; `capacity` queue places are for newcomers, and `reserve` more
    (default: as many as slots) are kept for preempted jobs, so that a preemption loses nothing.

    `urgency` is called once a job, at its admission, and returns an int or a tuple of ints; larger is more urgent.
    A bad argument raises ValueError and changes nothing.
    """

    core: type[Core] = Core

    def __init__(
        self, slots: int, *, capacity: int = CAPACITY, reserve: int | None = None, urgency: Policy = by_priority
    ) -> None:
        reserve = slots if reserve is None else reserve
        check_size(slots, capacity, reserve)
        self._core = self.core(slots, capacity, reserve)
        self._urgency = urgency
        self._kinds: set[type] = set()

    @classmethod
    def restore(cls, snapshot: Snapshot, *, urgency: Policy = by_priority) -> Scheduler:
        """A scheduler that goes on exactly where `snapshot` was taken; live jobs keep the urgency they had."""
        snapshot = check_snapshot(snapshot)
        scheduler = cls(len(snapshot.running), capacity=snapshot.capacity, reserve=snapshot.reserve, urgency=urgency)
        scheduler._core.load(snapshot)
        scheduler._kinds = {type(run.urgency) for run in filter(None, snapshot.running)}
        return scheduler

    def snapshot(self) -> Snapshot:
        """The whole state, as immutable values; it costs a read of every slot and every waiting job."""
        return self._core.snapshot()

    def admit(self, job: Job) -> Placed | Queued | Refused:
        """A job arrives: it is placed, perhaps by preemption, or queued, or refused."""
        [(job, urgency)] = self._checked((job,))
        return self._core.admit(job, urgency)

    def complete(self, lease: Lease) -> Ended | Stale:
        """The run of this lease is over; what work remained counts as served."""
        return self._core.complete(check_lease(lease))

    def progress(self, lease: Lease, steps: int) -> Progressed | Refused | Stale:
        """The run of this lease has done `steps` more steps."""
        return self._core.progress(check_lease(lease), check_steps(steps))

    def cancel(self, request_id: RequestId) -> Cancelled | Nothing:
        """Nobody wants this job any more, wherever it is."""
        return self._core.cancel(check_id(request_id))

    def restart(self) -> Restarted:
        """The worker was lost and its jobs start again with the work they had left."""
        return self._core.restart()

    def at_once(
        self, completions: Iterable[Lease] = (), cancels: Iterable[RequestId] = (), arrivals: Iterable[Job] = ()
    ) -> tuple[Outcome, ...]:
        """The events of one instant, in this order. All are checked before the first change; the outcomes are those of
        the events one by one."""
        ended = [check_lease(lease) for lease in completions]
        left = [check_id(request_id) for request_id in cancels]
        came = self._checked(arrivals)
        core = self._core
        return tuple(
            chain(
                map(core.complete, ended),
                map(core.cancel, left),
                (core.admit(job, urgency) for job, urgency in came),
            )
        )

    def lease_of(self, request_id: RequestId) -> Lease | None:
        """The lease under which the job runs now; None while it waits or is not live."""
        return self._core.lease_of(check_id(request_id))

    def _checked(self, jobs: Iterable[Job]) -> list[tuple[Job, Urgency]]:
        arrivals = [(check_job(job), ordinal(self._urgency(job))) for job in jobs]
        kinds = self._kinds.union(type(urgency) for _, urgency in arrivals)
        if len(kinds) > 1:
            reject("the urgency", [urgency for _, urgency in arrivals], "always an int or always a tuple of ints")
        self._kinds = kinds
        return arrivals
