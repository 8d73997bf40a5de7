"""What a report makes of the evidence: how strongly each property holds, and what counts for nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model.prove.machines import MACHINES
from model.report.properties import GROUPS
from model.report.readme import Unreadable, stated, table
from model.report.requirements import REQUIREMENTS
from model.report.strength import RANKS
from model.report.trust import unmatched
from tests import reported
from tests.reported import ROOT, asked, fill, fuzzed, keep, proved, refuted, strength, told

WORK = "scheduler.no_work_is_lost"
Row = dict[str, Any]


def test_each_property_has_the_strength_that_its_evidence_earns(tmp_path: Path) -> None:
    fill(tmp_path)
    found = told(tmp_path)
    assert strength(found, WORK) == ("proved", "explored")
    assert strength(found, "autoscale.never_reap_with_demand") == ("proved", "proved")
    assert strength(found, "worker.never_spawn_unless_cold") == ("proved", "explored")
    assert strength(found, "worker.a_crash_loses_no_job") == ("proved", "not run here")  # no job is lost with a worker
    assert strength(found, "scheduler.the_heir_is_unique") == ("proved", "spec only")
    assert strength(found, "scheduler.every_job_has_work") == ("assumed", "assumed")
    assert strength(found, "scheduler.conformance") == ("code only", "explored")
    assert strength(found, "autoscale.equals_the_specification") == ("code only", "proved")
    assert found["verdict"] == "holds"


def test_only_random_histories_make_it_tested(tmp_path: Path) -> None:
    fill(tmp_path, "prove", "fuzz-scheduler")
    assert strength(told(tmp_path), "scheduler.conformance") == ("code only", "tested")


def test_an_instance_counts_only_for_what_was_met_there(tmp_path: Path) -> None:
    """Nobody cancels, reports progress or restarts where jobs only come and end."""
    result = asked("explore", "--slots", "1", "--jobs", "3", "--levels", "2", "--actions", "admit,complete")
    keep(tmp_path, "explore", result)
    found = told(tmp_path)
    for name in ("a_cancel_touches_only_its_job", "a_stale_event_changes_nothing", "no_work_is_lost"):
        assert strength(found, f"scheduler.{name}")[1] == "not run here"
    assert strength(found, "scheduler.runs_are_never_reused")[1] == "not run here"
    assert strength(found, "scheduler.chat_never_waits_behind_an_image")[1] == "explored"
    (leaves,) = (each for each in found["properties"] if each["name"] == "a_job_that_leaves_is_live_no_more")
    (ground,) = leaves["code"]["grounds"]
    assert ground["seen"].endswith("; never there: cancel_queued, cancel_with_an_heir, cancel_to_idle")


def test_what_the_worker_does_is_no_step_of_the_scheduler(tmp_path: Path) -> None:
    result = asked("explore", "--machine", "worker") | {"machine": "joined"}
    assert result["actions_seen"]["work"]
    keep(tmp_path, "explore-joined", result)
    assert strength(told(tmp_path), "scheduler.the_live_jobs_only_shrink")[1] == "not run here"


def test_a_proof_that_rests_on_what_is_not_proved_is_none(tmp_path: Path) -> None:
    rows = proved()
    (one, *_) = (row for row in rows if (row["action"], row["property"]) == ("preempt", "equals_keep_their_order"))
    one |= {"verdict": "undetermined", "answers": ["unknown"]}
    keep(tmp_path, "prove", rows, code=3)
    found = told(tmp_path)
    assert strength(found, WORK)[0] == "undetermined"
    assert strength(found, "scheduler.the_heir_is_unique")[0] == "undetermined"
    assert strength(found, "worker.never_two_workers")[0] == "proved"


def test_evidence_of_another_policy_or_of_other_options_does_not_count(tmp_path: Path) -> None:
    argv = ["python", "-m", "model", "explore", "--slots", "1", "--policy", "mine.py"]
    keep(tmp_path, "explore", reported.explored(), command=argv)
    found = told(tmp_path)
    (step,) = (each for each in found["steps"] if each["name"] == "explore")
    assert step["state"] == step["verdict"] == "other options"
    assert strength(found, "scheduler.conformance")[1] == "not run here"
    assert told(tmp_path, complete=True)["exit"] == 1


def test_a_property_of_which_nothing_is_known_makes_a_complete_report_fail(tmp_path: Path) -> None:
    fill(tmp_path)
    assert "worker.a_crash_loses_no_job: code not run here" in told(tmp_path, complete=True)["complaints"]


@pytest.mark.parametrize("group", ["steps", "theorems"])
def test_a_property_that_was_dropped_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str) -> None:
    whole = MACHINES["scheduler"]
    (*_, last) = getattr(whole, group)
    monkeypatch.setitem(MACHINES, "scheduler", replace(whole, **{group: getattr(whole, group)[:-1]}))
    with pytest.raises(Unreadable, match=f"scheduler.{last.name}"):
        told(tmp_path)


def test_a_property_that_was_not_put_to_the_test_is_not_tested(tmp_path: Path) -> None:
    result = fuzzed()
    result["witnesses"] = []
    keep(tmp_path, "fuzz-scheduler", result)
    assert strength(told(tmp_path), WORK)[1] == "not run here"


def test_without_evidence_nothing_is_shown_and_nothing_fails(tmp_path: Path) -> None:
    found = told(tmp_path)
    assert {each["spec"]["strength"] for each in found["properties"]} == {
        "not run here",
        "assumed",
        "code only",
    }
    assert {each["code"]["strength"] for each in found["properties"]} == {
        "not run here",
        "assumed",
        "spec only",
    }
    assert {step["verdict"] for step in found["steps"]} == {"not run here"}
    assert found["exit"] == 0
    assert told(tmp_path, complete=True)["exit"] == 1


def without_a_query(rows: list[Row]) -> list[Row]:
    return [row for row in rows if (row["action"], row["property"]) != ("preempt", "no_work_is_lost")]


def without_a_solver(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["solver"] != "cvc5"]


def without_its_witness(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row["property"] != "a_victim_resumes"]


def with_an_unknown(rows: list[Row]) -> list[Row]:
    (one, *_) = (row for row in rows if (row["action"], row["property"]) == ("preempt", "no_work_is_lost"))
    one |= {"verdict": "undetermined", "answers": ["unknown"]}
    return rows


@pytest.mark.parametrize("spoil", [without_a_query, without_a_solver, without_its_witness, with_an_unknown])
def test_a_proof_that_is_not_whole_is_undetermined(tmp_path: Path, spoil: Callable[[list[Row]], list[Row]]) -> None:
    keep(tmp_path, "prove", spoil(proved()))
    found = told(tmp_path)
    assert strength(found, WORK)[0] == "undetermined"
    assert found["exit"] == 3
    assert found["verdict"] == "undetermined"


def test_a_counterexample_to_a_proof_refutes_the_specification(tmp_path: Path) -> None:
    rows = proved()
    (one, *_) = (row for row in rows if (row["action"], row["property"]) == ("preempt", "no_work_is_lost"))
    one |= {"verdict": "refuted", "answers": ["sat"], "counterexample": ["preempt(B, A)"]}
    keep(tmp_path, "prove", rows, code=1)
    found = told(tmp_path)
    assert strength(found, WORK)[0] == "refuted"
    assert found["exit"] == 1
    (wrong,) = found["violations"]
    assert wrong["history"] == ["preempt(B, A)"]
    assert wrong["source"]["file"] == "spec/scheduler_claims.py"


def test_a_violation_of_the_code_is_refuted_and_shadows_the_rest(tmp_path: Path) -> None:
    keep(tmp_path, "explore", refuted(), code=1)
    found = told(tmp_path)
    wrong = {each["property"] for each in found["violations"]}
    assert "chat_never_waits_behind_an_image" in wrong
    assert strength(found, "scheduler.chat_never_waits_behind_an_image")[1] == "refuted"
    assert strength(found, WORK)[1] == "undetermined"
    assert found["exit"] == 1
    assert found["verdict"] == "violated"


def test_what_was_never_seen_is_undetermined(tmp_path: Path) -> None:
    keep(tmp_path, "fuzz-scheduler", fuzzed() | {"verdict": "undetermined", "never_seen": ["preempt"]}, code=3)
    found = told(tmp_path)
    assert found["exit"] == 3
    assert "preempt" in found["violations"][0]["detail"]
    assert strength(found, "scheduler.conformance")[1] == "undetermined"


def test_an_exit_code_that_is_no_verdict_is_undetermined(tmp_path: Path) -> None:
    fill(tmp_path, "table")
    keep(tmp_path, "gates", {"said": ""}, code=70)
    assert told(tmp_path)["exit"] == 3


@pytest.mark.parametrize("of", ["sources", "tools"])
def test_stale_evidence_is_said_to_be_stale_and_does_not_count(tmp_path: Path, of: str) -> None:
    fill(tmp_path, "prove")
    keep(tmp_path, "explore", refuted(), code=1, **{of: {"impl": "changed"}})
    found = told(tmp_path)
    (step,) = (each for each in found["steps"] if each["name"] == "explore")
    assert step["state"] == step["verdict"] == "stale"
    assert "impl" in step["changed_since"]
    assert strength(found, WORK) == ("proved", "not run here")
    assert found["violations"] == []
    assert found["exit"] == 0
    assert told(tmp_path, complete=True)["exit"] == 1


def test_what_the_main_job_would_not_take_makes_a_complete_report_fail(tmp_path: Path) -> None:
    fill(tmp_path)
    keep(tmp_path, "explore", reported.explored() | {"distinct_states": 1})
    found = told(tmp_path, complete=True)
    assert any("distinct_states" in each for each in found["complaints"])
    assert found["exit"] == 1
    alone = told(tmp_path)
    assert alone["exit"] == 3  # fresh, and no pass
    assert "distinct_states is 1, expected 37752" in alone["violations"][0]["detail"]


def test_what_happens_sooner_or_later_is_shown_and_so_is_who_starves(tmp_path: Path) -> None:
    keep(tmp_path, "explore-everything", asked("explore", "--slots", "1", "--jobs", "3", "--levels", "2", "--liveness"))
    found = told(tmp_path)["liveness"]
    (drains,) = (each for each in found["claims"] if each["name"] == "the_system_drains")
    assert [each["strength"] for each in drains["found"]] == ["explored"]
    (lasso,) = found["lassos"]
    assert lasso["kind"].startswith("priority 1")
    assert lasso["cycle"]


def test_what_does_not_happen_sooner_or_later_is_refuted(tmp_path: Path) -> None:
    result = asked("explore", "--slots", "1", "--jobs", "3", "--levels", "2", "--liveness")
    result["liveness"]["the_system_drains"] = "refuted"
    keep(tmp_path, "explore-everything", result, code=1)
    found = told(tmp_path)
    assert [each["property"] for each in found["violations"]] == ["the_system_drains"]
    assert found["exit"] == 1


def test_a_waiver_is_named(tmp_path: Path) -> None:
    fill(tmp_path, "explore")
    keep(tmp_path, "fuzz-scheduler", fuzzed() | {"waived": {"chat_never_waits_behind_an_image": 2}})
    expected = {"property": "chat_never_waits_behind_an_image", "steps": "fuzz-scheduler"}
    assert told(tmp_path)["waivers"] == [expected]


def test_the_bugs_that_would_falsify_a_property_are_shown_with_who_caught_them(tmp_path: Path) -> None:
    fill(tmp_path, "mutants")
    (work,) = (each for each in told(tmp_path)["properties"] if each["id"] == WORK)
    assert work["falsifiers"]["planted"]
    assert all(bug["caught_by"] == ["golden"] for bug in work["falsifiers"]["planted"])
    assert work["falsifiers"]["caught"] == work["falsifiers"]["alone"] == len(work["falsifiers"]["planted"])


def test_every_property_stands_in_the_report_with_its_source(tmp_path: Path) -> None:
    rows = {each["id"]: each for each in told(tmp_path)["properties"]}
    for machine in MACHINES.values():
        for each in machine.properties + machine.finite:
            formula = rows[f"{machine.name}.{each.name}"]["formula"]
            lines = (ROOT / formula["file"]).read_text().splitlines()
            assert lines[formula["line"] - 1].startswith(f"def {each.name}(")
            assert "\n".join(lines[formula["line"] - 1 : formula["last_line"]]) == formula["text"]


def test_every_claim_carries_a_requirement_and_no_requirement_names_what_is_not(tmp_path: Path) -> None:
    rows = {each["id"]: each for each in told(tmp_path)["properties"]}
    carried = {name for each in REQUIREMENTS for name in each.properties}
    assert carried <= set(rows)
    claims = {name for name, each in rows.items() if each["group"] not in ("assumed", "lemmas")}
    assert claims - carried == set()


def test_each_kind_of_property_is_one_of_the_machines() -> None:
    for machine in MACHINES.values():
        grouped = [each for group in GROUPS for each in getattr(machine, group)]
        assert {each.name for each in grouped} == {each.name for each in machine.properties}


def test_the_trusted_base_names_files_that_are_there_and_all_that_know_a_solver(tmp_path: Path) -> None:
    assert unmatched() == []
    named = {file["file"] for each in told(tmp_path)["trusted"]["files"] for file in each["files"]}
    known = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "model").rglob("*.py")
        if any(line in ("import z3", "import cvc5") for line in path.read_text().splitlines())
    }
    assert known
    assert known <= named


def test_strengths_are_in_order() -> None:
    words = ["refuted", "undetermined", "assumed", "tested", "explored", "proved"]
    assert sorted(words, key=RANKS.__getitem__) == words
    assert RANKS["not run here"] == RANKS["undetermined"]


def test_a_specification_without_its_tables_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text((ROOT / "spec" / "README.md").read_text().replace("## Deviations from", "## Departures of"))
    with pytest.raises(Unreadable, match="deviations"):
        stated(path)


def test_a_row_with_a_cell_too_few_is_an_error() -> None:
    with pytest.raises(Unreadable, match="expected 2"):
        table("| a | b |\n|---|---|\n| 1 |\n")
