"""Controllers that misunderstand on purpose what they are told."""

from __future__ import annotations

from dataclasses import replace

from impl.probe import Verdict
from impl.worker import Controller
from impl.worker_state import Command, Do, Phase, Snapshot, Why
from model.planted.bugs import wrong_controller


@wrong_controller("nothing_is_alive_in_cold", "mostlygeek/llama-swap#97")
class ColdAtTheExit(Controller):
    """The stop is taken for done when the process is gone."""

    def exited(self, generation: int) -> Command:
        command = super().exited(generation)
        if command.do is Do.STOP:
            self._set(phase=Phase.COLD, seen=Verdict.COLD)
        return command


@wrong_controller("a_crash_loses_no_job", "mostlygeek/llama-swap#19")
class DropsTheRunningJob(Controller):
    """A crash is taken for a reap, so that nobody restarts its jobs."""

    def exited(self, generation: int) -> Command:
        command = super().exited(generation)
        return replace(command, do=Do.REAP) if command.do is Do.STOP else command


@wrong_controller("work_is_in_flight_only_on_a_warm_worker", "mostlygeek/llama-swap#38")
class StopsInSilence(Controller):
    """Nobody is told of a crash."""

    def exited(self, generation: int) -> Command:
        command = super().exited(generation)
        return replace(command, do=Do.HOLD, why=Why.STOPPING) if command.do is Do.STOP else command


@wrong_controller("an_unknown_probe_alone_changes_nothing", "gonka-ai/gonka#1421, knative/serving#8610")
class CountsTimeOuts(Controller):
    """A time-out is a refusal."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        row = self._s.refusals
        command = super().probed(verdict, generation)
        if verdict is Verdict.UNKNOWN and command.why is Why.NOTED and self._s.phase is Phase.WARM:
            self._set(refusals=row + 1)
        return command


@wrong_controller("a_stop_ends_in_cold", "ollama/ollama#17408")
class Revives(Controller):
    """A worker told to stop that still answers is used again."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        command = super().probed(verdict, generation)
        if self._s.phase is Phase.STOPPING and verdict is Verdict.WARM and command.why is Why.NOTED:
            self._set(phase=Phase.WARM)
        return command


@wrong_controller("nothing_is_adopted_in_cold", "kedacore/http-add-on#887")
class AdoptsAStranger(Controller):
    """Whoever answers is our worker."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        command = super().probed(verdict, generation)
        if self._s.phase is Phase.COLD and verdict is Verdict.WARM and command.why is Why.NOTED:
            self._set(phase=Phase.WARM)
        return command


@wrong_controller("a_failed_start_backs_off_and_recovers", "ROCm/spur#431, mostlygeek/llama-swap#120")
class NeverForgives(Controller):
    """The back-off outlives the job that ended."""

    def job_ended(self, generation: int) -> Command:
        back_off = self._s.back_off
        command = super().job_ended(generation)
        self._set(back_off=back_off)
        return command


@wrong_controller("only_a_failure_moves_a_wanted_worker_back", "codalab/codalab-worksheets#2391")
class StartsOver(Controller):
    """A worker that refuses a connection is starting again."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        command = super().probed(verdict, generation)
        if verdict is Verdict.COLD and self._s.phase is Phase.WARM and self._s.refusals:
            self._set(phase=Phase.STARTING)
        return command


@wrong_controller("conformance", "ollama/ollama#17309")
class TakesLateExits(Controller):
    """The exit of an earlier worker stops the present one."""

    def exited(self, generation: int) -> Command:  # noqa: ARG002
        return super().exited(self._s.generation)


@wrong_controller("a_late_event_of_an_old_worker_changes_nothing", "ollama/ollama#17309")
class TakesLateReports(Controller):
    """A job that ended on an earlier worker shows that the present one is of use."""

    def job_ended(self, generation: int) -> Command:
        command = super().job_ended(generation)
        if command.why is Why.LATE:
            self._set(proven=True)
        return command


@wrong_controller("work_progresses_only_on_a_warm_worker", "kserve/kserve#2882")
class BelievesEarlyReports(Controller):
    """A worker that is not ready may work."""

    def progressed(self, generation: int) -> Command:
        command = super().progressed(generation)
        return replace(command, why=Why.NOTED) if command.why is Why.EARLY else command


@wrong_controller("work_is_in_flight_only_on_a_warm_worker", "kserve/kserve#2882")
class LoadsAnew(Controller):
    """A worker that is too busy to answer is taken to be loading again, with its jobs in flight."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        command = super().probed(verdict, generation)
        if verdict is Verdict.UNKNOWN and command.why is Why.NOTED and self._s.phase is Phase.WARM:
            self._set(phase=Phase.STARTING)
        return command


@wrong_controller("work_progresses_only_on_a_warm_worker", "mostlygeek/llama-swap#38")
class BelievesReportsOfTheStopped(Controller):
    """Work is booked on a worker that was told to stop."""

    def progressed(self, generation: int) -> Command:
        stopping = self._s.phase is Phase.STOPPING and generation == self._s.generation
        command = super().progressed(generation)
        return replace(command, why=Why.NOTED) if stopping else command


@wrong_controller("a_crash_loses_no_job", "ollama/ollama#17316, kedacore/http-add-on#1492")
class ForgetsTheJobsOfTheLost(Controller):
    """A worker that was lost is stopped as one that nobody wants."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        command = super().probed(verdict, generation)
        return replace(command, do=Do.REAP) if command.why is Why.LOST else command


@wrong_controller("a_stop_has_a_reason", "knative/serving#3759")
class HasNoPatience(Controller):
    """One refused connection is enough to stop the worker, whatever it has in flight."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        command = super().probed(verdict, generation)
        return self._fail(Why.LOST) if self._s.refusals == 1 else command


@wrong_controller("only_a_failure_moves_a_wanted_worker_back", "ollama/ollama#7408")
class AbandonsTheStart(Controller):
    """A start that does not answer yet is begun again."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        command = super().probed(verdict, generation)
        if verdict is Verdict.COLD and command.why is Why.NOTED and self._s.phase is Phase.STARTING:
            self._set(phase=Phase.COLD)
        return command


@wrong_controller("nothing_is_alive_in_cold", "ollama/ollama#10819")
class TakesLateConfirmations(Controller):
    """That an earlier worker is gone is taken for the end of the present stop."""

    def gone(self, generation: int, port: Verdict = Verdict.COLD) -> Command:
        return super().gone(self._s.generation if self._s.phase is Phase.STOPPING else generation, port)


@wrong_controller("the_reason_is_told", "ollama/ollama#4124")
class TellsNoStranger(Controller):
    """A port that a stranger has taken is reported as free."""

    def gone(self, generation: int, port: Verdict = Verdict.COLD) -> Command:
        command = super().gone(generation, port)
        return replace(command, why=Why.COLD) if command.why is Why.STRANGER else command


@wrong_controller("a_late_event_of_an_old_worker_changes_nothing", "ollama/ollama#10819, ollama/ollama#17309")
class TakesLateProbes(Controller):
    """What a probe found out of an earlier worker is held for the state of the present one."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        return super().probed(verdict, max(generation, self._s.generation))


@wrong_controller("a_restored_controller_goes_on", "kedacore/keda#5008")
class ForgetsWhenItWasIdle(Controller):
    """A controller that is restored takes the worker for one that was wanted just now."""

    @classmethod
    def restore(cls, snapshot: Snapshot) -> Controller:
        return super().restore(replace(snapshot, since=snapshot.now, touched=True))
