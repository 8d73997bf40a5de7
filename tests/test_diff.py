"""`python -m model diff`: exact differences, against every input of a small domain, and what it must not call equal."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from impl.autoscale import Action, decide
from impl.jobs import CHAT, IMAGE, Job, by_priority
from impl.scheduler import Scheduler
from model.__main__ import main
from model.commands.diff import compare
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED
from model.policy.difference import Change, Difference, joined
from model.policy.file import Policy, load
from model.prove import solvers
from model.prove.solvers import Answer
from model.symbolic.execution import Explorer
from spec.logic import both, either

ROOT = Path(__file__).resolve().parent.parent
POLICIES = ROOT / "examples" / "policies"
SMALL = range(4)
VIEWS = list(product((0, 1), (0, 1), SMALL, SMALL))

DECIDE = """
def decide(warm, demand, idle_sec, ttl_sec):
    if demand != 0:
        return 1 if warm == 0 else 2
    return 3 if warm == 1 and {} else 0
"""


def written(folder: Path, source: str, name: str = "policy.py") -> str:
    (folder / name).write_text(source)
    return str(folder / name)


def urgent(folder: Path, result: str, name: str = "policy.py") -> str:
    return written(folder, f"def urgency(job):\n    return {result}\n", name)


def diff(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["diff", "--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


def policy(path: str) -> Policy | None:
    return None if path == "default" else load(path)


# Decisions

IDLES = {
    "idle_sec >= ttl_sec": "equivalent",
    "not ttl_sec > idle_sec": "equivalent",
    "idle_sec > ttl_sec": "stricter",
    "idle_sec >= 3 * ttl_sec": "stricter",
    "idle_sec // 2 >= ttl_sec // 2": "laxer",
    "idle_sec + 1 >= ttl_sec": "laxer",
    "idle_sec % 2 == 1": "incomparable",
    "idle_sec >= 2": "incomparable",
    "False": "stricter",
    "True": "laxer",
}


@pytest.mark.parametrize(("idle", "relation"), IDLES.items())
def test_decisions_are_compared_on_every_input(
    idle: str, relation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, DECIDE.format(idle))
    code, told = diff(capsys, "default", path)
    assert code == (HOLDS if relation == "equivalent" else VIOLATED)
    assert told["verdict"] == relation
    (decided, urgency) = told["functions"]
    assert (decided["relation"], urgency["relation"]) == (relation, "equivalent")
    assert_the_regions_are_right(decided["changes"], policy("default"), policy(path))


def assert_the_regions_are_right(changes: list[dict[str, Any]], old: Policy | None, new: Policy | None) -> None:
    """Each input of a small domain lies in the region of its change and no other, and none is before the sample."""
    mine, others = ((each and each.decide) or decide for each in (old, new))
    for view in VIEWS:
        named = dict(zip(("warm", "demand", "idle_sec", "ttl_sec"), view, strict=True))
        meant = {(Action(mine(*view)).name, Action(others(*view)).name)} - {(each.name, each.name) for each in Action}
        found = [change for change in changes if eval(python(change["where"]), named)]
        assert {(change["old"], change["new"]) for change in found} == meant, view
        assert len(found) == len(meant)
        assert all(max(change["sample"].values()) <= max(view) for change in found)
    for change in changes:
        sample = change["sample"].values()
        assert (Action(mine(*sample)).name, Action(others(*sample)).name) == (change["old"], change["new"])


def python(words: str) -> str:
    return words.replace(" = ", " == ")


def test_regions_of_several_changes_and_of_symbolic_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = "def decide(warm, demand, idle_sec, ttl_sec):\n    return demand + 2 * warm\n"
    code, told = diff(capsys, "default", path := written(tmp_path, other))
    assert (code, told["verdict"]) == (VIOLATED, "incomparable")
    changes = told["functions"][0]["changes"]
    assert {(change["old"], change["new"]) for change in changes} == {
        ("SERVE", "REAP"),
        ("REAP", "SERVE"),
        ("HOLD", "SERVE"),
    }
    assert_the_regions_are_right(changes, None, load(path))


def test_the_smallest_input_is_far_where_the_difference_is_far(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, told = diff(capsys, "default", written(tmp_path, DECIDE.format("idle_sec >= min(ttl_sec, 86400)")))
    (change,) = told["functions"][0]["changes"]
    assert (change["old"], change["new"]) == ("HOLD", "REAP")
    assert change["sample"] == {"warm": 1, "demand": 0, "idle_sec": 86_400, "ttl_sec": 86_401}
    assert change["example"].endswith("returns HOLD in OLD and returns REAP in NEW")


def test_old_and_new_change_their_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    late, early = (
        written(tmp_path, DECIDE.format(f"idle_sec {sign} ttl_sec"), f"{name}.py")
        for sign, name in ((">", "late"), ("+ 1 >=", "early"))
    )
    assert diff(capsys, late, early)[1]["verdict"] == "laxer"
    assert diff(capsys, early, late)[1]["verdict"] == "stricter"
    assert diff(capsys, late, late)[1]["verdict"] == "equivalent"


# What is allowed


@pytest.mark.parametrize(
    ("allowed", "code"),
    [
        ("REAP->HOLD", HOLDS),
        ("SERVE->HOLD, REAP->HOLD", HOLDS),
        ("HOLD->REAP", VIOLATED),
        ("SERVE->HOLD", VIOLATED),
    ],
)
def test_allowed_changes_are_no_reason_to_fail(
    allowed: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, DECIDE.format("idle_sec > ttl_sec"))
    ended, told = diff(capsys, "default", path, "--allow", allowed)
    assert (ended, told["verdict"]) == (code, "stricter")
    assert [change["allowed"] for change in told["functions"][0]["changes"]] == [code == HOLDS]


def test_one_change_that_is_not_allowed_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, DECIDE.format("idle_sec >= 2"))
    code, told = diff(capsys, "default", path, "--allow", "HOLD->REAP")
    assert code == VIOLATED
    changes = told["functions"][0]["changes"]
    assert {(change["old"], change["allowed"]) for change in changes} == {("HOLD", True), ("REAP", False)}
    assert diff(capsys, "default", path, "--allow", "HOLD->REAP,REAP->HOLD")[0] == HOLDS


def test_no_change_of_an_urgency_is_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(capsys, "default", urgent(tmp_path, "0"), "--allow", "HOLD->REAP")[0] == VIOLATED


@pytest.mark.parametrize("allowed", ["", "HOLD", "HOLD->", "HOLD->STAY", "HOLD->REAP,", "HOLD->REAP->SPAWN", "0->3"])
def test_what_cannot_be_allowed_is_a_usage_error(allowed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "default", "default", "--allow", allowed]) == USAGE
    assert "expected OLD->NEW,... of HOLD, SPAWN, SERVE, REAP" in capsys.readouterr().err


# Urgencies

URGENCIES = {
    "job.priority": "equivalent",
    "3 * job.priority + 1": "equivalent",
    "(job.priority,)": "equivalent",
    "(job.priority // 2, job.priority % 2)": "equivalent",
    "(job.priority, -job.work)": "stricter",
    "(job.priority, 0) if job.deadline is None else (job.priority, 1, -job.deadline)": "stricter",
    "job.priority // 2": "laxer",
    "0": "laxer",
    "-job.priority": "incomparable",
    "10 * job.priority - job.work": "incomparable",
    "job.priority if job.modality == '' else 0": "incomparable",
}
JOBS = [
    Job("", priority, work, arrived=arrived, deadline=deadline)
    for priority, work, arrived, deadline in product((0, 1, 2), (1, 2, 12), (0, 1), (None, 0, 1))
]


@pytest.mark.parametrize(("result", "relation"), URGENCIES.items())
def test_urgencies_are_compared_by_the_order_of_every_two_jobs(
    result: str, relation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = urgent(tmp_path, result)
    code, told = diff(capsys, "default", path)
    assert (code, told["verdict"]) == (HOLDS if relation == "equivalent" else VIOLATED, relation)
    function = told["functions"][1]
    new: Any = load(path).urgency
    assert_the_pairs_are_right(function["changes"], by_priority, new)
    assert (function["history"] is None) == (relation == "equivalent")
    if relation != "equivalent":
        assert_they_part(function["history"], by_priority, new)


def order(urgency: Callable[[Job], Any], one: Job, other: Job) -> str:
    a, b = urgency(one), urgency(other)
    return "A first" if a > b else "B first" if b > a else "equals"


def assert_the_pairs_are_right(changes: list[dict[str, Any]], old: Callable[..., Any], new: Callable[..., Any]) -> None:
    """Each pair shows its change, and every pair of a small world shows one of the same kinds."""
    kinds = set()
    for change in changes:
        one, other = (Job("", **facts) for facts in change["sample"].values())
        assert (order(old, one, other), order(new, one, other)) == (change["old"], change["new"])
        kinds.add((change["old"] == "equals", change["new"] == "equals"))
    for one, other in product(JOBS, JOBS):
        before, after = order(old, one, other), order(new, one, other)
        assert before == after or (before == "equals", after == "equals") in kinds


def assert_they_part(history: dict[str, Any], old: Callable[..., Any], new: Callable[..., Any]) -> None:
    """After its last event, and not before, the two schedulers have other jobs in their places."""
    states: list[list[Any]] = []
    for urgency in (old, new):
        scheduler = Scheduler(history["slots"], urgency=urgency)
        states.append([])
        for event in history["events"]:
            facts = {name: value for name, value in event.items() if name not in ("event", "job")}
            assert event["event"] == "admit"
            scheduler.admit(Job(event["job"], **facts))
            after = scheduler.snapshot()
            places = (
                [run and run.job.request_id for run in after.running],
                [each.job.request_id for each in after.queue],
            )
            states[-1].append(places)
    assert states[0][:-1] == states[1][:-1]
    assert states[0][-1] != states[1][-1]
    assert history["old"][-1] != history["new"][-1]
    assert len(history["events"]) == 2


def test_the_smallest_pair_is_as_small_as_it_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, told = diff(capsys, "default", urgent(tmp_path, "10 * job.priority - job.work"))
    changes = told["functions"][1]["changes"]
    assert [list(change["sample"].values()) for change in changes] == [
        [{"priority": 0, "work": 1}, {"priority": 1, "work": 12}],
        [{"priority": 0, "work": 1}, {"priority": 1, "work": 11}],
        [{"priority": 0, "work": 2}, {"priority": 0, "work": 1}],
    ]


def test_a_difference_that_only_a_deadline_or_an_arrival_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = "job.priority - 1 if job.deadline is not None and job.deadline > 999 else job.priority"
    _, told = diff(capsys, "default", urgent(tmp_path, late))
    samples = [each for change in told["functions"][1]["changes"] for each in change["sample"].values()]
    assert {sample.get("deadline", 1000) for sample in samples} == {1000}
    aged = "(job.priority, 0 if job.arrived < 10**15 else 1)"
    _, told = diff(capsys, "default", urgent(tmp_path, aged))
    (change,) = told["functions"][1]["changes"]
    assert sorted(facts.get("arrived", 0) for facts in change["sample"].values()) == [0, 10**15]


def test_one_bit_of_i64_is_not_overlooked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert diff(capsys, "default", urgent(tmp_path, "min(job.priority, 2**63 - 1)"))[1]["verdict"] == "equivalent"
    assert diff(capsys, "default", urgent(tmp_path, "min(job.priority, 2**63 - 2)"))[1]["verdict"] == "laxer"


CLAIMS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y >= 7,
    lambda x, y: x - 2 * y == 3,
    lambda x, y: both(x + y < 0, x != -1),
    lambda x, y: either(x > 5, y < -3),
    lambda x, y: both(x > 5, y < -3),
    lambda x, y: both(x > y, y > x),
]
PRODUCTS: list[Callable[[Any, Any], Any]] = [lambda x, y: x * y == 12, lambda x, y: both(x * x == 9, y < x)]
"""Claims of which the solver cannot always tell which input is the smallest."""


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_smallest_input_is_the_first_of_all_in_its_order(claim: Callable[[Any, Any], Any]) -> None:
    def size(pair: tuple[int, int]) -> tuple[bool, int, int, int]:
        x, y = map(abs, pair)
        return min(pair) < 0, max(x, y), y, x

    pairs = [(x, y) for x, y in product(range(-15, 16), range(-15, 16)) if claim(x, y)]
    explorer = Explorer()
    sample = explorer.smallest([claim(explorer.number("x"), explorer.number("y"))])
    if not pairs:
        assert sample is None
    else:
        assert sample is not None
        found = (sample["x"], sample["y"])
        assert found in pairs
        assert size(found) == min(map(size, pairs))


@pytest.mark.parametrize("claim", PRODUCTS)
def test_where_the_solver_cannot_tell_it_is_some_input(claim: Callable[[Any, Any], Any]) -> None:
    explorer = Explorer()
    sample = explorer.smallest([claim(explorer.number("x"), explorer.number("y"))])
    assert sample is not None
    assert claim(sample["x"], sample["y"])


# Both together


@pytest.mark.parametrize(
    ("relations", "relation"),
    [
        ((), "equivalent"),
        (("equivalent", "equivalent"), "equivalent"),
        (("equivalent", "laxer"), "laxer"),
        (("stricter", "stricter"), "stricter"),
        (("stricter", "laxer"), "incomparable"),
        (("incomparable", "equivalent"), "incomparable"),
        (("undetermined", "equivalent"), "undetermined"),
        (("undetermined", "stricter"), "different"),
    ],
)
def test_two_functions_make_one_relation(relations: tuple[str, ...], relation: str) -> None:
    assert joined(relations) == relation


def test_both_functions_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    laxer = DECIDE.format("True") + "\ndef urgency(job):\n    return job.priority, -job.work\n"
    code, told = diff(capsys, "default", written(tmp_path, laxer))
    assert [each["relation"] for each in told["functions"]] == ["laxer", "stricter"]
    assert (code, told["verdict"]) == (VIOLATED, "incomparable")


def test_what_is_shipped_is_equivalent_to_itself(capsys: pytest.CaptureFixture[str]) -> None:
    code, told = diff(capsys, "default", "default")
    assert (code, told["verdict"]) == (HOLDS, "equivalent")


def test_waivers_are_shown_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "default", str(POLICIES / "longer_ttl.py")]) == VIOLATED
    printed = capsys.readouterr().out.splitlines()
    assert printed[2] == "WAIVED by NEW: reap_once_idle_for_the_ttl"
    assert printed[3] == "decide: stricter"
    assert printed[4].startswith(
        "  REAP->HOLD: warm = 1 and demand = 0 and idle_sec >= ttl_sec and idle_sec < ttl_sec*3"
    )
    assert printed[-1].startswith("verdict: stricter (z3 ")


def test_the_history_is_drawn_for_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "default", str(POLICIES / "upside_down.py")]) == VIOLATED
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "on 1 slot, where they part after 2 events:" in printed
    assert "2 admit B (priority 1, work 1) B 1 (1 left) A 0 (1 left) preempt" in printed
    assert "2 admit B (priority 1, work 1) A 0 (1 left) B 1/-1 (1 left) enqueue" in printed


# What is not known

UNKNOWN = [
    (DECIDE.format("idle_sec >= 0.5 * ttl_sec"), "cannot be followed", "undetermined"),
    (DECIDE.format("idle_sec >= ttl_sec and (idle_sec != 5 or 1 // (idle_sec - 5))"), "ZeroDivision", "undetermined"),
    ("def decide(warm, demand, idle_sec, ttl_sec):\n    return None\n", "None", "undetermined"),
    ("def urgency(job):\n    return job.priority, hash(job)\n", "hash(job)", "undetermined"),
    ("def urgency(job):\n    return True\n", "True", "undetermined"),
    ("def urgency(job):\n    return job.priority if job.work < 9 else (job.priority,)\n", "(", "undetermined"),
]


@pytest.mark.parametrize(("source", "why", "relation"), UNKNOWN)
def test_what_is_not_known_is_undetermined(
    source: str, why: str, relation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, source)
    assert main(["diff", "default", path]) == UNDETERMINED
    printed = capsys.readouterr().out
    assert why in printed
    assert printed.splitlines()[-1].startswith(f"verdict: {relation} ")


def test_a_difference_is_one_even_where_not_all_is_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = DECIDE.format("idle_sec > ttl_sec and 1 // (idle_sec - 5)")
    code, told = diff(capsys, "default", written(tmp_path, source))
    assert code == VIOLATED
    assert told["verdict"] in ("different", "incomparable")


@pytest.mark.parametrize("word", ["unknown", "sat"])
def test_equivalence_takes_both_solvers(
    word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, DECIDE.format("not ttl_sec > idle_sec"))
    monkeypatch.setitem(solvers.SOLVERS, "cvc5", ("1", lambda *_: Answer(word, 0.0)))
    code, told = diff(capsys, "default", path)
    assert (code, told["verdict"]) == (UNDETERMINED, "undetermined")


def test_a_solver_that_calls_different_policies_equal_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, DECIDE.format("False"))
    monkeypatch.setitem(solvers.SOLVERS, "cvc5", ("1", lambda *_: Answer("unsat", 0.0)))
    assert diff(capsys, "default", path)[0] == VIOLATED


@pytest.mark.parametrize(
    "arguments", [[], ["default"], ["default", "none.py"], ["none.py", "default"], ["default", "default", "default"]]
)
def test_bad_arguments_are_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *arguments]) == USAGE
    assert capsys.readouterr().err


def test_chat_and_image_of_real_life(tmp_path: Path) -> None:
    """The comparison speaks of all jobs, these among them."""
    found = compare("urgency", None, load(urgent(tmp_path, f"min(job.priority, {IMAGE})")))
    assert found.relation == "laxer"
    assert isinstance(found.changes[0], Change)
    assert Difference("urgency").relation == "equivalent"
    assert order(lambda job: min(job.priority, IMAGE), Job("a", CHAT, 1), Job("b", IMAGE, 1)) == "equals"
