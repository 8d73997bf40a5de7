"""The checker of the loop: it accepts the shipped controller on random histories and finds each planted bug by name."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from impl.jobs import CHAT, IMAGE, Job
from impl.probe import Verdict
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Command, Do, Phase, Settings, Snapshot, Why
from model.conform.events import Admit, Complete, Progress, Restart
from model.conform.monitor import Violation
from model.conform.watch import Watch as SchedulerWatch
from model.conform.worker_events import Adopted, Event, Exited, Gone, JobEnded, Probed, Progressed, Tick
from model.conform.worker_monitor import ACTIONS, Monitor
from model.conform.worker_watch import Watch
from model.engines import worker as engines_worker
from model.planted.catalogue import BUGS
from model.planted.worker import AsksForADemandOfOne
from model.planted.worker_events import StopsInSilence
from spec import worker_claims

SEEDS = 30
MORE_SEEDS = 200
"""For a bug that some other claim may notice first; a history ends with the first."""


def test_the_shipped_controller_conforms_and_every_action_is_seen() -> None:
    taken: Counter[str] = Counter()
    for seed in range(SEEDS):
        taken += engines_worker.run(seed).actions
    assert set(taken) == set(ACTIONS), f"seeds 0 to {SEEDS - 1}"


# Planted bugs


__all__ = ["PLANTED", "AsksForADemandOfOne", "StopsInSilence"]
ELSEWHERE = {"LetsTimeGoBack", "TellsNoStranger", "ForgetsWhenItWasIdle"}
"""Planted bugs that these walks cannot show: they need bad input, a reason read, or a restored controller."""
PLANTED = {
    bug.code.controller: bug.property
    for bug in BUGS.values()
    if bug.target == "worker" and bug.code.controller.__name__ not in ELSEWHERE
}


def is_seen_to_break(make: type[Controller], claim: str) -> bool:
    """Some history ends with a step that breaks the claim."""
    for seed in range(MORE_SEEDS):
        try:
            engines_worker.run(seed, make=make)
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
