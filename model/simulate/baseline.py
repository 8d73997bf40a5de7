"""First come, first served: what the policies are measured against. It shares no code with the shipped scheduler."""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush

from impl.jobs import Ended, Job, Lease, Outcome, Placed, Progressed, Queued, Reason, Refused
from model.conform.events import Admit, Complete, Event, Progress


class FirstComeFirstServed:
    """One queue in order of arrival, at most `capacity` long, before `slots` slots; nobody is ever preempted."""

    def __init__(self, slots: int, capacity: int) -> None:
        self._capacity = capacity
        self._free = list(range(slots))
        self._left: dict[Lease, int] = {}
        self._queue: deque[Job] = deque()
        self._runs = 0

    def meet(self, event: Event) -> Outcome:
        """Arrivals, progress and the ends of current runs; it answers as the shipped scheduler does."""
        match event:
            case Admit(job) if self._free:
                return Placed(self._start(heappop(self._free), job))
            case Admit(job) if len(self._queue) < self._capacity:
                self._queue.append(job)
                return Queued(len(self._queue) - 1)
            case Admit():
                return Refused(Reason.FULL)
            case Progress(lease, steps):
                self._left[lease] -= steps
                return Progressed(self._left[lease])
            case Complete(lease):
                del self._left[lease]
                if self._queue:
                    return Ended(lease.request_id, self._start(lease.slot, self._queue.popleft()))
                heappush(self._free, lease.slot)
                return Ended(lease.request_id)
            case _:
                raise TypeError(f"{event!r} is not among the events of the baseline")

    def _start(self, slot: int, job: Job) -> Lease:
        lease = Lease(slot, job.request_id, self._runs)
        self._runs += 1
        self._left[lease] = job.work
        return lease
