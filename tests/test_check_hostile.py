"""Logs that are hostile, or nonsense: each gets a verdict, in little time and memory, and none is called right."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from impl.jobs import IMAGE, Job
from impl.journal import Journal
from impl.recorded import RecordedScheduler
from impl.scheduler import Scheduler
from model.check.learn import Learner
from model.check.map import Map, MapError
from model.check.run import MOST_NOTES
from model.check.window import MOST
from model.commands.check import check, text
from tests.journals import lines_of, record_scheduler, write_lines
from tests.test_check import command

OPEN = '{"event":"open","machine":"scheduler","slots":1}\n'
DEEP = "[" * 100_000 + "]" * 100_000
RULES = [{"when": {}, "means": "admit", "request_id": "who"}]


def refuted(path: Path, content: str | bytes, mapped: Map | None = None) -> dict[str, Any]:
    """What is wrong with a log of this content."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = check(path, mapped)
    assert result["verdict"] == "refuted", result
    violation: dict[str, Any] = result["violation"]
    return violation


@pytest.mark.parametrize(
    "line",
    [
        b'{"event":"cancel","request_id":"\xff"}',
        b'{"event":"admit","request_id":"a","priority":NaN}',
        b'{"event":"admit","request_id":"a","priority":1e999}',
        b'{"event":"admit","request_id":"a","priority":1.5}',
        b'{"event":"admit","request_id":true}',
        b'{"event":"admit","request_id":' + b"9" * 5_000 + b"}",
        b'{"event":"admit","request_id":"a","urgency":' + DEEP.encode() + b"}",
        b'{"event":"admit","request_id":"\\ud800","urgency":' + DEEP.encode() + b"}",
        DEEP.encode(),
        b"\xef\xbb\xbf{}",
        b"\x00" * 100,
    ],
)
def test_a_line_that_is_none_of_the_schema(line: bytes, tmp_path: Path) -> None:
    violation = refuted(tmp_path / "a.jsonl", OPEN.encode() + line + b"\n")
    assert (violation["line"], violation["property"]) == (2, "schema")
    assert len(violation["window"][-1]["text"]) < 5 * MOST


def test_a_deep_line_of_another_system(tmp_path: Path) -> None:
    mapped = Map.of({"machine": "scheduler", "line": RULES})
    assert refuted(tmp_path / "a.jsonl", f'{{"who":{DEEP}}}\n', mapped)["property"] == "schema"


def test_a_line_without_end_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.check.log.BLOCK", 64)
    monkeypatch.setattr("model.check.log.LONGEST", 1_000)
    violation = refuted(tmp_path / "a.jsonl", OPEN + "x" * 100_000)
    assert (violation["line"], "longer than" in violation["detail"]) == (2, True)


def test_nothing_that_a_terminal_would_obey_is_shown(tmp_path: Path) -> None:
    violation = refuted(tmp_path / "a.jsonl", OPEN + "\x1b[2J\u202eä\n")
    assert violation["window"][-1]["text"] == "\\x1b[2J\\u202eä"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with a name")
def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path(os.devnull)):
        with pytest.raises(OSError, match="No regular file"):
            check(path)
    done = command(tmp_path / "pipe")
    assert (done.returncode, "expected a file of JSON lines" in done.stderr) == (2, True)


JOB = {"event": "admit", "request_id": "a", "priority": 1, "work": 3, "remaining": 3}


@pytest.mark.parametrize(
    "begin",
    [
        {"slots": 10**12},
        {"slots": 10**18},
        {"running": [{**JOB, "slot": 9, "run": 0}], "next_run": 1},
        {"running": [{**JOB, "slot": -1, "run": 0}], "next_run": 1},
        {"running": [{**JOB, "slot": 0, "run": 0}, {**JOB, "request_id": "b", "slot": 0, "run": 1}], "next_run": 2},
        {"running": [{**JOB, "slot": 0, "run": 0}, {**JOB, "slot": 1, "run": 1}], "next_run": 2},
        {"running": [{**JOB, "slot": 0, "run": 5}], "next_run": 1},
        {"running": [{**JOB, "slot": 0}], "next_run": 1},
        {"queue": [JOB], "next_ticket": 1},
        {"queue": [{**JOB, "ticket": 7}], "next_ticket": 1},
        {"queue": [{**JOB, "ticket": 0}], "next_ticket": 1},
        {"machine": "worker", "ttl": 5, "generation": 10**15},
        {"schema": 2},
    ],
)
def test_a_beginning_that_cannot_be(begin: dict[str, Any], tmp_path: Path) -> None:
    told = [{"event": "open", "machine": "scheduler", "slots": 2, "capacity": 4, **begin}, {"event": "close"}]
    violation = check(write_lines(tmp_path / "a.jsonl", told))["violation"]
    assert violation is not None
    assert violation["line"] == 1


@pytest.mark.parametrize(
    ("event", "surplus"),
    [
        ("stale", {"heir": "b", "heir_slot": 0, "heir_run": 3}),
        ("nothing", {"heir": "b", "heir_slot": 0, "heir_run": 3}),
        ("refused", {"preempted": 1}),
        ("refused", {"run": 7}),
        ("queued", {"preempted": 1}),
    ],
)
def test_an_outcome_with_what_it_rules_out(event: str, surplus: dict[str, Any], tmp_path: Path) -> None:
    record_scheduler(tmp_path / "a.jsonl", Random(4), 300)
    lines = lines_of(tmp_path / "a.jsonl")
    at = next(at for at, line in enumerate(lines) if line.get("outcome") == event and line["event"] != "progress")
    lines[at] |= surplus
    violation = check(write_lines(tmp_path / "b.jsonl", lines))["violation"]
    assert violation is not None
    assert violation["line"] == at + 1


def test_a_log_in_which_nothing_happened_judges_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    RecordedScheduler(Scheduler(1), journal)
    journal.close()
    result = check(tmp_path / "a.jsonl")
    assert (result["verdict"], result["judged"]) == ("undetermined", [])
    assert "judged:" not in "\n".join(text(result))


def test_digests_that_begin_later_are_no_digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.check.log.BLOCK", 256)
    record_scheduler(tmp_path / "a.jsonl", Random(1), 50)
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines(keepends=True)
    stripped = b"".join(line[:-30] + b"}\n" for line in lines[:9])
    assert refuted(tmp_path / "b.jsonl", stripped + b"".join(lines[9:]))["property"] == "digest"


def test_a_scheduler_that_goes_on_with_other_jobs(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first = Scheduler(1)
    journal = Journal(path)
    recorded = RecordedScheduler(first, journal)
    recorded.admit(Job("a", IMAGE, 5))
    lease = recorded.lease_of("a")
    assert lease is not None
    recorded.progress(lease, 3)
    journal.close()
    left = first.snapshot()
    for anew in (left, left._replace(running=(left.running[0]._replace(remaining=5),))):  # type: ignore[union-attr]
        journal = Journal(path)
        RecordedScheduler(Scheduler.restore(anew), journal)
        journal.close()
        result = check(path)
        assert (result["violation"] is None) == (anew is left)
    assert "the last one left" in result["violation"]["detail"]


def test_a_scheduler_that_begins_anew_is_a_weaker_verdict(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    for _ in range(2):
        RecordedScheduler(Scheduler(1), journal).admit(Job("a", IMAGE, 1))
    journal.close()
    assert check(tmp_path / "a.jsonl")["partial"]


def test_the_notes_are_counted(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [{"event": "lost", "events": 1}] * 1_000
    notes = check(write_lines(tmp_path / "a.jsonl", lines))["notes"]
    assert len(notes) == MOST_NOTES + 1
    assert notes[-1] == f"and {1_000 - MOST_NOTES} more of the kind"


def test_jobs_of_which_no_end_is_told_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.check.learn.MOST_JOBS", 10)
    kept: list[int] = []
    step = Learner.step

    def counted(self: Learner, line: Any) -> Any:
        wrong = step(self, line)
        kept.append(len(self.jobs))
        return wrong

    monkeypatch.setattr(Learner, "step", counted)
    mapped = Map.of({"machine": "scheduler", "sampled": True, "line": RULES})
    check(write_lines(tmp_path / "a.jsonl", [{"who": who} for who in range(100)]), mapped)
    assert (len(kept), max(kept)) == (100, 10)


@pytest.mark.parametrize(
    "line",
    [
        {"event": "progress", "request_id": 1, "steps": 1, "outcome": "placed"},
        {"event": "cancel", "request_id": 1, "outcome": "placed"},
        {"event": "admit", "request_id": 1, "priority": 1, "outcome": "placed", "slot": 10**15, "run": 0},
        {"event": "restart", "outcome": "restarted", "leases": [[10**15, 1, 0]]},
    ],
)
def test_nonsense_without_a_beginning(line: dict[str, Any], tmp_path: Path) -> None:
    violation = check(write_lines(tmp_path / "a.jsonl", [line]))["violation"]
    assert (violation["line"], violation["property"]) == (1, "conformance")


def test_a_log_that_is_rotated_ends_the_following(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    record_scheduler(path, Random(1), 50)
    lines = lines_of(path)

    def rotate(_: float) -> None:
        path.rename(tmp_path / "a.jsonl.1")
        path.write_text("")

    monkeypatch.setattr("model.check.log.sleep", rotate)
    result = check(path, follow=True)
    assert (result["verdict"], result["lines"]) == ("tested", len(lines))
    assert "another file took the place of the log" in result["notes"][-1]


# The map and the options


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"line": {"when": {}, "means": "admit"}}, r"no \[\[line\]\]"),
        ({"line": "x"}, r"no \[\[line\]\]"),
        ({"line": [{"when": {}, "means": ["admit"], "request_id": "a"}]}, "means"),
        ({"line": RULES, "where": 3}, "where is 3"),
        ({"line": RULES, "sampled": "false"}, "sampled is 'false'"),
        ({"line": RULES, "open": 3}, "open is 3"),
        ({"line": RULES, "open": {"slot": 2}}, "has slot"),
        ({"line": RULES, "open": {"machine": "worker"}}, "has machine"),
    ],
)
def test_a_map_that_is_wrong(said: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Map.of({"machine": "scheduler", **said})


@pytest.mark.parametrize("begin", ["{ slots = 0 }", "{ capacity = 4 }"])
def test_a_map_that_begins_with_what_cannot_be_is_no_violation(begin: str, tmp_path: Path) -> None:
    rule = '[[line]]\nwhen = {}\nmeans = "admit"\nrequest_id = "who"\n'
    (tmp_path / "a.toml").write_text(f'machine = "scheduler"\nopen = {begin}\n{rule}')
    (tmp_path / "a.jsonl").write_text('{"who":1}\n')
    done = command(tmp_path / "a.jsonl", "--map", tmp_path / "a.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{tmp_path / 'a.toml'}: [open]: There are" in done.stderr


def test_a_deep_map_is_no_map(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f"a = {'[' * 5_000}{']' * 5_000}")
    with pytest.raises(MapError, match="expected TOML"):
        Map.load(str(tmp_path / "a.toml"))


@pytest.mark.skipif(sys.platform == "win32", reason="the time zone is not to be set there")
def test_a_time_without_a_zone_is_the_same_everywhere(tmp_path: Path) -> None:
    source = "from model.check.map import _seconds; print(_seconds('2026-03-29T02:30:00'))"
    root = Path(__file__).resolve().parent.parent
    words = [sys.executable, "-c", source]
    told = {
        subprocess.run(
            words, cwd=root, env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True
        ).stdout
        for zone in ("UTC", "CET-1CEST,M3.5.0,M10.5.0/3")
    }
    assert told == {"1774751400\n"}


def test_sizes_that_cannot_be_are_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(OPEN)
    for words in (("--slots", "0"), ("--slots", "9" * 18), ("--capacity", "-1"), ("--reserve", "x")):
        assert command(tmp_path / "a.jsonl", *words).returncode == 2
