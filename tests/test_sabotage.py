"""The suite itself is sabotaged, and the main job turns red: each time by the step that is to notice.

The steps run here as `python -m model verify` runs them, with the same arguments and the same demands on their
evidence, but in this process, where one part of the suite was replaced. Other sabotage is held by
tests/test_must_fail_specs.py (a wrong specification) and tests/test_sensitivity.py (a checker that skips an action).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from impl.jobs import Outcome, Snapshot
from impl.scheduler import Scheduler
from model import evidence
from model.__main__ import main
from model.commands import explore, fuzz, prove, report, verify
from model.conform.events import Event, Restart
from model.conform.monitor import Monitor
from model.explore import breadth
from model.explore.breadth import Exploration
from model.explore.shapes import Setting
from model.fuzz.scheduler import RULES
from model.planted import catalogue
from model.prove.machines import AUTOSCALE, MACHINES, Machine
from model.prove.obligations import Obligation, obligations
from model.prove.solvers import SOLVERS, Answer
from model.steps import STEPS, Step
from spec.logic import Property, either, negate
from tests import test_sensitivity


def here(words: Sequence[str]) -> int:
    """In this process."""
    assert words[0] == "model"
    return main(words[1:])


def step(name: str, *more: str) -> Step:
    """A step of the main job; `more` makes it smaller."""
    found = next(each for each in STEPS if each.name == name)
    return dataclasses.replace(found, argv=(*found.argv, *more))


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solvers that give every expected answer without looking."""

    def says(text: str, _seed: int) -> Answer:
        expected = "sat" if re.search(r"^\(set-info :status sat\)", text, re.M) else "unsat"
        return Answer(expected, 0.0)

    monkeypatch.setattr(prove, "obligations", lambda machine, *_: every(machine.name))
    monkeypatch.setattr(prove, "ask", lambda task: tuple(says(task[0], seed) for seed in range(task[2])))
    monkeypatch.setattr(prove, "ProcessPoolExecutor", InThisProcess)
    monkeypatch.setattr(prove, "judge", lambda **_: [])


@cache
def every(machine: str) -> tuple[Obligation, ...]:
    """All obligations of the machine."""
    return tuple(obligations(MACHINES[machine]))


class InThisProcess:
    """What stands for a pool of processes."""

    def __enter__(self) -> InThisProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, function: Any, tasks: Any, chunksize: int) -> Iterator[Any]:
        return map(function, tasks)


# Untouched, the same steps are green


@pytest.mark.parametrize("name", ["explore-every-order", "table", "simulate"])
def test_without_sabotage_a_step_is_green(name: str, tmp_path: Path) -> None:
    assert verify.verify([step(name)], tmp_path, here) == 0


@pytest.mark.usefixtures("at_once")
def test_without_sabotage_every_obligation_is_there(tmp_path: Path) -> None:
    assert verify.verify([step("prove")], tmp_path, here) == 0


# Sabotage


def test_a_snapshot_that_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    true = Scheduler.snapshot

    def hides_the_last_who_waits(self: Scheduler) -> Snapshot:
        told = true(self)
        return told._replace(queue=told.queue[:-1], waiting=max(0, told.waiting - 1))

    monkeypatch.setattr(Scheduler, "snapshot", hides_the_last_who_waits)
    assert verify.verify([step("explore-every-order")], tmp_path, here) == 1


def test_a_checker_that_skips_an_action(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of the step `tests` that puts an altered step of each action to the checker."""
    true = Monitor.judge

    def believes_a_restart(self: Monitor, event: Event, outcome: Outcome, after: Snapshot) -> str:
        return "restart" if isinstance(event, Restart) else true(self, event, outcome, after)

    assert "tests/test_sensitivity.py" in step("tests").argv
    monkeypatch.setattr(Monitor, "judge", believes_a_restart)
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        test_sensitivity.test_an_altered_step_of_the_scheduler_is_refused("restart")
    test_sensitivity.test_an_altered_step_of_the_scheduler_is_refused("place")


@pytest.mark.usefixtures("at_once")
def test_a_solver_that_answers_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove, "ask", lambda task: (Answer("unknown", 0.0),) * task[2])
    monkeypatch.setattr(prove, "counterexample", lambda *_: None)
    assert verify.verify([step("prove")], tmp_path, here) == 3


def test_an_explorer_that_stops_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def leaves_the_last_job_out(setting: Setting, jobs: int, most: int | None, **how: bool) -> Exploration:
        return breadth.explore(setting, jobs - 1, most, **how)

    monkeypatch.setattr(explore, "explore", leaves_the_last_job_out)
    assert verify.verify([step("explore-every-order")], tmp_path, here) == 1
    assert "distinct_states is 238, expected 1725" in step("explore-every-order").complaints(tmp_path)


def test_an_explorer_that_gives_up(tmp_path: Path) -> None:
    assert verify.verify([step("explore-every-order", "--max-states", "100")], tmp_path, here) == 3


def test_a_rule_that_never_fires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "RULES", [*RULES, "a_rule_that_never_fires"])
    assert verify.verify([step("fuzz-scheduler", "--histories", "40")], tmp_path, here) == 3


@pytest.mark.usefixtures("at_once")
def test_an_obligation_that_was_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def all_but_one(machine: Machine, *_: object) -> Iterator[Obligation]:
        return (each for each in every(machine.name) if each.name != "scheduler: preempt keeps no_work_is_lost")

    monkeypatch.setattr(prove, "obligations", all_but_one)
    assert verify.verify([step("prove")], tmp_path, here) == 1
    said = capsys.readouterr().out
    for solver in SOLVERS:
        assert f"-- prove: {solver} was not asked whether scheduler: preempt, no_work_is_lost\n" in said


def test_a_property_made_vacuous(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An assumption that nothing fulfils makes every proof succeed, and no action possible."""

    def holds_of_nothing(s: Any) -> Any:
        """Time runs backwards."""
        return either(s.ttl < s.ttl, negate(s.ttl == s.ttl))

    vacuous = dataclasses.replace(AUTOSCALE, assumed=(*AUTOSCALE.assumed, Property(holds_of_nothing)))
    monkeypatch.setitem(MACHINES, "autoscale", vacuous)
    assert verify.verify([step("prove", "--machine", "autoscale", "--seeds", "1")], tmp_path, here) == 1


def test_a_bug_that_is_planted_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = step("mutants")
    names = list(catalogue.BUGS)
    tried = {"mutants": [{"name": name} for name in names[1:]]}
    told = evidence.record(["python", "-m", *planned.argv], 0, 1.0, tried)
    evidence.write(planned.file(tmp_path), told)
    assert planned.complaints(tmp_path) == [f"the bug {names[0]} was not tried"]


def test_stale_evidence(tmp_path: Path) -> None:
    assert verify.verify([step("table")], tmp_path, here) == 0
    path = step("table").file(tmp_path)
    told = evidence.read(path)
    assert told is not None
    told["sources"]["impl"] = "0" * 64
    evidence.write(path, told)
    assert step("table").complaints(tmp_path) == ["stale: impl changed since"]
    assert report.write(tmp_path / "report", tmp_path, complete=True) == 1


def test_missing_evidence(tmp_path: Path) -> None:
    for each in STEPS:
        (why,) = each.complaints(tmp_path)
        assert why.startswith("no evidence in ")


def test_tests_that_were_skipped_or_not_found(tmp_path: Path) -> None:
    planned = step("tests")
    result = {"tests": 0, "failures": 0, "errors": 0, "skipped": []}
    evidence.write(planned.file(tmp_path), evidence.record(["python", "-m", *planned.argv], 0, 1.0, result))
    assert planned.complaints(tmp_path) == ["no test ran"]


def test_a_step_that_dies_is_no_pass(tmp_path: Path) -> None:
    assert verify.verify([step("table")], tmp_path, lambda _: -9) == 3
