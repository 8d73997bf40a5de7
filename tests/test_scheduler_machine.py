"""Random events for the shipped scheduler: no violation, all that the specification knows was seen, and every planted
bug is found."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from impl.scheduler import Scheduler
from model.conform.monitor import Violation
from model.fuzz.scheduler import WITNESSES, SchedulerMachine, fresh
from model.planted import PLANTED
from spec.scheduler import ACTIONS


def machine(scheduler: type[Scheduler]) -> type[SchedulerMachine]:
    """The machine for this scheduler, which has seen nothing yet."""
    return fresh(SchedulerMachine, scheduler_type=scheduler)


def run(fuzzed: type[SchedulerMachine], **how: object) -> None:
    run_state_machine_as_test(
        fuzzed,
        settings=settings(
            max_examples=500,
            stateful_step_count=50,
            suppress_health_check=list(HealthCheck),
            **how,  # type: ignore[arg-type]
        ),
    )


def test_the_shipped_scheduler_takes_every_step_of_the_specification_and_no_other() -> None:
    fuzzed = machine(Scheduler)
    run(fuzzed)
    assert {action.name for action in ACTIONS} - {"reuse"} == set(fuzzed.actions)
    assert fuzzed.witnesses == set(WITNESSES)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name: str) -> None:
    with pytest.raises((Violation, AssertionError, ValueError)):
        run(machine(PLANTED[name].scheduler), phases=[Phase.generate], database=None)
