"""What every story of a host has in common: how it is begun, watched and ended, and what has to hold then."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model.commands.check import check
from model.soak.hosted import Hosted, answers, free_port, wait

WORKER = Path(__file__).with_name("worker.py")
Begin = Callable[..., Hosted]


def hosted(
    folder: Path,
    mode: str,
    *options: str,
    seconds: float = 0,
    demand: int | str = 1,
    port: int | None = None,
    ttl: int = 1,
    grace: int = 1,
    worker: str = "",
    **more: Any,
) -> Hosted:
    """A host that was started, for a worker of this mode."""
    port = port or free_port()
    worker = worker or shlex.join((sys.executable, "-S", str(WORKER), mode, str(port), str(folder), str(seconds)))
    made = Hosted(folder, port, worker, "--ttl", str(ttl), "--grace", str(grace), *options, **more)
    made.want(demand)
    made.start()
    return made


def told(host: Hosted, **fields: Any) -> list[dict[str, Any]]:
    """The lines of the log that say all this."""
    return [line for line in host.lines() if fields.items() <= line.items()]


def wait_for(host: Hosted, at_least: int = 1, **fields: Any) -> None:
    """Until so many lines of the log say all this."""

    def found() -> bool:
        one_worker_at_a_time(host)
        return len(told(host, **fields)) >= at_least

    wait(found, f"{at_least} lines with {fields}; {host.said()}")


def wait_for_ticks(host: Hosted, more: int = 3) -> None:
    """Until so many more instants are over."""
    wait_for(host, len(told(host, event="tick")) + more, event="tick")


def starts(host: Hosted) -> list[int]:
    """The process of each start of the worker, as the workers themselves say."""
    path = host.folder / "starts"
    return [int(pid) for pid in path.read_text().split()] if path.exists() else []


def one_worker_at_a_time(host: Hosted) -> None:
    assert not (host.folder / "two").exists(), "two workers at once"


def end(host: Hosted, number: int = signal.SIGTERM, *, stranger: bool = False, log: bool = True) -> None:
    """The host ends in order, and nothing is wrong."""
    host.signal(number)
    assert host.ended() == 0, host.said()
    nothing_is_wrong(host, stranger=stranger, log=log)


def nothing_is_wrong(host: Hosted, *, stranger: bool = False, log: bool = True) -> None:
    """Nothing is left, no two workers met on the GPU, and the log is one that the specification
    allows; if it is whole (`log`) it tells of every start."""
    one_worker_at_a_time(host)
    assert not host.living(), f"orphans: {host.living()}"
    assert answers(host.port) is stranger, "somebody else has the port" if stranger else "the port is still in use"
    assert "Traceback" not in host.said(), host.said()
    if host.log.exists():
        found = check(host.log)
        assert found["verdict"] == "tested", found["violation"]
        assert log is (found["closed"] and not found["partial"]), found
    if log:
        assert len(starts(host)) <= len(told(host, do="spawn")), "a worker was started that no line tells of"
