"""What a policy claims of itself, and what becomes of a policy that cannot be asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from impl.jobs import Job
from model.__main__ import main
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED
from model.explore.kinds import kinds
from model.policy.consult import deciding, owed
from model.policy.file import PolicyError, load
from model.prove.machines import MACHINES

URGENCY = "def urgency(job):\n    return job.priority\n"
CLAIM = 'def {name}(s):\n    """{sentence}"""\n    return {result}\n\nCLAIMS = ({name},)\n'


def written(folder: Path, source: str) -> Path:
    (path := folder / "policy.py").write_text(source)
    return path


def claiming(folder: Path, result: str, name: str = "it_is_so", sentence: str = "It is so.") -> Path:
    head = "from spec.logic import every, negate\nfrom spec.scheduler import live, nobody_waits, queued, running\n"
    return written(folder, head + URGENCY + CLAIM.format(name=name, sentence=sentence, result=result))


# How they are read


def test_claims_become_properties_by_their_names_and_sentences(tmp_path: Path) -> None:
    policy = load(claiming(tmp_path, "True", sentence="It is\n    so. \n\n    More."))
    assert [(each.name, each.sentence) for each in policy.claims] == [("it_is_so", "It is so.")]
    assert load(written(tmp_path, URGENCY)).claims == ()


def test_claims_may_have_further_parameters_with_defaults(tmp_path: Path) -> None:
    source = URGENCY + 'def most(s, n=3):\n    """At most n wait."""\n    return s.waiting <= n\nCLAIMS = [most]\n'
    assert [each.name for each in load(written(tmp_path, source)).claims] == ["most"]


UNUSABLE = [
    ("CLAIMS = 'it_is_so'\n", "CLAIMS is 'it_is_so', expected a tuple of functions"),
    ("CLAIMS = ('it_is_so',)\n", "CLAIMS holds 'it_is_so', expected a function claim(s)"),
    (
        "def two(s, t):\n    '''Two.'''\n    return True\nCLAIMS = (two,)\n",
        "the signature is two(s, t), expected claim(s)",
    ),
    ("def none():\n    '''None.'''\n    return True\nCLAIMS = (none,)\n", "the signature is none(), expected claim(s)"),
    ("def dumb(s):\n    return True\nCLAIMS = (dumb,)\n", "the claim dumb has no docstring"),
    ("CLAIMS = (lambda s: True,)\n", "the claim <lambda> has no docstring"),
    ("def a(s):\n    '''A.'''\n    return True\nCLAIMS = (a, a)\n", "CLAIMS holds a second a"),
    ("ARRIVALS = 3\n", "ARRIVALS is 3, expected a tuple of ticks"),
    ("ARRIVALS = (0, 1.5)\n", "ARRIVALS is (0, 1.5), expected a tuple of ticks"),
    ("ARRIVALS = (2**63,)\n", "expected a tuple of ticks, whole numbers in i64"),
]


@pytest.mark.parametrize(("source", "why"), UNUSABLE)
def test_what_is_no_claim_is_a_usage_error(source: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError) as caught:
        load(written(tmp_path, URGENCY + source))
    assert caught.value.code == USAGE
    assert why in str(caught.value)


@pytest.mark.parametrize("name", [*(machine.properties[-1].name for machine in MACHINES.values()), "conformance"])
def test_a_claim_must_not_take_the_name_of_one_of_ours(name: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=f"CLAIMS holds a second {name}") as caught:
        load(claiming(tmp_path, "True", name))
    assert caught.value.code == USAGE


# What the engines make of them


def test_a_claim_that_is_broken_is_told_by_its_name_sentence_and_false_part(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = claiming(tmp_path, "every(live(s), lambda j: s.remaining[j] > 1)", "two_steps_are_left", "Two are left.")
    arguments = ["explore", "--policy", str(path), "--slots", "1", "--jobs", "2", "--actions", "admit,progress"]
    assert main(arguments) == VIOLATED
    printed = capsys.readouterr().out
    assert "violated: two_steps_are_left: Two are left." in printed
    assert "s.remaining[j] > 1 is false for j = 'A'" in printed
    assert main([*arguments, "--json"]) == VIOLATED
    violations = json.loads(capsys.readouterr().out)["violations"]
    assert list(violations) == ["two_steps_are_left"]
    assert len(violations["two_steps_are_left"]["history"]) == 1


def test_a_claim_is_judged_under_the_shipped_urgency_where_the_policy_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "from impl.autoscale import decide\nfrom spec.scheduler import nobody_waits\n"
    path = written(tmp_path, source + CLAIM.format(name="none_waits", sentence="None.", result="nobody_waits(s)"))
    assert main(["explore", "--policy", str(path), "--slots", "1", "--jobs", "2", "--actions", "admit"]) == VIOLATED
    printed = capsys.readouterr().out
    assert "violated: none_waits: None." in printed
    assert f"{path} defines no urgency: the shipped one is explored" in printed
    assert "proved       never_reap_with_demand" in printed


def test_a_wrong_decide_fails_an_exploration_and_the_fuzzer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(written(tmp_path, "def decide(warm, demand, idle_sec, ttl_sec):\n    return 0\n"))
    for engine in (["explore", "--slots", "1", "--jobs", "1"], ["fuzz", "--histories", "1", "--seed", "1"]):
        assert main([*engine, "--policy", path, "--json"]) == VIOLATED
        told = json.loads(capsys.readouterr().out)
        assert told["verdict"] == "refuted"
        assert [each["function"] for each in told["functions"]] == ["decide"]


def test_an_urgency_that_fails_far_away_is_refuted_beside_an_exploration_that_cannot_see_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "def urgency(job):\n    return min(job.priority, 10**6)\n")
    assert main(["explore", "--policy", str(path), "--slots", "1", "--jobs", "2", "--json"]) == VIOLATED
    told = json.loads(capsys.readouterr().out)
    assert (told["violations"], told["verdict"]) == ({}, "refuted")


def test_an_urgency_that_cannot_be_followed_can_be_explored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "RANK = {1: 1, 2: 7}\ndef urgency(job):\n    return RANK[job.priority]\n")
    assert main(["explore", "--policy", str(path), "--slots", "1", "--jobs", "2"]) == HOLDS
    assert "undetermined: it cannot be followed" in capsys.readouterr().out


# What they vary


def test_jobs_differ_in_what_the_urgency_looks_at(tmp_path: Path) -> None:
    def varied(source: str, work: int = 2) -> set[tuple[Any, ...]]:
        found = kinds([Job("", 1, work)], load(written(tmp_path, source)))
        return {(job.work, job.modality, job.arrived, job.deadline) for job in found}

    assert varied(URGENCY) == {(2, "", 0, None)}
    assert varied("def urgency(job):\n    return job.priority, -job.work\n") == {(1, "", 0, None), (2, "", 0, None)}
    long = varied("def urgency(job):\n    return job.priority, -job.work\n", 9)
    assert {work for work, *_ in long} == {1, 2, 9}
    nested = "def urgency(job):\n    return job.priority, 0 if job.deadline is None else -job.work\n"
    assert {(work, deadline) for work, _, _, deadline in varied(nested)} == {
        (work, deadline) for work in (1, 2) for deadline in (None, 1, 2)
    }
    assert {each[2] for each in varied(URGENCY + "ARRIVALS = (5, 9)\n")} == {5, 9}
    assert {each[1] for each in varied("def urgency(job):\n    return int(job.modality == 'chat')\n")} == {
        "chat",
        "image",
    }


def test_levels_may_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    explored = []
    for levels in ("2", "1,10", "10,1,10"):
        assert main(["explore", "--slots", "1", "--jobs", "2", "--levels", levels, "--json"]) == HOLDS
        told = json.loads(capsys.readouterr().out)
        explored.append((told["kinds"], told["distinct_states"], told["transitions"]))
    assert len(set(explored)) == 1
    for wrong in ("1,", "0,1", ",", "1;2", "00"):
        assert main(["explore", "--levels", wrong]) == USAGE


# Policies that cannot be asked

UNASKABLE = [
    ("def urgency(job):\n    return 1 // 0\n", "urgency(Job(", "raises ZeroDivisionError"),
    ("def urgency(job):\n    return 0.5\n", "urgency(Job(", "returns 0.5, expected an int or a tuple of ints"),
    (URGENCY + CLAIM.format(name="c", sentence="C.", result="None"), "the claim c", "returns None, expected True or F"),
    (URGENCY + CLAIM.format(name="c", sentence="C.", result="s.colour"), "the claim c", "raises AttributeError"),
]
ENGINES = [
    ["explore", "--slots", "1", "--jobs", "2"],
    ["fuzz", "--histories", "5", "--seed", "0"],
    ["simulate"],
    ["diff", "default"],
]


@pytest.mark.parametrize("engine", ENGINES[:3], ids=lambda engine: engine[0])
@pytest.mark.parametrize(("source", "what", "why"), UNASKABLE)
def test_a_policy_that_cannot_be_asked_is_undetermined(
    source: str, what: str, why: str, engine: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, source)
    assert main([*engine, "--policy", str(path)]) == UNDETERMINED
    error = capsys.readouterr().err
    assert error.startswith(f"{engine[0]}: {path}: {what}")
    assert why in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("engine", ENGINES[:3], ids=lambda engine: engine[0])
def test_a_policy_that_cannot_be_used_is_a_usage_error(engine: list[str], tmp_path: Path) -> None:
    assert main([*engine, "--policy", str(written(tmp_path, "CLAIMS = ()\n"))]) == USAGE


def test_claims_and_decisions_must_come_to_an_end(tmp_path: Path) -> None:
    source = "def decide(warm, demand, idle_sec, ttl_sec):\n    while True:\n        pass\n"
    policy = load(written(tmp_path, source + CLAIM.format(name="c", sentence="C.", result="decide(1, 1, 1, 1)")))
    (claim,) = owed(policy, seconds=0.1)
    with pytest.raises(PolicyError, match="the claim c does not end"):
        claim.claim(None)
    with pytest.raises(PolicyError, match=r"decide\(1, 0, 2, 3\) does not end"):
        deciding(policy, seconds=0.1)(1, 0, 2, 3)


@pytest.mark.parametrize("answer", ["None", "True", "4", "-1", "'HOLD'"])
def test_a_decision_must_be_an_action(answer: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"def decide(warm, demand, idle_sec, ttl_sec):\n    return {answer}\n")
    with pytest.raises(PolicyError, match=r"decide\(0, 0, 0, 0\) returns .*, expected an action, 0 to 3"):
        deciding(load(path))(0, 0, 0, 0)
    assert main(["simulate", "--policy", str(path)]) == UNDETERMINED


# Waived decisions in a simulation

WAITS = """
WAIVES = ("{name}",)

def decide(warm, demand, idle_sec, ttl_sec):
    return {result}
"""


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.simulate.simulation.PATIENCE", 500)


@pytest.mark.usefixtures("_impatient")
def test_a_worker_that_is_never_stopped_ends_the_simulation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = WAITS.format(name="reap_once_idle_for_the_ttl", result="(2 if warm else 1) if demand else 0")
    assert main(["simulate", "--json", "--policy", str(written(tmp_path, source))]) == HOLDS
    told = json.loads(capsys.readouterr().out)
    worker = told["under_policy"]["worker"]
    assert (worker["starts"], worker["saved_permil"]) == (1, 0)
    assert worker["vram_sec"] > 500
    assert told["waived"]["reap_once_idle_for_the_ttl"] > 1


@pytest.mark.usefixtures("_impatient")
def test_a_worker_that_is_never_started_drains_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = WAITS.format(name="spawn_at_once_when_cold_and_wanted", result="0")
    assert main(["simulate", "--json", "--policy", str(written(tmp_path, source))]) == VIOLATED
    violation = json.loads(capsys.readouterr().out)["violation"]
    assert (violation["property"], violation["minimal"]) == ("the_system_drains", False)


def test_a_waiver_excuses_its_own_decisions_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = WAITS.format(name="reap_once_idle_for_the_ttl", result="1 if demand else 0")
    assert main(["simulate", "--json", "--policy", str(written(tmp_path, source))]) == VIOLATED
    assert json.loads(capsys.readouterr().out)["violation"]["property"] == "never_spawn_while_warm"
