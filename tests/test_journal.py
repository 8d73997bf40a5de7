"""The recorder: what stands in a journal, and what is left of one when a process or a disk ends in mid-line."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

from impl.jobs import CHAT, IMAGE, Job, Lease
from impl.journal import Journal
from impl.probe import Verdict
from impl.recorded import RecordedController, RecordedScheduler
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Settings
from model.commands.check import check
from tests.journals import lines_of, record_controller, record_scheduler


def story(path: Path) -> RecordedScheduler:
    """A render, a chat that takes its slot and reports, a late report, a lost worker, and an end of both."""
    journal = Journal(path)
    scheduler = RecordedScheduler(Scheduler(1), journal)
    scheduler.admit(Job("render", IMAGE, 30))
    chat = scheduler.admit(Job("chat", CHAT, 3, "text", arrived=7, deadline=9))
    lease = chat.lease  # type: ignore[union-attr]
    scheduler.progress(lease, 2)
    scheduler.progress(lease, 2)
    scheduler.complete(lease)
    scheduler.complete(lease)
    scheduler.restart()
    scheduler.cancel("render")
    scheduler.cancel("render")
    journal.close()
    return scheduler


def without_seal(path: Path) -> str:
    """The text of a journal without its numbers and digests."""
    return re.sub(r'"seq":\d+,|,"digest":"[0-9a-f]{16}"', "", path.read_text())


def test_what_stands_in_a_journal_of_a_scheduler(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    story(path)
    assert (
        without_seal(path)
        == """\
{"event":"open","schema":1,"machine":"scheduler","slots":1,"capacity":64,"reserve":1}
{"event":"admit","request_id":"render","priority":1,"work":30,"outcome":"placed","slot":0,"run":0}
{"event":"admit","request_id":"chat","priority":10,"work":3,"modality":"text","arrived":7,"deadline":9,\
"outcome":"placed","slot":0,"run":1,"preempted":"render"}
{"event":"progress","request_id":"chat","slot":0,"run":1,"steps":2,"outcome":"progressed","remaining":1}
{"event":"progress","request_id":"chat","slot":0,"run":1,"steps":2,"outcome":"refused",\
"reason":"the steps lie outside 1..remaining"}
{"event":"complete","request_id":"chat","slot":0,"run":1,"outcome":"ended","heir":"render","heir_slot":0,"heir_run":2}
{"event":"complete","request_id":"chat","slot":0,"run":1,"outcome":"stale"}
{"event":"restart","outcome":"restarted","leases":[[0,"render",3]]}
{"event":"cancel","request_id":"render","outcome":"cancelled"}
{"event":"cancel","request_id":"render","outcome":"nothing"}
{"event":"close"}
"""
    )


def test_number_and_digest_are_as_the_schema_says(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    story(path)
    Journal(path).close()
    text = path.read_bytes()
    assert text.count(b"reopened") == 1
    last = ""
    for number, line in enumerate(text.splitlines(keepends=True)):
        said = json.loads(line)
        if said["event"] == "reopened":
            covered = last.encode()
        elif number == 0:
            covered = b""
        head = line.partition(b',"digest":')[0]
        assert said["seq"] == number
        assert said["digest"] == sha256(covered + head).hexdigest()[:16]
        covered, last = covered + line, said["digest"]


def test_a_recorder_answers_as_what_it_records(tmp_path: Path) -> None:
    plain, journal = Scheduler(2, capacity=1), Journal(tmp_path / "a.jsonl")
    recorded = RecordedScheduler(Scheduler(2, capacity=1), journal)
    jobs = [Job(who, priority, 4) for who, priority in enumerate((1, 10, 1, 10, 10))]
    lease = Lease(0, 0, 0)
    for each in (plain, recorded):
        each.at_once((), (), jobs[:2])
    assert plain.at_once([lease, lease], [7], jobs) == recorded.at_once(iter([lease, lease]), iter([7]), iter(jobs))
    assert plain.snapshot() == recorded.snapshot()
    assert plain.lease_of(1) == recorded.lease_of(1)
    journal.close()
    assert check(tmp_path / "a.jsonl")["verdict"] == "tested"


def test_what_is_wrong_is_not_recorded(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    scheduler = RecordedScheduler(Scheduler(1), journal)
    with pytest.raises(ValueError, match="work"):
        scheduler.admit(Job("a", 1, 0))
    journal.close()
    assert [line["event"] for line in lines_of(tmp_path / "a.jsonl")] == ["open", "close"]


def test_a_scheduler_that_was_restored_begins_with_what_is_live(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    first = Scheduler(1, urgency=lambda job: (job.priority, job.work))
    for who in ("a", "b"):
        first.admit(Job(who, 1, 3))
    journal = Journal(path)
    restored = Scheduler.restore(first.snapshot(), urgency=lambda job: (job.priority, job.work))
    scheduler = RecordedScheduler(restored, journal, lambda job: (job.priority, job.work))
    scheduler.complete(Lease(0, "a", 0))
    scheduler.admit(Job("c", 10, 1))
    journal.close()
    opened = lines_of(path)[0]
    assert [job["request_id"] for job in opened["running"] + opened["queue"]] == ["a", "b"]
    result = check(path)
    assert (result["verdict"], result["partial"]) == ("tested", False)


def test_what_stands_in_a_journal_of_a_worker(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    controller = RecordedController(Controller(Settings(5), 100), journal)
    controller.probed(Verdict.COLD, 0)
    controller.tick(101, 2)
    controller.gone(1, Verdict.WARM)
    controller.tick(102, None)
    controller.tick(140, 0)
    journal.close()
    assert (
        without_seal(tmp_path / "a.jsonl")
        == """\
{"event":"open","schema":1,"machine":"worker","ttl":5,"start_budget":300,"patience":3,"alarm_after":30,"hang_budget":0,\
"shortest_back_off":1,"longest_back_off":60,"now":100,"generation":0,"living":false,"stopping":false}
{"event":"probed","verdict":"cold","generation":0,"do":"hold","why":"noted","of":0}
{"event":"tick","now":101,"demand":2,"do":"spawn","why":"wanted","of":1}
{"event":"gone","generation":1,"port":"warm","do":"stop","why":"crashed","of":1}
{"event":"tick","now":102,"demand":null,"do":"hold","why":"stopping","of":1}
{"event":"tick","now":140,"demand":0,"do":"hold","why":"stopping","of":1,\
"alarm":"the worker was told to stop 38 s ago, and is not gone"}
{"event":"close"}
"""
    )


@pytest.mark.parametrize("record", [record_scheduler, record_controller])
def test_a_crash_at_any_byte_loses_the_line_being_written_alone(record: Any, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    record(whole, Random(3), 7)
    text = whole.read_bytes()
    for size in range(len(text) + 1):
        cut.write_bytes(text[:size])
        left = check(cut)
        assert left["violation"] is None
        assert left["torn"] == (not text[:size].endswith(b"\n") and size > 0)
        assert left["lines"] == text[:size].count(b"\n")
        journal = Journal(cut)
        journal.close()
        kept, reopened = text[:size].rpartition(b"\n")[0], size - (text[:size].rfind(b"\n") + 1)
        after = cut.read_bytes()
        assert after.startswith(text[: size - reopened])
        found = lines_of(cut)
        assert found[kept.count(b"\n") + bool(kept) :] == (
            [{"event": "reopened", **({"cut": reopened} if reopened else {})}] if size else []
        ) + [{"event": "close"}]
        result = check(cut)
        assert result["violation"] is None, (size, result)
        assert any("torn" in note for note in result["notes"]) == (reopened > 0)


class Disk:
    """A file that takes so many bytes, and no more until there is room again."""

    def __init__(self, file: Any, room: int) -> None:
        self.file, self.room, self.truncates = file, room, True

    def write(self, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = self.file.write(data[: self.room])
        self.room -= taken
        return int(taken)

    def truncate(self, size: int) -> None:
        if not self.truncates:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self.file.truncate(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


@pytest.mark.parametrize("truncates", [True, False])
def test_a_full_disk_at_any_byte_is_a_declared_gap(truncates: bool, tmp_path: Path) -> None:
    for room in range(260):
        path = tmp_path / f"{room}.jsonl"
        journal = Journal(path)
        disk: Any = Disk(journal._file, 10**6)
        journal._file = disk
        scheduler = RecordedScheduler(Scheduler(1), journal)
        disk.room, disk.truncates = room, truncates
        for who in range(4):
            scheduler.admit(Job(who, 1, 1))
        lost, trouble = journal.lost, journal.trouble
        assert (lost > 0) == (trouble is not None)
        assert trouble is None or trouble.errno in {errno.ENOSPC, errno.EIO}
        disk.room, disk.truncates = 10**6, True
        scheduler.admit(Job(4, 1, 1))
        assert (journal.lost, journal.trouble) == (0, None)
        journal.close()
        told = lines_of(path)
        assert sum(line["event"] == "admit" for line in told) == 5 - lost
        assert [line["events"] for line in told if line["event"] == "lost"] == ([lost] if lost else [])
        result = check(path)
        assert result["violation"] is None, (room, result)
        assert result["lost"] == lost
        assert result["partial"] == (lost > 0)


def test_a_disk_that_is_full_when_the_journal_is_reopened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.jsonl"
    story(path)
    text = path.read_bytes()
    path.write_bytes(text + b'{"seq":')
    disks: list[Disk] = []

    def opened(*args: Any, **options: Any) -> Any:
        disks.append(Disk(open(*args, **options), 0))  # noqa: SIM115
        return disks[0]

    monkeypatch.setattr("impl.journal.open", opened, raising=False)
    journal = Journal(path)
    assert journal.trouble is not None
    journal.write("close")
    assert journal.lost == 1
    disks[0].room = 10**6
    journal.close()
    assert [line["event"] for line in lines_of(path)[-3:]] == ["reopened", "lost", "close"]
    assert check(path)["violation"] is None


def test_a_process_that_is_killed_leaves_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    source = (
        "import os, sys\nfrom impl.jobs import Job\nfrom impl.journal import Journal\n"
        "from impl.recorded import RecordedScheduler\n"
        "from impl.scheduler import Scheduler\n"
        "scheduler = RecordedScheduler(Scheduler(1), Journal(sys.argv[1]))\n"
        "for who in range(50): scheduler.admit(Job(who, who, 1))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    root = Path(__file__).resolve().parent.parent
    subprocess.run([sys.executable, "-c", source, path], cwd=root, check=False, timeout=60)
    result = check(path)
    assert (result["verdict"], result["lines"], result["closed"]) == ("tested", 51, False)


def test_what_is_no_journal_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for text in ("notes\n", "[1]\n", '{"seq": 1}\n', '{"seq": "x", "digest": ""}\n'):
        path.write_text(text)
        with pytest.raises(ValueError, match="expected one of a journal"):
            Journal(path)
        assert path.read_text() == text
    with pytest.raises(OSError, match="No such file"):
        Journal(tmp_path / "nowhere" / "a.jsonl")


def test_the_last_line_is_found_however_long_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("impl.journal.CHUNK", 7)
    path = tmp_path / "a.jsonl"
    story(path)
    journal = Journal(path)
    last = journal.digest
    journal.close()
    journal.close()
    assert [line["event"] for line in lines_of(path)[-2:]] == ["reopened", "close"]
    assert last != journal.digest
    assert check(path)["digest"] == journal.digest


def test_a_worker_that_is_adopted_or_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    settings = Settings(60)
    journal = Journal(path)
    known = Controller(settings, 0)
    controller = RecordedController(known, journal)
    controller.probed(Verdict.COLD, 0)
    controller.tick(1, 1)
    controller.probed(Verdict.WARM, 1)
    journal.close()
    journal = Journal(path)
    controller = RecordedController(known, journal)
    controller.tick(2, 1)
    journal.close()
    journal = Journal(path)
    adopted = Controller.adopt(Settings(5), 3, 1, living=True, stopping=False)
    controller = RecordedController(adopted, journal)
    controller.progressed(1)
    controller.exited(1)
    journal.close()
    assert [line.get("phase") for line in lines_of(path) if line["event"] == "open"] == [None, "warm", None]
    result = check(path)
    assert (result["verdict"], result["partial"], result["notes"]) == ("tested", False, [])
    journal = Journal(path)
    RecordedController(Controller.adopt(settings, 3, 2, living=True, stopping=False), journal)
    journal.close()
    assert check(path)["violation"]["detail"].startswith("A new controller begins with a worker that is starting")


def test_a_file_of_one_line_that_is_no_journal_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    for text in ('{"my": "only copy"}', '{"seq":1,"event":"o', "x" * 100, "[" * 100_000 + "\n"):
        path.write_text(text)
        monkeypatch.setattr("impl.journal.LONGEST", 50 if text[0] == "x" else 1 << 26)
        with pytest.raises(ValueError, match="expected one of a journal"):
            Journal(path)
        assert path.read_text() == text


def test_a_line_that_json_does_not_take_is_a_declared_gap(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    scheduler = RecordedScheduler(Scheduler(2), journal)
    scheduler.admit(Job(10**5000, IMAGE, 1))
    assert (journal.lost, journal.trouble is not None) == (1, True)
    scheduler.admit(Job("b", IMAGE, 1))
    journal.close()
    assert (check(tmp_path / "a.jsonl")["lost"], journal.trouble) == (1, None)
