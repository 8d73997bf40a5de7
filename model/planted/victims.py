"""Wrong in whom they preempt, when, and what becomes of the victim."""

from __future__ import annotations

from heapq import heappush
from typing import Any

from impl.core import Core
from impl.jobs import Job, Placed, Queued, Reason, Refused, Running
from model.planted.registry import Pieces, planted


@planted("no_live_job_vanishes", "sgl-project/sglang#37260")
class DropsTheVictim(Core):
    """A victim that finds the queue full is gone (nx_sched_qos.nx:66)."""

    def _enqueue(self, job: Job, urgency: Any, remaining: int) -> int:
        return super()._enqueue(job, urgency, remaining) if len(self._queue) < self.capacity else self._next_ticket


@planted("no_work_is_lost", "vllm-project/vllm-gaudi#1794")
class StartsTheVictimAllOver(Core):
    """A preempted job has all its work before it again."""

    def _enqueue(self, job: Job, urgency: Any, remaining: int) -> int:  # noqa: ARG002
        return super()._enqueue(job, urgency, job.work)


@planted("conformance", "vllm-project/vllm#56843")
class RequeuesAtTheHead(Core):
    """A preempted job waits ahead of the equals that waited before it."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        if isinstance(outcome, Placed) and outcome.preempted:
            name = outcome.preempted.request_id
            victim = self._queue.pop(name)
            first = min((entry.ticket for entry in self._queue.values()), default=victim.ticket)
            self._queue = {name: victim._replace(ticket=first - 1), **self._queue}
            self._index()
        return outcome


@planted("no_job_waits_behind_a_less_urgent_one", "vllm-project/vllm#40004")
class NeverPreempts(Pieces):
    """All slots are taken, so urgencies are not compared."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        if self.lives(job) or self._free:
            return super().admit(job, urgency)
        if len(self._queue) >= self.capacity:
            return Refused(Reason.FULL)
        return Queued(self._enqueue(job, urgency, job.work))


@planted("chat_never_waits_behind_an_image", "celery/celery#8967")
class ClampsThePriority(Core):
    """No job is more urgent than 9."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        return super().admit(job, urgency if isinstance(urgency, tuple) else min(urgency, 9))


@planted("only_strictly_less_urgent_work_is_preempted", "vllm-project/vllm#54530")
class PreemptsEquals(Pieces):
    """The test is `<=` where it should be `<`."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        if self.lives(job) or self._free or self._least_urgent_running().urgency != urgency:
            return super().admit(job, urgency)
        return self.preempt(self._least_urgent_running(), job, urgency)


@planted("the_least_urgent_running_job_is_the_victim", "kubernetes-sigs/kueue#840")
class BreaksTiesBackwards(Pieces):
    """Of equal victims the one in the highest slot yields."""

    def _least_urgent_running(self) -> Running:
        return min(self.runs(), key=lambda run: (run.urgency, -run.slot))


@planted("the_least_urgent_running_job_is_the_victim", "r-simmer/simmer#114")
class TakesTheFirstBelow(Pieces):
    """The first less urgent job that is met yields, though another is less urgent still."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        below = [run for run in self.runs() if run.urgency < urgency]
        if self.lives(job) or self._free or not below or len(self._queue) >= self.capacity + self.reserve:
            return super().admit(job, urgency)
        return self.preempt(below[0], job, urgency)


@planted("nothing_is_preempted_while_a_slot_is_free", "kubernetes/kubernetes#70622")
class PreemptsBesideAFreeSlot(Pieces):
    """Whoever is less urgent yields, needed or not."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        below = [run for run in self.runs() if run.urgency < urgency]
        if self.lives(job) or not self._free or not below:
            return super().admit(job, urgency)
        return self.preempt(below[0], job, urgency)


@planted("no_slot_idles_while_a_job_waits", "kubernetes-sigs/kueue#1974")
class EvictsAllBelow(Pieces):
    """All less urgent jobs yield where one would do."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        if isinstance(outcome, Placed) and outcome.preempted:
            for run in self.runs():
                if run.urgency < urgency and len(self._queue) < self.capacity + self.reserve:
                    self._leave(run)
                    self._enqueue(run.job, run.urgency, run.remaining)
                    heappush(self._free, run.slot)
        return outcome
