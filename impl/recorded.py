"""Recorders: the scheduler and the controller of a worker, each with all that it is told and answers in a journal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
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
from impl.journal import SCHEMA, Journal, given
from impl.probe import Verdict
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Command, Phase
from impl.worker_state import Snapshot as WorkerSnapshot


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
        self._journal.write(event, **fields, **answer, **given(alarm=command.alarm))
        return command


def _lease(lease: Lease) -> dict[str, Any]:
    return {"request_id": lease.request_id, "slot": lease.slot, "run": lease.run}


def _job(job: Job, urgency: Any) -> dict[str, Any]:
    fields = {"request_id": job.request_id, "priority": job.priority, "work": job.work}
    fields |= given(modality=job.modality, arrived=job.arrived)
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
