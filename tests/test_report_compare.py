"""Two reports compared: a loss is said, and is a violation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from model.__main__ import main
from model.commands import report
from model.prove.machines import AUTOSCALE
from model.report.compare import compare, is_loss
from tests.reported import fill, told


@pytest.fixture
def old(tmp_path: Path) -> dict[str, Any]:
    fill(tmp_path / "evidence", "prove", "table")
    return told(tmp_path / "evidence")


def of(told: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (each for each in told["properties"] if each["id"] == name)
    return dict(found)


def changed(told: dict[str, Any], name: str, **otherwise: Any) -> dict[str, Any]:
    """The same with one property told otherwise."""
    new = deepcopy(told)
    new["properties"] = [each | (otherwise if each["id"] == name else {}) for each in new["properties"]]
    for kind in ("spec", "code"):
        new["counts"][kind] = dict(Counter(each[kind]["strength"] for each in new["properties"]))
    return new


WORK = "scheduler.no_work_is_lost"


def test_nothing_changed(old: dict[str, Any]) -> None:
    told = compare(old, deepcopy(old))
    assert not any(told.values())
    assert not is_loss(told)


@pytest.mark.parametrize(("kind", "said"), [("spec", "specification"), ("code", "code")])
def test_a_strength_that_is_lost_and_gained(old: dict[str, Any], kind: str, said: str) -> None:
    strong = changed(old, WORK, **{kind: of(old, WORK)[kind] | {"strength": "explored"}})
    weak = changed(old, WORK, **{kind: of(old, WORK)[kind] | {"strength": "tested"}})
    lost, gained = compare(strong, weak), compare(weak, strong)
    assert lost["lost"] == [f"{WORK}: {said} explored, now tested"]
    assert is_loss(lost)
    assert gained["gained"] == [f"{WORK}: {said} tested, now explored"]
    assert not is_loss(gained)


def test_a_property_that_is_gone_is_lost_and_a_new_one_is_gained(old: dict[str, Any]) -> None:
    fewer = deepcopy(old)
    fewer["properties"] = [each for each in old["properties"] if each["id"] != WORK]
    assert compare(old, fewer)["lost"] == [f"{WORK} is gone"]
    assert compare(fewer, old)["gained"] == [f"{WORK} is new"]


def test_an_assumption_that_was_added_is_a_loss(old: dict[str, Any]) -> None:
    more = changed(old, WORK, rests_on="PREEMPT-ATOMIC, FAIR")
    told = compare(old, more)
    assert told["assumptions"] == [f"{WORK}: rests on FAIR as well"]
    assert is_loss(told)
    assert not is_loss(compare(more, old))


def test_a_waiver_that_was_added_is_a_loss(old: dict[str, Any]) -> None:
    more = deepcopy(old) | {"waivers": [{"property": "chat_never_waits_behind_an_image", "steps": "explore"}]}
    told = compare(old, more)
    assert told["waivers"] == ["chat_never_waits_behind_an_image"]
    assert is_loss(told)


def test_another_formula_is_said_and_is_for_people_to_judge(old: dict[str, Any]) -> None:
    weaker = changed(old, WORK, formula=of(old, WORK)["formula"] | {"sha256": "0" * 64})
    told = compare(weaker, old)
    (line,) = told["restated"]
    assert line.startswith(f"{WORK}: another formula, at spec/scheduler_claims.py:")
    assert not is_loss(told)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the queries of one machine alone."""
    monkeypatch.setattr(report, "MACHINES", {"autoscale": AUTOSCALE})


@pytest.mark.usefixtures("quick")
def test_a_loss_is_exit_code_1_and_stands_first_on_the_page(
    tmp_path: Path, old: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    stronger = changed(old, WORK, code=of(old, WORK)["code"] | {"strength": "explored"})
    (tmp_path / "old.json").write_text(json.dumps(stronger))
    words = ["report", "--out", str(tmp_path / "out"), "--evidence", str(tmp_path / "evidence")]
    assert main(words) == 0
    capsys.readouterr()
    assert main([*words, "--compare", str(tmp_path / "old.json")]) == 1
    assert f"lost: {WORK}: code explored, now not run here" in capsys.readouterr().out
    found = json.loads((tmp_path / "out" / "evidence.json").read_text())
    assert (found["exit"], found["verdict"]) == (1, "violated")
    page = (tmp_path / "out" / "index.html").read_text()
    assert page.index('id="compared"') < page.index('id="holds"', page.index("<main>"))


def dropped(told: dict[str, Any]) -> None:
    del told["properties"][3]


def doubled(told: dict[str, Any]) -> None:
    told["properties"][3] = told["properties"][4]


def weakened(told: dict[str, Any]) -> None:
    told["properties"][0]["spec"]["strength"] = "not run here"


def unheard(told: dict[str, Any]) -> None:
    told["properties"][0]["spec"]["strength"] = "certain"


def cut(told: dict[str, Any]) -> None:
    del told["waivers"]


def nothing_left(told: dict[str, Any]) -> None:
    told.update(properties=None)


@pytest.mark.parametrize("edit", [dropped, doubled, weakened, unheard, cut, nothing_left])
def test_an_earlier_report_that_was_edited_is_a_usage_error(
    tmp_path: Path, old: dict[str, Any], edit: Callable[[dict[str, Any]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    edit(old)
    (tmp_path / "old.json").write_text(json.dumps(old))
    words = ["report", "--out", str(tmp_path / "out"), "--evidence", str(tmp_path)]
    assert main([*words, "--compare", str(tmp_path / "old.json")]) == 2
    assert "evidence.json of a report, as it was written" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", '{"format": "another"}', "[" * 100_000])
def test_what_is_no_evidence_is_a_usage_error(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.json").write_text(text)
    words = ["report", "--out", str(tmp_path / "out"), "--evidence", str(tmp_path)]
    assert main([*words, "--compare", str(tmp_path / "old.json")]) == 2
    assert "evidence.json of a report" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
