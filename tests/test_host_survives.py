"""The host over real processes and real HTTP on loopback: whatever happens to it, no worker is orphaned, doubled or
killed by mistake, and its log is one that the specification of the loop allows."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from model.conform.monitor import Violation
from model.soak import hosted as running
from model.soak.hosted import HOST, Hosted, answers, cpu_seconds, free_port, wait
from tests.hosts.stories import WORKER, Begin, end, hosted, starts, told, wait_for, wait_for_ticks
from tests.servers import Server, says

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="what is left is found by /proc"),
    pytest.mark.timeout(90),
]


WARM = b"HTTP/1.1 200 OK\r\n\r\n"
PLANTED = Path(__file__).parent / "hosts" / "planted.py"


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """`tests.hosts.stories.hosted` in a folder of this test; whatever is left at its end is killed."""
    with beginning(tmp_path) as begin:
        yield begin


@contextmanager
def beginning(folder: Path, **always: Any) -> Iterator[Begin]:
    begun: list[Hosted] = []

    def one(mode: str, *options: str, **more: Any) -> Hosted:
        begun.append(hosted(more.pop("folder", folder), mode, *options, **always, **more))
        return begun[-1]

    try:
        yield one
    finally:
        for each in begun:
            each.clean_up()


def wait_until_cold(host: Hosted, times: int = 1) -> None:
    wait_for(host, times, event="gone", why="cold")


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


# Its own end


def test_a_worker_is_started_used_and_reaped(begin: Begin) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    host.want(0)
    wait_for(host, do="reap")
    wait_until_cold(host)
    assert not host.living()
    host.want(2)
    wait_for(host, 2, do="spawn")
    wait_for(host, 2, event="probed", why="ready")
    end(host)
    assert len(starts(host)) == 2
    assert len(told(host, do="reap")) == 1


def test_after_a_kill_9_the_next_host_adopts_the_worker_and_starts_no_second(begin: Begin) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    host.kill()
    assert answers(host.port), "the worker lives on"
    host.start()
    wait_for(host, event="open", living=True, stopping=False, generation=1)
    wait_for(host, 2, event="probed", why="ready")
    served = len(told(host, do="serve"))
    wait_for(host, served + 1, do="serve")
    end(host)
    assert len(starts(host)) == 1


def test_a_kill_9_while_the_worker_starts_leads_to_no_second(begin: Begin) -> None:
    host = begin("late", seconds=3)
    wait_for(host, do="spawn")
    host.kill()
    host.start()
    wait_for(host, do="serve")
    end(host)
    assert len(starts(host)) == 1


def test_a_stop_that_had_begun_is_finished_by_the_next_host(begin: Begin) -> None:
    host = begin("stubborn")
    wait_for(host, do="serve")
    host.want(0)
    wait_for(host, do="reap")
    host.kill()
    host.want(1)
    host.start()
    wait_for(host, event="open", living=True, stopping=True)
    wait_for(host, 2, do="spawn")
    end(host)


def test_a_worker_that_died_while_there_was_no_host_is_started_anew(begin: Begin) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    host.kill()
    kill(starts(host)[0])
    host.start()
    wait_for(host, event="open", living=False)
    wait_for(host, 2, do="spawn")
    wait_for(host, 2, event="probed", why="ready")
    end(host)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_end_it_stops_the_worker_first(begin: Begin, number: signal.Signals) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    end(host, number)
    assert len(starts(host)) == 1


@pytest.mark.parametrize("mode", ["hangs", "stubborn", "leaves", "exits"])
def test_told_to_end_no_worker_can_hold_it_up(begin: Begin, mode: str) -> None:
    host = begin(mode)
    wait(lambda: starts(host), "a start")
    end(host)


# Its worker


def test_a_worker_that_ignores_sigterm_is_gone_before_the_next_start(begin: Begin) -> None:
    host = begin("stubborn")
    wait_for(host, do="serve")
    host.want(0)
    wait_for(host, do="reap")
    host.want(1)
    wait_until_cold(host)
    wait_for(host, 2, do="spawn")
    wait_for(host, 2, event="probed", why="ready")
    end(host)
    assert len(starts(host)) == 2


def test_a_worker_that_frees_its_port_first_is_gone_before_the_next_start(begin: Begin) -> None:
    host = begin("lingers", seconds=2.5, grace=10)
    wait_for(host, do="serve")
    host.want(0)
    wait_for(host, do="reap")
    host.want(1)
    wait_for(host, 2, event="probed", why="ready")
    end(host)
    assert len(starts(host)) == 2


def test_a_descendant_that_left_the_group_is_gone_before_the_next_start(begin: Begin) -> None:
    host = begin("leaves")
    wait_for(host, do="serve")
    wait(lambda: len(host.living()) == 2, "the worker and its descendant")
    kill(starts(host)[0])
    wait_until_cold(host)
    wait_for(host, 2, event="probed", why="ready")
    end(host)
    assert len(starts(host)) == 2


def test_a_descendant_that_left_the_group_is_found_by_the_next_host(begin: Begin) -> None:
    host = begin("leaves")
    wait_for(host, do="serve")
    host.kill()
    kill(starts(host)[0])
    wait(lambda: len(host.living()) == 1, "the descendant alone")
    host.start()
    wait_for(host, 2, event="probed", why="ready")
    end(host)
    assert len(starts(host)) == 2


def test_a_worker_that_exits_at_once_is_tried_again_and_ever_less_often(begin: Begin) -> None:
    host = begin("exits")
    wait_for(host, 3, do="spawn")
    host.want(0)
    end(host)
    first, second, third = [line["now"] for line in told(host, do="spawn")]
    assert second - first >= 1
    assert third - second >= 2
    assert told(host, why="crashed")


def test_a_command_that_cannot_be_started_is_a_failed_start(begin: Begin, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text(f"#!{tmp_path}/missing\n")
    broken.chmod(0o755)
    host = begin("ready", worker=str(broken))
    wait_for(host, do="stop", why="crashed")
    wait_until_cold(host)
    assert "broken" in host.said()
    end(host)


def test_a_worker_that_hangs_in_its_start_is_replaced_after_the_budget(begin: Begin) -> None:
    host = begin("hangs", "--start-budget", "2")
    wait_for(host, do="stop", why="slow")
    wait_until_cold(host)
    wait_for(host, 2, do="spawn")
    end(host)


def test_a_worker_that_binds_late_or_answers_503_while_it_loads_is_waited_for(begin: Begin, tmp_path: Path) -> None:
    hosts = []
    for mode in ("late", "loading"):
        (tmp_path / mode).mkdir()
        hosts.append(begin(mode, seconds=3, folder=tmp_path / mode))
    for host in hosts:
        wait_for(host, do="spawn")
        wait_for(host, 2, event="tick", do="hold", why="starting")
        wait_for(host, do="serve")
        end(host)
        assert len(starts(host)) == 1


def test_a_worker_that_dies_while_busy_is_replaced(begin: Begin) -> None:
    host = begin("dies", seconds=2.5)
    wait_for(host, do="serve")
    wait_for(host, do="stop", why="crashed")
    served = len(told(host, do="serve"))
    wait_for(host, 2, do="spawn")
    wait_for(host, served + 1, do="serve")
    end(host)


def test_a_worker_that_freezes_while_listening_is_neither_lost_nor_reaped(begin: Begin) -> None:
    host = begin("freezes", seconds=2.5)
    wait_for(host, do="serve")
    wait_for(host, event="probed", verdict="unknown")
    host.want(0)
    wait_for(host, 2, event="tick", demand=0, do="hold", why="unknown_probe")
    assert host.is_ours(starts(host)[0])
    assert not told(host, do="stop")
    assert not told(host, do="reap")
    end(host)
    assert len(starts(host)) == 1


def test_a_worker_that_freezes_is_replaced_after_the_hang_budget(begin: Begin) -> None:
    host = begin("freezes", "--hang-budget", "4", seconds=2.5)
    wait_for(host, do="stop", why="hung")
    wait_until_cold(host)
    wait_for(host, 2, do="spawn")
    end(host)


def test_a_worker_that_is_stopped_and_continued_is_kept(begin: Begin) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    [pid] = starts(host)
    os.kill(pid, signal.SIGSTOP)
    wait_for(host, event="probed", verdict="unknown")
    os.kill(pid, signal.SIGCONT)
    served = len(told(host, do="serve"))
    wait_for(host, served + 1, do="serve")
    end(host)
    assert len(starts(host)) == 1


# Others


def test_a_stranger_on_the_port_is_told_of_and_left_alone(begin: Begin, tmp_path: Path) -> None:
    port = free_port()
    (tmp_path / "elsewhere").mkdir()
    argv = [sys.executable, "-S", str(WORKER), "ready", str(port), str(tmp_path / "elsewhere")]
    with subprocess.Popen(argv) as stranger:
        try:
            wait(lambda: answers(port), "the stranger has the port")
            host = begin("ready", port=port)
            wait_for(host, 3, event="tick", demand=1, do="hold", why="stranger")
            end(host, stranger=True)
            assert stranger.poll() is None
            assert not starts(host)
            assert all("stranger" in line["alarm"] for line in told(host, why="stranger", event="tick"))
            assert "stranger" in host.said()
            assert str(port) in host.said()
        finally:
            stranger.kill()


def test_a_port_that_is_held_without_an_answer_gets_no_worker(begin: Begin) -> None:
    with Server(says(b"HTTP/1.1 503 Busy\r\n\r\n"), port=free_port()) as stranger:
        host = begin("ready", port=stranger.port)
        wait_for(host, 3, event="tick", demand=1, do="hold", why="unknown_probe")
        end(host, stranger=True)
        assert not starts(host)


def test_once_the_stranger_has_gone_a_worker_is_started(begin: Begin) -> None:
    with Server(says(WARM), port=free_port()) as stranger:
        host = begin("ready", port=stranger.port)
        wait_for(host, why="stranger")
    wait_for(host, do="serve")
    end(host)


def test_a_demand_file_with_rubbish_is_no_demand_and_no_lack_of_it(begin: Begin) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    for rubbish in ("", "-1"):
        host.want(rubbish)
        seen = len(told(host, event="tick", demand=None))
        wait_for(host, seen + 1, event="tick", demand=None, do="hold", why="unknown_demand")
    host.demand.unlink()
    wait_for_ticks(host, 2)
    assert not told(host, do="reap"), "the ttl of 1 s is over, and nobody knows whether anything is wanted"
    host.want(" 0 ")
    wait_for(host, do="reap")
    end(host)


def test_a_demand_command_that_fails_is_unknown_demand(begin: Begin, tmp_path: Path) -> None:
    hosts = []
    for source in ("echo 1; exit 1", "echo rubbish", "yes 1"):
        (tmp_path / source).mkdir()
        command = shlex.join(("sh", "-c", source))
        hosts.append(begin("ready", "--demand-command", command, folder=tmp_path / source))
    for host in hosts:
        wait_for(host, 3, event="tick", demand=None, do="hold")
        end(host)
        assert not starts(host)
        assert {line["demand"] for line in told(host, event="tick")} == {None}


def test_a_demand_command_that_hangs_stops_no_tick_and_piles_up_nothing(begin: Begin) -> None:
    host = begin("ready", "--demand-command", shlex.join(("sh", "-c", "trap '' TERM; sleep 1000 & sleep 1000")))
    for _ in range(2):
        wait_for_ticks(host, 1)
        assert len(host.living()) <= 3, "one command with its two sleeps"
    end(host)
    assert not starts(host)


def test_a_demand_command_that_answers_is_heard(begin: Begin) -> None:
    host = begin("ready", "--demand-command", shlex.join(("sh", "-c", "sleep 0.1; echo ' 3 '")))
    wait_for(host, event="tick", demand=3, do="serve")
    end(host)


def test_a_second_host_on_the_same_lock_is_refused(begin: Begin) -> None:
    host = begin("ready")
    wait_for(host, do="serve")
    other = begin("ready", "--log", str(host.folder / "other.jsonl"), port=host.port)
    assert other.ended() == 75
    assert "lock" in other.said()
    served = len(told(host, do="serve"))
    wait_for(host, served + 1, do="serve")
    other.mark = host.mark
    end(host)
    assert len(starts(host)) == 1


# Its surroundings


def test_a_full_disk_stops_only_the_log(begin: Begin) -> None:
    host = begin("ready", "--log", "/dev/full")
    wait(lambda: answers(host.port), "the worker serves")
    [pid] = starts(host)
    time.sleep(2)
    assert host.is_ours(pid)
    host.want(0)
    wait(lambda: not host.living(), "the worker is reaped")
    end(host, log=False)
    assert host.said().count("/dev/full") == 1, "said, and said once"


LIMITED = """\
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_a_log_at_its_limit_stops_nothing_and_tells_no_half_lines(begin: Begin) -> None:
    host = begin("ready", program=(sys.executable, "-c", LIMITED, *HOST))
    wait(lambda: answers(host.port), "the worker serves")
    wait(lambda: "log" in host.said(), "it says that the log is full")
    host.want(0)
    wait(lambda: not host.living(), "the worker is reaped")
    end(host, log=False)
    assert host.log.stat().st_size <= 1500
    assert host.log.read_bytes().endswith(b"\n")


JUMPY = """\
import time
real, real_ns = time.time, time.time_ns
calls = 0
def jump():
    global calls
    calls += 1
    return (0, 3600, -3600)[calls % 3]
time.time = lambda: real() + jump()
time.time_ns = lambda: real_ns() + jump() * 10**9
"""


def test_a_wall_clock_that_is_moved_by_an_hour_moves_nothing(begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "jumpy").mkdir()
    (tmp_path / "jumpy" / "sitecustomize.py").write_text(JUMPY)
    path = os.pathsep.join((str(tmp_path / "jumpy"), str(Path(__file__).parent.parent)))
    host = begin("ready", ttl=60, environment={"PYTHONPATH": path})
    wait_for(host, do="serve")
    host.want(0)
    wait_for(host, 3, event="tick", demand=0, do="hold")
    end(host)
    times = [line["now"] for line in told(host, event="tick")]
    assert times == sorted(times)
    assert times[-1] - times[0] < 120
    assert not told(host, do="reap")


def clocks(source: str) -> set[str]:
    """What the source takes of the modules that know the time of day."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names} & {"time", "datetime"}
        elif isinstance(node, ast.ImportFrom) and node.module in ("time", "datetime"):
            found |= {f"{node.module}.{each.name}" for each in node.names}
    return found


def test_what_ships_knows_no_other_clock_than_the_monotonic_one() -> None:
    files = sorted((Path(__file__).parent.parent / "impl").glob("*.py"))
    assert {clock for path in files for clock in clocks(path.read_text())} == {"time.monotonic"}
    for wrong in ("import time", "from time import time", "def f():\n    import datetime"):
        assert not clocks(wrong) <= {"time.monotonic"}


def test_at_rest_it_uses_next_to_no_processor_time(begin: Begin) -> None:
    host = begin("ready", demand=0)
    wait_for_ticks(host, 2)
    assert host.process is not None
    used, began = cpu_seconds(host.process.pid), time.monotonic()
    time.sleep(4)
    share = (cpu_seconds(host.process.pid) - used) / (time.monotonic() - began)
    assert share < 0.05, f"at rest it uses {share:.0%} of a core"
    end(host)
    assert not starts(host)


# Faults that are planted in the host, the story that catches each, and what it says then

Story = Callable[..., None]
CAUGHT: dict[str, tuple[Story, str]] = {
    "confirms_at_once": (test_a_worker_that_frees_its_port_first_is_gone_before_the_next_start, "two workers"),
    "starts_twice": (test_a_worker_is_started_used_and_reaped, "two workers"),
    "leaves_the_worker_behind": (test_told_to_end_it_stops_the_worker_first, "orphans"),
    "sees_one_process_alone": (test_a_descendant_that_left_the_group_is_gone_before_the_next_start, "not within"),
    "kills_the_stranger": (test_a_stranger_on_the_port_is_told_of_and_left_alone, "not within|port is|is None"),
    "forgets_the_lock_file": (
        test_a_kill_9_while_the_worker_starts_leads_to_no_second,
        "never_spawn_unless_cold|two workers",
    ),
    "shares_the_lock": (test_a_second_host_on_the_same_lock_is_refused, "timed out"),
    "revives_a_stop": (test_a_stop_that_had_begun_is_finished_by_the_next_host, "'stopping': True"),
    "takes_silence_for_a_refusal": (test_a_worker_that_is_stopped_and_continued_is_kept, "unknown"),
    "takes_rubbish_for_zero": (test_a_demand_file_with_rubbish_is_no_demand_and_no_lack_of_it, "None"),
    "waits_for_the_demand": (test_a_demand_command_that_hangs_stops_no_tick_and_piles_up_nothing, "'tick'"),
    "goes_by_the_wall_clock": (test_a_wall_clock_that_is_moved_by_an_hour_moves_nothing, "serve|demand"),
    "never_rests": (test_at_rest_it_uses_next_to_no_processor_time, "of a core"),
    "dies_with_its_log": (test_a_full_disk_stops_only_the_log, "not within"),
}


def test_planted_faults_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All at once, for most of the time is spent waiting."""
    monkeypatch.setattr(running, "PATIENCE", 10.0)
    for fault in CAUGHT:
        (tmp_path / fault).mkdir()
    with ThreadPoolExecutor(len(CAUGHT)) as pool:
        found = list(pool.map(lambda fault: what_catches(fault, tmp_path / fault), CAUGHT))
    missed = [each for each, (_, says) in zip(found, CAUGHT.values(), strict=True) if not re.search(says, each)]
    assert not missed, "\n".join(missed)


def what_catches(fault: str, folder: Path) -> str:
    """What the story says of a host that has this fault."""
    story, _ = CAUGHT[fault]
    about = {"tmp_path": folder, "number": signal.SIGTERM}
    needs = {name: about[name] for name in inspect.signature(story).parameters if name in about}
    with beginning(folder, program=(sys.executable, str(PLANTED), fault)) as begin:
        try:
            story(begin, **needs)
        except (AssertionError, Violation, subprocess.TimeoutExpired) as caught:
            said = (folder / "stderr").read_text()
            planted = not re.search("AttributeError|TypeError|NameError", said)
            return f"{fault}: {caught}" if planted else f"the fault was not planted: {said}"
    return f"{fault}: nothing was wrong"
