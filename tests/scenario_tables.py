"""The tables of scenarios, read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from model.planted.catalogue import SHIPPED, Code
from model.scenarios.notation import Line, read
from model.scenarios.scheduler_scenarios import SchedulerCase
from model.scenarios.worker_scenarios import WorkerCase
from tests.probe_scenarios import ProbeCase

HERE = Path(__file__).parent / "scenarios"
Case: TypeAlias = SchedulerCase | WorkerCase | ProbeCase
TABLES: dict[str, Callable[[Line], Case]] = {
    "scheduler.txt": SchedulerCase.read,
    "loop.txt": WorkerCase.read,
    "probe.txt": ProbeCase.read,
}
SCENARIOS: dict[str, list[Case]] = {}
for table, kind in TABLES.items():
    for scenario, cases in read(HERE / table, kind).items():
        SCENARIOS.setdefault(scenario, []).extend(cases)


def check(case: Case, code: Code = SHIPPED, *, judged: bool = True) -> None:
    """Raises Failed or Violation if the case does not come out as its line says."""
    with code.in_place():
        match case:
            case SchedulerCase():
                case.check(code.scheduler, judged=judged)
            case WorkerCase():
                case.check(code.controller, judged=judged)
            case ProbeCase():
                case.check()


def scheduler_case(happens: str, expected: str) -> SchedulerCase:
    return SchedulerCase.read(Line("X99", "here:1", happens, expected))


def worker_case(happens: str, expected: str) -> WorkerCase:
    return WorkerCase.read(Line("Y99", "here:1", happens, expected))
