"""An optional recorder of what the scheduler or the controller of a worker was told, and what it answered.

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
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from os import SEEK_END, PathLike, fspath
from typing import Any

from impl.jobs import (
    Cancelled,
    Ended,
    Job,
    Lease,
    Nothing,
    Outcome,
    Placed,
    Policy,
    Progressed,
    Queued,
    Refused,
    RequestId,
    Restarted,
    Running,
    Snapshot,
    Stale,
    Waiting,
    by_priority,
)
from impl.probe import Verdict
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Command, Phase
from impl.worker_state import Snapshot as WorkerSnapshot

SCHEMA = 1
"""The version of the schema above."""
DIGITS = 16
"""Of a digest."""
CHUNK = 65_536
"""Read at once, in bytes, when the last line is looked for."""


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
        if self._cut is not None and self._append("reopened", _given(cut=self._cut)):
            self._cut = None
        if self.lost and self._cut is None and self._append("lost", {"events": self.lost}):
            self.lost = 0
        return self._cut is None and not self.lost

    def _append(self, event: str, fields: dict[str, Any]) -> bool:
        text = json.dumps({"seq": self._seq, "event": event, **fields}, separators=(",", ":"))
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
        while tail.count(b"\n") < 2 and start:
            start, before = max(0, start - CHUNK), start
            self._file.seek(start)
            tail = self._file.read(before - start) + tail
        whole, newline, torn = tail.rpartition(b"\n")
        if newline:
            last = whole[whole.rfind(b"\n") + 1 :]
            try:
                said = json.loads(last)
                self._seq, self._digest = int(said["seq"]) + 1, str(said["digest"])
            except (ValueError, TypeError, KeyError):
                shown = ascii(last[:60])
                raise ValueError(
                    f"{path}: the last line is {shown}, expected one of a journal; give another file"
                ) from None
        return size - len(torn)


class RecordedScheduler:
    """The shipped scheduler with all that it is told and answers in a journal.

    `urgency` is the policy that it goes by, which is asked once more to be recorded. What raises ValueError is not
    recorded, for it changes nothing.
    """

    def __init__(self, scheduler: Scheduler, journal: Journal, urgency: Policy = by_priority) -> None:
        self._scheduler = scheduler
        self._journal = journal
        self._urgency = urgency
        journal.write("open", schema=SCHEMA, machine="scheduler", **_state(scheduler.snapshot()))

    def admit(self, job: Job) -> Placed | Queued | Refused:
        """As the scheduler does."""
        outcome = self._scheduler.admit(job)
        self._journal.write("admit", **_job(job, self._urgency(job)), **_outcome(outcome))
        return outcome

    def complete(self, lease: Lease) -> Ended | Stale:
        """As the scheduler does."""
        outcome = self._scheduler.complete(lease)
        self._journal.write("complete", **_lease(lease), **_outcome(outcome))
        return outcome

    def progress(self, lease: Lease, steps: int) -> Progressed | Refused | Stale:
        """As the scheduler does."""
        outcome = self._scheduler.progress(lease, steps)
        self._journal.write("progress", **_lease(lease), steps=steps, **_outcome(outcome))
        return outcome

    def cancel(self, request_id: RequestId) -> Cancelled | Nothing:
        """As the scheduler does."""
        outcome = self._scheduler.cancel(request_id)
        self._journal.write("cancel", request_id=request_id, **_outcome(outcome))
        return outcome

    def restart(self) -> Restarted:
        """As the scheduler does."""
        outcome = self._scheduler.restart()
        self._journal.write("restart", **_outcome(outcome))
        return outcome

    def at_once(
        self, completions: Iterable[Lease] = (), cancels: Iterable[RequestId] = (), arrivals: Iterable[Job] = ()
    ) -> tuple[Outcome, ...]:
        """As the scheduler does; a line for each event."""
        ended, left, came = list(completions), list(cancels), list(arrivals)
        outcomes = self._scheduler.at_once(ended, left, came)
        events = [
            *(("complete", _lease(lease)) for lease in ended),
            *(("cancel", {"request_id": request_id}) for request_id in left),
            *(("admit", _job(job, self._urgency(job))) for job in came),
        ]
        for (event, fields), outcome in zip(events, outcomes, strict=True):
            self._journal.write(event, **fields, **_outcome(outcome))
        return outcomes

    def lease_of(self, request_id: RequestId) -> Lease | None:
        """As the scheduler does."""
        return self._scheduler.lease_of(request_id)

    def snapshot(self) -> Snapshot:
        """As the scheduler does."""
        return self._scheduler.snapshot()


class RecordedController:
    """The controller of a worker with all that it is told and answers in a journal. Its first line says whether it is
    new, one that adopts, or one that knows more and goes on. What raises ValueError is not recorded."""

    def __init__(self, controller: Controller, journal: Journal) -> None:
        self._controller = controller
        self._journal = journal
        s = controller.snapshot()
        known = asdict(s) | {"phase": s.phase.value, "seen": s.seen.value}
        settings = known.pop("settings")
        if s == WorkerSnapshot(s.settings, s.now, s.now, s.now, s.phase, s.generation):
            known = {
                "now": s.now,
                "generation": s.generation,
                "living": s.phase is not Phase.COLD,
                "stopping": s.phase is Phase.STOPPING,
            }
        journal.write("open", schema=SCHEMA, machine="worker", **settings, **known)

    def snapshot(self) -> WorkerSnapshot:
        """As the controller does."""
        return self._controller.snapshot()

    def tick(self, now: int, demand: int | None) -> Command:
        """As the controller does."""
        return self._told(self._controller.tick(now, demand), "tick", now=now, demand=demand)

    def probed(self, verdict: Verdict, generation: int) -> Command:
        """As the controller does."""
        command = self._controller.probed(verdict, generation)
        return self._told(command, "probed", verdict=verdict.value, generation=generation)

    def exited(self, generation: int) -> Command:
        """As the controller does."""
        return self._told(self._controller.exited(generation), "exited", generation=generation)

    def gone(self, generation: int, port: Verdict = Verdict.COLD) -> Command:
        """As the controller does."""
        return self._told(self._controller.gone(generation, port), "gone", generation=generation, port=port.value)

    def progressed(self, generation: int) -> Command:
        """As the controller does."""
        return self._told(self._controller.progressed(generation), "progressed", generation=generation)

    def job_ended(self, generation: int) -> Command:
        """As the controller does."""
        return self._told(self._controller.job_ended(generation), "job_ended", generation=generation)

    def _told(self, command: Command, event: str, **fields: Any) -> Command:
        answer = {"do": command.do.value, "why": command.why.name.lower(), "of": command.generation}
        self._journal.write(event, **fields, **answer, **_given(alarm=command.alarm))
        return command


def _given(**fields: Any) -> dict[str, Any]:
    """The fields without those that say nothing."""
    return {name: value for name, value in fields.items() if value}


def _lease(lease: Lease) -> dict[str, Any]:
    return {"request_id": lease.request_id, "slot": lease.slot, "run": lease.run}


def _job(job: Job, urgency: Any) -> dict[str, Any]:
    fields = {"request_id": job.request_id, "priority": job.priority, "work": job.work}
    fields |= _given(modality=job.modality, arrived=job.arrived)
    if job.deadline is not None:
        fields["deadline"] = job.deadline
    if urgency != job.priority:
        fields["urgency"] = urgency
    return fields


def _outcome(outcome: Outcome) -> dict[str, Any]:
    fields: dict[str, Any] = {"outcome": type(outcome).__name__.lower()}
    match outcome:
        case Placed(lease, preempted):
            fields |= {"slot": lease.slot, "run": lease.run}
            if preempted is not None:
                fields["preempted"] = preempted.request_id
        case Ended(_, heir) | Cancelled(_, heir):
            if heir is not None:
                fields |= {"heir": heir.request_id, "heir_slot": heir.slot, "heir_run": heir.run}
        case Restarted(leases):
            fields["leases"] = [list(lease) for lease in leases]
        case _:
            fields |= outcome._asdict()
    return fields


def _state(snapshot: Snapshot) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "slots": len(snapshot.running),
        "capacity": snapshot.capacity,
        "reserve": snapshot.reserve,
    }
    if snapshot.next_run or snapshot.next_ticket:
        fields["running"] = [_entry(run, slot=run.slot, run=run.run) for run in snapshot.running if run is not None]
        fields["queue"] = [_entry(entry, ticket=entry.ticket) for entry in snapshot.queue]
        fields |= {"next_run": snapshot.next_run, "next_ticket": snapshot.next_ticket}
    return fields


def _entry(entry: Running | Waiting, **place: int) -> dict[str, Any]:
    return {**_job(entry.job, entry.urgency), "remaining": entry.remaining, **place}
