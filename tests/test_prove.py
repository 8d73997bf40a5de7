"""`python -m model prove`: what it says, what it writes and how it exits."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model.__main__ import main
from model.commands import prove
from model.prove import solvers
from model.prove.machines import AUTOSCALE, MACHINES, SCHEDULER
from model.prove.obligations import POSSIBLE, obligations
from model.prove.solvers import Answer
from spec.logic import Action, Claim, Property, negate

ROOT = Path(__file__).resolve().parent.parent


def rows(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    code = main(["prove", "--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


def test_one_property_is_proved_of_every_action_by_both_solvers(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = rows(capsys, "--property", "no_work_is_lost", "--seeds", "1")
    assert code == 0
    assert {row["verdict"] for row in found} == {"proved"}
    assert {(row["action"], row["solver"]) for row in found} == {
        (action, solver)
        for action in ["initially", *(action.name for action in SCHEDULER.actions)]
        for solver in ("z3", "cvc5")
    }
    expected = {
        "machine",
        "action",
        "property",
        "verdict",
        "solver",
        "version",
        "seconds",
        "seeds",
        "assumptions",
        "digest",
    }
    assert expected <= set(found[0])


def test_a_witness_is_reachable(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = rows(capsys, "--property", "a_victim_resumes", "--seeds", "1")
    assert code == 0
    assert [row["verdict"] for row in found] == ["reachable", "reachable"]


def test_every_obligation_is_there() -> None:
    for machine in MACHINES.values():
        made = {(each.action, each.about) for each in obligations(machine)}
        for action in machine.actions:
            assert (action.name, POSSIBLE) in made
            assert {(action.name, each.name) for each in machine.inductive} <= made
            asked = {each.name for each in machine.steps if not each.about or action.name in each.about}
            assert {(action.name, name) for name in asked} <= made
        assert {("initially", each.name) for each in machine.lemmas + machine.always} <= made
        assert {("always", each.name) for each in machine.theorems + machine.outcomes} <= made
        assert {("sometimes", claim.__name__) for claim in machine.witnesses} <= made


def test_unknown_names_are_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "--property", "nonsense"]) == 2
    assert "no_work_is_lost" in capsys.readouterr().err
    assert main(["prove", "--seeds", "0"]) == 2
    assert main(["prove", "--solver", "yices"]) == 2


def test_the_files_are_checked_again_by_a_solver_that_reads_only_them(tmp_path: Path) -> None:
    out = tmp_path / "obligations"
    arguments = ["prove", "--machine", "autoscale", "--out", str(out), "--seeds", "1"]
    subprocess.run([sys.executable, "-m", "model", *arguments], cwd=ROOT, check=True, capture_output=True)
    files = sorted(out.iterdir())
    assert len(files) == len(list(obligations(AUTOSCALE)))
    for path in files:
        text = path.read_text()
        expected = "sat" if "(set-info :status sat)" in text else "unsat"
        assert text.startswith("; autoscale: ")
        assert solvers.ask_z3(text, 1).word == expected
        assert solvers.ask_cvc5(text, 1).word == expected


def test_a_solver_that_says_unknown_is_undetermined(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unsure(_task: object) -> tuple[Answer, ...]:
        return (Answer("unsat", 0.1), Answer("unknown", 0.1))

    monkeypatch.setattr(prove, "ask", unsure)
    monkeypatch.setattr(prove, "counterexample", lambda *_: None)
    monkeypatch.setattr(prove, "ProcessPoolExecutor", InOneProcess)
    code = main(["prove", "--property", "rest_at_zero", "--action", "hold"])
    assert code == 3
    assert "undetermined, unstable: autoscale: hold keeps rest_at_zero" in capsys.readouterr().out


def test_a_witness_that_cannot_be_is_refuted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    vacuous = replace(AUTOSCALE, always=(*AUTOSCALE.always, Property(nothing_is_warm, nothing_and_everything_is_warm)))
    monkeypatch.setitem(MACHINES, "autoscale", vacuous)
    code = main(["prove", "--machine", "autoscale", "--property", "nothing_and_everything_is_warm", "--seeds", "1"])
    assert code == 1
    assert "refuted" in capsys.readouterr().out


def test_a_fault_is_refuted_with_its_counterexample(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    actions = tuple(Action(may_always_reap, each.step) if each.name == "reap" else each for each in AUTOSCALE.actions)
    monkeypatch.setitem(MACHINES, "autoscale", replace(AUTOSCALE, actions=actions))
    code = main(["prove", "--machine", "autoscale", "--action", "reap", "--seeds", "1"])
    out = capsys.readouterr().out
    assert code == 1
    assert "refuted: autoscale: reap keeps never_reap_with_demand" in out
    assert "s.demand == 0 is false" in out
    assert "a shortest history" in out


def may_always_reap(s: Any) -> Claim:
    return negate(s.warm == 0)


def nothing_is_warm(s: Any) -> Claim:
    """Nothing is warm."""
    return s.warm >= 0


def nothing_and_everything_is_warm(s: Any, t: Any) -> Claim:
    """It is both."""
    return negate(t.warm == t.warm)


class InOneProcess:
    """A pool that is none, so that what a test has patched is seen."""

    def __enter__(self) -> InOneProcess:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def map(self, function: Any, tasks: list[Any], chunksize: int) -> Any:
        return map(function, tasks)


def policy(folder: Path, text: str) -> str:
    path = folder / "policy.py"
    path.write_text(text)
    return str(path)


def test_the_urgency_of_a_policy_is_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = policy(tmp_path, "def urgency(job):\n    return job.priority, -job.work\n")
    code, found = rows(capsys, "--policy", file, "--seeds", "1")
    assert code == 0
    assert {row["verdict"] for row in found if row["property"] == "urgency_respects_priority"} == {"proved"}


def test_the_urgency_of_a_policy_is_refuted_with_two_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = policy(tmp_path, "def urgency(job):\n    return -job.priority\n")
    code, found = rows(capsys, "--policy", file, "--property", "urgency_respects_priority", "--seeds", "1")
    assert code == 1
    assert {row["verdict"] for row in found} == {"refuted"}
    assert found[0]["detail"].count("Job(") == 2


def test_what_a_policy_waives_is_judged_first_and_changes_no_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'WAIVES = ("chat_never_waits_behind_an_image",)\n\ndef urgency(job):\n    return -job.priority\n'
    file = policy(tmp_path, text)
    code, found = rows(capsys, "--policy", file, "--seeds", "1")
    assert code == 0
    assert (found[0]["waived"], found[0]["verdict"]) == (True, "refuted")
    assert main(["prove", "--policy", file, "--seeds", "1"]) == 0
    assert capsys.readouterr().out.startswith("WAIVED: chat_never_waits_behind_an_image")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def urgency(job, other):\n    return 1\n", 2),
        ("def urgency(job:\n", 2),
        ("WAIVES = ('nonsense',)\n\ndef urgency(job):\n    return job.priority\n", 2),
        ("def urgency(job):\n    raise OSError\n", 3),
        ("def urgency(job):\n    return 'high'\n", 3),
        ("def urgency(job):\n    while True:\n        pass\n", 3),
        ("raise OSError\n", 3),
    ],
)
def test_a_policy_that_cannot_be_judged_is_no_pass(
    text: str, expected: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", "--policy", policy(tmp_path, text), "--seeds", "1"]) == expected


def test_a_policy_that_is_missing_is_a_usage_error() -> None:
    assert main(["prove", "--policy", "no-such-file.py"]) == 2
