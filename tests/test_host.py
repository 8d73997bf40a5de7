"""The pieces of the host, each alone: demand, lock file, processes, arguments."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from impl import host_process
from impl.arguments import UsageError
from impl.host_command import run_host
from impl.host_demand import Demand, from_command, from_file, parse
from impl.host_lock import SIZE, Held, Lock, Record, default_path
from impl.host_system import DEMAND_MARK, MARK, Linux, Posix, Process, Worker
from impl.output import OutputError
from impl.probe import Verdict
from impl.worker_state import Phase, Settings, Snapshot

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it reads /proc")
BIG = 2**62
FULLEST = Record(
    BIG,
    Worker("f" * 16, BIG, str(BIG)),
    123456789.123456789,
    Snapshot(Settings(*[BIG] * 7), BIG, BIG, BIG, Phase.STARTING, BIG, Verdict.UNKNOWN, BIG, False, BIG, False, BIG),
)


def wait(found: Callable[[], bool]) -> None:
    """Until it is true."""
    until = time.monotonic() + 20
    while not found():
        assert time.monotonic() < until
        time.sleep(0.01)


# Demand


@pytest.mark.parametrize(
    ("said", "number"), [(b"0", 0), (b"7\n", 7), (b" \t12\r\n", 12), (b"007", 7), (b"9223372036854775807", 2**63 - 1)]
)
def test_a_whole_number_is_demand(said: bytes, number: int) -> None:
    assert parse(said) == number


@pytest.mark.parametrize(
    "said",
    [b"", b"\n", b"-1", b"+1", b"1.0", b"1 2", b"0x1", b"one", "\u0663".encode(), b"\xff", b"9223372036854775808"],
)
def test_anything_else_is_unknown_and_says_why(said: bytes) -> None:
    found = parse(said)
    assert isinstance(found, str)
    assert "expected a number" in found


def test_a_file_is_read_anew_and_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "demand"
    assert "No such file" in str(from_file(str(path)))
    path.write_text("3\n")
    assert from_file(str(path)) == 3
    path.write_text("3" * 100)
    assert isinstance(from_file(str(path)), str)
    os.mkfifo(tmp_path / "pipe")
    assert isinstance(from_file(str(tmp_path / "pipe")), str)
    assert "directory" in str(from_file(str(tmp_path)))


def python(source: str) -> list[str]:
    return [sys.executable, "-S", "-c", source]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("print(4)", 4),
        ("print('none')", "expected a number"),
        ("", "expected a number"),
        ("print(4); raise SystemExit(3)", "ended with 3"),
    ],
)
def test_a_command_says_the_demand(source: str, said: object) -> None:
    found = from_command(python(source), patience=20)
    assert found == said or str(said) in str(found)


@pytest.mark.parametrize(
    "source",
    [
        "import time; time.sleep(60)",
        "import os, time; os.close(1); time.sleep(60)",
        "while True: print(1)",
        "import os, time; os.fork(); time.sleep(60)",
    ],
    ids=["says nothing", "says its end and stays", "never ends", "forks"],
)
def test_a_command_that_hangs_is_killed_with_its_group(source: str, tmp_path: Path) -> None:
    note = f"import os\nwith open({str(tmp_path / 'pid')!r}, 'w') as file: file.write(str(os.getpid()))\n"
    began = time.monotonic()
    found = from_command(python(note + source), patience=2)
    assert "took longer" in str(found)
    assert time.monotonic() - began < 20
    group = int((tmp_path / "pid").read_text())
    wait(lambda: not any(each.session == group and each.lives for each in host_process.SYSTEM.processes()))


@linux
def test_a_command_that_hangs_is_killed_with_what_left_its_group(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    source = (
        f"import os, time; left = os.fork(); left and open({str(path)!r}, 'w').write(str(left)); left or os.setsid()"
    )
    found = from_command(python(f"{source}; time.sleep(60)"), patience=2)
    assert "took longer" in str(found)
    left = int(path.read_text())
    wait(lambda: not ((each := host_process.SYSTEM.find(left)) and each.lives))


def test_a_command_that_cannot_be_run_is_unknown(tmp_path: Path) -> None:
    assert "No such file" in str(from_command([str(tmp_path / "missing")]))


def test_a_source_that_hangs_is_asked_once_and_again_when_it_has_ended() -> None:
    asked: list[int] = []
    may_answer = threading.Event()

    def source() -> int:
        asked.append(1)
        may_answer.wait()
        return 4 + len(asked)

    demand = Demand(source)
    assert demand.answer(0) == ""
    demand.ask()
    demand.ask()
    assert demand.answer(0) == "the source has not answered yet"
    assert len(asked) == 1
    may_answer.set()
    assert demand.answer(20) == 5
    demand.ask()
    assert demand.answer(20) == 6


def test_a_source_that_no_thread_can_ask_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    demand = Demand(lambda: 1)
    with monkeypatch.context() as full:
        full.setattr(threading.Thread, "start", start)
        demand.ask()
        assert demand.answer(20) == "the source cannot be asked: can't start new thread"
    demand.ask()
    assert demand.answer(20) == 1


# Lock file


def test_a_lock_keeps_what_it_was_told(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    lock = Lock(path)
    assert lock.found is None
    for record in (Record(), Record(3, Worker("5f", 4711, "88")), FULLEST, Record(4)):
        lock.write(record)
        lock.close()
        assert os.path.getsize(path) == SIZE
        lock = Lock(path)
        assert lock.found == record
    lock.close()


def test_a_second_host_is_refused_and_told_by_whom(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    first = Lock(path)
    with pytest.raises(Held, match="another process has"):
        Lock(path)
    first.write(Record(1))
    with pytest.raises(Held, match=f"process {os.getpid()} has"):
        Lock(path)
    first.close()
    Lock(path).close()


def test_what_an_earlier_start_of_the_machine_left_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = Lock(str(path))
    lock.write(Record(3, Worker("5f", 4711, "88")))
    lock.close()
    fields = json.loads(path.read_text())
    path.write_text(json.dumps({**fields, "boot": "another"}))
    lock = Lock(str(path))
    assert lock.found is None
    lock.close()


@pytest.mark.parametrize("text", ["my notes", "{}", "[]", '{"slotproof_host": 2}', '{"slotproof_host": 1}'])
def test_a_file_of_somebody_else_is_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text(text)
    with pytest.raises(OutputError, match="no lock file of a host"):
        Lock(str(path))
    assert path.read_text() == text


@pytest.mark.parametrize(
    "wrong",
    [
        {"generation": -5},
        {"generation": "x"},
        {"generation": 0},
        {"pid": "../1"},
        {"pid": -1},
        {"stop_began": "soon"},
        {"demand": None},
    ],
)
def test_a_lock_file_that_says_what_cannot_be_is_refused(wrong: dict[str, object], tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = Lock(str(path))
    lock.write(Record(3, Worker("5f", 4711, "88")))
    lock.close()
    path.write_text(json.dumps({**json.loads(path.read_text()), **wrong}))
    with pytest.raises(OutputError, match="no lock file of a host"):
        Lock(str(path))


def test_a_lock_file_of_another_user_says_nothing_of_what_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lock"
    Lock(str(path)).close()
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(OutputError, match=r"is of user .* choose another"):
        Lock(str(path))


def test_a_lock_file_that_takes_nothing_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    lock = Lock(str(tmp_path / "lock"))
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OutputError, match=r"cannot write the lock file .*lock': No space left on device; make room"):
        lock.write(Record())
    lock.close()


def test_what_cannot_be_a_lock_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for name in ("missing/lock", ".", "pipe", "link"):
        with pytest.raises(OutputError, match="cannot use the lock file"):
            Lock(str(tmp_path / name))
    assert not (tmp_path / "file").exists()


def test_the_lock_file_is_named_by_host_and_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert default_path("::2", 80) == str(tmp_path / "slotproof-__2-80.lock")
    assert default_path("::1", 80) == default_path("localhost", 80) == str(tmp_path / "slotproof-127.0.0.1-80.lock")
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    assert default_path("../up", 80).endswith(f"slotproof-.._up-80-{os.geteuid()}.lock")


# Processes


@dataclass
class Told(Linux):
    """A system that tells what it was told."""

    all: list[Process]
    roots: set[int] = field(default_factory=set)

    def processes(self) -> list[Process]:
        return self.all

    def is_root(self, process: Process, worker: Worker) -> bool:
        return process.pid in self.roots


def test_the_descendants_and_the_sessions_of_a_root_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    first, child = Process(10, 1, 10, "1"), Process(11, 10, 10, "2")
    away, its_own, mate = Process(12, 11, 12, "3"), Process(13, 12, 12, "4"), Process(14, 1, 12, "5")
    zombie, below = Process(15, 10, 15, "6", lives=False), Process(16, 15, 16, "7")
    stranger = Process(20, 1, 20, "1")
    everybody = [stranger, mate, its_own, zombie, below, away, child, first]
    monkeypatch.setattr(host_process, "SYSTEM", Told(everybody, {10}))
    assert set(host_process.members(Worker("x"))) == {first, child, away, its_own, mate}
    monkeypatch.setattr(host_process, "SYSTEM", Told(everybody))
    assert host_process.members(Worker("x")) == []


def test_what_is_in_the_session_of_this_host_is_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a helper that a script started before it became this host."""
    me, shell, helper = Process(os.getpid(), 5, 5, "1"), Process(5, 1, 5, "1"), Process(6, os.getpid(), 5, "9")
    worker = Process(10, 1, 10, "2")
    monkeypatch.setattr(host_process, "SYSTEM", Told([me, shell, helper, worker], {6, 10}))
    assert host_process.members(Worker("x")) == [worker]


@linux
def test_a_process_of_which_nothing_can_be_found_out_is_not_taken_for_gone() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    worker = Worker("x", os.getppid(), "1")
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
        with pytest.raises(OSError, match="Too many open files"):
            host_process.runs(worker)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@linux
def test_linux_knows_the_first_process_its_mark_and_orphans() -> None:
    me = Linux().find(os.getpid())
    assert me is not None
    assert Linux().is_root(me, Worker("", me.pid, me.started))
    assert not Linux().is_root(me, Worker("", me.pid, me.started + "0"))
    marks = [{MARK: "here"}, {MARK: "there"}, {}, {DEMAND_MARK: "1"}]
    children = [subprocess.Popen(["sleep", "60"], env={**os.environ, **mark}) for mark in marks]
    try:
        found = [process for child in children if (process := Linux().find(child.pid))]
        assert [process.parent for process in found] == [os.getpid()] * 4
        wait(lambda: all(Path(f"/proc/{child.pid}/environ").read_bytes() for child in children))
        roots = [Linux().is_root(process, Worker("here")) for process in found]
        assert roots == [True, False, False, False]
        roots = [Linux().is_root(process, Worker("here", 1, me.started)) for process in found]
        assert roots == [True, True, True, False]
        late = str(int(found[0].started) + 1_000_000)
        assert [Linux().is_root(process, Worker("here", 1, late)) for process in found] == [True, False, False, False]
        assert {child.pid for child in children} <= {process.pid for process in Linux().processes()}
    finally:
        for child in children:
            child.kill()
    wait(lambda: not any(each.lives for child in children if (each := Linux().find(child.pid))))
    for child in children:
        child.wait()
        assert Linux().find(child.pid) is None


PS = """#!/bin/sh
cat <<'ROWS'
    0     0     0 S    Mon Nov 30 20:00:00 2026
    1     0     1 Ss   Mon Nov 30 20:00:00 2026
   10     1    10 S    Mon Nov 30 21:00:00 2026
   11    10    10 Z+   Mon Nov 30 21:00:01 2026
   12    10    12 R<l  Mon Nov 30 21:00:02 2026
ROWS
"""


def test_elsewhere_processes_are_told_by_ps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ps = tmp_path / "ps"
    ps.write_text(PS)
    ps.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    system = Posix()
    at = "Mon Nov 30 21:00:0"
    assert system.boot() == ""
    assert system.processes()[2:] == [
        Process(10, 1, 10, f"{at}0 2026"),
        Process(11, 10, 10, f"{at}1 2026", lives=False),
        Process(12, 10, 12, f"{at}2 2026"),
    ]
    assert system.find(9) is None
    first = system.find(10)
    assert first is not None
    monkeypatch.setattr(host_process, "SYSTEM", system)
    assert [each.pid for each in host_process.members(Worker("", 10, first.started))] == [10, 12]
    assert host_process.members(Worker("", 10, "another time")) == []
    assert host_process.members(Worker("5f")) == [], "not even what has the number 0"
    assert [each.pid for each in host_process.members(Worker("", 12, f"{at}2 2026"))] == [12]


def test_what_has_ended_or_may_not_be_signalled_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []

    def kill(pid: int, number: int) -> None:
        if pid == 1:
            raise PermissionError
        if pid == 2:
            raise ProcessLookupError
        sent.append(pid)

    monkeypatch.setattr(os, "kill", kill)
    host_process.send(signal.SIGTERM, [Process(pid, 0, 0, "0") for pid in (1, 2, 3)])
    assert sent == [3]


# Arguments


GOOD = {"--worker": "true", "--ttl": "60", "--demand-file": "demand"}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"--worker": None}, "--worker is not given"),
        ({"--worker": ""}, "--worker is empty"),
        ({"--worker": " "}, "expected a command"),
        ({"--worker": "'"}, "No closing quotation"),
        ({"--ttl": None}, "--ttl is not given"),
        ({"--ttl": "x"}, "--ttl is 'x'"),
        ({"--tick": "0"}, "--tick is '0'"),
        ({"--start-budget": "0"}, "--start-budget is '0'"),
        ({"--alarm-after": "0"}, "--alarm-after is '0'"),
        ({"--grace": "-1"}, "--grace is '-1'"),
        ({"--port": "0"}, "--port is '0'"),
        ({"--host": "a b"}, "--host is 'a b'"),
        ({"--model": ""}, "--model is ''"),
        ({"--demand-file": None}, "and not both"),
        ({"--demand-command": "true"}, "and not both"),
        ({"--demand-file": ""}, "--demand-file is empty"),
        ({"--lock": ""}, "--lock is empty"),
        ({"--log": ""}, "--log is empty"),
    ],
)
def test_an_argument_that_is_wrong_is_refused(changed: dict[str, str | None], words: str, tmp_path: Path) -> None:
    given = {"--lock": str(tmp_path / "lock"), **GOOD, **changed}
    with pytest.raises(UsageError, match=words.replace("(", r"\(")):
        run_host([f"{option}={value}" for option, value in given.items() if value is not None])
    assert not (tmp_path / "lock").exists()


def test_a_command_that_is_not_quoted_is_refused() -> None:
    with pytest.raises(UsageError, match="quote the command"):
        run_host(["--worker", "python", "serve.py", "--ttl", "1", "--demand-file", "x"])


def test_the_fullest_record_leaves_room() -> None:
    assert replace(FULLEST, generation=0) != FULLEST
