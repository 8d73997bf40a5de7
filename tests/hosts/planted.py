"""The host with a fault planted: `python planted.py FAULT ...`, then the arguments of `python -m impl host`."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from impl import host, host_command, host_demand, host_lock, host_process
from impl.probe import Answer, Verdict


def plant(where: Any, **bugs: Callable[..., Any]) -> None:
    """Put each in the place of what has that name there, and is given to it as the first argument."""
    for name, bug in bugs.items():
        setattr(where, name, with_the_right(getattr(where, name), bug))


def with_the_right(right: Callable[..., Any], bug: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *about, **more: bug(right, *about, **more)


def confirms_at_once() -> None:
    """Takes a worker that was told to stop for gone."""
    plant(host.Host, _hurry=lambda *_: [])


def starts_twice() -> None:
    """Starts a second worker beside the first."""

    def twice(right: Any, *about: Any) -> Any:
        right(*about)
        time.sleep(0.5)
        return right(*about)

    plant(host_process, start=twice)


def leaves_the_worker_behind() -> None:
    """Ends, and leaves its worker running."""
    plant(host.Host, end=lambda *_: None)


def sees_one_process_alone() -> None:
    """Takes the process that it started for all of the worker."""
    plant(host_process, members=lambda right, worker: [each for each in right(worker) if each.pid == worker.pid])


def kills_the_stranger() -> None:
    """Frees the port, whoever has it."""

    def tell(right: Any, self: Any, about: str, text: str | None, *more: Any) -> None:
        right(self, about, text, *more)
        if text and "stranger" in text:
            os.kill(listener_of(self._plan.port), signal.SIGKILL)

    plant(host.Host, _tell=tell)


def listener_of(port: int) -> int:
    """The process that listens on this port of IPv4."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    [inode] = [fields[9] for fields in lines if fields[1].endswith(f":{port:04X}") and fields[3] == "0A"]
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) == f"socket:[{inode}]":
                return int(link.parts[2])
        except OSError:
            continue
    raise AssertionError(f"nobody listens on {port}")


def forgets_the_lock_file() -> None:
    """A new host knows of no worker before it."""
    plant(host_lock, _record=lambda *_: None)


def shares_the_lock() -> None:
    """Lets a second host in."""
    plant(fcntl, flock=lambda *_: None)


def revives_a_stop() -> None:
    """Forgets that a stop had begun."""
    plant(host_lock, _record=lambda right, *about: right(*about) and replace(right(*about), stop_began=None))


def takes_silence_for_a_refusal() -> None:
    """A worker that does not answer in time is cold."""

    def cold(right: Any, *about: Any, **more: Any) -> Answer:
        answer: Answer = right(*about, **more)
        return answer._replace(verdict=Verdict.COLD) if answer.verdict is Verdict.UNKNOWN else answer

    plant(host, probe=cold)


def takes_rubbish_for_zero() -> None:
    """Unknown demand is none."""

    def number(right: Any, path: str) -> int:
        found = right(path)
        return found if isinstance(found, int) else 0

    plant(host_command, from_file=number)


def waits_for_the_demand() -> None:
    """The command may take as long as it likes, and the loop waits."""
    plant(host_demand.Demand, answer=lambda right, self, _: right(self, 1000))
    plant(host_command, from_command=lambda right, words: right(words, 1000))


def goes_by_the_wall_clock() -> None:
    """Reads the time of day."""
    for each in (host, host_command):
        plant(each, monotonic=lambda _: time.time())


def never_rests() -> None:
    """Looks again and again."""
    plant(host.Host, _is_asked_within=lambda right, self, _: right(self, 0.001))


def dies_with_its_log() -> None:
    """A log that cannot be kept ends the loop."""

    def tell(right: Any, self: Any, about: str, text: str | None, *more: Any) -> None:
        right(self, about, text, *more)
        if about == "log" and text:
            sys.exit(text)

    plant(host.Host, _tell=tell)


FAULTS: dict[str, Callable[[], None]] = {
    each.__name__: each
    for each in (
        confirms_at_once,
        starts_twice,
        leaves_the_worker_behind,
        sees_one_process_alone,
        kills_the_stranger,
        forgets_the_lock_file,
        shares_the_lock,
        revives_a_stop,
        takes_silence_for_a_refusal,
        takes_rubbish_for_zero,
        waits_for_the_demand,
        goes_by_the_wall_clock,
        never_rests,
        dies_with_its_log,
    )
}

if __name__ == "__main__":
    FAULTS[sys.argv[1]]()
    sys.exit(host_command.run_host(sys.argv[2:]))
