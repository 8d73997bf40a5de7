"""`python -m model report`: its files, its exit codes, what it runs itself, and that it says the same twice."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from model import evidence
from model.__main__ import main
from model.commands import report
from model.prove.machines import AUTOSCALE
from model.report.steps import seeds, timeless
from tests.reported import OF, asked, fill, keep, refuted, told


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the queries of one machine alone, run no proofs, and look at the sources anew."""
    monkeypatch.setattr(report, "MACHINES", {"autoscale": AUTOSCALE})
    monkeypatch.setattr(report, "ALONE", {})
    evidence.sources.cache_clear()


def words(folder: Path, *more: str) -> list[str]:
    return ["report", "--out", str(folder / "out"), "--evidence", str(folder / "evidence"), *more]


def test_it_leaves_all_its_files_and_says_last_where_the_page_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(tmp_path / "evidence")
    (tmp_path / "evidence" / "junit.xml").write_text("<testsuites/>")
    assert main(words(tmp_path)) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-2:] == ["verdict: holds", str(tmp_path / "out" / "index.html")]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "index.html",
        "evidence.json",
        "evidence.schema.json",
        "results.sarif",
        "junit.xml",
        "obligations",
    }
    assert '<a href="junit.xml">' in (tmp_path / "out" / "index.html").read_text()


def test_what_lay_there_of_an_earlier_report_goes(tmp_path: Path) -> None:
    fill(tmp_path / "evidence", "table")
    (tmp_path / "out" / "obligations").mkdir(parents=True)
    (tmp_path / "out" / "obligations" / "old.smt2").write_text("")
    (tmp_path / "out" / "obligations" / "mine.txt").write_text("")
    (tmp_path / "out" / "junit.xml").write_text("<testsuites/>")
    assert main(words(tmp_path)) == 0
    assert (tmp_path / "out" / "obligations" / "mine.txt").exists()
    assert not (tmp_path / "out" / "obligations" / "old.smt2").exists()
    assert not (tmp_path / "out" / "junit.xml").exists()
    assert "junit.xml" not in (tmp_path / "out" / "index.html").read_text()


def test_the_queries_beside_it_are_those_that_the_solvers_answered(tmp_path: Path) -> None:
    keep(tmp_path / "evidence", "prove", asked("prove", "--machine", "autoscale", "--seeds", "1"))
    assert main(words(tmp_path)) == 3  # the other machines are missing
    found = json.loads((tmp_path / "out" / "evidence.json").read_text())
    rows = [each for each in found["properties"] if each["machine"] == "autoscale" and each["spec"]["queries"]]
    assert {each["spec"]["strength"] for each in rows} == {"proved", "assumed"}
    for each in rows:
        texts = [(tmp_path / "out" / name).read_bytes() for name in each["spec"]["files"]]
        assert sorted({hashlib.sha256(text).hexdigest() for text in texts}) == each["spec"]["sha256"]
    assert found["files"]["obligations"] == len(list((tmp_path / "out" / "obligations").iterdir()))


def test_json_is_what_the_file_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(tmp_path, "--json")) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((tmp_path / "out" / "evidence.json").read_text())


def test_a_fault_is_exit_code_1_and_is_said_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep(tmp_path / "evidence", "explore", refuted(), code=1)
    assert main(words(tmp_path)) == 1
    assert capsys.readouterr().out.startswith("refuted: ")


def test_what_is_missing_is_no_pass_and_no_failure_unless_it_must_be_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words(tmp_path)) == 0
    assert "not run here, or stale: gates, prove, table" in capsys.readouterr().out
    assert main(words(tmp_path, "--complete")) == 1
    assert "incomplete: gates: no evidence\n" in capsys.readouterr().out
    assert report.write(tmp_path / "out", tmp_path / "evidence", complete=True) == 1


def test_what_it_can_do_quickly_it_does_itself_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "ALONE", {"table": ()})
    assert main(words(tmp_path)) == 0
    assert "no fresh evidence of table, so it is run here" in capsys.readouterr().err
    found = json.loads((tmp_path / "out" / "evidence.json").read_text())
    (step,) = (each for each in found["steps"] if each["name"] == "table")
    assert (step["state"], step["complaints"]) == ("fresh", [])
    assert found["functions"]
    assert main(words(tmp_path)) == 0
    assert "run here" not in capsys.readouterr().err


def test_a_complete_report_runs_nothing_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "ALONE", {"table": ()})
    assert main(words(tmp_path, "--complete")) == 1
    assert not (tmp_path / "evidence").exists()


def test_what_it_runs_itself_are_steps_of_the_main_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert set(report.ALONE) == {"prove", "table"}
    assert set(report.ALONE) <= set(OF)


def test_two_runs_say_the_same_but_for_their_times(tmp_path: Path) -> None:
    """Each command is asked anew."""
    found = []
    for name in ("one", "other"):
        folder = tmp_path / name / "evidence"
        for step, argv in (
            ("prove", ["prove", "--machine", "autoscale", "--seeds", "1"]),
            ("table", ["table"]),
            ("explore", ["explore", "--slots", "1", "--jobs", "3"]),
            ("fuzz-scheduler", ["fuzz", "--histories", "5", "--seed", "1"]),
            ("simulate", ["simulate"]),
        ):
            assert main([*argv, "--evidence", str(OF[step].file(folder))]) in (0, 3)
        found.append(told(folder))
    one, other = map(timeless, found)
    assert one == other
    assert found[0] != found[1]  # the times


def test_an_answer_that_changed_changes_its_digest(tmp_path: Path) -> None:
    digests = []
    for seconds, states in ((1.0, 5), (2.0, 5), (1.0, 6)):
        keep(tmp_path, "explore", {**refuted(), "seconds": seconds, "distinct_states": states})
        digests += [step["sha256"] for step in told(tmp_path)["steps"] if step["name"] == "explore"]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ([{"seeds": 3}, {"seeds": 3}], "1 to 3, of the solvers"),
        ({"seed": 7}, "7"),
        ({"source": {"seed": 0}}, "0"),
        ({"said": "GREEN"}, None),
        (None, None),
    ],
)
def test_the_seeds_are_told(result: Any, said: str | None) -> None:
    assert seeds(result) == said


def test_a_folder_that_is_none_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").write_text("")
    assert main(words(tmp_path)) == 2
    assert "expected a folder to write to" in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == ""


def test_help_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--help"]) == 0
    assert "--compare OLD.json" in capsys.readouterr().out
