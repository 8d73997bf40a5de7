"""Wrong in whom they queue and whom they refuse."""

from __future__ import annotations

from typing import Any

from impl.core import Core
from impl.jobs import Ended, Job, Lease, Placed, Queued, Reason, Refused, RequestId, Stale
from model.planted.registry import Pieces, planted

FULL = Refused(Reason.FULL)


@planted("the_queue_stays_within_its_bound", "ollama/ollama#7758")
class QueuesOneTooMany(Core):
    """The test is `>` where it should be `>=`."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        if outcome == FULL and len(self._queue) == self.capacity:
            return Queued(self._enqueue(job, urgency, job.work))
        return outcome


@planted("conformance", "triton-inference-server/server#5783")
class QueuesOneTooFew(Pieces):
    """A job in hand-over is counted, though it holds no place."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        full = not self._free and len(self._queue) == self.capacity - 1
        if full and not self.lives(job) and not self._least_urgent_running().urgency < urgency:
            return FULL
        return super().admit(job, urgency)


@planted("conformance", "sgl-project/sglang#8746")
class IgnoresTheReserve(Pieces):
    """Where no newcomer may queue, no victim may either: the urgent newcomer is refused."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        full = not self._free and len(self._queue) >= self.capacity
        return FULL if full and not self.lives(job) else super().admit(job, urgency)


@planted("conformance", "Neroued/ninfer#137")
class DropsTheArrival(Core):
    """A refusal is reported as a place in the queue (nx_sched_qos.nx:93)."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        return Queued(self._next_ticket) if outcome == FULL else outcome


@planted("a_refusal_changes_nothing", "sgl-project/sglang#20182")
class TakesATicketFirst(Core):
    """The ticket is drawn before it is known that there is no place."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        self._next_ticket += outcome == FULL
        return outcome


@planted("conformance", "sgl-project/sglang#24070")
class RemembersTheEnded(Core):
    """An id that was used once stays in use."""

    def __init__(self, slots: int, capacity: int, reserve: int) -> None:
        super().__init__(slots, capacity, reserve)
        self._used: set[RequestId] = set()

    def complete(self, lease: Lease) -> Ended | Stale:
        self._used.add(lease.request_id)
        return super().complete(lease)

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        return Refused(Reason.LIVE) if job.request_id in self._used else super().admit(job, urgency)
