"""The executed specification answers as the shipped code does, on random histories with late and doubled events."""

from __future__ import annotations

from random import Random

import pytest

from impl.jobs import Job, Lease
from impl.probe import Verdict
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Phase, Settings
from model.conform.events import Admit, Cancel, Complete, Event, Progress, Restart, apply
from model.conform.worker_events import Event as LoopEvent
from model.conform.worker_events import Exited, Gone, JobEnded, Probed, Progressed, Tick
from model.conform.worker_events import apply as apply_to_loop
from model.scenarios.specified import Specified
from model.scenarios.worker_specified import SpecifiedController


def event(random: Random, leases: list[Lease]) -> Event:
    kind = random.choices(("admit", "complete", "progress", "cancel", "restart"), (6, 4, 3, 2, 1))[0]
    lease = random.choice(leases[-4:] or [Lease(0, "A", 0)])
    match kind:
        case "admit":
            return Admit(Job(random.choice("ABCDEFG"), random.choice((1, 5, 10)), random.choice((1, 5))))
        case "complete":
            return Complete(lease)
        case "progress":
            return Progress(lease, random.choice((0, 1, 2)))
        case "cancel":
            return Cancel(random.choice("ABCDEFG"))
    return Restart()


@pytest.mark.parametrize("seed", range(20))
def test_the_scheduler_is_as_specified(seed: int) -> None:
    random = Random(seed)
    slots, capacity = random.choice((1, 2, 3)), random.choice((0, 1, 2, 5))
    shipped, specified = Scheduler(slots, capacity=capacity), Specified(slots, capacity=capacity)
    leases: list[Lease] = []
    for _ in range(60):
        happens = event(random, leases)
        assert apply(shipped, happens) == apply(specified, happens), happens  # type: ignore[arg-type]
        assert shipped.snapshot() == specified.snapshot(), happens
        leases += (run.lease for run in shipped.snapshot().running if run and run.lease not in leases)
        if random.random() < 0.1:
            specified = Specified.restore(specified.snapshot())


def loop_event(random: Random, controller: Controller) -> LoopEvent:
    state = controller.snapshot()
    generation = max(0, state.generation - random.choice((0, 0, 0, 1)))
    kind = random.choices(("tick", "probe", "exit", "gone", "progress", "end"), (40, 35, 3, 8, 6, 4))[0]
    match kind:
        case "probe":
            truth = Verdict.COLD if state.phase is Phase.COLD else Verdict.WARM
            return Probed(random.choice((*Verdict, truth)), generation)
        case "exit":
            return Exited(generation)
        case "gone":
            return Gone(generation, random.choice((Verdict.COLD, *Verdict)))
        case "progress":
            return Progressed(generation)
        case "end":
            return JobEnded(generation)
    return Tick(state.now + random.choice((0, 1, 1, 2)), random.choice((0, 0, 1, 1, 2, None)))


@pytest.mark.parametrize("seed", range(20))
def test_the_controller_is_as_specified(seed: int) -> None:
    random = Random(seed)
    settings = Settings(random.choice((0, 1, 3)), 3, 2, 2, random.choice((0, 2)), 1, random.choice((1, 5)))
    shipped, specified = Controller(settings, 0), SpecifiedController(settings, 0)
    for _ in range(200):
        happens = loop_event(random, shipped)
        said, meant = apply_to_loop(shipped, happens), apply_to_loop(specified, happens)  # type: ignore[arg-type]
        assert said is not None
        assert meant is not None
        assert (said.do, said.generation, bool(said.alarm)) == (meant.do, meant.generation, bool(meant.alarm)), happens
        assert shipped.snapshot() == specified.snapshot(), happens
