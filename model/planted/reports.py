"""Right in what they do, wrong in what they say."""

from __future__ import annotations

from typing import Any

from impl.core import Core
from impl.jobs import Ended, Job, Lease, Placed, Progressed, Queued, Refused, Snapshot, Stale
from model.planted.registry import Pieces, planted


@planted("every_live_job_has_exactly_one_place", "triton-inference-server/server#6796")
class MiscountsTheWaiting(Core):
    """The number of those who wait counts those who run."""

    def snapshot(self) -> Snapshot:
        return super().snapshot()._replace(waiting=len(self._queue) + len(self._slot_of))


@planted("conformance", "kubernetes/kubernetes#72124")
class LeasesTheNextRun(Core):
    """The newcomer gets the lease of a run that is still to come."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        if isinstance(outcome, Placed):
            return outcome._replace(lease=outcome.lease._replace(run=self._next_run))
        return outcome


@planted("conformance", "vllm-project/vllm#49097")
class LeasesAnotherJob(Pieces):
    """The newcomer gets the lease of the job in the last slot."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        return outcome._replace(lease=self.runs()[-1].lease) if isinstance(outcome, Placed) else outcome


@planted("conformance", "vllm-project/vllm#53130")
class HidesTheHeir(Core):
    """Nobody is told that the heir runs."""

    def complete(self, lease: Lease) -> Ended | Stale:
        outcome = super().complete(lease)
        return outcome._replace(heir=None) if isinstance(outcome, Ended) else outcome


@planted("conformance", "kubernetes-sigs/kueue#8065")
class MisreportsWhatRemains(Core):
    """The answer to progress is what remained before it."""

    def progress(self, lease: Lease, steps: int) -> Progressed | Refused | Stale:
        outcome = super().progress(lease, steps)
        return Progressed(outcome.remaining + steps) if isinstance(outcome, Progressed) else outcome
