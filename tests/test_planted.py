"""The list of planted bugs: what it names exists, and it has one for each pair of a property and a class of faults."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from impl import command, worker
from impl.autoscale import Action, decide
from model.engines.engine import ask, engines_of
from model.mutants.matrix import OF_THE_CHECKER, properties
from model.planted.bugs import SHIPPED, Code, enter
from model.planted.catalogue import BUGS
from spec import autoscale, scheduler_claims, worker_claims

ROOT = Path(__file__).parents[1]
FAULTS = ROOT.parent / "shared" / "faults.md"
REPORT = re.compile(r"[\w.-]+/[\w.-]+#\d+")
TARGETS = ("scheduler", "autoscale", "worker", "probe", "command")
reads_the_faults = pytest.mark.skipif(not FAULTS.is_file(), reason="the list of public faults is not at hand")


def test_there_are_many_in_each_part() -> None:
    assert len(BUGS) >= 60
    assert {bug.target for bug in BUGS.values()} == set(TARGETS)
    for target in TARGETS:
        assert sum(bug.target == target for bug in BUGS.values()) >= 10


@pytest.mark.parametrize("name", BUGS)
def test_each_says_what_it_is(name: str) -> None:
    bug = BUGS[name]
    assert bug.name == name
    assert bug.sentence.endswith(".")
    assert re.fullmatch(rf"{REPORT.pattern}(, {REPORT.pattern})*", bug.source), bug.source
    assert bug.code != SHIPPED
    lemmas = {each.name for each in worker_claims.LEMMAS}
    assert bug.property in {*properties(TARGETS), *lemmas, "conformance", "equals_the_specification"}


def test_a_name_is_given_once() -> None:
    bug = next(iter(BUGS.values()))
    with pytest.raises(ValueError, match=f"two planted bugs are named {bug.name}"):
        enter(bug.code.scheduler, "scheduler", "conformance", bug.source)


def test_every_property_has_one_that_breaks_it() -> None:
    assert set(properties(TARGETS)) - rows() - {bug.property for bug in BUGS.values()} == set()


def rows() -> set[str]:
    """The rows of the gates, which are examples of other properties."""
    return {name for name in properties(TARGETS) if re.match(r"(scheduler|autoscale)_(T|neg)\d", name)}


def classes() -> dict[str, set[str]]:
    """The classes of faults that each public report belongs to."""
    text = FAULTS.read_text(encoding="utf-8")
    of_code: dict[str, set[str]] = {}
    for cells in (line.split("|") for line in text[text.index("## Fault classes") :].splitlines() if "|" in line):
        named = re.match(r" \((\d+)\)", cells[2])
        rank = named[1] if named else cells[1].strip()
        for code in re.findall(r"\b[SAP]\d+\b", cells[3]):
            of_code.setdefault(code, set()).add(rank)
    found: dict[str, set[str]] = {}
    for line in re.findall(r"^\| [RTU]\d+ \|.*", text, re.MULTILINE):
        report = REPORT.search(line)
        assert report is not None
        codes = re.findall(r"\b[SAP]\d+\b", line.rstrip(" |").rpartition("|")[2])
        found[report[0]] = {rank for code in codes for rank in of_code.get(code, ())}
    return found


@reads_the_faults
def test_every_report_exists() -> None:
    known = classes()
    assert len(known) > 150
    assert {report for bug in BUGS.values() for report in REPORT.findall(bug.source)} <= set(known)


@reads_the_faults
def test_every_fault_that_a_property_guards_against_was_planted() -> None:
    """What a property guards against is what the specification names as its origin."""
    known = classes()
    text = (ROOT / "spec" / "README.md").read_text(encoding="utf-8")
    ours = (
        autoscale.ALWAYS + scheduler_claims.ALWAYS + scheduler_claims.STEPS + worker_claims.ALWAYS + worker_claims.STEPS
    )
    missing = []
    pairs = 0
    for name in (each.name for each in ours if each.name not in OF_THE_CHECKER):
        row = re.search(rf"^\| `{name}` \|.*", text, re.MULTILINE)
        assert row is not None
        guarded = {rank for report in REPORT.findall(row[0]) for rank in known[report]}
        planted = {
            rank
            for bug in BUGS.values()
            if bug.property == name
            for r in REPORT.findall(bug.source)
            for rank in known[r]
        }
        pairs += len(guarded)
        missing += [(name, rank) for rank in sorted(guarded - planted)]
    assert pairs > 80
    assert missing == []


@pytest.mark.parametrize("target", TARGETS)
def test_no_engine_finds_anything_in_the_shipped_code(target: str) -> None:
    for name, engine in engines_of(target).items():
        found = ask(engine, SHIPPED, 100)
        assert (found.verdict, found.killers) == ("survived", ()), f"{name}: {found.detail}"


QUICK = [bug.name for bug in BUGS.values() if bug.target in ("probe", "command")]


@pytest.mark.parametrize("name", QUICK)
def test_a_planted_bug_is_caught_by_its_property(name: str) -> None:
    bug = BUGS[name]
    found = {claim for engine in engines_of(bug.target).values() for claim in ask(engine, bug.code, 100).killers}
    assert bug.property in found


NAMED = {
    "no lost work": ("scheduler", "BooksTheBrokenStep", {"no_work_is_lost", "scheduler_T3"}),
    "no chat behind lower priority": (
        "scheduler",
        "NeverPreempts",
        {"chat_never_waits_behind_an_image", "scheduler_T2"},
    ),
    "no reap while busy": ("autoscale", "reaps_by_the_queue_alone", {"never_reap_with_demand", "autoscale_neg1"}),
    "no spawn while warm": ("autoscale", "starts_for_every_demand", {"never_spawn_while_warm", "autoscale_neg3"}),
}


@pytest.mark.parametrize("invariant", NAMED)
def test_three_engines_catch_what_breaks_a_named_invariant(invariant: str) -> None:
    target, name, claims = NAMED[invariant]
    found = {engine: ask(each, BUGS[name].code, 100) for engine, each in engines_of(target).items()}
    assert len([engine for engine, outcome in found.items() if claims & set(outcome.killers)]) >= 3, found


def test_a_wrong_part_stands_where_the_shipped_one_is_called() -> None:
    with Code(decide=lambda *_: Action.HOLD).in_place():
        assert vars(worker)["decide"](0, 1, 0, 0) is vars(command)["decide"](0, 1, 0, 0) is Action.HOLD
    assert vars(worker)["decide"] is vars(command)["decide"] is decide
