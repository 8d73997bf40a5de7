"""`python -m model fuzz`: what it says of what it saw, and that it finds what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from model.__main__ import main
from model.commands import fuzz
from model.fuzz.scheduler import RULES, SchedulerMachine, fresh
from model.planted import PLANTED


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["fuzz", "--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


def test_the_same_seed_gives_the_same_histories(capsys: pytest.CaptureFixture[str]) -> None:
    _, first = report(capsys, "--seed", "7", "--histories", "20")
    _, again = report(capsys, "--seed", "7", "--histories", "20")
    assert {**first, "seconds": 0} == {**again, "seconds": 0}
    assert first["seed"] == 7


def test_what_was_never_seen_is_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    code, told = report(capsys, "--seed", "1", "--histories", "1")
    assert (code, told["verdict"]) == (3, "undetermined")
    assert told["never_seen"]


def test_a_rule_that_never_fires_is_no_pass(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(SchedulerMachine, "somebody_ran", lambda _: False)
    monkeypatch.setattr("model.commands.fuzz.RULES", [*RULES, "a_rule_that_never_fires"])
    code, told = report(capsys, "--profile", "ci", "--histories", "60")
    assert code == 3
    assert "rule a_rule_that_never_fires" in told["never_seen"]


def test_time_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, told = report(capsys, "--seconds", "0.01", "--seed", "3")
    assert code in (0, 3)
    assert told["histories"] == fuzz.ROUND


def test_a_wrong_policy_is_refuted_by_two_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = tmp_path / "wrong.py"
    policy.write_text("def urgency(job):\n    return -job.priority\n")
    code, told = report(capsys, "--policy", str(policy), "--seed", "0")
    assert (code, told["verdict"]) == (1, "refuted")
    assert "chat_never_waits_behind_an_image" in told["violation"]["claims"]
    assert [event["event"] for event in told["violation"]["history"]] == ["admit", "admit"]
    assert told["violation"]["minimal"]


def test_a_planted_bug_is_refuted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    planted = fresh(SchedulerMachine, scheduler_type=PLANTED["DropsTheVictim"].scheduler)
    monkeypatch.setattr("model.commands.fuzz.SchedulerMachine", planted)
    code, told = report(capsys, "--seed", "0")
    assert code == 1
    assert "no_live_job_vanishes" in told["violation"]["claims"]


@pytest.mark.parametrize("arguments", [["--seconds", "0"], ["--histories", "0"], ["--policy", "none.py"]])
def test_bad_options_are_usage_errors(arguments: list[str]) -> None:
    assert main(["fuzz", *arguments]) == 2
