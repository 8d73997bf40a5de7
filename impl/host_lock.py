"""The lock file: one host at a time, and what the next one has to know to adopt the worker.

It holds one line of JSON, filled up with blanks to SIZE bytes: it is overwritten in place by one call, and no full disk
can stop that. The lock itself (flock) ends with the process that holds it, however that ends. The file stays.

    {"slotproof_host": 1, "boot": "...", "host": 4711, "generation": 3, "mark": "5f...", "pid": 4712,
     "started": "88123", "stop_began": null, "snapshot": null, "demand": 0}

`boot` names the start of the machine: a file of an earlier one says nothing. `host` is the process that has the lock,
or had it last. `mark`, `pid` and `started` are of the worker of this generation, empty when none is left. `stop_began`
is the instant, by the monotonic clock in seconds, at which its stop began. `snapshot` is all that the controller knew
when a host ended on purpose and left the worker as it was, and `demand` what was wanted of a warm worker then.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from dataclasses import asdict, dataclass
from typing import Any

from impl.checks import check_int
from impl.host_process import SYSTEM
from impl.host_system import Worker
from impl.output import OutputError
from impl.probe import Verdict
from impl.worker_state import Phase, Settings, Snapshot

VERSION = 1
LOOPBACK = ("localhost", "127.0.0.1", "::1")
SIZE = 1024
"""In bytes, more than a record can take."""


class Held(Exception):
    """Another host has the lock."""


@dataclass(frozen=True, slots=True)
class Record:
    """What the lock file tells."""

    generation: int = 0
    worker: Worker | None = None
    stop_began: float | None = None
    snapshot: Snapshot | None = None
    demand: int = 0


class Lock:
    """The lock, held until `close` or the end of the process. `found` is what the last host left, None if nothing."""

    def __init__(self, path: str) -> None:
        """Held if another host has it, OutputError if the file cannot be had or is not a host's."""
        self._path, self._boot = path, SYSTEM.boot()
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
            try:
                self.found = self._take(path)
            except BaseException:
                os.close(self._file)
                raise
        except OSError as error:
            raise OutputError(f"cannot use the lock file {path!a}: {error.strerror}; choose another") from error

    def write(self, record: Record) -> None:
        """Say this from now on; OutputError if the file does not take it."""
        worker = record.worker or Worker("")
        text = json.dumps(
            {
                "slotproof_host": VERSION,
                "boot": self._boot,
                "host": os.getpid(),
                "generation": record.generation,
                **worker._asdict(),
                "stop_began": record.stop_began,
                "snapshot": record.snapshot and asdict(record.snapshot),
                "demand": record.demand,
            },
            default=lambda value: value.value,
        )
        try:
            os.pwrite(self._file, f"{text:{SIZE - 1}}\n".encode(), 0)
        except OSError as error:
            raise OutputError(f"cannot write the lock file {self._path!a}: {error.strerror}; make room") from error

    def close(self) -> None:
        """Let go of the lock; the file stays."""
        os.close(self._file)

    def _take(self, path: str) -> Record | None:
        owner = os.fstat(self._file).st_uid
        if owner != os.geteuid():
            raise OutputError(
                f"the file {path!a} is of user {owner}, expected one of user {os.geteuid()}, for it says what to stop; "
                "choose another"
            )
        said = os.pread(self._file, SIZE, 0).strip(b"\0 \n")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = re.search(rb'"host": ([0-9]+)', said)
            process = f"process {int(holder[1])}" if holder else "another process"
            raise Held(f"{process} has the lock file {path!a}; end that host first, or choose another port") from None
        said = os.pread(self._file, SIZE, 0).strip(b"\0 \n")
        try:
            return _record(json.loads(said or b"null"), self._boot)
        except (ValueError, KeyError, TypeError) as error:
            raise OutputError(
                f"the file {path!a} is no lock file of a host, expected one or a free name; choose another or remove it"
            ) from error


def default_path(host: str, port: int) -> str:
    """In the user's runtime folder, or in the temporary one with the user's number in the name. A port of this machine
    has one file, by whichever name of the loopback it is asked for."""
    host = "127.0.0.1" if host in LOOPBACK else re.sub("[^0-9A-Za-z.-]", "_", host)
    name = f"slotproof-{host}-{port}"
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isdir(runtime):
        return os.path.join(runtime, f"{name}.lock")
    import tempfile

    return os.path.join(tempfile.gettempdir(), f"{name}-{os.geteuid()}.lock")


def _record(fields: Any, boot: str) -> Record | None:
    """What the last host wrote, if that was since the machine started."""
    if fields is None:
        return None
    if fields["slotproof_host"] != VERSION:
        raise ValueError("it is of another version")
    mark, pid = str(fields["mark"]), check_int("pid", fields["pid"], 0)
    worker = Worker(mark, pid, str(fields["started"])) if mark else None
    stop_began = None if fields["stop_began"] is None else float(fields["stop_began"])
    snapshot = fields["snapshot"] and _snapshot(fields["snapshot"])
    generation = check_int("generation", fields["generation"], 1 if worker else 0)
    record = Record(generation, worker, stop_began, snapshot, check_int("demand", fields.get("demand", 0), 0))
    return record if fields["boot"] == boot else None


def _snapshot(fields: dict[str, Any]) -> Snapshot:
    settings, phase, seen = Settings(**fields["settings"]), Phase(fields["phase"]), Verdict(fields["seen"])
    return Snapshot(**{**fields, "settings": settings, "phase": phase, "seen": seen})
