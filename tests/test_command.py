"""The commands as real processes: their lines to the byte, and no exit code that lets a mistake pass for an action."""

from __future__ import annotations

import importlib
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from impl.autoscale import Action, decide, savings_permil
from impl.gate import autoscale_report, scheduler_report
from impl.scheduler import Scheduler
from tests.servers import Server, full_backlog, refusing, says, silence

ROOT = Path(__file__).parents[1]
I64_MAX = 2**63 - 1
FULL = Path("/dev/full")

posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell and signals")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")

Ended = subprocess.CompletedProcess[bytes]
Word = str | bytes

ACTIONS = [("decide", "1", "1", "0", "60"), ("decide", "0", "0", "0", "60"), ("tick", "1", "0", "60", "--port", "1")]
"""A SERVE, a HOLD, and a probe that is refused."""
EVERY = [*ACTIONS, ("savings", "30", "100"), ("gate",)]


def run(*words: Word, cwd: Path = ROOT, **settings: Any) -> Ended:
    """`python -m impl WORDS`."""
    return start([sys.executable, "-m", "impl", *words], cwd, **settings)


def start(line: list[Word], cwd: Path = ROOT, **settings: Any) -> Ended:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error",
        "PYTHONUNBUFFERED": "",
        **settings.pop("env", {}),
    }
    return subprocess.run(line, cwd=cwd, env=environment, timeout=30, check=False, **{**streams, **settings})


def shell(redirection: str, *words: str, **settings: Any) -> Ended:
    """The same through a shell that redirects, closes or limits something first."""
    line = shlex.join([sys.executable, "-m", "impl", *words])
    return start(["sh", "-c", redirection.format(line)], **settings)


def check_no_action(ended: Ended, code: int, *expected: str) -> None:
    """It exits with this code, prints nothing that reads as an answer, and says what is wrong in printable ASCII."""
    assert ended.returncode == code
    assert not ended.stdout
    message = ended.stderr.decode("ascii")
    assert message.count("\n") == len(message.splitlines())
    assert "Exception ignored" not in message
    for words in expected:
        assert words in message


# What they print.


@pytest.mark.parametrize(("warm", "demand", "idle", "ttl"), [*product((0, 1), (0, 1), (59, 60), (60,)), (1, 0, 0, 0)])
def test_decide_prints_the_action_and_exits_with_it(warm: int, demand: int, idle: int, ttl: int) -> None:
    action = decide(warm, demand, idle, ttl)
    ended = run("decide", str(warm), str(demand), str(idle), str(ttl))
    line = f"decide warm={warm} demand={demand} idle={idle}s ttl={ttl}s -> ACTION={action.name}\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (int(action), line.encode(), b"")


def test_the_line_of_the_manual() -> None:
    assert run("decide", "0", "1", "0", "60").stdout == b"decide warm=0 demand=1 idle=0s ttl=60s -> ACTION=SPAWN\n"
    assert run("savings", "30", "100").stdout == b"savings warm=30s window=100s -> PERMIL=700\n"


@pytest.mark.parametrize(("base", "code"), [("0", 3), ("71", 74), ("120", 123), ("00071", 74)])
def test_the_exit_base_shifts_the_code_and_not_the_line(base: str, code: int) -> None:
    ended = run("decide", "--exit-base", base, "1", "0", "60", "60")
    assert ended.returncode == code
    assert ended.stdout == b"decide warm=1 demand=0 idle=60s ttl=60s -> ACTION=REAP\n"


@pytest.mark.parametrize(
    "words",
    [
        ("--json", "1", "0", "60", "60", "--exit-base=71"),
        ("1", "--exit-base", "71", "0", "60", "--json", "60"),
        ("--exit-base=71", "--json", "--", "1", "0", "60", "60"),
    ],
)
def test_options_may_stand_anywhere(words: tuple[str, ...]) -> None:
    ended = run("decide", *words)
    assert ended.returncode == 74
    assert json.loads(ended.stdout) == {
        "warm": 1,
        "demand": 0,
        "idle_sec": 60,
        "ttl_sec": 60,
        "action": "REAP",
        "exit": 74,
    }


def test_numbers_reach_to_the_end_of_i64_and_may_have_leading_zeros() -> None:
    ended = run("decide", "1", "0", str(I64_MAX), "0" * 5000 + str(I64_MAX))
    assert ended.returncode == Action.REAP
    assert ended.stdout == f"decide warm=1 demand=0 idle={I64_MAX}s ttl={I64_MAX}s -> ACTION=REAP\n".encode()
    assert run("decide", "1", "0", str(I64_MAX - 1), str(I64_MAX)).returncode == Action.HOLD
    assert run("savings", "0", str(I64_MAX)).stdout.endswith(b"PERMIL=1000\n")


def test_savings_as_json() -> None:
    ended = run("savings", "30", "100", "--json")
    assert ended.returncode == 0
    assert json.loads(ended.stdout) == {"warm_sec": 30, "window_sec": 100, "permil": 700}


def test_gate_prints_both_reports(tmp_path: Path) -> None:
    reports = {
        "autoscale": autoscale_report(decide, savings_permil),
        "scheduler": scheduler_report(Scheduler),
    }
    for words, names in [((), list(reports)), (("autoscale",), ["autoscale"]), (("scheduler",), ["scheduler"])]:
        ended = run("gate", *words, cwd=tmp_path)
        lines = [line for name in names for line in reports[name].lines]
        assert (ended.returncode, ended.stdout.decode().splitlines(), ended.stderr) == (0, lines, b"")
    ended = run("gate", "--json", cwd=tmp_path)
    answer = json.loads(ended.stdout)
    assert (ended.returncode, answer["exit"], answer["green"], answer["status"]) == (0, 0, True, None)
    for name, report in reports.items():
        assert answer["gates"][name]["green"] is True
        assert [tuple(row.values()) for row in answer["gates"][name]["rows"]] == [tuple(row) for row in report.rows]


# Tick, against real sockets.


def tick(port: int, *words: str, state: tuple[str, ...] = ("1", "0", "60")) -> Ended:
    return run("tick", *state, "--port", str(port), *words)


def test_tick_serves_on_a_warm_worker_and_reaps_an_idle_one() -> None:
    with Server(says(b"HTTP/1.1 200 OK\r\n\r\n")) as worker:
        served = tick(worker.port)
        assert served.returncode == Action.SERVE
        assert served.stdout == b"tick warm=1 demand=1 idle=0s ttl=60s -> ACTION=SERVE\n"
        reaped = tick(worker.port, "127", "0", "0", "1", "--exit-base", "71", state=("0", "60", "60"))
        assert reaped.returncode == 71 + Action.REAP
        assert reaped.stdout == b"tick warm=1 demand=0 idle=60s ttl=60s -> ACTION=REAP\n"
    assert worker.connections == 2


def test_tick_spawns_a_cold_worker_that_is_wanted() -> None:
    with refusing() as port:
        assert tick(port).stdout == b"tick warm=0 demand=1 idle=0s ttl=60s -> ACTION=SPAWN\n"
        assert tick(port).returncode == Action.SPAWN
        assert tick(port, state=("0", "999", "60")).returncode == Action.HOLD


@pytest.mark.parametrize("state", [("1", "0", "60"), ("0", "999", "60")])
def test_an_unknown_worker_is_left_alone(state: tuple[str, ...]) -> None:
    demand, idle, ttl = state
    with Server(says(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")) as worker:
        ended = tick(worker.port, state=state)
        assert ended.returncode == Action.HOLD
        assert ended.stdout == f"tick warm=unknown demand={demand} idle={idle}s ttl={ttl}s -> ACTION=HOLD\n".encode()


def test_tick_as_json() -> None:
    with Server(says(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")) as worker:
        ended = tick(worker.port, "--host", "localhost", "--json", "--exit-base", "80")
    answer = json.loads(ended.stdout)
    reason = answer.pop("reason")
    assert "503" in reason
    assert answer == {
        "warm": None,
        "demand": 1,
        "idle_sec": 0,
        "ttl_sec": 60,
        "action": "HOLD",
        "exit": 80,
        "host": "localhost",
        "port": worker.port,
    }
    assert ended.returncode == 80


def test_tick_asks_for_the_model_it_is_told() -> None:
    body = b'{"data": [{"id": "small"}]}'
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    with Server(says(reply)) as worker:
        assert b"warm=1 " in tick(worker.port, "--model", "small").stdout
        assert b"warm=unknown " in tick(worker.port, "--model=large").stdout


def test_tick_takes_a_time_out_as_it_is_told() -> None:
    with full_backlog() as port:
        assert b"warm=unknown " in tick(port, "--timeout-means", "unknown").stdout
        assert b"warm=0 " in tick(port, "--timeout-means", "cold").stdout


@posix
def test_an_interrupted_tick_is_no_action() -> None:
    heard = threading.Event()

    def hear(connection: socket.socket) -> None:
        heard.set()
        silence(connection)

    with Server(hear) as worker:
        line = [sys.executable, "-m", "impl", "tick", "1", "0", "60", "--port", str(worker.port)]
        with subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert heard.wait(20)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, b"", b"")


# Usage errors: 64.

HUGE = "1" * 30
BAD_NUMBERS: list[Word] = [
    "",
    " ",
    "-1",
    "+1",
    "1 ",
    " 1",
    "1\n",
    "1_0",
    "1.0",
    "1e1",
    "0x1",
    "x",
    "-",
    "-x",
    "nan",
    "True",
    "٣",
    "３",
    "²",
    "１",
    b"\xff",
    b"1\xff",
    str(I64_MAX + 1),
    HUGE,
    "9" * 5000,
]
STATE = ("1", "1", "0", "60")
USAGE_ERRORS: list[tuple[Word, ...]] = [
    (),
    ("",),
    ("tock",),
    ("Gate",),
    (b"\xff",),
    ("-x",),
    ("--json",),
    ("--version",),
    ("--exit-base", "71", "decide", *STATE),
    ("--",),
    ("--", "decide", *STATE),
    ("-h",),
    ("--help",),
    *((command, flag) for command in ("decide", "tick", "savings", "gate") for flag in ("-h", "--help")),
    ("decide", *STATE, "--help"),
    ("decide",),
    ("decide", "1", "1", "0"),
    ("decide", *STATE, "0"),
    ("decide", *STATE, ""),
    ("decide", "2", "1", "0", "60"),
    ("decide", "1", "2", "0", "60"),
    ("tick", "2", "0", "60"),
    ("tick",),
    ("tick", "1", "0"),
    *(("tick", "1", "0", "60", *octets) for octets in (["127"], ["127", "0"], ["127", "0", "0"], ["1"] * 5, ["1"] * 8)),
    ("tick", "1", "0", "60", "256", "0", "0", "1"),
    ("tick", "1", "0", "60", "127", "0", "0", "-1"),
    ("tick", "1", "0", "60", "127.0.0.1"),
    ("tick", "1", "0", "60", "127", "0", "0", "1", "--host", "127.0.0.1"),
    *(("tick", "1", "0", "60", "--port", port) for port in ("0", "65536", "", "x", "-1", HUGE)),
    *(("tick", "1", "0", "60", "--host", host) for host in ("", " ", "a b", "a\n", b"\xff", "--json")),
    *(("tick", "1", "0", "60", "--model", model) for model in ("", b"\xff", "--json")),
    *(("tick", "1", "0", "60", "--timeout-means", word) for word in ("warm", "", "COLD")),
    *(("decide", *STATE, "--exit-base", base) for base in ("1", "64", "70", "121", "-71", "", "x", "٧١", HUGE)),
    ("decide", *STATE, "--exit-base"),
    ("decide", "--exit-base", "--json", *STATE),
    ("decide", *STATE, "--exit-base=71", "--exit-base=71"),
    ("decide", *STATE, "--exit", "71"),
    ("decide", *STATE, "--js"),
    ("decide", *STATE, "--json=1"),
    ("decide", *STATE, "--port", "80"),
    ("decide", *STATE, b"--\xff"),
    ("savings",),
    ("savings", "1"),
    ("savings", "1", "2", "3"),
    ("savings", "1", "2", "--exit-base", "71"),
    ("gate", "tick"),
    ("gate", "scheduler", "autoscale"),
    ("gate", ""),
    ("gate", "--status"),
    ("gate", "--status", ""),
    ("gate", "--status", "--json"),
]


@posix
@pytest.mark.parametrize("words", USAGE_ERRORS, ids=ascii)
def test_a_mistake_is_no_action(words: tuple[Word, ...]) -> None:
    ended = run(*words)
    if {"-h", "--help"} & set(words):
        assert ended.returncode == 64
        assert ended.stdout.startswith(b"usage: python -m impl gate ")
        assert b"ACTION=" not in ended.stdout
        assert not ended.stderr
    else:
        check_no_action(ended, 64, "expected", "Nothing was done; python -m impl --help says more.")


@posix
@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=lambda bad: ascii(bad[:12]))
def test_only_digits_within_i64_are_numbers(bad: Word) -> None:
    for words in [("decide", "1", "1", bad, "60"), ("tick", "1", "0", bad), ("savings", bad, "100")]:
        check_no_action(run(*words), 64, "expected a number from 0 to 9223372036854775807 in the digits 0-9 alone")


@posix
def test_a_message_stays_short_and_shows_what_was_wrong() -> None:
    message = run("decide", "1", "1", "9" * 5000, "60").stderr.decode()
    assert "IDLE_SEC is '999" in message
    assert len(message) < 300
    assert "'\\udcff'" in run("decide", "1", "1", b"\xff", "60").stderr.decode()
    assert "expected 4: WARM DEMAND IDLE_SEC TTL_SEC" in run("decide", "1").stderr.decode()
    assert "there is no option '--prot'" in run("tick", "1", "0", "60", "--prot=80").stderr.decode()


@posix
def test_a_mistake_is_reported_whatever_the_encoding() -> None:
    for settings in ({"PYTHONIOENCODING": "ascii:strict"}, {"PYTHONIOENCODING": "utf-16"}, {"LC_ALL": "C"}):
        check_no_action(run("decide", "1", "1", "٣".encode(), "60", env=settings), 64, "IDLE_SEC is ")
        assert run("decide", "0", "0", "0", "0", env=settings).stdout.endswith(b" -> ACTION=HOLD\n")


# Internal errors: 70.


@posix
@pytest.mark.parametrize("words", [*EVERY, ("--help",)], ids=" ".join)
def test_a_closed_standard_output_is_no_action(words: tuple[str, ...]) -> None:
    check_no_action(shell("exec {} >&-", *words), 70, "standard output is closed")


@posix
@needs_full
@pytest.mark.parametrize("words", [*EVERY, ("--help",), ("decide", "1", "1", "0", "60", "--json")], ids=" ".join)
def test_a_full_standard_output_is_no_action(words: tuple[str, ...]) -> None:
    check_no_action(shell("exec {} >/dev/full", *words), 70, "standard output does not take the answer", "No space")


@posix
@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_a_reader_that_left_is_no_action(words: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        check_no_action(run(*words, stdout=writer), 70, "standard output does not take the answer", "Broken pipe")
    finally:
        os.close(writer)


@posix
@pytest.mark.parametrize("words", [*EVERY, ("decide",), ()], ids=" ".join)
@pytest.mark.parametrize("redirection", ["2>&-", pytest.param("2>/dev/full", marks=needs_full)])
def test_a_lost_message_changes_no_exit_code(redirection: str, words: tuple[str, ...]) -> None:
    expected = run(*words)
    ended = shell(f"exec {{}} {redirection}", *words)
    assert (ended.returncode, ended.stdout) == (expected.returncode, expected.stdout)
    closed = shell(f"exec {{}} >&- {redirection}", *words)
    assert closed.returncode == (64 if expected.returncode == 64 else 70)


BLOCK = """
import runpy, sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name == blocked:
            raise {error}
blocked = sys.argv.pop(1)
for name in [blocked, *(name for name in sys.modules if name.startswith(blocked + "."))]:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Block())
runpy.run_module("impl", run_name="__main__", alter_sys=True)
"""


def run_without(module: str, *words: str, error: str = 'ImportError("blocked: " + name)', after: str = "{}") -> Ended:
    """The command where this module does not import."""
    line = [sys.executable, "-c", BLOCK.replace("{error}", error), module, *words]
    return start(["sh", "-c", after.format(f"exec {shlex.join(line)}")])


DECIDE, TICK, GATE = EVERY[0], EVERY[2], EVERY[4]


@posix
@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("impl.command", DECIDE),
        ("impl.arguments", DECIDE),
        ("impl.output", DECIDE),
        ("impl.autoscale", DECIDE),
        ("enum", DECIDE),
        ("json", (*DECIDE, "--json")),
        ("impl.probe", TICK),
        ("socket", TICK),
        ("impl.gate", GATE),
        ("impl.scheduler", GATE),
        ("impl.jobs", GATE),
    ],
)
def test_a_failing_import_is_no_action(module: str, words: tuple[str, ...]) -> None:
    ended = run_without(module, *words)
    check_no_action(ended, 70, "internal error; no action was decided", f"blocked: {module}")


@posix
@pytest.mark.parametrize(
    "error",
    [
        "SyntaxError('x')",
        "SystemExit(3)",
        "MemoryError()",
        "RecursionError('x')",
        "OSError('\\udcff')",
        "ValueError('x' * 10**6)",
    ],
)
def test_whatever_an_import_raises_is_no_action(error: str) -> None:
    ended = run_without("impl.autoscale", *DECIDE, error=error)
    assert (ended.returncode, ended.stdout) == (70, b"")
    assert b"internal error; no action was decided" in ended.stderr


@posix
def test_an_interrupted_import_is_no_action() -> None:
    assert run_without("impl.autoscale", *DECIDE, error="KeyboardInterrupt()").returncode == 130


def test_importing_the_entry_runs_nothing(monkeypatch: pytest.MonkeyPatch, capfdbinary: Any) -> None:
    monkeypatch.setattr(sys, "argv", ["impl", *DECIDE])
    monkeypatch.delitem(sys.modules, "impl.__main__", raising=False)
    entry = importlib.import_module("impl.__main__")
    assert capfdbinary.readouterr().out == b""
    assert entry.run() == Action.SERVE
    assert capfdbinary.readouterr().out.endswith(b" -> ACTION=SERVE\n")


@posix
@pytest.mark.parametrize(
    "after", ["{} 2>&-", "{} >&-", "{} >&- 2>&-", pytest.param("{} 2>/dev/full", marks=needs_full)]
)
def test_an_internal_error_with_nowhere_to_go_is_no_action(after: str) -> None:
    ended = run_without("impl.autoscale", *DECIDE, after=after)
    assert (ended.returncode, ended.stdout) == (70, b"")


@posix
def test_a_message_without_a_standard_error_lands_in_no_other_file(tmp_path: Path) -> None:
    code = (
        "import os; from impl.output import complain; file = open('x', 'w'); complain('lost'); os._exit(file.fileno())"
    )
    ended = start(["sh", "-c", f"exec {shlex.join([sys.executable, '-c', code])} 2>&-"], cwd=tmp_path)
    assert ended.returncode == 2
    assert (tmp_path / "x").read_bytes() == b""


@posix
def test_blocking_a_module_that_a_command_does_not_need_changes_nothing() -> None:
    for module in ("impl.probe", "impl.scheduler", "impl.jobs", "impl.gate", "socket", "json", "dataclasses"):
        assert run_without(module, *DECIDE).returncode == Action.SERVE


def test_decide_imports_next_to_nothing() -> None:
    code = "import runpy, sys\ntry: runpy.run_module('impl', run_name='__main__', alter_sys=True)\nfinally: {}"
    names = "sys.stderr.write(' '.join(sys.modules))"
    heavy = {"argparse", "dataclasses", "inspect", "json", "socket", "typing", "shutil", "tempfile", "subprocess"}
    heavy |= {"impl.probe", "impl.scheduler", "impl.jobs", "impl.core", "impl.gate"}
    for words, needed in [(DECIDE, {"impl.autoscale"}), (TICK, {"impl.probe", "socket"}), (GATE, {"impl.gate"})]:
        ended = start([sys.executable, "-S", "-c", code.format(names), *words])
        loaded = set(ended.stderr.decode().split())
        assert needed <= loaded
        if words is DECIDE:
            assert not heavy & loaded
    assert {name.partition(".")[0] for name in loaded} <= set(sys.stdlib_module_names) | {"impl", "__main__"}


# The status table.

TABLE = autoscale_report(decide, savings_permil).table + scheduler_report(Scheduler).table


def test_the_default_table_is_written_where_its_folder_exists(tmp_path: Path) -> None:
    table = tmp_path / "knowledge" / "status" / "mesh_autoscale.tsv"
    assert run("gate", cwd=tmp_path).returncode == 0
    assert list(tmp_path.iterdir()) == []
    table.parent.mkdir(parents=True)
    assert run("gate", "scheduler", cwd=tmp_path).returncode == 0
    assert list(table.parent.iterdir()) == []
    assert json.loads(run("gate", "--json", cwd=tmp_path).stdout)["status"] == "knowledge/status/mesh_autoscale.tsv"
    assert table.read_bytes() == TABLE.encode()
    run("gate", "autoscale", cwd=tmp_path)
    assert table.read_bytes() == autoscale_report(decide, savings_permil).table.encode()
    assert list(table.parent.iterdir()) == [table]


def test_the_table_goes_where_it_is_told_and_there_alone(tmp_path: Path) -> None:
    (tmp_path / "knowledge" / "status").mkdir(parents=True)
    ended = run("gate", "scheduler", "--status", "here.tsv", cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert (tmp_path / "here.tsv").read_bytes() == scheduler_report(Scheduler).table.encode()
    assert list((tmp_path / "knowledge" / "status").iterdir()) == []


@posix
def test_a_table_is_replaced_through_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.tsv", tmp_path / "link.tsv"
    real.write_text("old")
    link.symlink_to(real)
    assert run("gate", "--status", str(link)).returncode == 0
    assert link.is_symlink()
    assert real.read_text() == TABLE


def check_not_written(ended: Ended, *expected: str) -> None:
    """The verdict is printed, its record failed: 70, with the reason."""
    assert ended.returncode == 70
    assert ended.stdout.endswith(b"nx_sched_qos pass=5/5 GREEN\n")
    message = ended.stderr.decode("ascii")
    assert message.count("\n") == 1
    for words in expected:
        assert words in message


@posix
def test_a_table_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    for path, why in [
        (tmp_path / "nowhere" / "x.tsv", "No such file or directory"),
        (tmp_path, "is no regular file"),
        (tmp_path / "file" / "x.tsv", "Not a directory"),
        (Path(os.devnull), "is no regular file"),
        (tmp_path / ("x" * 300), "File name too long"),
    ]:
        check_not_written(run("gate", "--status", str(path)), why)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    check_not_written(run("gate", "--status", os.fsencode(tmp_path) + b"/\xff/x"), "\\udcff")


@posix
def test_a_full_disk_leaves_the_old_table(tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_text("old")
    ended = shell("ulimit -f 0; exec {}", "gate", "--status", str(table), cwd=tmp_path)
    check_not_written(ended, "cannot write the file", "table.tsv", "nothing in it was changed")
    assert table.read_text() == "old"
    assert list(tmp_path.iterdir()) == [table]


@posix
def test_a_lost_verdict_leaves_the_old_table(tmp_path: Path) -> None:
    table = tmp_path / "table.tsv"
    table.write_text("old")
    assert shell("exec {} >&-", "gate", "--status", str(table)).returncode == 70
    assert table.read_text() == "old"
