"""Controllers that decide wrongly on purpose."""

from __future__ import annotations

from dataclasses import replace

from impl.probe import Verdict
from impl.worker import Controller
from impl.worker_state import Command, Do, Phase, Why
from model.planted.bugs import wrong_controller


@wrong_controller("never_two_workers", "kedacore/keda#2488")
class SpawnsWhileStarting(Controller):
    """Each tick with demand starts a worker until one answers."""

    def tick(self, now: int, demand: int | None) -> Command:
        command = super().tick(now, demand)
        if command.why is Why.STARTING and demand:
            self._set(generation=self._s.generation + 1)
            return replace(command, do=Do.SPAWN, generation=self._s.generation)
        return command


@wrong_controller("conformance", "ollama/ollama#10819")
class StartsAgainUnderTheSameName(Controller):
    """A generation is used twice."""

    def tick(self, now: int, demand: int | None) -> Command:
        command = super().tick(now, demand)
        if command.do is Do.SPAWN and self._s.generation > 1:
            self._set(generation=self._s.generation - 1)
        return command


@wrong_controller("never_reap_while_busy", "kedacore/keda#6719, judoscale/judoscale-ruby#27")
class AsksForADemandOfOne(Controller):
    """A demand of 2 is none (nx_mesh_autoscale.nx:61)."""

    def tick(self, now: int, demand: int | None) -> Command:
        return super().tick(now, 0 if demand == 2 else demand)


@wrong_controller("no_decision_rests_on_an_unknown", "vllm-project/aibrix#2592")
class TakesUnknownForNone(Controller):
    """A demand that cannot be read is zero."""

    def tick(self, now: int, demand: int | None) -> Command:
        return super().tick(now, demand or 0)


@wrong_controller("never_spawn_unless_cold", "mostlygeek/llama-swap#670")
class SpawnsBesideAStranger(Controller):
    """A worker is started though the port is taken."""

    def _doubt(self, demand: int | None) -> Why | None:
        doubt = super()._doubt(demand)
        return None if doubt is Why.STRANGER and demand is not None else doubt


@wrong_controller("the_idle_clock_starts_when_demand_ends", "mostlygeek/llama-swap#25")
class CountsIdleFromTheRequest(Controller):
    """The last use is stamped when a request comes, not when it ends."""

    def tick(self, now: int, demand: int | None) -> Command:
        since, touched = self._s.since, self._s.touched
        command = super().tick(now, demand)
        if command.do is Do.SERVE and not touched:
            self._set(since=since)
        return command


@wrong_controller("an_idle_worker_is_reaped_within_ttl_plus_one_tick", "vmorganp/Lazytainer#35")
class ReapsOneTickLate(Controller):
    """`>` for `>=`."""

    def _decide(self, demand: int | None) -> Command:
        s = self._s
        if s.phase is Phase.WARM and demand == 0 and s.now - s.since == s.settings.ttl and self._doubt(0) is None:
            return self._hold(Why.UNWANTED)
        return super()._decide(demand)


@wrong_controller("a_stop_has_a_reason", "knative/serving#2386")
class ReapsAStart(Controller):
    """The idle clock runs while the worker is starting."""

    def _decide(self, demand: int | None) -> Command:
        s = self._s
        if s.phase is Phase.STARTING and demand == 0 and s.now - s.since < s.settings.start_budget:
            return self._stop(Do.STOP, Why.SLOW)
        return super()._decide(demand)


@wrong_controller("a_failed_start_backs_off_and_recovers", "mostlygeek/llama-swap#92")
class NeverBacksOff(Controller):
    """A failed start is tried again at once."""

    def _doubt(self, demand: int | None) -> Why | None:
        doubt = super()._doubt(demand)
        return None if doubt is Why.BACKING_OFF else doubt


@wrong_controller("the_back_off_stays_within_its_bounds", "mostlygeek/llama-swap#120")
class BacksOffForEver(Controller):
    """The back-off has no longest."""

    def _fail(self, why: Why) -> Command:
        back_off = self._s.back_off
        command = super()._fail(why)
        if self._s.back_off == self._s.settings.longest_back_off:
            self._set(back_off=2 * back_off or 1)
        return command


@wrong_controller("a_lost_worker_backs_off_unless_it_was_of_use", "mostlygeek/llama-swap#92")
class ForgivesTheLost(Controller):
    """Only a failed start backs off, a worker lost before it was of use does not."""

    def _fail(self, why: Why) -> Command:
        back_off, warm = self._s.back_off, self._s.phase is Phase.WARM
        command = super()._fail(why)
        if warm:
            self._set(back_off=back_off)
        return command


@wrong_controller("trouble_raises_an_alarm", "ollama/ollama#17408, cloudspannerecosystem/autoscaler#355")
class Silent(Controller):
    """Nobody is told of trouble."""

    def _alarm(self, demand: int | None) -> str | None:  # noqa: ARG002
        return None


@wrong_controller("conformance", "gonka-ai/gonka#1421")
class Alarmist(Controller):
    """An idle worker is trouble."""

    def _alarm(self, demand: int | None) -> str | None:
        return super()._alarm(demand) or "idle"


@wrong_controller("conformance", "ollama/ollama#10819")
class NamesTheNext(Controller):
    """A stop names the worker that is to come."""

    def _stop(self, do: Do, why: Why) -> Command:
        command = super()._stop(do, why)
        return replace(command, generation=command.generation + 1)


@wrong_controller("never_spawn_unless_cold", "knative/serving#4344, ray-project/ray#61731")
class SpawnsForEachWhoWaits(Controller):
    """A second job that waits for the start causes another one."""

    def _decide(self, demand: int | None) -> Command:
        if self._s.phase is Phase.STARTING and demand == 2 and self._doubt(demand) is None:
            self._set(generation=self._s.generation + 1)
            return self._command(Do.SPAWN, Why.WANTED)
        return super()._decide(demand)


@wrong_controller("never_spawn_unless_cold", "ollama/ollama#6148")
class ReloadsTheWarm(Controller):
    """A warm worker is loaded anew for the next job."""

    def _decide(self, demand: int | None) -> Command:
        command = super()._decide(demand)
        if command.do is Do.SERVE and demand == 2:
            self._set(phase=Phase.STARTING, generation=self._s.generation + 1, since=self._s.now)
            return self._command(Do.SPAWN, Why.WANTED)
        return command


@wrong_controller("never_reap_while_busy", "mostlygeek/llama-swap#588")
class SwapsAfterEachImage(Controller):
    """The worker is stopped as soon as a job ended, whoever waits."""

    _ended = False

    def job_ended(self, generation: int) -> Command:
        command = super().job_ended(generation)
        self._ended = command.why is Why.NOTED
        return command

    def _decide(self, demand: int | None) -> Command:
        ended, self._ended = self._ended, False
        warm = self._s.phase is Phase.WARM
        return self._stop(Do.REAP, Why.IDLE) if ended and warm and demand else super()._decide(demand)


@wrong_controller("the_idle_clock_starts_when_demand_ends", "kedacore/keda#5008, knative/serving#6780")
class CountsIdleWhileBlind(Controller):
    """A tick that does not know the demand lets the idle clock run."""

    def tick(self, now: int, demand: int | None) -> Command:
        since, touched, warm = self._s.since, self._s.touched, self._s.phase is Phase.WARM
        command = super().tick(now, demand)
        if demand is None and warm and not touched and self._s.phase is Phase.WARM:
            self._set(since=since)
        return command


@wrong_controller("a_stop_has_a_reason", "mostlygeek/llama-swap#289")
class CutsTheStartAtTheTtl(Controller):
    """The ttl ends a start as well."""

    def _decide(self, demand: int | None) -> Command:
        s = self._s
        if s.phase is Phase.STARTING and s.settings.ttl <= s.now - s.since < s.settings.start_budget:
            return self._fail(Why.SLOW)
        return super()._decide(demand)


@wrong_controller("work_is_in_flight_only_on_a_warm_worker", "ollama/ollama#17408, vllm-project/vllm#39863")
class ReplacesTheFrozenInSilence(Controller):
    """Nobody is told to restart the jobs of a worker that hangs."""

    def _decide(self, demand: int | None) -> Command:
        command = super()._decide(demand)
        return replace(command, do=Do.HOLD, why=Why.STOPPING) if command.why is Why.HUNG else command


@wrong_controller("the_idle_clock_starts_when_demand_ends", "knative/serving#2386, knative/serving#6780")
class CountsIdleFromTheStart(Controller):
    """The time that the start took counts as idle."""

    def tick(self, now: int, demand: int | None) -> Command:
        since, touched = self._s.since, self._s.touched
        command = super().tick(now, demand)
        if command.why is Why.UNWANTED and self._s.phase is Phase.WARM and touched and not self._s.proven:
            self._set(since=since)
        return command


@wrong_controller("the_idle_clock_starts_when_demand_ends", "libsql/sqld#516, ggml-org/llama.cpp#20227")
class CountsProbesAsUse(Controller):
    """Whoever is asked how it is counts as used."""

    _asked = False

    def probed(self, verdict: Verdict, generation: int) -> Command:
        self._asked = verdict is Verdict.WARM
        return super().probed(verdict, generation)

    def tick(self, now: int, demand: int | None) -> Command:
        command = super().tick(now, demand)
        if self._asked and command.why is Why.UNWANTED and self._s.phase is Phase.WARM:
            self._set(since=now)
        self._asked = False
        return command


@wrong_controller("bad_input_changes_nothing", "oxidezap/whatsapp-rust#1379")
class LetsTimeGoBack(Controller):
    """A clock that jumps is taken as it comes."""

    def tick(self, now: int, demand: int | None) -> Command:
        return super().tick(max(now, self._s.now), demand)
