"""Wrong in what one pass over the jobs compares, skips or leaves behind."""

from __future__ import annotations

from collections import Counter
from heapq import heappush
from typing import Any

from impl import scheduler
from impl.core import Core
from impl.jobs import Ended, Job, Lease, Placed, Queued, Reason, Refused, RequestId, Running, Stale
from model.planted.bugs import wrong_core, wrong_piece
from model.planted.registry import Pieces


@wrong_core("every_live_job_has_exactly_one_place", "volcano-sh/volcano#5011")
class QueuesWhatItPlaces(Core):
    """Who preempts is queued as well, lest the placement fails."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        if isinstance(outcome, Placed) and outcome.preempted:
            self._enqueue(job, urgency, job.work)
        return outcome


@wrong_core("no_work_is_lost", "vllm-project/vllm#16832")
class BooksTheBrokenStep(Core):
    """The step in which a job was preempted counts as served."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        if isinstance(outcome, Placed) and outcome.preempted:
            name = outcome.preempted.request_id
            victim = self._queue[name]
            self._queue[name] = victim._replace(remaining=max(0, victim.remaining - 1))
        return outcome


@wrong_core("no_job_waits_behind_a_less_urgent_one", "kubernetes-sigs/kueue#1866")
class PreemptsWithAnEmptyQueueAlone(Pieces):
    """Whoever waits in front keeps the next from preempting."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        if self.lives(job) or self._free or not self._queue:
            return super().admit(job, urgency)
        if len(self._queue) >= self.capacity:
            return Refused(Reason.FULL)
        return Queued(self._enqueue(job, urgency, job.work))


@wrong_core("no_job_waits_behind_a_less_urgent_one", "SchedMD/slurm#216")
class PreemptsNobodyTwice(Pieces):
    """The mark of a preemption survives it, so that the job can never be preempted again."""

    def __init__(self, slots: int, capacity: int, reserve: int) -> None:
        super().__init__(slots, capacity, reserve)
        self._marked: set[RequestId] = set()

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        marked = bool(self.runs()) and self._least_urgent_running().job.request_id in self._marked
        if marked and not self.lives(job) and not self._free and len(self._queue) < self.capacity:
            return Queued(self._enqueue(job, urgency, job.work))
        outcome = super().admit(job, urgency)
        if isinstance(outcome, Placed) and outcome.preempted:
            self._marked.add(outcome.preempted.request_id)
        return outcome


@wrong_core("chat_never_waits_behind_an_image", "vllm-project/vllm#45561, sgl-project/sglang#14872")
class LooksAtTheLatestAlone(Pieces):
    """Only the job that was started last may be preempted."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        if self.lives(job) or self._free or len(self._queue) >= self.capacity:
            return super().admit(job, urgency)
        latest = max(self.runs(), key=lambda run: run.run)
        if latest.urgency < urgency:
            return self.preempt(latest, job, urgency)
        return Queued(self._enqueue(job, urgency, job.work))


@wrong_core("no_slot_idles_while_a_job_waits", "kubernetes/kubernetes#106780")
class KeepsTheReservation(Core):
    """A slot stays reserved for jobs as urgent as the one that ended, though none of them waits."""

    def complete(self, lease: Lease) -> Ended | Stale:
        run = self._run_of(lease)
        if run is None or any(entry.urgency >= run.urgency for entry in self._queue.values()):
            return super().complete(lease)
        self._leave(run)
        heappush(self._free, run.slot)
        return Ended(lease.request_id)


@wrong_core("no_live_job_vanishes", "ROCm/spur#431")
class GivesUpOnTheOftenPreempted(Core):
    """Preemptions are counted as failures, and after the second the job is dropped."""

    def __init__(self, slots: int, capacity: int, reserve: int) -> None:
        super().__init__(slots, capacity, reserve)
        self._failures: Counter[RequestId] = Counter()

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        if isinstance(outcome, Placed) and outcome.preempted:
            name = outcome.preempted.request_id
            self._failures[name] += 1
            if self._failures[name] == 2:
                del self._queue[name]
        return outcome


@wrong_core("no_live_job_vanishes", "Neroued/ninfer#137")
class DropsTheOldest(Core):
    """A full queue makes room for the newcomer, and nobody is told."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        if outcome != Refused(Reason.FULL) or not self._queue:
            return outcome
        del self._queue[next(iter(self._queue))]
        return super().admit(job, urgency)


@wrong_core("the_earliest_of_the_most_urgent_inherits", "kubernetes/kubernetes#55933, openpbs/openpbs#1183")
class ResumesTheLeastUrgentFirst(Pieces):
    """The room that was freed for an urgent job is taken by a less urgent one that had been there before."""

    def _vacate(self, run: Running) -> Lease | None:
        begun = [entry for entry in self._queue.values() if entry.remaining < entry.job.work]
        if not begun:
            return super()._vacate(run)
        return self.hand_over(run, min(begun, key=lambda entry: (entry.urgency, entry.ticket)))


@wrong_core("what_was_admitted_stays_fixed", "BerriAI/litellm#14817")
class ReturnsAsWhoCame(Core):
    """A preempted job is stored with the urgency of the job that preempted it."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        if isinstance(outcome, Placed) and outcome.preempted:
            name = outcome.preempted.request_id
            self._queue[name] = self._queue[name]._replace(urgency=urgency)
            self._index()
        return outcome


@wrong_core("a_refusal_changes_nothing", "volcano-sh/volcano#5022, ollama/ollama#4124")
class EvictsBeforeItRefuses(Pieces):
    """The victim is out before it is known that it has nowhere to go, and is started anew."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        if outcome == Refused(Reason.FULL) and self._least_urgent_running().urgency < urgency:
            victim = self._least_urgent_running()
            self._leave(victim)
            self._start(victim.slot, victim.job, victim.urgency, victim.remaining)
        return outcome


@wrong_core("memory_follows_the_live_jobs", "jundot/omlx#785")
class ForgetsNothing(Core):
    """What is over stays in the index, dead copies of every job among it."""

    def _compact(self) -> None:
        return


@wrong_core("an_event_costs_little", "vllm-project/vllm#20608")
class SortsAtEveryEvent(Core):
    """The order is made anew whenever a job leaves."""

    def _compact(self) -> None:
        self._index()


@wrong_piece("scheduler", scheduler, "check_job", "bad_input_changes_nothing", "celery/celery#8967")
def takes_whatever_comes(job: Any) -> Any:
    """A priority may be anything, and work nothing."""
    return job
