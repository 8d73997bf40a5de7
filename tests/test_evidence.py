"""Evidence that was cut off, edited, or found with other sources is none; nor does the environment change what runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from model import evidence
from model.__main__ import main
from model.commands import report, verify
from model.prove.machines import AUTOSCALE
from model.steps import STEPS, TESTS, some_tests
from tests.reported import OF, ROOT, fill, keep, told

STEP = OF["table"]


def kept(folder: Path) -> Path:
    """Evidence of the table that nothing is wrong with."""
    fill(folder, "table")
    assert STEP.complaints(folder) == []
    return STEP.file(folder)


@pytest.mark.parametrize("at", ["exit", "result", "sources"])
def test_a_record_that_was_edited_is_none(tmp_path: Path, at: str) -> None:
    path = kept(tmp_path)
    record = json.loads(path.read_text())
    record[at] = {"exit": 3, "result": {}, "sources": {}}[at]
    path.write_text(json.dumps(record))
    assert evidence.read(path) is None
    assert told(tmp_path, complete=True)["exit"] == 1


def test_a_record_that_is_cut_off_anywhere_is_none(tmp_path: Path) -> None:
    path = kept(tmp_path)
    whole = path.read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole) - 3):
        path.write_bytes(whole[:size])
        assert evidence.read(path) is None


@pytest.mark.parametrize("text", ["[" * 100_000, "null", "\xff\xfe", '{"command": []}'])
def test_rubbish_is_no_record(tmp_path: Path, text: str) -> None:
    path = STEP.file(tmp_path)
    path.write_text(text, encoding="latin-1")
    assert evidence.read(path) is None
    assert told(tmp_path)["exit"] == 0


def test_records_of_an_older_form_are_stale_and_break_nothing(tmp_path: Path) -> None:
    for step in STEPS:
        keep(tmp_path, step.name, ["another form"], sources={"impl": "before"})
    found = told(tmp_path)
    assert {step["state"] for step in found["steps"]} == {"stale"}
    assert found["exit"] == 0


def test_sources_that_change_while_a_command_runs_are_of_no_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    before = evidence.sources()
    monkeypatch.setattr(evidence, "digests", lambda: {**before, "impl": "1" * 64})
    record = evidence.record(("python",), 0, 1.0, {})
    assert record["sources"]["impl"] not in (before["impl"], "1" * 64)
    assert evidence.stale(record) == ["impl"]
    monkeypatch.undo()
    assert evidence.stale(record) == ["impl"]  # not even if the change is taken back


def test_the_sources_are_those_that_are_imported(tmp_path: Path) -> None:
    (tmp_path / "impl").mkdir()
    for path in (ROOT / "impl").glob("*.py"):
        (tmp_path / "impl" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "impl" / "core.py").write_text("# another\n")
    asks = "import json; from model import evidence; print(json.dumps(evidence.sources()))"
    code = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; {asks}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    other, ours = json.loads(done.stdout), evidence.digests()
    assert {room for room in ours if other[room] != ours[room]} == {"impl"}


def test_without_assertions_evidence_is_that_of_another_tool() -> None:
    code = "from model import evidence; print(evidence.tools()['python'])"
    done = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == f"{evidence.tools()['python']}, assertions off"


def test_variables_that_leave_tests_or_assertions_out_do_not_reach_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing")
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    seen = "import os, sys; sys.exit(__debug__ and 'PYTEST_ADDOPTS' not in os.environ)"
    line = [sys.executable, "-c", seen]
    assert subprocess.run(line, check=False, env=verify.environment()).returncode == 1
    assert subprocess.run(line, check=False).returncode == 0


def test_the_revision_is_ours_whatever_git_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    evidence.revision.cache_clear()
    ours = evidence.revision()
    evidence.revision.cache_clear()
    monkeypatch.setenv("GIT_DIR", str(tmp_path))
    assert evidence.revision() == ours


def test_where_evidence_is_kept_is_no_part_of_its_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = STEP.file(tmp_path)
    assert main(["table", f"--evidence={path}"]) == 0
    assert STEP.complaints(tmp_path) == []


def test_a_file_of_tests_of_which_none_ran_is_missed() -> None:
    result: dict[str, Any] = {"tests": 9, "files": dict.fromkeys(TESTS, 3), "failures": 0, "errors": 0, "skipped": []}
    assert list(some_tests(result)) == []
    del result["files"][TESTS[0]]
    result["skipped"] = ["test_of_importance"]
    assert list(some_tests(result)) == [f"no test of {TESTS[0]} ran", "skipped: test_of_importance"]


@pytest.mark.parametrize("text", ["", "<testsuites><testsuite>", "\0"])
def test_a_log_of_tests_that_is_not_whole_is_none(tmp_path: Path, text: str) -> None:
    def leaves_half(words: Any) -> int:
        (tmp_path / "junit.xml").write_text(text)
        return 0

    assert verify.verify([OF["tests"]], tmp_path, leaves_half) == 1
    assert evidence.read(OF["tests"].file(tmp_path)) is None


# The report


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the queries of one machine alone, and run no proofs."""
    monkeypatch.setattr(report, "MACHINES", {"autoscale": AUTOSCALE})
    monkeypatch.setattr(report, "ALONE", {})


@pytest.mark.usefixtures("quick")
def test_what_it_runs_itself_and_dies_is_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(report, "ALONE", {"table": ()})
    (tmp_path / "evidence").write_text("a file, where a folder should be")
    words = ["report", "--out", str(tmp_path / "out"), "--evidence", str(tmp_path / "evidence")]
    assert main(words) == 3
    found = json.loads((tmp_path / "out" / "evidence.json").read_text())
    assert "table: it was run here, and came to no verdict" in found["complaints"]


@pytest.mark.usefixtures("quick")
def test_no_page_of_an_earlier_report_outlives_one_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", "--out", str(tmp_path / "out"), "--evidence", str(tmp_path / "evidence")]
    assert main(words) == 0
    monkeypatch.setattr(report, "gather", lambda *_, **__: 1 / 0)
    assert main(words) == 70
    assert not (tmp_path / "out" / "index.html").exists()
    assert not (tmp_path / "out" / "evidence.json").exists()


def test_no_page_of_an_earlier_report_outlives_a_main_job_that_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(*_: object) -> int:
        raise KeyboardInterrupt

    page = tmp_path / "index.html"
    page.write_text("all holds")
    monkeypatch.setattr(verify, "verify", cut_off)
    assert main(["verify", "--out", str(tmp_path), "--evidence", str(tmp_path / "evidence")]) == 130
    assert not page.exists()


@pytest.mark.usefixtures("quick")
def test_the_log_of_tests_is_shown_only_while_it_is_fresh(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "junit.xml").write_text("<testsuites/>")
    keep(tmp_path, "tests", {"tests": 1, "failures": 0, "errors": 0, "skipped": []}, sources={"impl": "before"})
    assert main(["report", "--out", str(tmp_path / "out"), "--evidence", str(tmp_path)]) == 0
    assert not (tmp_path / "out" / "junit.xml").exists()
    main(["report", "--out", str(tmp_path), "--evidence", str(tmp_path)])
    assert (tmp_path / "junit.xml").exists()


HOSTILE = "<script>alert(1)</script> '\"&]]> \udcff \0 *a* `</code><b>`"


@pytest.mark.usefixtures("quick")
def test_whatever_a_file_or_a_policy_is_called_it_stays_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {"sentence": HOSTILE, "detail": HOSTILE, "history": [HOSTILE], "rows": None}
    result: dict[str, Any] = {
        "machine": "scheduler",
        "violations": {HOSTILE: wrong},
        "liveness": {},
        "levels": HOSTILE,
        "verdict": "refuted",
    }
    result |= {"slots": 1, "jobs": 1, "capacity": 1, "actions": [HOSTILE], "exhaustive": False}
    result |= {"distinct_states": 1, "transitions": 1, "depth": 1}
    keep(tmp_path, "explore", result, code=1)
    keep(tmp_path, "explore-worker", result, command=["python", HOSTILE])
    assert main(["report", "--out", str(tmp_path / "out"), "--evidence", str(tmp_path)]) == 1
    text = (tmp_path / "out" / "index.html").read_text()
    assert "alert(1)" in text
    assert "<script" not in text
    assert "<b>" not in text
    for name in ("evidence.json", "results.sarif"):
        assert "alert(1)" in json.dumps(json.loads((tmp_path / "out" / name).read_text()))
