"""Wrong in what they take for the present run of a job, and in what the loss of the worker does to it."""

from __future__ import annotations

from impl.core import Core
from impl.jobs import Cancelled, Ended, Job, Lease, Nothing, Progressed, Refused, RequestId, Restarted, Running, Stale
from model.planted.registry import Pieces, planted


@planted("a_job_that_leaves_is_live_no_more", "Comfy-Org/ComfyUI#8308")
class CompletesWhateverRuns(Core):
    """A completion ends what is in the slot by now (nx_sched_qos.nx:98)."""

    def complete(self, lease: Lease) -> Ended | Stale:
        run = self._slots[lease.slot]
        return Stale() if run is None else Ended(lease.request_id, self._vacate(run))


@planted("a_stale_event_changes_nothing", "vllm-project/vllm#48245")
class BooksLateProgress(Core):
    """The progress of an earlier run is booked on the present one."""

    def progress(self, lease: Lease, steps: int) -> Progressed | Refused | Stale:
        present = self.lease_of(lease.request_id)
        outcome = super().progress(lease, steps)
        if present is not None and outcome == Stale():
            super().progress(present, steps)
        return outcome


@planted("no_work_is_lost", "r-simmer/simmer#67")
class ForgetsProgress(Core):
    """Progress is confirmed and not booked."""

    def progress(self, lease: Lease, steps: int) -> Progressed | Refused | Stale:
        run = self._run_of(lease)
        outcome = super().progress(lease, steps)
        self._slots[lease.slot] = run or self._slots[lease.slot]
        return outcome


@planted("no_work_is_lost", "r-simmer/simmer#187")
class WorksBelowZero(Core):
    """More steps are booked than remained."""

    def progress(self, lease: Lease, steps: int) -> Progressed | Refused | Stale:
        run = self._run_of(lease)
        if run is None or steps <= run.remaining:
            return super().progress(lease, steps)
        self._slots[run.slot] = run._replace(remaining=run.remaining - steps)
        return Progressed(run.remaining - steps)


@planted("a_cancel_touches_only_its_job", "Comfy-Org/ComfyUI#2566")
class CancelsWhateverRuns(Core):
    """To cancel is to stop what is in the first slot."""

    def cancel(self, request_id: RequestId) -> Cancelled | Nothing:
        run = self._slots[0]
        lives = request_id in self._queue or request_id in self._slot_of
        return Cancelled(request_id, self._vacate(run)) if lives and run else Nothing()


@planted("a_job_that_leaves_is_live_no_more", "vllm-project/vllm#14326")
class OnlyLogsTheCancel(Core):
    """A running job is reported cancelled and runs on."""

    def cancel(self, request_id: RequestId) -> Cancelled | Nothing:
        return Cancelled(request_id) if request_id in self._slot_of else super().cancel(request_id)


@planted("runs_are_never_reused", "ollama/ollama#17309")
class NumbersNoRuns(Core):
    """Every run has the same number."""

    def _start(self, slot: int, job: Job, urgency: object, remaining: int) -> Lease:
        self._next_run = 0
        return super()._start(slot, job, urgency, remaining)


@planted("a_run_that_starts_has_a_new_number", "ollama/ollama#10819, vllm-project/vllm#48245")
class NumbersRunsAnew(Core):
    """After a restart the runs are counted from 0 again."""

    def restart(self) -> Restarted:
        self._next_run = 0
        return super().restart()


@planted("conformance", "vllm-project/vllm#38624")
class KeepsTheLeases(Pieces):
    """The leases of the lost worker are as good as before."""

    def restart(self) -> Restarted:
        self._next_run += len(self._slots)
        return Restarted(tuple(run.lease for run in self.runs()))


@planted("no_work_is_lost", "vllm-project/vllm#16832")
class RestartsFromTheBeginning(Pieces):
    """With the worker goes all that it had done."""

    def restart(self) -> Restarted:
        for run in self.runs():
            self._slots[run.slot] = run._replace(remaining=run.job.work)
        return super().restart()


@planted("what_was_admitted_stays_fixed", "reframe-hpc/reframe#3608")
class LosesTheJobsOfTheWorker(Pieces):
    """Who ran on the lost worker counts as done."""

    def restart(self) -> Restarted:
        for run in self.runs():
            self._vacate(run)
        return super().restart()


@planted("the_live_jobs_only_shrink", "snakemake/snakemake-executor-plugin-slurm#109")
class RevivesTheEnded(Core):
    """After the loss of the worker the job that ended last is submitted once more."""

    _last: Running | None = None

    def complete(self, lease: Lease) -> Ended | Stale:
        self._last = self._run_of(lease) or self._last
        return super().complete(lease)

    def restart(self) -> Restarted:
        if self._last:
            self.admit(self._last.job, self._last.urgency)
        return super().restart()
