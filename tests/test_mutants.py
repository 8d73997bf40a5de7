"""The kill matrix: what is a kill and what is not, what fails a run, and what the command says."""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from model.commands import mutants
from model.engines.engine import ENDS, Engine, Outcome, Undetermined, Verdict, ask
from model.mutants import run as mutants_run
from model.mutants.child import Task
from model.mutants.matrix import Matrix
from model.mutants.run import Trial, trials
from model.mutants.source import of_module
from model.planted import autoscale
from model.planted.bugs import SHIPPED, Code
from model.planted.catalogue import BUGS

ROOT = Path(__file__).parents[1]


def model(*argv: str) -> subprocess.CompletedProcess[str]:
    """`python -m model mutants`."""
    command = [sys.executable, "-m", "model", "mutants", *argv]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, cwd=ROOT, check=False)


# What an engine may answer


def says_two(_code: Code) -> Iterator[str]:
    yield "one"
    yield "two"
    yield "one"


def says_nothing(_code: Code) -> Iterator[str]:
    yield from ()


def cannot_tell(_code: Code) -> Iterator[str]:
    yield from ()
    raise Undetermined("unknown")


def breaks(_code: Code) -> Iterator[str]:
    yield "one"
    raise KeyError("the engine itself")


def raises_in_the_code(code: Code) -> Iterator[str]:
    yield from ()
    code.savings("1", 2)


def takes_for_ever(_code: Code) -> Iterator[str]:
    yield "one"
    time.sleep(30)


def never_returns(_code: Code) -> Iterator[str]:
    yield from ()
    number: Any = Endless()
    autoscale.never_reaps(number, number, number, number)


class Endless:
    """A number that is compared for ever."""

    def __eq__(self, _: object) -> bool:
        while True:
            pass

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("engine", "verdict", "killers"),
    [
        (says_two, Verdict.KILLED, ("one", "two")),
        (says_nothing, Verdict.SURVIVED, ()),
        (cannot_tell, Verdict.UNDETERMINED, ()),
        (breaks, Verdict.CRASHED, ("one",)),
        (raises_in_the_code, Verdict.KILLED, (ENDS,)),
        (takes_for_ever, Verdict.TIMEOUT, ("one",)),
    ],
)
def test_a_verdict_is_of_its_own_class(engine: Engine, verdict: Verdict, killers: tuple[str, ...]) -> None:
    found = ask(engine, SHIPPED, 1.0)
    assert (found.verdict, found.killers) == (verdict, killers)


def test_code_that_does_not_return_is_killed_and_ends() -> None:
    found = ask(never_returns, SHIPPED, 60)
    assert (found.verdict, found.killers) == (Verdict.KILLED, (ENDS,))


# What follows from the verdicts


def trial(name: str, **outcomes: Outcome) -> Trial:
    return Trial(Task(name, "scheduler", tuple(outcomes)), dict(outcomes))


def killed(*claims: str, seconds: float = 0.0) -> Outcome:
    return Outcome(Verdict.KILLED, claims, seconds)


SURVIVED, TIMEOUT = Outcome(Verdict.SURVIVED), Outcome(Verdict.TIMEOUT, ("a_claim",), detail="too slow")
CRASHED, UNKNOWN = Outcome(Verdict.CRASHED, ("a_claim",)), Outcome(Verdict.UNDETERMINED)


@pytest.mark.parametrize(
    ("trials", "more", "code"),
    [
        ([trial("a", explore=killed("x"))], {}, 0),
        ([trial("a", explore=killed("x"), fuzz=SURVIVED)], {}, 0),
        ([trial("a", explore=killed("x"), fuzz=TIMEOUT)], {}, 0),
        ([trial("a", explore=killed("x"), fuzz=CRASHED)], {}, 0),
        ([trial("a", explore=SURVIVED)], {}, 1),
        ([trial("a", explore=TIMEOUT)], {}, 3),
        ([trial("a", explore=CRASHED)], {}, 3),
        ([trial("a", proof=UNKNOWN, fuzz=SURVIVED)], {}, 3),
        ([trial("a", explore=SURVIVED)], {"equivalent": {"a": "it is the same"}}, 0),
        ([trial("a", explore=killed("x"))], {"equivalent": {"a": "it is the same"}}, 1),
        ([trial("a", explore=killed("x"))], {"equivalent": {"b": "it is the same"}}, 0),
        ([trial("a", explore=killed("x"))], {"equivalent": {"b": "it is the same"}, "whole": True}, 1),
        ([trial("a", explore=killed("x"))], {"wanted": ("x",)}, 0),
        ([trial("a", explore=killed("x"))], {"wanted": ("x", "y")}, 1),
        ([trial("a", explore=killed("y", "x"))], {"wanted": ("x",)}, 1),
        ([trial("a", explore=killed("y", "x"), fuzz=killed("x"))], {"wanted": ("x",)}, 0),
        ([trial("a", explore=killed("x"))], {"planted": {"a": "x"}}, 0),
        ([trial("a", explore=killed("x"))], {"planted": {"a": "y"}}, 1),
    ],
)
def test_the_exit_code(trials: list[Trial], more: dict[str, Any], code: int) -> None:
    matrix = Matrix(tuple(trials), **{"equivalent": {}, **more})
    assert matrix.code == code
    assert matrix.as_json()["verdict"] == {0: "holds", 1: "violated", 3: "undetermined"}[code]
    assert list(matrix.text())[-1].endswith(f"verdict: {matrix.verdict}")


def test_all_killers_are_told_and_who_was_alone() -> None:
    matrix = Matrix(
        (
            trial("a", golden=killed("x", seconds=0.5), fuzz=killed("x", "y", seconds=0.1)),
            trial("b", explore=killed("conformance", "y")),
            trial("c", explore=killed("conformance")),
        ),
        {},
    )
    told = matrix.as_json()
    assert matrix.killers(matrix.trials[0]) == {"x": ["golden", "fuzz"], "y": ["fuzz"]}
    assert told["kills"] == {"x": 1, "y": 2, "conformance": 2}
    assert told["sole_killers"] == {"y": ["b"], "conformance": ["c"]}
    assert told["redundant"] == ["x"]
    assert any("0.100 s by fuzz" in line for line in matrix.text())


# Processes


def test_a_process_that_dies_is_a_crash_and_one_that_hangs_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = Task("no such bug", "autoscale", ("golden", "fuzz"))
    (found,) = trials([unknown], 5, 1)
    assert {outcome.verdict for outcome in found.outcomes.values()} == {Verdict.CRASHED}
    monkeypatch.setattr(mutants_run, "GRACE", -5.0)
    (found,) = trials([mutants.task_of_bug(BUGS["never_reaps"])], 0.01, 1)
    assert set(found.outcomes) == {"golden", "proof", "explore", "fuzz"}
    assert Verdict.TIMEOUT in {outcome.verdict for outcome in found.outcomes.values()}


def test_a_changed_source_is_what_the_engines_see() -> None:
    path = ROOT / "impl" / "autoscale.py"
    source = path.read_text(encoding="utf-8")
    wrong = source.replace("if demand != 0:", "if demand == 0:")
    assert wrong != source
    engines = ("golden", "explore", "fuzz")
    tasks = [
        Task("shipped", "autoscale", engines, "autoscale", str(path), source),
        Task("wrong", "autoscale", engines, "autoscale", str(path), wrong),
        Task("broken", "autoscale", engines, "autoscale", str(path), source + "\nraise KeyError\n"),
    ]
    found = {each.task.name: each.outcomes for each in trials(tasks, 60)}
    assert {outcome.verdict for outcome in found["shipped"].values()} == {Verdict.SURVIVED}
    assert {outcome.verdict for outcome in found["wrong"].values()} == {Verdict.KILLED}
    assert "autoscale_neg1" in found["wrong"]["golden"].killers
    assert {outcome.killers for outcome in found["broken"].values()} == {(ENDS,)}


def test_systematic_mutants_are_programs_with_one_change_each() -> None:
    pytest.importorskip("cosmic_ray", reason="systematic mutants need cosmic-ray")
    source = (ROOT / "impl" / "autoscale.py").read_text(encoding="utf-8")
    made = list(of_module("autoscale"))
    assert made == list(of_module("autoscale"))
    assert len({each.name for each in made}) == len({each.source for each in made}) == len(made) > 40
    for each in made:
        changed = [line for line in difflib.ndiff(source.splitlines(), each.source.splitlines()) if line[0] in "+-"]
        assert 1 <= len(changed) <= 9, each.name
    kinds = {each.name.rpartition(":")[2].partition(".")[0] for each in made}
    assert {"DropStatement", "AddNot", "NumberReplacer", "GtE_Gt", "Eq_NotEq", "Sub_Add", "FloorDiv_Mul"} <= kinds


# The command


def test_the_list_is_one_array() -> None:
    done = model("--list", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 0
    assert isinstance(told, list)
    assert [each["name"] for each in told] == list(BUGS)
    assert len({each["name"] for each in told}) == len(told) >= 60
    for each in told:
        assert {"name", "target", "property", "source"} <= set(each)
        assert all(isinstance(value, str) and value for value in each.values())


def test_the_list_for_people() -> None:
    done = model("--list")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == len(BUGS)


def test_one_bug_alone() -> None:
    done = model("--named", "--only", "never_reaps", "--json")
    assert done.returncode == 0, done.stderr
    (told,) = json.loads(done.stdout)["mutants"]
    assert told["name"] == "never_reaps"
    assert {name for name, each in told["engines"].items() if each["verdict"] == "killed"} == {
        "golden",
        "proof",
        "explore",
        "fuzz",
    }


@pytest.mark.parametrize(
    "argv",
    [
        ["--only", "NoSuchBug", "--named"],
        ["--changed", "no-such-revision", "--named"],
        ["--workers", "0"],
        ["--list", "--only", "never_reaps"],
        ["--nope"],
    ],
)
def test_a_wrong_call_is_a_usage_error(argv: list[str]) -> None:
    done = model(*argv)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr


def test_what_changed_is_read_from_git(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "+++ b/impl/core.py\n@@ -3,0 +4,2 @@\n+x\n+y\n@@ -9 +11 @@\n-a\n+b\n+++ b/impl/worker.py\n@@ -1,2 +0,0 @@\n"
    done = subprocess.CompletedProcess([], 0, said, "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: done)
    assert mutants.changed("HEAD") == {"core": {4, 5, 11}, "worker": set()}
