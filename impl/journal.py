"""A journal of what the scheduler or the controller of a worker was told, and what it answered; `impl.recorded` keeps
one.

A journal is a file of JSON objects, one a line. Each has `seq`, which counts the lines from 0, `event`, the fields of
that event, and at last `digest`: the first 16 hex digits of SHA-256 over all bytes of the file that stand before
its `,"digest":`. A `reopened` line begins anew: with the digest before it, and the bytes from that line on.
A field that has its usual value (none, or as said below) is left out. No line has a time but the one that was told.

open       schema=1, machine, and of the scheduler slots, capacity, reserve; what was live already stands in running and
           queue (the fields of admit, with remaining and slot, run or ticket), beside next_run and next_ticket
           of a worker all fields of `impl.worker_state.Settings`, now, generation, living, stopping; of one that goes
           on instead of the last two all other fields of `impl.worker_state.Snapshot`
admit      request_id, priority, work, modality="", arrived=0, deadline, urgency=priority (an int or a list of ints)
           outcome placed (slot, run, preempted: the request_id of who made room), queued (ticket), refused (reason)
complete   request_id, slot, run: a lease; outcome ended (heir, heir_slot, heir_run: the lease of the heir) or stale
progress   request_id, slot, run, steps; outcome progressed (remaining), refused (reason) or stale
cancel     request_id; outcome cancelled (heir, heir_slot, heir_run) or nothing
restart    outcome restarted (leases: a list of [slot, request_id, run])
tick       now, demand (null: unknown)
probed     verdict, generation          exited, progressed, job_ended    generation
gone       generation, port             (all of a worker: do, why, of, which is the generation commanded, and alarm)
reopened   an existing journal goes on; cut=0 is how many bytes of a torn last line were removed
lost       events: so many could not be written here
close      nothing more was recorded by this process

The digest shows mistakes and careless changes. Who changes a journal on purpose can also count it anew: keep the last
digest elsewhere.
"""

from __future__ import annotations

import json
from contextlib import suppress
from errno import EINVAL
from hashlib import sha256
from os import SEEK_END, PathLike, fspath
from typing import Any

SCHEMA = 1
"""The version of the schema above."""
DIGITS = 16
"""Of a digest."""
CHUNK = 65_536
"""Read at first, in bytes, when the last line is looked for."""
LONGEST = 1 << 26
"""Bytes of a line, at most."""
HEAD = b'{"seq":0,"event":"'
"""What a journal begins with."""


class Journal:
    """Appends lines to the file at `path`, which no other process may write to meanwhile.

    Each line is handed to the operating system before `write` returns, so that the end of this process, at any byte,
    loses at most the line being written. A file that exists is continued after its last whole line, with a `reopened`
    line. One that cannot be opened is an OSError, one that is no journal a ValueError.

    A line that cannot be written raises nothing: `lost` counts those since the last one that could, and `trouble` is
    why. As soon as there is room again, a `lost` line says how many.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.lost = 0
        self.trouble: OSError | None = None
        self._seq = 0
        self._digest = ""
        self._file = open(path, "a+b", buffering=0)  # noqa: SIM115
        try:
            size = self._file.seek(0, SEEK_END)
            self._end = size and self._resume(fspath(path), size)
        except BaseException:
            self._file.close()
            raise
        self._torn = self._end < size
        self._hash = sha256(self._digest.encode())
        self._cut = size - self._end if size else None
        self._catch_up()

    @property
    def digest(self) -> str:
        """That of the last line; "" before the first."""
        return self._digest

    def write(self, event: str, **fields: Any) -> None:
        """Append one line with these fields, which JSON can tell."""
        if not (self._catch_up() and self._append(event, fields)):
            self.lost += 1

    def close(self) -> None:
        """Say that this process records nothing more, and close the file; a second time does nothing."""
        if not self._file.closed:
            self.write("close")
            self._file.close()

    def _catch_up(self) -> bool:
        """Say first what could not be said before."""
        if self._cut is not None and self._append("reopened", given(cut=self._cut)):
            self._cut = None
        if self.lost and self._cut is None and self._append("lost", {"events": self.lost}):
            self.lost = 0
        return self._cut is None and not self.lost

    def _append(self, event: str, fields: dict[str, Any]) -> bool:
        try:
            text = json.dumps({"seq": self._seq, "event": event, **fields}, separators=(",", ":"))
        except (TypeError, ValueError) as error:  # such as an int of more digits than Python writes
            self.trouble = OSError(EINVAL, str(error))
            return False
        running = self._hash.copy()
        running.update(text[:-1].encode())
        digest = running.hexdigest()[:DIGITS]
        line = f'{text[:-1]},"digest":"{digest}"}}\n'.encode()
        try:
            self._put(line)
        except OSError as error:
            self.trouble = error
            with suppress(OSError):
                self._file.truncate(self._end)
            return False
        self.trouble = None
        self._seq += 1
        self._digest = digest
        running.update(line[len(text) - 1 :])
        self._hash = running
        return True

    def _put(self, line: bytes) -> None:
        """All of the line or, in what is read of the file later, nothing."""
        if self._torn:
            self._file.truncate(self._end)
        self._torn = True
        rest = line
        while rest:
            rest = rest[self._file.write(rest) :]
        self._end += len(line)
        self._torn = False

    def _resume(self, path: str, size: int) -> int:
        """Take over number and digest of the last whole line, and return where it ends."""
        tail, start = b"", size
        while tail.count(b"\n") < 2 and start and len(tail) < LONGEST:
            start, before = max(0, start - max(CHUNK, len(tail))), start
            self._file.seek(start)
            tail = self._file.read(before - start) + tail
        whole, newline, torn = tail.rpartition(b"\n")
        last = whole[whole.rfind(b"\n") + 1 :] if newline else torn
        try:
            if newline:
                said = json.loads(last)
                self._seq, self._digest = int(said["seq"]) + 1, str(said["digest"])
            elif start or not (torn.startswith(HEAD) or HEAD.startswith(torn)):
                raise ValueError
        except (ValueError, TypeError, KeyError, RecursionError):
            shown = f"the last line is {last[:60]!a}, expected one of a journal"
            raise ValueError(f"{path}: {shown}; give another file") from None
        return size - len(torn)


def given(**fields: Any) -> dict[str, Any]:
    """The fields without those that say nothing."""
    return {name: value for name, value in fields.items() if value}
