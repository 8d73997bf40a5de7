"""What is asked of a scheduler: the gate, every small history, and random ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from impl.gate import scheduler_rows
from impl.jobs import CHAT, IMAGE, Job
from model.conform.monitor import Violation
from model.engines.edges import at_the_edges
from model.engines.engine import Engine
from model.engines.scenarios import scenario_engine
from model.explore.breadth import explore
from model.explore.shapes import Setting
from model.fuzz.scheduler import SchedulerMachine, fresh
from model.planted.bugs import Code
from model.scenarios.scheduler_scenarios import SchedulerCase

RENDER, CHATTER = Job("", IMAGE, 2), Job("", CHAT, 2)
LEVELS = (Job("", 1, 2), Job("", 2, 2), Job("", 9, 2), Job("", 10, 2))
INSTANCES = (
    (Setting(1, (RENDER, CHATTER), 1, 0), 3),
    (Setting(1, LEVELS, actions=("admit", "complete")), 4),
    (Setting(1, (RENDER, CHATTER), actions=("admit", "complete", "progress")), 3),
    (Setting(2, (RENDER, CHATTER), 1, 1, ("admit", "complete", "cancel", "restart")), 4),
    (Setting(2, LEVELS, 1, 1, ("admit",)), 4),
)
"""Small instances, and how many jobs come: together they let everything happen that is told apart."""
MOST = 700
ROUNDS, HISTORIES, STEPS = 2, 40, 40


def golden(code: Code) -> Iterator[str]:
    """The self-tests of nx_sched_qos.nx."""
    yield from (f"scheduler_{row.name}" for row in scheduler_rows(code.scheduler) if not row.holds)


def explored(code: Code) -> Iterator[str]:
    """Every history of the small instances; and what is asked of no history."""
    for instance, jobs in INSTANCES:
        yield from explore(replace(instance, scheduler=code.scheduler), jobs, MOST).found
    yield from at_the_edges(code.scheduler)


def fuzzed(code: Code) -> Iterator[str]:
    """Random histories, always the same ones."""
    how = settings(
        max_examples=HISTORIES,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        verbosity=Verbosity.quiet,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    for number in range(ROUNDS):
        machine = fresh(SchedulerMachine, scheduler_type=code.scheduler)
        try:
            run_state_machine_as_test(seed(number)(machine), settings=how)
        except Violation as violation:
            yield from violation.claims
        except AssertionError:
            yield "conformance"


ENGINES: dict[str, Engine] = {
    "golden": golden,
    "explore": explored,
    "fuzz": fuzzed,
    **scenario_engine("scheduler.txt", SchedulerCase.read, lambda code: code.scheduler),
}
