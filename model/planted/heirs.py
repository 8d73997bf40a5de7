"""Wrong in who inherits a slot, and as what."""

from __future__ import annotations

from heapq import heappush
from typing import Any

from impl.core import Core
from impl.jobs import Cancelled, Ended, Job, Lease, Nothing, RequestId, Running, Stale
from model.planted.registry import Pieces, planted


@planted("the_earliest_of_the_most_urgent_inherits", "typelevel/cats-effect#2298")
class TakesTheLatest(Pieces):
    """Equals come out last in, first out."""

    def _vacate(self, run: Running) -> Lease | None:
        if not self._queue:
            return super()._vacate(run)
        return self.hand_over(run, max(self._queue.values(), key=lambda entry: (entry.urgency, entry.ticket)))


@planted("the_earliest_of_the_most_urgent_inherits", "celery/celery#4028")
class TakesTheLeastUrgent(Pieces):
    """Small urgencies come first."""

    def _vacate(self, run: Running) -> Lease | None:
        if not self._queue:
            return super()._vacate(run)
        return self.hand_over(run, min(self._queue.values(), key=lambda entry: (entry.urgency, entry.ticket)))


@planted("equals_keep_their_order", "red-kite-solutions/stalker#4")
class CountsNoTickets(Core):
    """All who wait have the same ticket."""

    def _enqueue(self, job: Job, urgency: Any, remaining: int) -> int:
        self._next_ticket = super()._enqueue(job, urgency, remaining)
        return self._next_ticket


@planted("every_live_job_has_exactly_one_place", "vllm-project/vllm#23347")
class RunsAndWaits(Core):
    """The heir keeps its place in the queue."""

    def _vacate(self, run: Running) -> Lease | None:
        queue = dict(self._queue)
        heir = super()._vacate(run)
        self._queue = queue
        return heir


@planted("no_slot_idles_while_a_job_waits", "openlava/openlava#86")
class HoldsOffAfterACancel(Core):
    """The slot of a cancelled job stays free, whoever waits."""

    def cancel(self, request_id: RequestId) -> Cancelled | Nothing:
        lease = self.lease_of(request_id)
        run = lease and self._run_of(lease)
        if not run:
            return super().cancel(request_id)
        self._leave(run)
        heappush(self._free, run.slot)
        return Cancelled(request_id)


@planted("what_was_admitted_stays_fixed", "teradata-labs/loom#376")
class AgesTheWaiting(Core):
    """Whenever a job ends, all who wait become as urgent as the most urgent of them."""

    def complete(self, lease: Lease) -> Ended | Stale:
        outcome = super().complete(lease)
        if isinstance(outcome, Ended) and self._queue:
            most = max(entry.urgency for entry in self._queue.values())
            self._queue = {name: entry._replace(urgency=most) for name, entry in self._queue.items()}
            self._index()
        return outcome


@planted("what_was_admitted_stays_fixed", "triton-inference-server/server#7116")
class LosesThePriority(Core):
    """A job that resumes has priority 0."""

    def _vacate(self, run: Running) -> Lease | None:
        heir = super()._vacate(run)
        resumed = heir and self._slots[heir.slot]
        if resumed:
            self._slots[resumed.slot] = resumed._replace(job=resumed.job._replace(priority=0))
        return heir
