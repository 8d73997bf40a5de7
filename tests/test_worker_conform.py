"""The checker of the loop: it accepts the shipped controller on random histories and finds each planted bug by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from impl.jobs import CHAT, IMAGE, Job
from impl.probe import Verdict
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Command, Do, Phase, Settings, Snapshot, Why
from model.conform import Violation
from model.events import Admit, Complete, Progress, Restart
from model.watch import Watch as SchedulerWatch
from model.worker_conform import ACTIONS, Monitor
from model.worker_events import Adopted, Event, Exited, Gone, JobEnded, Probed, Progressed, Tick
from model.worker_watch import Watch
from spec import worker_claims

SEEDS = 30
MORE_SEEDS = 200
"""For a bug that some other claim may notice first; a history ends with the first."""


def history(watch: Watch, seed: int, length: int) -> Iterator[Event]:
    """Events at random: late, doubled, out of order, with probes that lie. Each is drawn when the last was met."""
    random = Random(seed)
    now = 0
    for _ in range(length):
        snapshot = watch.controller.snapshot()
        generation = max(0, snapshot.generation - random.choice((0, 0, 0, 0, 0, 1, 2)))
        kind = random.choices(("tick", "probe", "exit", "gone", "progress", "end", "adopt"), (40, 35, 3, 8, 6, 4, 1))[0]
        match kind:
            case "tick":
                now += random.choice((0, 1, 1, 1, 2))
                yield Tick(now, random.choice((0, 0, 1, 1, 2, None)))
            case "probe":
                cold = snapshot.phase is Phase.COLD
                yield Probed(random.choice((*Verdict, Verdict.COLD if cold else Verdict.WARM)), generation)
            case "exit":
                yield Exited(generation)
            case "gone":
                yield Gone(generation, random.choice((Verdict.COLD, *Verdict)))
            case "progress":
                yield Progressed(generation)
            case "end":
                yield JobEnded(generation)
            case "adopt":
                living = bool(watch.state.alive[snapshot.generation]) and random.random() < 0.5
                yield Adopted(snapshot.generation, living, snapshot.phase is Phase.STOPPING)


def settings(seed: int) -> Settings:
    random = Random(seed)
    return Settings(
        ttl=random.choice((0, 1, 3)),
        start_budget=random.choice((2, 5)),
        patience=random.choice((1, 2, 3)),
        alarm_after=random.choice((1, 3)),
        hang_budget=random.choice((0, 2)),
        longest_back_off=random.choice((1, 2, 5)),
    )


def run(seed: int, length: int = 200, make: type[Controller] = Controller) -> Watch:
    """One watched history; Violation if a step is wrong."""
    watch = Watch(settings(seed), make=make)
    for event in history(watch, seed, length):
        watch.meet(event)
    return watch


def test_the_shipped_controller_conforms_and_every_action_is_seen() -> None:
    taken: Counter[str] = Counter()
    for seed in range(SEEDS):
        taken += run(seed).actions
    assert set(taken) == set(ACTIONS), f"seeds 0 to {SEEDS - 1}"


# Planted bugs


class SpawnsWhileStarting(Controller):
    """Each tick with demand starts a worker until one answers (kedacore/keda#2488)."""

    def tick(self, now: int, demand: int | None) -> Command:
        command = super().tick(now, demand)
        if command.why is Why.STARTING and demand:
            self._set(generation=self._s.generation + 1)
            return replace(command, do=Do.SPAWN, generation=self._s.generation)
        return command


class StartsAgainUnderTheSameName(Controller):
    """A generation is used twice (ollama/ollama#10819)."""

    def tick(self, now: int, demand: int | None) -> Command:
        command = super().tick(now, demand)
        if command.do is Do.SPAWN and self._s.generation > 1:
            self._set(generation=self._s.generation - 1)
        return command


class ColdAtTheExit(Controller):
    """The stop is taken for done when the process is gone (mostlygeek/llama-swap#97)."""

    def exited(self, generation: int) -> Command:
        command = super().exited(generation)
        if command.do is Do.STOP:
            self._set(phase=Phase.COLD, seen=Verdict.COLD)
        return command


class AsksForADemandOfOne(Controller):
    """A demand of 2 is none (nx_mesh_autoscale.nx:61)."""

    def tick(self, now: int, demand: int | None) -> Command:
        return super().tick(now, 0 if demand == 2 else demand)


class TakesUnknownForNone(Controller):
    """A demand that cannot be read is zero (vllm-project/aibrix#2592)."""

    def tick(self, now: int, demand: int | None) -> Command:
        return super().tick(now, demand or 0)


class DropsTheRunningJob(Controller):
    """A crash is taken for a reap, so that nobody restarts its jobs (mostlygeek/llama-swap#19)."""

    def exited(self, generation: int) -> Command:
        command = super().exited(generation)
        return replace(command, do=Do.REAP) if command.do is Do.STOP else command


class StopsInSilence(Controller):
    """Nobody is told of a crash (mostlygeek/llama-swap#38)."""

    def exited(self, generation: int) -> Command:
        command = super().exited(generation)
        return replace(command, do=Do.HOLD, why=Why.STOPPING) if command.do is Do.STOP else command


class SpawnsBesideAStranger(Controller):
    """A worker is started though the port is taken."""

    def _doubt(self, demand: int | None) -> Why | None:
        doubt = super()._doubt(demand)
        return None if doubt is Why.STRANGER and demand is not None else doubt


class CountsTimeOuts(Controller):
    """A time-out is a refusal."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        row = self._s.refusals
        command = super().probed(verdict, generation)
        if verdict is Verdict.UNKNOWN and command.why is Why.NOTED and self._s.phase is Phase.WARM:
            self._set(refusals=row + 1)
        return command


class Revives(Controller):
    """A worker told to stop that still answers is used again (ollama/ollama#17408)."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        command = super().probed(verdict, generation)
        if self._s.phase is Phase.STOPPING and verdict is Verdict.WARM and command.why is Why.NOTED:
            self._set(phase=Phase.WARM)
        return command


class AdoptsAStranger(Controller):
    """Whoever answers is our worker (kedacore/http-add-on#887)."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        command = super().probed(verdict, generation)
        if self._s.phase is Phase.COLD and verdict is Verdict.WARM and command.why is Why.NOTED:
            self._set(phase=Phase.WARM)
        return command


class CountsIdleFromTheRequest(Controller):
    """The last use is stamped when a request comes, not when it ends (mostlygeek/llama-swap#25)."""

    def tick(self, now: int, demand: int | None) -> Command:
        since, touched = self._s.since, self._s.touched
        command = super().tick(now, demand)
        if command.do is Do.SERVE and not touched:
            self._set(since=since)
        return command


class ReapsOneTickLate(Controller):
    """`>` for `>=`."""

    def _decide(self, demand: int | None) -> Command:
        s = self._s
        if s.phase is Phase.WARM and demand == 0 and s.now - s.since == s.settings.ttl and self._doubt(0) is None:
            return self._hold(Why.UNWANTED)
        return super()._decide(demand)


class ReapsAStart(Controller):
    """The idle clock runs while the worker is starting (knative/serving#2386)."""

    def _decide(self, demand: int | None) -> Command:
        s = self._s
        if s.phase is Phase.STARTING and demand == 0 and s.now - s.since < s.settings.start_budget:
            return self._stop(Do.STOP, Why.SLOW)
        return super()._decide(demand)


class NeverForgives(Controller):
    """The back-off outlives the job that ended."""

    def job_ended(self, generation: int) -> Command:
        back_off = self._s.back_off
        command = super().job_ended(generation)
        self._set(back_off=back_off)
        return command


class NeverBacksOff(Controller):
    """A failed start is tried again at once (mostlygeek/llama-swap#92)."""

    def _doubt(self, demand: int | None) -> Why | None:
        doubt = super()._doubt(demand)
        return None if doubt is Why.BACKING_OFF else doubt


class BacksOffForEver(Controller):
    """The back-off has no longest (mostlygeek/llama-swap#120)."""

    def _fail(self, why: Why) -> Command:
        back_off = self._s.back_off
        command = super()._fail(why)
        if self._s.back_off == self._s.settings.longest_back_off:
            self._set(back_off=2 * back_off or 1)
        return command


class ForgivesTheLost(Controller):
    """Only a failed start backs off, a worker lost before it was of use does not."""

    def _fail(self, why: Why) -> Command:
        back_off, warm = self._s.back_off, self._s.phase is Phase.WARM
        command = super()._fail(why)
        if warm:
            self._set(back_off=back_off)
        return command


class StartsOver(Controller):
    """A worker that refuses a connection is starting again (codalab/codalab-worksheets#2391)."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        command = super().probed(verdict, generation)
        if verdict is Verdict.COLD and self._s.phase is Phase.WARM and self._s.refusals:
            self._set(phase=Phase.STARTING)
        return command


class TakesLateExits(Controller):
    """The exit of an earlier worker stops the present one (ollama/ollama#17309)."""

    def exited(self, generation: int) -> Command:
        return super().exited(self._s.generation)


class TakesLateReports(Controller):
    """A job that ended on an earlier worker shows that the present one is of use."""

    def job_ended(self, generation: int) -> Command:
        command = super().job_ended(generation)
        if command.why is Why.LATE:
            self._set(proven=True)
        return command


class BelievesEarlyReports(Controller):
    """A worker that is not ready may work (kserve/kserve#2882)."""

    def progressed(self, generation: int) -> Command:
        command = super().progressed(generation)
        return replace(command, why=Why.NOTED) if command.why is Why.EARLY else command


class Silent(Controller):
    """Nobody is told of trouble."""

    def _alarm(self, demand: int | None) -> str | None:
        return None


class Alarmist(Controller):
    """An idle worker is trouble."""

    def _alarm(self, demand: int | None) -> str | None:
        return super()._alarm(demand) or "idle"


class NamesTheNext(Controller):
    """A stop names the worker that is to come."""

    def _stop(self, do: Do, why: Why) -> Command:
        command = super()._stop(do, why)
        return replace(command, generation=command.generation + 1)


PLANTED: dict[type[Controller], str] = {
    SpawnsWhileStarting: "never_two_workers",
    StartsAgainUnderTheSameName: "conformance",
    ColdAtTheExit: "nothing_is_alive_in_cold",
    AsksForADemandOfOne: "never_reap_while_busy",
    TakesUnknownForNone: "no_decision_rests_on_an_unknown",
    DropsTheRunningJob: "a_crash_loses_no_job",
    StopsInSilence: "work_is_in_flight_only_on_a_warm_worker",
    SpawnsBesideAStranger: "never_spawn_unless_cold",
    CountsTimeOuts: "an_unknown_probe_alone_changes_nothing",
    Revives: "a_stop_ends_in_cold",
    AdoptsAStranger: "nothing_is_adopted_in_cold",
    CountsIdleFromTheRequest: "the_idle_clock_starts_when_demand_ends",
    ReapsOneTickLate: "an_idle_worker_is_reaped_within_ttl_plus_one_tick",
    ReapsAStart: "a_stop_has_a_reason",
    NeverForgives: "a_failed_start_backs_off_and_recovers",
    NeverBacksOff: "a_failed_start_backs_off_and_recovers",
    BacksOffForEver: "the_back_off_stays_within_its_bounds",
    ForgivesTheLost: "a_lost_worker_backs_off_unless_it_was_of_use",
    StartsOver: "only_a_failure_moves_a_wanted_worker_back",
    TakesLateExits: "conformance",
    TakesLateReports: "a_late_event_of_an_old_worker_changes_nothing",
    BelievesEarlyReports: "work_progresses_only_on_a_warm_worker",
    Silent: "trouble_raises_an_alarm",
    Alarmist: "conformance",
    NamesTheNext: "conformance",
}


def is_seen_to_break(make: type[Controller], claim: str) -> bool:
    """Some history ends with a step that breaks the claim."""
    for seed in range(MORE_SEEDS):
        try:
            run(seed, make=make)
        except Violation as violation:
            if claim in violation.claims:
                return True
    return False


@pytest.mark.parametrize("make", PLANTED, ids=lambda make: make.__name__)
def test_a_planted_bug_is_found_by_name(make: type[Controller]) -> None:
    assert is_seen_to_break(make, PLANTED[make]), f"seeds 0 to {MORE_SEEDS - 1}"


def test_every_claim_but_that_on_the_checkers_own_books_is_put_to_the_test() -> None:
    claims = {each.name for each in worker_claims.ALWAYS + worker_claims.STEPS}
    assert claims - set(PLANTED.values()) == {"what_was_served_and_what_remains_are_the_work"}


# What the checker is told


def test_no_answer_of_another_kind_is_taken() -> None:
    watch = Watch(Settings(5))
    monitor = Monitor(watch.controller.snapshot())
    spawned = Command(Do.SPAWN, Why.WANTED, 0)
    with pytest.raises(Violation, match="no answer"):
        monitor.judge(Probed(Verdict.WARM, 0), spawned, watch.controller.snapshot())
    with pytest.raises(Violation, match="adopted as living"):
        monitor.judge(Adopted(0, living=True, stopping=False), None, watch.controller.snapshot())


def test_a_setting_that_changes_on_the_way_is_seen() -> None:
    controller = Controller(Settings(5), 0)
    monitor = Monitor(controller.snapshot())
    command = controller.probed(Verdict.COLD, 0)
    with pytest.raises(Violation, match="ttl is 6, expected 5"):
        monitor.judge(Probed(Verdict.COLD, 0), command, replace(controller.snapshot(), settings=Settings(6)))


def test_a_checker_may_begin_in_mid_life() -> None:
    warm = replace(Controller(Settings(5), 0).snapshot(), phase=Phase.WARM, generation=3, seen=Verdict.WARM)
    assert bool(Monitor(warm).state.alive[3])
    impossible: Snapshot = replace(warm, back_off=99)
    with pytest.raises(Violation, match="the_back_off_stays_within_its_bounds"):
        Monitor(impossible)


# Joined with the scheduler


class World:
    """Both shipped machines under observation, a worker that crashes, freezes and starts slowly, and its jobs."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.scheduler = Scheduler(slots=2)
        self.jobs = SchedulerWatch(self.scheduler)
        self.loop = Watch(Settings(ttl=3, start_budget=6, alarm_after=4, hang_budget=8, longest_back_off=4))
        self.live: dict[str, int] = {}
        self.done: list[str] = []
        self.crashes = 0
        self.ready_at: int | None = None
        self.dies_at: int | None = None
        self.serving = False

    def tell(self, event: Event) -> None:
        command = self.loop.meet(event)
        assert command is not None
        self.serving = command.do is Do.SERVE
        if command.do is Do.SPAWN:
            self.ready_at = self.now + self.random.randint(0, 8)
            self.dies_at = self.now + self.random.randint(1, 30)
        if command.do is Do.STOP:
            self.jobs.meet(Restart())
            self.crashes += 1
        if command.do in (Do.STOP, Do.REAP):
            self.ready_at = None

    def second(self, now: int, *, arrivals: bool, faults: bool) -> None:
        self.now = now
        generation = self.loop.controller.snapshot().generation
        if arrivals and self.random.random() < 0.15:
            job = Job(f"{now}", self.random.choice((CHAT, IMAGE)), self.random.randint(1, 6))
            self.jobs.meet(Admit(job))
            self.live[f"{now}"] = job.work
        if self.serving:
            self.work(generation)
        if faults and self.dies_at == now:
            self.tell(Exited(generation))
        if self.loop.controller.snapshot().phase is Phase.STOPPING and self.random.random() < 0.5:
            self.tell(Gone(generation))
        verdict = Verdict.COLD if self.ready_at is None else Verdict.WARM if self.ready_at <= now else Verdict.UNKNOWN
        lies = faults and self.random.random() < 0.05
        self.tell(Probed(self.random.choice(list(Verdict)) if lies else verdict, generation))
        self.tell(Tick(now, len(self.live)))

    def work(self, generation: int) -> None:
        for run in self.scheduler.snapshot().running:
            if run is None or self.random.random() < 0.3:
                continue
            name = str(run.job.request_id)
            self.live[name] -= 1
            self.jobs.meet(Progress(run.lease, 1))
            self.tell(Progressed(generation))
            if self.live[name] == 0:
                self.jobs.meet(Complete(run.lease))
                self.tell(JobEnded(generation))
                del self.live[name]
                self.done.append(name)


@pytest.mark.parametrize("seed", range(3))
def test_no_work_is_lost_across_the_deaths_of_workers(seed: int) -> None:
    world = World(seed)
    for now in range(400):
        world.second(now, arrivals=True, faults=True)
    admitted = world.jobs.actions["place"] + world.jobs.actions["preempt"] + world.jobs.actions["enqueue"]
    for now in range(400, 600):
        world.second(now, arrivals=False, faults=False)
    assert world.live == {}
    assert len(set(world.done)) == len(world.done) == admitted
    assert world.crashes >= 5
    assert world.loop.actions["spawn"] > world.crashes
    assert world.loop.controller.snapshot().phase is Phase.COLD, "and at rest nothing runs"
