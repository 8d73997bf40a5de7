"""The steps of the main job, and what the evidence of each must show beside an exit code of 0.

Counts are pinned: an explorer that stops early, an obligation that was dropped from the list or a bug that is planted
no more is as wrong as a violated claim. Who changes a machine on purpose changes its pinned counts here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model import evidence
from model.planted.catalogue import BUGS
from model.prove.machines import MACHINES, Machine
from model.prove.obligations import ALWAYS, INITIALLY, POSSIBLE, SOMETIMES
from model.prove.solvers import SOLVERS

Lacks = Callable[[Any], Iterator[str]]


def nothing(_: Any) -> Iterator[str]:
    """The exit code says it all."""
    return iter(())


@dataclass(frozen=True)
class Step:
    """`argv` goes behind `python -m`; `lacks` says what the result does not show, though it should. `alone` are the
    options with which the report runs it by itself, if it does."""

    name: str
    argv: tuple[str, ...]
    lacks: Lacks = field(default=nothing)
    alone: tuple[str, ...] | None = None

    @property
    def answers(self) -> bool:
        """The command keeps evidence itself."""
        return self.argv[0] == "model"

    def file(self, folder: Path) -> Path:
        """Where its evidence lies."""
        return folder / f"{self.name}.json"

    def is_of(self, command: Sequence[str]) -> bool:
        """The words are those of the step, as the main job or the report runs it."""
        words = ("python", "-m", *self.argv)
        return tuple(command) == words or (self.alone is not None and tuple(command) == (*words, *self.alone))

    def complaints(self, folder: Path) -> list[str]:
        """Why its evidence shows nothing: it is missing, stale, of another command, not green, or lacks something."""
        told = evidence.read(self.file(folder))
        if told is None:
            return [f"no evidence in {self.file(folder)}"]
        found = []
        if old := evidence.stale(told):
            return [f"stale: {', '.join(old)} changed since"]
        if told["command"] != ["python", "-m", *self.argv]:
            found.append(f"it is of another command: {' '.join(told['command'])}")
        if told["exit"] != 0:
            found.append(f"exit code {told['exit']}: {told['verdict']}")
        return [*found, *self.lacks(told["result"])]


def exactly(**pinned: Any) -> Lacks:
    """The result has these values."""

    def lacks(result: Mapping[str, Any]) -> Iterator[str]:
        for name, value in pinned.items():
            if result.get(name) != value:
                yield f"{name} is {result.get(name)}, expected {value}"

    return lacks


def says(*lines: str) -> Lacks:
    """What was printed has these lines."""

    def lacks(result: Mapping[str, Any]) -> Iterator[str]:
        yield from (f"it does not say {line!r}" for line in lines if line not in result["said"].splitlines())

    return lacks


def every_obligation(rows: list[Mapping[str, Any]]) -> Iterator[str]:
    """Each claim has a row by each solver, for each action that could break it."""
    found = {(row["solver"], row["machine"], row["action"], row["property"]) for row in rows}
    for solver in SOLVERS:
        for machine in MACHINES.values():
            for action, about in required(machine):
                if (solver, machine.name, action, about) not in found:
                    yield f"{solver} was not asked whether {machine.name}: {action}, {about}"


def required(machine: Machine) -> Iterator[tuple[str, str]]:
    """Action and property of every query that the machine needs, by its definition alone."""
    for action in machine.actions:
        yield action.name, POSSIBLE
        for each in machine.inductive + machine.steps:
            if not each.about or action.name in each.about:
                yield action.name, each.name
    for witness in machine.witnesses:
        yield SOMETIMES, witness.__name__
    for each in machine.lemmas + machine.always:
        yield INITIALLY, each.name
    for each in machine.theorems + machine.outcomes:
        yield ALWAYS, each.name


def every_planted_bug(result: Mapping[str, Any]) -> Iterator[str]:
    """Each bug that is planted by name was tried."""
    tried = {each["name"] for each in result["mutants"]}
    yield from (f"the bug {name} was not tried" for name in BUGS if name not in tried)


def replayed(events: int) -> Lacks:
    """So many steps of the replay were judged, and none was wrong."""

    def lacks(result: Mapping[str, Any]) -> Iterator[str]:
        yield from exactly(violation=None)(result)
        yield from exactly(events=events)(result["judged"])

    return lacks


MAY_SKIP = ("test_every_scenario_of_the_source_is_here",)
"""Tests that compare a table of the house with its source, which need not be at hand."""


def some_tests(result: Mapping[str, Any]) -> Iterator[str]:
    """Tests ran, and none of them was missing."""
    if result["tests"] == 0:
        yield "no test ran"
    yield from (f"no test of {name} ran" for name in TESTS if result["tests"] and not result["files"].get(name))
    if bad := result["failures"] + result["errors"]:
        yield f"{bad} of {result['tests']} tests failed"
    yield from (f"skipped: {name}" for name in result["skipped"] if name not in MAY_SKIP)


TESTS = ("test_scenarios.py", "test_must_fail_specs.py", "test_obligations.py", "test_sensitivity.py")
STEPS = (
    Step("gates", ("impl", "gate"), says("nx_sched_qos pass=5/5 GREEN", "MESHAUTOSCALEGATE verdict=GREEN")),
    Step("prove", ("model", "prove"), every_obligation, alone=("--seeds", "1")),
    Step("table", ("model", "table"), exactly(verdict="holds"), alone=()),
    Step(
        "explore",
        ("model", "explore", "--slots", "2", "--jobs", "7", "--levels", "3", "--actions", "admit,complete"),
        exactly(exhaustive=True, distinct_states=37752, transitions=100810, depth=14),
    ),
    Step(
        "explore-everything",
        ("model", "explore", "--slots", "2", "--jobs", "4", "--levels", "2", "--capacity", "1", "--liveness"),
        exactly(exhaustive=True, distinct_states=1781, transitions=37026, depth=8),
    ),
    Step(
        "explore-every-order",
        ("model", "explore", "--slots", "2", "--jobs", "5", "--levels", "all", "--actions", "admit,complete"),
        exactly(exhaustive=True, distinct_states=1725, transitions=4748, depth=10),
    ),
    Step(
        "explore-starvation",
        ("model", "explore", "--slots", "1", "--jobs", "3", "--levels", "2", "--liveness"),
        exactly(exhaustive=True, distinct_states=163, transitions=2336, depth=6),
    ),
    Step(
        "explore-full-queue",
        ("model", "explore", "--slots", "1", "--jobs", "4", "--levels", "2", "--capacity", "1"),
        exactly(exhaustive=True, distinct_states=359, transitions=5274, depth=8),
    ),
    Step(
        "explore-worker",
        ("model", "explore", "--machine", "worker", "--liveness"),
        exactly(exhaustive=True, distinct_states=867, transitions=27087, depth=16),
    ),
    Step(
        "explore-joined",
        ("model", "explore", "--machine", "joined"),
        exactly(exhaustive=True, distinct_states=9419, transitions=260055, depth=19),
    ),
    *(
        Step(
            f"fuzz-{machine}",
            ("model", "fuzz", "--machine", machine, "--profile", "ci"),
            exactly(verdict="tested", histories=500),
        )
        for machine in ("scheduler", "worker", "joined")
    ),
    Step("tests", ("pytest", "-q", "-n", "2", *(f"tests/{name}" for name in TESTS)), some_tests),
    Step("mutants", ("model", "mutants", "--named"), every_planted_bug),
    Step("simulate", ("model", "simulate"), replayed(1921)),
    Step("simulate-ttl-3", ("model", "simulate", "--ttl", "3"), replayed(1832)),
)
