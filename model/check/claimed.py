"""What a line of a log claims, as the event, the outcome and the state after that the monitor judges."""

from __future__ import annotations

from typing import Any

from impl.checks import check_job
from impl.jobs import (
    Cancelled,
    Ended,
    Job,
    Lease,
    Nothing,
    Outcome,
    Placed,
    Progressed,
    Queued,
    Reason,
    Refused,
    Restarted,
    Running,
    Snapshot,
    Stale,
    Waiting,
)
from model.check import lines
from model.conform.events import Admit, Cancel, Complete, Event, Progress, Restart
from model.conform.monitor import Monitor, Violation, nonconforming

NOWHERE = -1
"""The slot or run of a lease that the log does not tell, of a job that does not run."""


def judge(before: Snapshot, line: Any, meant: Outcome | None) -> Violation | None:
    """What is wrong with this step of a log, by the specification itself; None if nothing is. `meant` is the outcome
    that there is, None if it is that of the log."""
    try:
        event = event_of(before, line)
        outcome = outcome_of(before, line, event, meant)
        urgency = _urgency(line)
        after = claimed(before, event, outcome, urgency)
        Monitor(before, urgency=lambda _: urgency).judge(event, outcome, after)
    except Violation as violation:
        return violation
    return None


def rejudge(before: Snapshot, line: Any, after: Snapshot) -> Violation | None:
    """What is wrong with a step that agrees with its line: nothing, or what was foretold is no step."""
    try:
        event = event_of(before, line)
        urgency = _urgency(line)
        Monitor(before, urgency=lambda _: urgency).judge(event, outcome_of(before, line, event, None), after)
    except Violation as violation:
        return violation
    return None


def _urgency(line: Any) -> Any:
    if not isinstance(line, lines.Admit):
        return None
    urgency = line.priority if line.urgency is None else line.urgency
    return tuple(urgency) if isinstance(urgency, list) else urgency


def event_of(before: Snapshot, line: Any) -> Event:
    """The event of the line. A lease that it does not tell is that of the present run."""
    match line:
        case lines.Admit():
            job = Job(
                line.request_id,
                line.priority or 0,
                1 if line.work is None else line.work,
                line.modality,
                line.arrived,
                line.deadline,
            )
            try:
                return Admit(check_job(job))
            except ValueError as error:
                raise Violation("every_job_has_work", "A job is one that can be admitted.", f"{error}.") from error
        case lines.Complete():
            return Complete(_lease(before, line))
        case lines.Progress():
            return Progress(_lease(before, line), line.steps)
        case lines.Cancel():
            return Cancel(line.request_id)
    return Restart()


def _lease(before: Snapshot, line: Any) -> Lease:
    run = next((run for run in before.running if run and run.job.request_id == line.request_id), None)
    slot = line.slot if line.slot is not None else run.slot if run else NOWHERE
    number = line.run if line.run is not None else run.run if run else NOWHERE
    return Lease(slot, line.request_id, number)


def outcome_of(before: Snapshot, line: Any, event: Event, meant: Outcome | None) -> Outcome:
    """The outcome of the line; what it leaves open is as it was meant, or else as it is usual."""
    jobs = {entry.job.request_id: entry.job for entry in (*before.running, *before.queue) if entry}
    match line.outcome:
        case None if meant is not None:
            return meant
        case "placed" if isinstance(line, lines.Admit):
            preempted = None if line.preempted is None else jobs.get(line.preempted, Job(line.preempted, 0, 1))
            return Placed(_placed(before, line), preempted)
        case "queued" if isinstance(line, lines.Admit):
            return Queued(before.next_ticket if line.ticket is None else line.ticket)
        case "refused" if isinstance(line, lines.Admit | lines.Progress):
            usual = Reason.STEPS if isinstance(event, Progress) else Reason.FULL
            reason = meant.reason if isinstance(meant, Refused) else usual
            try:
                return Refused(reason if line.reason is None else Reason(line.reason))
            except ValueError as error:
                raise nonconforming(f"{line.reason!r} is no reason for a refusal.") from error
        case "progressed" if isinstance(line, lines.Progress):
            usual_left = meant.remaining if isinstance(meant, Progressed) else 0
            return Progressed(usual_left if line.remaining is None else line.remaining)
        case "ended" | "cancelled" if isinstance(line, lines.Complete | lines.Cancel):
            heir = None if line.heir is None else _heir(before, line)
            return (Ended if line.outcome == "ended" else Cancelled)(line.request_id, heir)
        case "restarted" if isinstance(line, lines.Restart):
            leases = tuple(Lease(*lease) for lease in line.leases or ())
            return meant if line.leases is None and isinstance(meant, Restarted) else Restarted(leases)
        case "stale" if isinstance(line, lines.Complete | lines.Progress):
            return Stale()
        case "nothing" if isinstance(line, lines.Cancel):
            return Nothing()
    raise nonconforming(f"{line.outcome!r} is no outcome of {event}.")


def _placed(before: Snapshot, line: Any) -> Lease:
    """The lease of a newcomer: in the slot of the victim, or else the lowest free one, if the log does not tell it."""
    slot = line.slot
    if slot is None and line.preempted is not None:
        slot = next((run.slot for run in before.running if run and run.job.request_id == line.preempted), None)
    if slot is None:
        slot = next((slot for slot, run in enumerate(before.running) if run is None), None)
    if slot is None:
        raise nonconforming("Every slot is busy, and nobody is said to have made room for the newcomer.")
    return Lease(slot, line.request_id, before.next_run if line.run is None else line.run)


def _heir(before: Snapshot, line: Any) -> Lease:
    left = next((run.slot for run in before.running if run and run.job.request_id == line.request_id), 0)
    slot = left if line.heir_slot is None else line.heir_slot
    return Lease(slot, line.heir, before.next_run if line.heir_run is None else line.heir_run)


def claimed(before: Snapshot, event: Event, outcome: Outcome, urgency: Any) -> Snapshot:
    """The state after, if what the log says is so and nothing else happened."""
    match event, outcome:
        case Admit(job), Placed(lease, preempted):
            state = before if preempted is None else _lined_up(before, preempted)
            return _run(state, lease, Running(job, urgency, job.work, lease.slot, lease.run))
        case Admit(job), Queued(ticket):
            return _queued(before, Waiting(job, urgency, job.work, ticket))
        case Progress(lease), Progressed(remaining):
            running = tuple(
                run._replace(remaining=remaining) if run and run.job.request_id == lease.request_id else run
                for run in before.running
            )
            return before._replace(running=running)
        case ((Complete() | Cancel()), (Ended(request_id, heir) | Cancelled(request_id, heir))):
            entry = next((each for each in before.queue if heir and each.job.request_id == heir.request_id), None)
            state = _without(before, request_id)
            if heir is None:
                return state
            found = entry or next(
                (run for run in before.running if run and run.job.request_id == heir.request_id), None
            )
            if found is None:
                raise nonconforming(f"{heir.request_id!r} inherits, though it does not wait.")
            run = Running(found.job, found.urgency, found.remaining, heir.slot, heir.run)
            return _run(_without(state, heir.request_id) if entry else state, heir, run)
        case Restart(), Restarted(leases):
            new = {lease.request_id: lease.run for lease in leases}
            running = tuple(run and run._replace(run=new.get(run.job.request_id, run.run)) for run in before.running)
            return before._replace(running=running, next_run=before.next_run + len(before.running))
    return before


def _run(state: Snapshot, lease: Lease, run: Running) -> Snapshot:
    if not 0 <= lease.slot < len(state.running):
        raise nonconforming(f"There is no slot {lease.slot}, expected 0 to {len(state.running) - 1}.")
    running = (*state.running[: lease.slot], run, *state.running[lease.slot + 1 :])
    return state._replace(running=running, next_run=max(state.next_run, lease.run + 1))


def _queued(state: Snapshot, entry: Waiting) -> Snapshot:
    queue = (*state.queue, entry)
    return state._replace(queue=queue, waiting=len(queue), next_ticket=max(state.next_ticket, entry.ticket + 1))


def _lined_up(state: Snapshot, victim: Job) -> Snapshot:
    """The state with the victim in the queue."""
    run = next((run for run in state.running if run and run.job.request_id == victim.request_id), None)
    if run is None:
        raise nonconforming(f"{victim.request_id!r} is said to have made room, though it does not run.")
    left = tuple(None if each is run else each for each in state.running)
    entry = Waiting(run.job, run.urgency, run.remaining, state.next_ticket)
    return _queued(state._replace(running=left), entry)


def _without(state: Snapshot, request_id: Any) -> Snapshot:
    running = tuple(None if run and run.job.request_id == request_id else run for run in state.running)
    queue = tuple(entry for entry in state.queue if entry.job.request_id != request_id)
    return state._replace(running=running, queue=queue, waiting=len(queue))
