"""The policies of examples/policies: what the tool says of each is what its docstring says that it says."""

from __future__ import annotations

import ast
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from model.__main__ import main
from model.exits import HOLDS, VIOLATED
from model.policy.file import load

ROOT = Path(__file__).resolve().parent.parent
POLICIES = ROOT / "examples" / "policies"
FILES = sorted(path.name for path in POLICIES.glob("*.py"))
EXPLORED = [
    ("upside_down.py", "chat_never_waits_behind_an_image", 2),
    ("work_outweighs_class.py", "chat_never_waits_behind_an_image", 2),
    ("forgotten_waiver.py", "chat_never_waits_behind_an_image", 2),
    ("claims_too_much.py", "no_image_waits_behind_a_chat_that_came_much_later", 2),
]
DECIDED = [
    ("reap_too_late.py", "reap_once_idle_for_the_ttl", (1, 0, 0, 0)),
    ("spawn_on_demand.py", "never_spawn_while_warm", (1, 1, 0, 0)),
    ("whole_minutes.py", "never_reap_before_the_ttl", (1, 0, 0, 1)),
]


@pytest.fixture(autouse=True)
def _from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def docstring(name: str) -> str:
    return ast.get_docstring(ast.parse((POLICIES / name).read_text())) or ""


def command(name: str) -> list[str]:
    """The arguments of the command that the docstring shows."""
    (shown,) = (line for line in docstring(name).splitlines() if line.startswith("$ "))
    assert shown.startswith("$ python -m model ")
    assert name in shown
    return shlex.split(shown)[4:]


def output(name: str) -> list[str]:
    """What the docstring shows of what it prints."""
    return docstring(name).split("\n$ ")[1].splitlines()[1:]


def is_wrong(name: str) -> bool:
    return docstring(name).startswith("WRONG: ")


def test_there_are_right_ones_and_wrong_ones() -> None:
    wrong = {name for name in FILES if is_wrong(name)}
    assert wrong == {name for name, *_ in EXPLORED + DECIDED}
    assert len(wrong) >= 4
    assert {"shortest_first.py", "earliest_deadline.py", "linear_aging.py", "longer_ttl.py"} == set(FILES) - wrong
    assert all(f"`{name}`" in (POLICIES / "README.md").read_text() for name in FILES)


@pytest.mark.parametrize("name", FILES)
def test_the_tool_says_what_the_docstring_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(name)) == (VIOLATED if is_wrong(name) else HOLDS)
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert output(name)
    for line in output(name):
        assert any(each.startswith(line) or each.endswith(line) for each in printed), line


def found(name: str, capsys: pytest.CaptureFixture[str]) -> Any:
    assert main([*command(name), "--json"]) == VIOLATED
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("name", "claim", "length"), EXPLORED)
def test_a_wrong_urgency_is_refuted_by_a_shortest_history(
    name: str, claim: str, length: int, capsys: pytest.CaptureFixture[str]
) -> None:
    told = found(name, capsys)
    assert told["verdict"] == "refuted"
    assert list(told["violations"]) == [claim]
    assert len(told["violations"][claim]["history"]) == length
    assert told["violations"][claim]["minimal"]


@pytest.mark.parametrize(("name", "claim", "view"), DECIDED)
def test_a_wrong_decision_is_refuted_by_the_smallest_input(
    name: str, claim: str, view: tuple[int, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    (function,) = found(name, capsys)["functions"]
    refuted = [each for each in function["findings"] if each["verdict"] == "refuted" and each["owed"]]
    assert refuted[0]["property"] == claim
    assert tuple(refuted[0]["witness"].values()) == view


def broken(policy: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    main(["explore", "--policy", str(policy), "--slots", "1", "--actions", "admit,complete", "--json", *arguments])
    violations: dict[str, Any] = json.loads(capsys.readouterr().out)["violations"]
    return violations


def changed(name: str, old: str, new: str, folder: Path) -> Path:
    """A copy of the file with one thing changed."""
    source = (POLICIES / name).read_text()
    assert source.count(old) == 1
    copy = folder / name
    copy.write_text(source.replace(old, new))
    return copy


OWN = [
    ("shortest_first.py", "return job.priority, -job.work", "return job.priority, job.work"),
    ("earliest_deadline.py", "-job.deadline\n", "job.deadline\n"),
    ("linear_aging.py", "job.priority * R - job.arrived", "job.priority * R"),
]


@pytest.mark.parametrize(("name", "old", "new"), OWN)
def test_a_claim_of_its_own_is_refuted_where_the_policy_does_not_keep_it(
    name: str, old: str, new: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (claim,) = load(POLICIES / name).claims
    violations = broken(changed(name, old, new, tmp_path), capsys, "--levels", "1,10", "--jobs", "3")
    assert list(violations) == [claim.name]
    assert violations[claim.name]["sentence"] == claim.sentence


def test_the_number_of_linear_aging_is_exact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """9 * R + 1 is kept, and 9 * R is not, when jobs arrive on both sides of it."""
    policy = load(POLICIES / "linear_aging.py")
    assert [tick - 9 * 60 * 10**9 for tick in policy.arrivals] == [-9 * 60 * 10**9, 0, 1]
    assert not broken(POLICIES / "linear_aging.py", capsys, "--levels", "1,10", "--jobs", "3")
    closer = changed("linear_aging.py", "s.arrived[q] < WORTH + 1", "s.arrived[q] < WORTH", tmp_path)
    assert len(broken(closer, capsys, "--levels", "1,10", "--jobs", "3")) == 1


@pytest.mark.parametrize("name", ["shortest_first.py", "longer_ttl.py", "linear_aging.py"])
def test_a_right_policy_goes_through_every_engine(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    waived = sorted(load(POLICIES / name).waives)
    assert main(["simulate", "--ttl", "3", "--policy", f"examples/policies/{name}", "--json"]) == HOLDS
    simulated = json.loads(capsys.readouterr().out)
    assert sorted(simulated["waived"]) == waived
    assert simulated["under_policy"]["unfinished"] == 0
    main(["fuzz", "--histories", "10", "--seed", "3", "--policy", f"examples/policies/{name}", "--json"])
    fuzzed = json.loads(capsys.readouterr().out)
    assert sorted(fuzzed["waived"]) == waived
    assert not fuzzed["violation"]


LAZY = """
from spec.scheduler import nobody_waits

def nobody_ever_waits(s):
    \"""No job is ever queued.\"""
    return nobody_waits(s)

def urgency(job):
    return job.priority

CLAIMS = [nobody_ever_waits]
"""


def test_a_claim_of_its_own_is_checked_by_fuzz_and_simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (policy := tmp_path / "lazy.py").write_text(LAZY)
    for engine in (["fuzz", "--seed", "0"], ["simulate"]):
        assert main([*engine, "--policy", str(policy)]) == VIOLATED
        assert "nobody_ever_waits" in capsys.readouterr().out


def test_a_wrong_policy_is_refuted_by_arrivals_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--policy", "examples/policies/upside_down.py", "--json"]) == VIOLATED
    violation = json.loads(capsys.readouterr().out)["violation"]
    assert (violation["property"], violation["minimal"]) == ("chat_never_waits_behind_an_image", True)
    assert main(["simulate", "--policy", "examples/policies/reap_too_late.py", "--ttl", "3", "--json"]) == VIOLATED
    assert json.loads(capsys.readouterr().out)["violation"]["property"] == "reap_once_idle_for_the_ttl"
