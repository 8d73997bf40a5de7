"""`python -m impl host` as a command: what it prints, keeps and exits with. Its logs are held to the specification."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from time import monotonic, sleep

import pytest

from impl import host as host_module
from impl import host_process
from impl.host import Host, Plan
from impl.host_demand import Demand
from impl.host_lock import SIZE, Lock, Record
from impl.host_system import Process, Worker
from impl.worker import Controller
from impl.worker_state import Do, Phase, Settings
from model.commands.check import check
from model.soak.hosted import HOST, Hosted, answers, free_port, wait
from tests.hosts.stories import Begin, end, hosted, nothing_is_wrong, starts, told, wait_for, wait_for_ticks
from tests.servers import Server, refusing, says

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="what is left is found by /proc"),
    pytest.mark.timeout(90),
]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """`tests.hosts.stories.hosted` in a folder of this test; whatever is left at its end is killed."""
    begun: list[Hosted] = []

    def one(mode: str, *options: str, **more: object) -> Hosted:
        begun.append(hosted(tmp_path, mode, *options, **more))  # type: ignore[arg-type]
        return begun[-1]

    yield one
    for each in begun:
        each.clean_up()


def said(host: Hosted) -> list[str]:
    return (host.folder / "stdout").read_text().splitlines()


def lock(host: Hosted) -> dict[str, object]:
    found: dict[str, object] = json.loads(host.lock.read_text())
    return found


def run(*argv: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """One host that ends of itself, with whatever it says."""
    words = [*HOST, "--worker", "true", "--ttl", "1", "--demand-file", "demand", "--port", str(free_port()), *argv]
    root = str(Path(__file__).resolve().parent.parent)
    env = {**os.environ, "PYTHONPATH": root, "XDG_RUNTIME_DIR": str(folder)}
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False)


# A single tick


def test_single_ticks_start_use_and_stop_a_worker_as_one_host_would(begin: Begin) -> None:
    host = begin("ready", "--once", "--json", ttl=1)
    assert host.ended() == 0
    assert lock(host)["snapshot"], "the next host goes on with all that is known"

    def tick_until(action: str) -> None:
        def ticked() -> bool:
            host.start()
            assert host.ended() == 0, host.said()
            return bool(told(host, do=action))

        wait(ticked, action)

    tick_until("spawn")
    tick_until("serve")
    assert answers(host.port), "the worker lives though no host does"
    host.want(0)
    tick_until("reap")
    wait(lambda: not answers(host.port), "the end of the worker")
    host.start()
    assert host.ended() == 0
    assert told(host, event="gone", why="cold")
    assert lock(host)["pid"] == 0
    assert all("phase" in line for line in told(host, event="open")[1:]), "each goes on where the last one ended"
    assert len(told(host, do="reap")) == 1
    nothing_is_wrong(host)
    assert {json.loads(line)["action"] for line in said(host)} >= {"SPAWN", "SERVE", "REAP"}


def test_the_host_that_follows_single_ticks_goes_on_with_what_they_knew(begin: Begin) -> None:
    host = begin("ready", "--once")
    assert host.ended() == 0
    host.start()
    assert host.ended() == 0
    wait(lambda: answers(host.port), "the worker")
    host._argv.remove("--once")
    ticks = len(told(host, event="tick"))
    host.start()
    wait_for(host, ticks + 2, event="tick")
    assert told(host, event="open")[-1]["phase"] in ("starting", "warm")
    assert lock(host)["snapshot"] is None
    end(host)
    assert len(starts(host)) == 1


def test_single_ticks_notice_that_jobs_end(begin: Begin) -> None:
    """Else a worker that is busy for longer than the hang budget would be replaced."""
    host = begin("ready", "--once", demand=3)
    wait(lambda: answers(host.port), "the worker")
    for demand in (3, 2, 2, 1):
        host.ended()
        host.want(demand)
        host.start()
    assert host.ended() == 0
    assert len(told(host, event="job_ended")) == 2
    host.want(0)
    host._argv.remove("--once")
    host.start()
    wait_for(host, event="gone", why="cold")
    end(host)


# What it says


def test_it_says_each_change_of_its_mind_once(begin: Begin) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    wait_for_ticks(host)
    end(host)
    assert host.said() == ""
    whys = [line.partition(" -> ")[2] for line in said(host)]
    assert whys == [
        "ACTION=SPAWN: work is queued or in flight",
        *["ACTION=HOLD: the worker is starting"] * whys.count("ACTION=HOLD: the worker is starting"),
        "ACTION=HOLD: the worker is ready",
        "ACTION=SERVE: work is queued or in flight",
        "ACTION=STOP: the process of the worker ended",
        "ACTION=HOLD: the worker is gone and its port is free",
    ]


def test_it_says_once_why_the_demand_is_unknown_and_that_it_is_known_again(begin: Begin) -> None:
    host = begin("ready", demand="many")
    wait_for_ticks(host, 4)
    host.want(0)
    wait_for_ticks(host, 2)
    end(host)
    assert host.said().count("demand: the demand is 'many', expected a number") == 1
    assert host.said().count("demand: over") == 1
    assert host.said().count("alarm: demand or probe were unknown at 3 ticks in a row") == 1
    assert host.said().count("alarm: over") == 1


def test_a_worker_that_cannot_be_started_is_said_each_time_it_is_tried(tmp_path: Path) -> None:
    host = Hosted(tmp_path, free_port(), "./missing --now", "--ttl", "1")
    host.want(1)
    host.start()
    try:
        wait_for(host, 2, do="spawn")
        end(host)
    finally:
        host.clean_up()
    assert "start: worker 1: './missing' cannot be run: No such file or directory" in host.said()
    assert "start: worker 2: './missing' cannot be run" in host.said()


def test_a_worker_that_ends_of_itself_is_said_with_its_exit_code(begin: Begin) -> None:
    host = begin("exits")
    wait_for(host, why="crashed")
    end(host)
    assert "exit: worker 1 ended with 3" in host.said()


def test_what_left_the_group_is_counted_and_what_does_not_end_is_killed(begin: Begin) -> None:
    host = begin("leaves")
    wait_for(host, do="serve")
    host.want(0)
    wait_for(host, event="gone", why="cold")
    end(host)
    assert "away: worker 1: 1 processes had left its group" in host.said()
    assert "kill: worker 1 is killed, for it did not end within 1 s" in host.said()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_standard_output_and_log_are_said_once_and_the_loop_goes_on(tmp_path: Path) -> None:
    worker = shlex.join((sys.executable, "-S", str(Path(__file__).parent / "hosts/worker.py"), "ready"))
    port = free_port()
    host = Hosted(tmp_path, port, f"{worker} {port} {tmp_path} 0", "--ttl", "1", "--log", "/dev/full")
    host._argv = ["sh", "-c", f"exec {shlex.join(host._argv)} > /dev/full"]
    host.want(1)
    host.start()
    try:
        wait(lambda: answers(port), "the worker")
        host.want(0)
        wait(lambda: not answers(port), "its end")
        host.signal(signal.SIGTERM)
        assert host.ended() == 0
    finally:
        host.clean_up()
    assert host.said().count("output: standard output does not take the answer") == 1
    assert host.said().count("log: the log '/dev/full' does not take what is written") == 1


UNREAD = """\
import fcntl, os, sys
unread, full = os.pipe()
os.set_inheritable(unread, True)
os.set_blocking(full, False)
try:
    while True:
        os.write(full, b"x")
except BlockingIOError:
    os.set_blocking(full, True)
for descriptor in map(int, sys.argv[1]):
    os.dup2(full, descriptor)
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.mark.parametrize("descriptors", ["1", "12"])
def test_a_pipe_that_nobody_reads_stops_nothing(begin: Begin, descriptors: str) -> None:
    host = begin("ready", program=(sys.executable, "-c", UNREAD, descriptors, *HOST))
    wait_for(host, do="serve")
    host.want(0)
    wait_for(host, event="gone", why="cold")
    end(host)
    assert ("output: standard output does not take the answer: nobody reads it" in host.said()) is (descriptors == "1")


def test_a_worker_never_writes_where_a_closed_output_was(tmp_path: Path) -> None:
    port = free_port()
    program = "import os, signal; os.write(1, b'x' * 5000); os.write(2, b'y' * 5000); signal.pause()"
    host = Hosted(tmp_path, port, shlex.join((sys.executable, "-S", "-c", program)), "--ttl", "1")
    host._argv = ["sh", "-c", f"exec {shlex.join(host._argv)} <&- >&- 2>&-"]
    host.want(1)
    host.start()
    try:
        wait_for_ticks(host, 4)
        assert lock(host)["generation"] == 1
        assert host.lock.stat().st_size == SIZE
        end(host)
    finally:
        host.clean_up()


def test_a_stranger_on_the_port_is_said_and_left_alone(begin: Begin) -> None:
    with Server(says(b"HTTP/1.1 200 OK\r\n\r\n")) as stranger:
        host = begin("ready", port=stranger.port)
        wait_for_ticks(host, 4)
        end(host, stranger=True)
    assert host.said().count("alarm: a stranger answers on the port: no worker is started until it is gone") == 1
    assert not starts(host)


def test_the_worked_example_of_the_readme_says_what_the_readme_says(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parent.parent
    section = (root / "README.md").read_text().partition("\n## Put your worker to sleep\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL)
    if not blocks:
        pytest.skip("README.md has no worked example")
    scripts, outputs = ("".join(text for kind, text in blocks if kind == name) for name in ("sh", "text"))
    script = scripts.replace("python3", sys.executable).replace("7861", port := str(free_port()))
    script = script.replace(" --ttl", f" --port {port} --ttl")
    env = {**os.environ, "TMPDIR": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
    env.pop("PYTHONPATH", None)
    ended = subprocess.run(["sh", "-c", script], cwd=root, env=env, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    said, written = (re.sub(r"now=\d+s ", "", text).splitlines() for text in (ended.stdout, outputs))
    assert [line for line in said if "is starting" not in line] == written
    (log,) = tmp_path.glob("*/host.jsonl")
    assert check(log)["verdict"] == "tested"


# Its surroundings


def test_a_host_that_can_open_no_file_goes_on_and_takes_no_worker_for_gone(begin: Begin) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    assert host.process is not None
    limits = resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE, (0, limits[1]))
    wait(lambda: "step: [Errno 24] Too many open files" in host.said(), "it says so")
    resource.prlimit(host.process.pid, resource.RLIMIT_NOFILE, limits)
    wait(lambda: "step: over" in host.said(), "it says that it is over")
    served = len(told(host, do="serve"))
    wait_for(host, served + 1, event="tick", do="serve")
    assert not told(host, event="exited")
    end(host)
    assert len(starts(host)) == 1


def test_what_a_script_started_before_it_became_the_host_is_left_alone(begin: Begin) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    host.kill()
    host._argv = ["sh", "-c", 'sleep 600 & echo $! > helper; exec "$@"', "sh", *host._argv]
    served = len(told(host, do="serve"))
    host.start()
    wait_for(host, served + 1, do="serve")
    host.want(0)
    wait_for(host, event="gone", why="cold")
    wait_for_ticks(host, 1)
    helper = int((host.folder / "helper").read_text())
    assert host.is_ours(helper)
    os.kill(helper, signal.SIGKILL)
    end(host)


def test_the_exit_of_a_demand_command_counts_though_exits_were_ignored(begin: Begin) -> None:
    deaf = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    host = begin("ready", "--demand-command", "sh -c 'echo 7; exit 1'", program=(sys.executable, "-c", deaf, *HOST))
    wait_for_ticks(host)
    end(host)
    assert {line["demand"] for line in told(host, event="tick")} == {None}


# Signals


def test_a_hangup_ends_it_in_order(begin: Begin) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    end(host, signal.SIGHUP)


def test_a_signal_that_was_ignored_stays_so(begin: Begin) -> None:
    program = ("sh", "-c", "trap '' HUP; exec \"$@\"", "sh", *HOST)
    host = begin("ready", program=program)
    wait_for(host, do="serve")
    host.signal(signal.SIGHUP)
    wait_for_ticks(host)
    end(host)


def test_no_demand_command_outlives_it(begin: Begin, tmp_path: Path) -> None:
    note = f'{sys.executable} -S -c \'import os, time; open("{tmp_path}/asked", "w").close(); time.sleep(600)\''
    host = begin("ready", "--demand-command", note)
    wait((tmp_path / "asked").exists, "a question")
    end(host)


# Exit codes


def test_a_second_host_is_refused_with_a_code_of_its_own(begin: Begin) -> None:
    host = begin("ready", demand=0)
    wait_for_ticks(host, 1)
    other = run("--lock", str(host.lock), folder=host.folder)
    assert (other.returncode, other.stdout) == (75, "")
    assert host.process is not None
    assert f"process {host.process.pid} has the lock file" in other.stderr
    end(host)


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (["--lock", "notes"], 70, "no lock file of a host"),
        (["--lock", "."], 70, "cannot use the lock file '.': Is a directory"),
        (["--log", "notes"], 64, "expected one of a journal"),
        (["--log", "missing/log"], 70, "cannot open the log 'missing/log': No such file or directory"),
        (["--grace", "x"], 64, "--grace is 'x'"),
    ],
)
def test_what_it_cannot_use_it_leaves_as_it_is(argv: list[str], code: int, words: str, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine\n")
    ended = run(*argv, "--once", folder=tmp_path)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
    assert (tmp_path / "notes").read_text() == "mine\n"


def test_without_lock_and_log_it_keeps_its_lock_in_the_runtime_folder(tmp_path: Path) -> None:
    (tmp_path / "demand").write_text("0")
    ended = run("--once", folder=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    (kept,) = tmp_path.glob("slotproof-127.0.0.1-*.lock")
    assert kept.stat().st_size == SIZE
    assert kept.stat().st_mode & 0o077 == 0


# The loop itself


def test_the_lock_file_is_written_again_before_it_grows_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    kept = Lock(str(path))
    with refusing() as port:
        controller = Controller(Settings(ttl=1), int(monotonic()))
        host = Host(Plan(["true"], "127.0.0.1", port), controller, kept, Demand(lambda: 0), SimpleQueue())
        os.utime(path, (0, 0))
        assert host.step().do is Do.HOLD
        assert path.stat().st_mtime == 0
        monkeypatch.setattr(host_module, "FRESH_S", 0.0)
        host.step()
        assert path.stat().st_mtime > 0
    kept.close()


def test_less_demand_on_a_warm_worker_is_a_job_that_ended(begin: Begin) -> None:
    host = begin("ready", demand=3)
    wait_for(host, do="serve", demand=3)
    assert not told(host, event="job_ended")
    host.want(1)
    wait_for(host, do="serve", demand=1)
    host.want(2)
    wait_for(host, do="serve", demand=2)
    end(host)
    assert len(told(host, event="job_ended")) == 1


def test_less_demand_while_it_starts_is_none(begin: Begin) -> None:
    host = begin("late", demand=3, seconds=2)
    wait_for(host, demand=3, why="starting")
    host.want(1)
    wait_for(host, do="serve", demand=1)
    end(host)
    assert not told(host, event="job_ended")


def test_nobody_looks_for_the_worker_while_a_demand_command_may_just_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For an instant such a command bears no mark, and would be taken for what is left of the worker."""
    kept = Lock(str(tmp_path / "lock"))
    kept.write(Record(1, Worker("gone"), stop_began=0.0))
    kept.close()
    kept = Lock(str(tmp_path / "lock"))
    looks: list[bool] = []

    def source() -> int:
        sleep(0.2)
        return 0

    def members(_: Worker) -> list[Process]:
        looks.append(demand.is_open())
        return []

    demand = Demand(source)
    monkeypatch.setattr(host_process, "members", members)
    controller = Controller.adopt(Settings(ttl=1), int(monotonic()), 1, living=True, stopping=True)
    with refusing() as port:
        host = Host(Plan(["true"], "127.0.0.1", port), controller, kept, demand, SimpleQueue())
        host.step()
    assert looks
    assert not any(looks)
    kept.close()


def test_a_port_that_is_in_doubt_confirms_nothing(tmp_path: Path) -> None:
    kept = Lock(str(tmp_path / "lock"))
    kept.write(Record(1, Worker("gone"), stop_began=0.0))
    kept.close()
    kept = Lock(str(tmp_path / "lock"))
    controller = Controller.adopt(Settings(ttl=1), int(monotonic()), 1, living=True, stopping=True)
    with Server(says(b"HTTP/1.1 404 Not Found\r\n\r\n")) as stranger:
        host = Host(Plan(["true"], "127.0.0.1", stranger.port), controller, kept, Demand(lambda: 0), SimpleQueue())
        host.step()
        assert controller.snapshot().phase is Phase.STOPPING
    host.step()
    assert controller.snapshot().phase is Phase.COLD
    kept.close()


def test_a_log_of_a_host_that_starts_two_workers_does_not_hold(begin: Begin) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    end(host)
    lines = host.lines()
    spawn = next(line["seq"] for line in lines if line.get("do") == "spawn")
    again = {**lines[spawn], "of": 2}
    host.log.write_text("".join(f"{json.dumps(line)}\n" for line in (*lines[: spawn + 1], again, *lines[spawn + 1 :])))
    assert check(host.log)["verdict"] == "refuted"
    for line in (*lines, again):
        del line["seq"], line["digest"]
    host.log.write_text("".join(f"{json.dumps(line)}\n" for line in (*lines[: spawn + 1], again, *lines[spawn + 1 :])))
    found = check(host.log)
    assert found["verdict"] == "refuted"
    assert found["violation"]["property"] == "never_spawn_unless_cold", found["violation"]


@pytest.mark.parametrize("away", [False, True])
def test_a_worker_is_adopted_by_its_mark_when_the_host_was_killed_before_it_knew_the_process(
    begin: Begin, away: bool
) -> None:
    host = begin("leaves" if away else "ready")
    wait_for(host, do="serve")
    process = lock(host)["pid"]
    host.kill()
    fields = lock(host)
    host.lock.write_text(json.dumps({**fields, "pid": 0, "started": ""}))
    served = len(told(host, do="serve"))
    host.start()
    wait_for(host, event="open", living=True)
    wait_for(host, served + 1, do="serve")
    assert lock(host)["pid"] == process
    end(host)
    assert starts(host) == [process]


def test_a_worker_whose_process_is_not_known_and_that_is_gone_is_taken_for_that(begin: Begin) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    host.kill()
    fields = lock(host)
    os.kill(starts(host)[0], signal.SIGKILL)
    host.lock.write_text(json.dumps({**fields, "pid": 0, "started": ""}))
    host.start()
    wait_for(host, event="open", living=False)
    wait_for(host, 2, event="probed", why="ready")
    end(host)
