"""A host run as a real process, and what can be seen of it from outside: its log, its processes and its port.

Whatever the host starts inherits a mark in its environment, by which /proc shows every process that is left, in any
group and under any parent. Linux alone has that.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

HOUSE = Path(__file__).resolve().parents[2]
HOST = (sys.executable, "-m", "impl", "host")
MARK = "SLOTPROOF_RUN"
PATIENCE = 30.0
"""Seconds after which nothing is waited for any longer, far beyond what anything takes."""
T = TypeVar("T")


def wait(found: Callable[[], T], what: str) -> T:
    """Ask until the answer is true, and return it; AssertionError after `PATIENCE` seconds."""
    until = time.monotonic() + PATIENCE
    while not (answer := found()):
        if time.monotonic() > until:
            raise AssertionError(f"not within {PATIENCE:g} s: {what}")
        time.sleep(0.05)
    return answer


def free_port() -> int:
    """A port of loopback that is free, and that the system gives to nobody who asks for just any."""
    while True:
        port = random.SystemRandom().randrange(12_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


def answers(port: int) -> bool:
    """Whether anybody accepts connections on this port of loopback."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Hosted:
    """One folder with demand, lock and log, one port, and the host that is given both; again and again, if need be.

    `worker` is its command line, `options` are further ones of the host, `program` is what is run as the host.
    """

    def __init__(
        self,
        folder: Path,
        port: int,
        worker: str,
        *options: str,
        program: Sequence[str] = HOST,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.folder, self.port = folder, port
        self.demand, self.log, self.lock = folder / "demand", folder / "log.jsonl", folder / "lock"
        self.mark = uuid.uuid4().hex
        paths = [str(HOUSE), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **(environment or {}), MARK: self.mark}
        self._argv = [*program, "--worker", worker, "--port", str(port), "--lock", str(self.lock)]
        if "--log" not in options:
            self._argv += ["--log", str(self.log)]
        if "--demand-command" not in options:
            self._argv += ["--demand-file", str(self.demand)]
        self._argv += options
        self.process: subprocess.Popen[bytes] | None = None
        self.before: set[int] = set()

    def want(self, demand: int | str) -> None:
        """Say how much is queued or in flight, all at once."""
        new = self.folder / "demand.new"
        new.write_text(f"{demand}\n")
        new.replace(self.demand)

    def start(self) -> None:
        """Start a host. `before` is what former ones had left alive."""
        self.before = self.living()
        with open(self.folder / "stderr", "ab") as stderr, open(self.folder / "stdout", "ab") as stdout:
            self.process = subprocess.Popen(
                self._argv,
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )

    def signal(self, number: int) -> None:
        """Send a signal to the host alone."""
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        """End the host as a power cut would."""
        self.signal(signal.SIGKILL)
        self.ended()

    def ended(self) -> int:
        """The exit code of the host, once it has ended; subprocess.TimeoutExpired if it does not."""
        assert self.process is not None
        return self.process.wait(PATIENCE)

    def said(self) -> str:
        """All that hosts have written to standard error."""
        return (self.folder / "stderr").read_text(errors="replace")

    def lines(self) -> list[dict[str, Any]]:
        """The whole lines of the log so far."""
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_bytes().split(b"\n")[:-1]]

    def living(self) -> set[int]:
        """Every process but the host that it, or a former one, or any of their descendants started."""
        host = self.process and self.process.pid
        return {pid for pid in marked(self.mark) if pid != host}

    def is_ours(self, pid: int) -> bool:
        """Whether this number still is a process that a host of this folder started."""
        return _is_marked(pid, self.mark)

    def clean_up(self) -> None:
        """Whatever is left is killed, host and all."""
        if self.process is not None and self.process.poll() is None:
            self.kill()
        for pid in self.living():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def marked(mark: str) -> Iterator[int]:
    """The processes that bear this mark. One that is dead and only not yet waited for has none."""
    for entry in os.listdir("/proc"):
        if entry.isdecimal() and _is_marked(int(entry), mark):
            yield int(entry)


def _is_marked(pid: int, mark: str) -> bool:
    with suppress(OSError):
        return f"{MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return False
