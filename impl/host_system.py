"""What the system tells of processes: on Linux by /proc, elsewhere by `ps`.

On Linux a process is the worker's of itself (a root) if it is the one that was started; if its environment carries the
mark of this start; or if it has lost its parent and this host, as subreaper, has become its parent. What a demand
command leaves behind carries a mark of its own, and is none; whatever else becomes a child of this host is.

Elsewhere a root is what has the group number of the first process, unless that number has gone to another since. There
a descendant that left the group is found only while its parent lives.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import NamedTuple, Protocol

MARK = "SLOTPROOF_WORKER"
"""The environment variable that tells the processes of one start from all others."""
DEMAND_MARK = "SLOTPROOF_DEMAND"
"""The environment variable that tells what a demand command started."""


class Process(NamedTuple):
    """A process. `started` tells it from an earlier one of the same number; elsewhere than on Linux the session is the
    group. A zombie does not live, unless a thread of it still runs."""

    pid: int
    parent: int
    session: int
    started: str
    lives: bool = True


class Worker(NamedTuple):
    """One start: its mark, and the process that was started, with number 0 as long as there is none."""

    mark: str
    pid: int = 0
    started: str = ""


class System(Protocol):
    """How processes are found."""

    def boot(self) -> str:
        """What differs after each start of the machine; "" if the start time of a process says so itself."""

    def processes(self) -> list[Process]:
        """All of them."""

    def find(self, pid: int) -> Process | None:
        """The one of this number."""

    def is_root(self, process: Process, worker: Worker) -> bool:
        """Whether the process is the worker's of itself."""


class Linux:
    """By /proc, as proc(5) describes it. Start times are in clock ticks since the boot."""

    def boot(self) -> str:
        return _text("/proc/sys/kernel/random/boot_id").strip()

    def processes(self) -> list[Process]:
        found = (self.find(int(name)) for name in os.listdir("/proc") if name.isdigit())
        return [process for process in found if process]

    def find(self, pid: int) -> Process | None:
        # From the third field on; the second, a name in parentheses, may hold anything.
        fields = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
        if not fields:
            return None
        lives = fields[0] not in "ZX" or fields[17] not in "01"
        return Process(pid, int(fields[1]), int(fields[3]), fields[19], lives)

    def is_root(self, process: Process, worker: Worker) -> bool:
        if (process.pid, process.started) == (worker.pid, worker.started):
            return True
        environment = _text(f"/proc/{process.pid}/environ").split("\0")
        if f"{MARK}={worker.mark}" in environment:
            return True
        orphan = process.parent == os.getpid() and f"{DEMAND_MARK}=1" not in environment
        return orphan and bool(worker.started) and int(process.started) >= int(worker.started)


class Posix:
    """By `ps`. A start time is a date of the wall clock, and only compared for being the same."""

    def boot(self) -> str:
        return ""

    def processes(self) -> list[Process]:
        command = ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="]
        said = subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, check=True)
        rows = (line.split(None, 4) for line in said.stdout.splitlines())
        return [Process(int(row[0]), int(row[1]), int(row[2]), row[4], row[3][0] != "Z") for row in rows]

    def find(self, pid: int) -> Process | None:
        return next((process for process in self.processes() if process.pid == pid), None)

    def is_root(self, process: Process, worker: Worker) -> bool:
        other = process.pid == worker.pid and process.started != worker.started
        return process.session == worker.pid != 0 and not other


def _text(path: str) -> str:
    """What the file says, nothing if the process has ended meanwhile or is another user's. OSError if nothing can be
    said of it, as when no file can be opened any more."""
    with (
        suppress(FileNotFoundError, ProcessLookupError, PermissionError),
        open(path, encoding="utf-8", errors="replace") as file,
    ):
        return file.read()
    return ""
