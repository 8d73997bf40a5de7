"""`python -m model check`: journals that hold, and what each kind of change to one is found to break."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from impl.jobs import CHAT, IMAGE, Job
from impl.journal import Journal
from impl.probe import Verdict
from impl.recorded import RecordedController, RecordedScheduler
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Settings
from model.check.lines import decode_only
from model.commands.check import check, text
from model.commands.simulate import SAMPLE
from model.simulate.comparison import Settings as Load
from model.simulate.comparison import compare
from model.simulate.workload import load
from tests.journals import lines_of, write_lines

ROOT = Path(__file__).resolve().parent.parent
CHECK = [sys.executable, "-c", "from tests.journals import command; command()"]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The lines of the journal of the bundled arrivals."""
    path = tmp_path_factory.mktemp("sample") / "sample.jsonl"
    journal = Journal(path)
    compare(load(str(SAMPLE), None, 0), Load(), None, journal)
    journal.close()
    result = check(path)
    assert (result["verdict"], result["partial"], result["unjudged"]) == ("tested", False, {})
    assert result["judged_by_the_specification_itself"] >= 1
    assert decode_only(path) == result["lines"] > 1000
    return path.read_bytes().splitlines(keepends=True)


def test_simulate_writes_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    command = [sys.executable, "-m", "model", "simulate", "--journal", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert check(path)["verdict"] == "tested"
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert again.returncode == 2
    assert "is there already" in again.stderr


CHANGES: dict[str, Callable[[list[bytes], int], None]] = {
    "removed": lambda lines, at: lines.__delitem__(at),
    "swapped": lambda lines, at: lines.insert(at + 1, lines.pop(at)),
    "doubled": lambda lines, at: lines.insert(at, lines[at]),
    "altered": lambda lines, at: lines.__setitem__(at, lines[at].replace(b'"outcome":"', b'"outcome": "')),
    "cut": lambda lines, at: lines.__setitem__(at, lines[at][:-20] + b"\n"),
    "unsealed": lambda lines, at: lines.__setitem__(at, lines[at][:-30] + b"}\n"),
    "blank": lambda lines, at: lines.insert(at, b"\n"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("at", [1, 2, 600, -3])
def test_a_changed_line_of_a_journal_is_found_there(change: str, at: int, sample: list[bytes], tmp_path: Path) -> None:
    lines = list(sample)
    at %= len(lines)
    CHANGES[change](lines, at)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(lines))
    result = check(path)
    assert result["verdict"] == "refuted"
    violation = result["violation"]
    assert violation["property"] in ("sequence", "digest", "schema")
    assert violation["line"] == at + 1 + (change == "doubled")
    assert [each["line"] for each in violation["window"]][-1] == violation["line"]


def test_the_first_line_removed_is_a_broken_sequence(sample: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(sample[1:]))
    assert check(path)["violation"]["property"] == "sequence"


def test_an_end_that_is_missing_is_told(sample: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(sample[:-1]))
    result = check(path)
    assert (result["verdict"], result["closed"]) == ("tested", False)
    assert "may go on, or lack its end" in "\n".join(text(result))


def test_a_number_alone_is_held_too(sample: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [line[:-30] + b"}\n" for line in sample]
    path.write_bytes(b"".join(lines))
    assert (check(path)["verdict"], check(path)["sequence"], check(path)["digest"]) == ("tested", "held", "absent")
    path.write_bytes(b"".join(lines[:600] + lines[601:]))
    assert check(path)["violation"]["property"] == "sequence"


# What is wrong with the content, in a log that never carried number or digest


def scheduler_log(path: Path) -> list[dict[str, Any]]:
    """On one slot: render A, chat B that takes its slot, chat C and render D that wait, and what follows."""
    journal = Journal(path)
    scheduler = RecordedScheduler(Scheduler(1, capacity=2, reserve=1), journal)
    scheduler.admit(Job("A", IMAGE, 30))
    chat = scheduler.admit(Job("B", CHAT, 5))
    scheduler.admit(Job("C", CHAT, 5))
    scheduler.admit(Job("D", IMAGE, 5))
    lease = chat.lease  # type: ignore[union-attr]
    scheduler.progress(lease, 2)
    ended = scheduler.complete(lease)
    scheduler.complete(lease)
    scheduler.admit(Job("D", IMAGE, 7))
    scheduler.cancel("C")
    scheduler.restart()
    scheduler.cancel("C")
    assert ended.heir.request_id == "C"  # type: ignore[union-attr]
    scheduler.admit(Job("E", CHAT, 1))
    journal.close()
    return lines_of(path)


SCHEDULER_BUGS: dict[str, tuple[int, dict[str, Any], str]] = {
    "a chat waits behind a render": (2, {"outcome": "queued", "ticket": 0}, "no_job_waits_behind_a_less_urgent_one"),
    "a job is placed over another": (2, {"preempted": None}, "no_live_job_vanishes"),
    "a peer preempts a peer": (
        3,
        {"outcome": "placed", "slot": 0, "run": 2, "preempted": "B"},
        "only_strictly_less_urgent_work_is_preempted",
    ),
    "a ticket comes twice": (3, {"ticket": 0}, "equals_keep_their_order"),
    "the queue runs over": (4, {"outcome": "queued", "ticket": 2, "reason": None}, "conformance"),
    "steps are lost": (5, {"remaining": 2}, "no_work_is_lost"),
    "steps are served twice": (5, {"remaining": 4}, "no_work_is_lost"),
    "a slot idles while a job waits": (6, {"heir": None}, "no_slot_idles_while_a_job_waits"),
    "a render inherits before a chat": (6, {"heir": "A"}, "the_earliest_of_the_most_urgent_inherits"),
    "a run comes twice": (6, {"heir_run": 1}, "a_run_that_starts_has_a_new_number"),
    "a late report ends another job": (7, {"outcome": "ended"}, "a_job_that_leaves_is_live_no_more"),
    "a running job counts as over": (6, {"outcome": "stale", "heir": None}, "conformance"),
    "the room was there": (8, {"outcome": "refused", "reason": "the queue is full"}, "conformance"),
    "a live id is admitted again": (1, {"request_id": "B"}, "conformance"),
    "the heir is not told": (9, {"heir": None}, "no_slot_idles_while_a_job_waits"),
    "a lost worker keeps its leases": (10, {"leases": [[0, "A", 3]]}, "conformance"),
    "a job that is over is cancelled": (11, {"outcome": "cancelled"}, "a_job_that_leaves_is_live_no_more"),
    "work below one step": (1, {"work": 0}, "every_job_has_work"),
    "no such slot": (1, {"slot": 1}, "conformance"),
    "no such outcome": (1, {"outcome": "lost"}, "conformance"),
    "a word for a number": (1, {"slot": "0"}, "schema"),
    "no such event": (1, {"event": "begin"}, "schema"),
}


@pytest.mark.parametrize("bug", SCHEDULER_BUGS)
def test_a_log_of_a_scheduler_with_this_bug(bug: str, tmp_path: Path) -> None:
    lines = scheduler_log(tmp_path / "a.jsonl")
    assert check(write_lines(tmp_path / "b.jsonl", lines))["verdict"] == "tested"
    at, changes, claim = SCHEDULER_BUGS[bug]
    changed = {**lines[at], **changes}
    lines[at] = {name: value for name, value in changed.items() if value is not None}
    result = check(write_lines(tmp_path / "c.jsonl", lines))
    violation = result["violation"]
    assert violation is not None
    assert claim in (violation["property"], *violation["also"]), violation
    assert violation["line"] >= at + 1
    if bug not in ("a live id is admitted again",):
        assert violation["line"] == at + 1
    assert violation["window"][-1]["line"] == violation["line"]


@pytest.mark.parametrize("at", range(1, 7))
@pytest.mark.parametrize("change", ["removed", "swapped", "doubled"])
def test_a_line_that_mattered_is_missed_by_its_content(change: str, at: int, tmp_path: Path) -> None:
    lines: list[Any] = scheduler_log(tmp_path / "a.jsonl")
    CHANGES[change](lines, at)
    result = check(write_lines(tmp_path / "b.jsonl", lines))
    harmless = (("removed", 4), ("doubled", 4), ("swapped", 4), ("removed", 5), ("swapped", 3))
    if (change, at) in harmless:  # a refusal changes nothing, and steps that nobody counts on are missed by nobody
        assert result["verdict"] in ("tested", "refuted")
    else:
        assert result["verdict"] == "refuted", result


def worker_log(path: Path) -> list[dict[str, Any]]:
    """A worker that is started, serves, is reaped, is started again, crashes, and backs off."""
    journal = Journal(path)
    controller = RecordedController(Controller(Settings(ttl=5, start_budget=20, alarm_after=9), 0), journal)
    controller.probed(Verdict.COLD, 0)
    controller.tick(1, 1)
    controller.probed(Verdict.WARM, 1)
    controller.tick(2, 1)
    controller.job_ended(1)
    controller.tick(3, 0)
    controller.tick(8, 0)
    controller.gone(1)
    controller.tick(9, 1)
    controller.exited(1)
    controller.exited(2)
    controller.gone(2)
    controller.tick(10, 1)
    controller.probed(Verdict.UNKNOWN, 2)
    controller.tick(11, 1)
    controller.tick(12, None)
    journal.close()
    return lines_of(path)


WORKER_BUGS: dict[str, tuple[int, dict[str, Any], str]] = {
    "two workers": (4, {"do": "spawn", "of": 2}, "never_spawn_unless_cold"),
    "a busy worker is reaped": (4, {"do": "reap", "why": "idle"}, "never_reap_while_busy"),
    "reaped before the ttl": (6, {"do": "reap", "why": "idle"}, "a_stop_has_a_reason"),
    "not reaped at the ttl": (
        7,
        {"do": "hold", "why": "unwanted"},
        "an_idle_worker_is_reaped_within_ttl_plus_one_tick",
    ),
    "a late exit stops the next worker": (10, {"do": "stop", "why": "crashed"}, "conformance"),
    "no start within the back-off": (13, {"do": "spawn", "why": "wanted", "of": 3}, "conformance"),
    "decided on an unknown probe": (15, {"do": "spawn", "why": "wanted", "of": 3}, "no_decision_rests_on_an_unknown"),
    "served by a worker that starts": (2, {"do": "serve"}, "conformance"),
    "stopped for no reason": (4, {"do": "stop", "why": "hung"}, "a_stop_has_a_reason"),
    "the wrong generation": (2, {"of": 2}, "conformance"),
    "a reason of another command": (2, {"why": "idle"}, "conformance"),
    "time goes back": (4, {"now": 0}, "conformance"),
    "a generation that never was": (8, {"generation": 3}, "conformance"),
    "an alarm for nothing": (4, {"alarm": "fire"}, "conformance"),
    "no such verdict": (3, {"verdict": "hot"}, "conformance"),
    "no such command": (2, {"do": "jump"}, "conformance"),
    "no such setting": (0, {"ttl": -1}, "conformance"),
}


@pytest.mark.parametrize("bug", WORKER_BUGS)
def test_a_log_of_a_worker_with_this_bug(bug: str, tmp_path: Path) -> None:
    lines = worker_log(tmp_path / "a.jsonl")
    good = check(write_lines(tmp_path / "b.jsonl", lines))
    assert good["verdict"] == "tested"
    assert set(good["unjudged"].values()) == {"no log of a controller tells of jobs"}
    at, changes, claim = WORKER_BUGS[bug]
    lines[at] |= changes
    violation = check(write_lines(tmp_path / "c.jsonl", lines))["violation"]
    assert violation is not None
    assert claim in (violation["property"], *violation["also"]), violation
    assert violation["line"] == at + 1
    assert violation["window"][-1]["line"] == at + 1


def test_an_alarm_that_was_not_raised(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    controller = RecordedController(Controller(Settings(5), 0), journal)
    for now in range(4):
        controller.tick(now, None)
    lines = lines_of(tmp_path / "a.jsonl")
    journal.close()
    assert "alarm" in lines[-1]
    del lines[-1]["alarm"]
    violation = check(write_lines(tmp_path / "b.jsonl", lines))["violation"]
    assert "trouble_raises_an_alarm" in (violation["property"], *violation["also"])


def test_a_policy_that_lets_chat_wait_is_found(tmp_path: Path) -> None:
    def upside_down(job: Job) -> int:
        return -job.priority

    journal = Journal(tmp_path / "a.jsonl")
    scheduler = RecordedScheduler(Scheduler(1, urgency=upside_down), journal, upside_down)
    scheduler.admit(Job("render", IMAGE, 5))
    scheduler.admit(Job("chat", CHAT, 5))
    journal.close()
    violation = check(tmp_path / "a.jsonl")["violation"]
    assert (violation["line"], violation["property"]) == (3, "chat_never_waits_behind_an_image")


def test_urgencies_that_do_not_compare(tmp_path: Path) -> None:
    lines = scheduler_log(tmp_path / "a.jsonl")
    lines[2]["urgency"] = [10]
    violation = check(write_lines(tmp_path / "b.jsonl", lines))["violation"]
    assert (violation["line"], violation["property"]) == (3, "conformance")


def test_scheduler_and_worker_may_share_a_journal(tmp_path: Path) -> None:
    one, two = scheduler_log(tmp_path / "a.jsonl"), worker_log(tmp_path / "b.jsonl")
    mixed = [line for pair in zip(one, two, strict=False) for line in pair]
    result = check(write_lines(tmp_path / "c.jsonl", mixed))
    assert result["verdict"] == "tested"
    assert {"no_work_is_lost", "never_two_workers"} <= set(result["judged"])


def test_the_window_shows_how_the_jobs_came_there(tmp_path: Path) -> None:
    lines = scheduler_log(tmp_path / "a.jsonl")
    lines[6]["heir"] = "A"
    violation = check(write_lines(tmp_path / "b.jsonl", lines))["violation"]
    assert violation["jobs"] == ["B", "A", "C"]
    assert [each["line"] for each in violation["window"]] == [2, 3, 4, 6, 7]


# The command


def command(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CHECK, *map(str, words)], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False, **options
    )


def test_the_command_says_the_verdict(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = scheduler_log(path)
    good = command(path)
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.startswith("tested: all 14 lines")
    lines[6]["heir"] = "A"
    bad = command(write_lines(tmp_path / "b.jsonl", lines))
    assert bad.returncode == 1
    assert bad.stdout.startswith("VIOLATION at line 7 of")
    assert "the_earliest_of_the_most_urgent_inherits" in bad.stdout
    told = json.loads(command(tmp_path / "b.jsonl", "--json").stdout)
    assert told["violation"]["line"] == 7
    part = command(write_lines(tmp_path / "c.jsonl", lines[1:6]), "--slots", 1)
    assert (part.returncode, part.stdout[:14]) == (0, "tested IN PART")
    none = command(write_lines(tmp_path / "d.jsonl", [{"event": "cancel", "request_id": 1}]))
    assert (none.returncode, none.stdout[:12]) == (3, "undetermined")


def test_the_command_says_what_is_wrong_with_its_arguments(tmp_path: Path) -> None:
    missing = command(tmp_path / "nowhere.jsonl")
    assert (missing.returncode, "check the path" in missing.stderr) == (2, True)
    assert command(tmp_path, "--slots", "-1").returncode == 2
    assert command().returncode == 2


@pytest.mark.parametrize("how", ["interrupted", "violated"])
def test_a_log_is_followed(how: str, sample: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(sample[:500]) + sample[500][:40])
    words = [*CHECK, str(path), "--follow", "--json"]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        time.sleep(2)
        assert process.poll() is None
        with open(path, "ab") as file:
            file.write(sample[500][40:] + b"".join(sample[501:700]))
            file.write(b"".join(sample[700 if how == "interrupted" else 701 : 900]))
        if how == "interrupted":
            time.sleep(2)
            os.kill(process.pid, signal.SIGINT)
        told = json.loads(process.communicate(timeout=30)[0])
    if how == "interrupted":
        assert (process.returncode, told["verdict"], told["lines"]) == (0, "tested", 900)
    else:
        assert (process.returncode, told["violation"]["line"]) == (1, 701)


def test_a_followed_log_that_shrinks_is_broken(sample: list[bytes], tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(sample[:50]))
    monkeypatch.setattr("model.check.log.sleep", lambda _: path.write_bytes(sample[0]))
    violation = check(path, follow=True)["violation"]
    assert (violation["property"], violation["detail"][:15]) == ("sequence", "The log was cut")


def test_the_memory_is_that_of_the_live_jobs(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "a.jsonl"
    journal = Journal(path)
    scheduler = RecordedScheduler(Scheduler(1), journal)
    for who in range(20_000):
        lease = scheduler.admit(Job(who, 1, 1)).lease  # type: ignore[union-attr]
        scheduler.complete(lease)
    journal.close()
    tracemalloc.start()
    check(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * 2**20, most
