"""The checkers notice: whatever action a step was, the same step with one value of the state after altered is refused.

A checker that skipped an action would let all its steps pass, and no history of the shipped code would show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from impl.jobs import CHAT, IMAGE, Job, Lease, Outcome, Snapshot
from impl.probe import Verdict
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Command, Phase
from impl.worker_state import Snapshot as WorkerSnapshot
from model.conform.events import Admit, Cancel, Complete, Event, Progress, Restart, apply
from model.conform.monitor import Monitor, Violation
from model.conform.worker_events import Event as WorkerEvent
from model.conform.worker_monitor import ACTIONS as WORKER_ACTIONS
from model.conform.worker_monitor import Monitor as WorkerMonitor
from model.conform.worker_watch import Watch as WorkerWatch
from model.engines import worker as engines_worker
from spec import worker_world
from spec.scheduler import ACTIONS

Step = tuple[str, Monitor, Event, Outcome, Snapshot]
WorkerStep = tuple[str, WorkerMonitor, WorkerEvent, Command | None, WorkerSnapshot]


def scheduler_steps() -> dict[str, Step]:
    """For each action the first step of it in a random history, with the checker as it was before."""
    random, scheduler = Random(1), Scheduler(2, capacity=2, reserve=1)
    monitor = Monitor(scheduler.snapshot())
    leases: list[Lease] = [Lease(0, "nobody", 0)]
    found: dict[str, Step] = {}
    for _ in range(1500):
        event = some_event(random, leases)
        before = monitor.copy()
        outcome = apply(scheduler, event)
        after = scheduler.snapshot()
        found.setdefault(monitor.judge(event, outcome, after), ("", before, event, outcome, after))
        leases += [run.lease for run in after.running if run is not None and run.lease not in leases]
    return found


def some_event(random: Random, leases: list[Lease]) -> Event:
    """Any event, late and foolish ones among them."""
    lease = random.choice(leases[-4:])
    job = Job(random.randrange(8), random.choice((CHAT, IMAGE)), random.randint(1, 3))
    events = (Admit(job), Complete(lease), Progress(lease, random.randint(1, 3)), Cancel(job.request_id), Restart())
    return random.choices(events, (8, 4, 3, 2, 1))[0]


def altered(after: Snapshot) -> Iterator[Snapshot]:
    """One value is another."""
    for name in ("capacity", "reserve", "waiting", "next_run", "next_ticket"):
        yield after._replace(**{name: getattr(after, name) + 1})
    for slot, run in enumerate(after.running):
        if run is not None:
            for name in ("remaining", "run", "urgency"):
                other: Any = run._replace(**{name: getattr(run, name) + 1})
                yield after._replace(running=(*after.running[:slot], other, *after.running[slot + 1 :]))
    for seat, entry in enumerate(after.queue):
        for name in ("remaining", "ticket", "urgency"):
            changed: Any = entry._replace(**{name: getattr(entry, name) + 1})
            yield after._replace(queue=(*after.queue[:seat], changed, *after.queue[seat + 1 :]))


STEPS = scheduler_steps()


@pytest.mark.parametrize("action", [action.name for action in ACTIONS if action.name != "reuse"])
def test_an_altered_step_of_the_scheduler_is_refused(action: str) -> None:
    _, before, event, outcome, after = STEPS[action]
    for wrong in altered(after):
        with pytest.raises(Violation):
            before.copy().judge(event, outcome, wrong)
    before.copy().judge(event, outcome, after)


def worker_steps() -> dict[str, WorkerStep]:
    """For each action of the controller the first step of it in random histories."""
    found: dict[str, WorkerStep] = {}
    for seed in range(30):
        watch = WorkerWatch(engines_worker.settings(seed))
        for event in engines_worker.history(watch, seed, 200):
            before = copy(watch._monitor)
            before.taken = before.taken.copy()
            command = watch.meet(event)
            action, _ = met(before, event, command, watch.controller)
            found.setdefault(action, (action, before, event, command, watch.controller.snapshot()))
    return found


def met(
    before: WorkerMonitor, event: WorkerEvent, command: Command | None, controller: Controller
) -> tuple[str, WorkerMonitor]:
    """What the step is called, judged once more."""
    again = copy(before)
    again.taken = again.taken.copy()
    return again.judge(event, command, controller.snapshot()), again


def wrong_snapshots(after: WorkerSnapshot) -> Iterator[WorkerSnapshot]:
    """One value is another."""
    for name in ("now", "since", "quiet", "generation", "refusals", "back_off", "blind"):
        more: dict[str, Any] = {name: getattr(after, name) + 1}
        yield replace(after, **more)
    yield replace(after, touched=not after.touched)
    yield replace(after, proven=not after.proven)
    yield from (replace(after, phase=phase) for phase in Phase if phase is not after.phase)
    yield from (replace(after, seen=seen) for seen in Verdict if seen is not after.seen)


WORKER_STEPS = worker_steps()
OF_THE_WORLD = {action.name for action in worker_world.ACTIONS}


@pytest.mark.parametrize("action", [name for name in WORKER_ACTIONS if name not in OF_THE_WORLD])
def test_an_altered_step_of_the_controller_is_refused(action: str) -> None:
    _, before, event, command, after = WORKER_STEPS[action]
    for wrong in wrong_snapshots(after):
        again = copy(before)
        again.taken = again.taken.copy()
        with pytest.raises(Violation):
            again.judge(event, command, wrong)
