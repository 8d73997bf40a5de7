"""A snapshot of the shipped scheduler, read as a state of the specification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from impl.jobs import Job, RequestId, Running, Snapshot, Waiting
from spec.logic import Finite, Table
from spec.logic import Job as SpecJob
from spec.scheduler import Phase, State


@dataclass(frozen=True)
class Seen(State):
    """A state of the specification with what it says nothing of but a policy's own claims may: `arrived` and `deadline`
    of each job, in ticks; a job without a deadline has one that never comes."""

    arrived: Table[SpecJob, int]
    deadline: Table[SpecJob, float]


def key(value: RequestId) -> Any:
    """A request id or a slot index as what the specification calls a job or a slot: any hashable value will do."""
    return value


def observe(snapshot: Snapshot, served: Mapping[RequestId, int], lowest: Any) -> Seen:
    """The live jobs of the snapshot with the steps `served` to each, which the checker keeps itself.

    The tables that only the proofs need are empty; `lowest_running` counts the running jobs of urgency `lowest`.
    """
    running = [run for run in snapshot.running if run is not None]
    queue = snapshot.queue
    live: list[Running | Waiting] = [*running, *queue]
    slots = range(len(snapshot.running))
    seats = {entry.job.request_id: seat for seat, entry in enumerate(queue)}
    phase = dict.fromkeys((run.job.request_id for run in running), Phase.RUNNING) | dict.fromkeys(seats, Phase.QUEUED)
    same = Table({slot: slot for slot in slots}, -1)
    fields: dict[str, Any] = dict(
        jobs=Finite(phase),
        slots=Finite(slots),
        size=len(slots),
        capacity=snapshot.capacity,
        reserve=snapshot.reserve,
        lowest=lowest,
        number=same,
        numbered=same,
        urgency=Table({entry.job.request_id: entry.urgency for entry in live}, lowest),
        priority=Table({entry.job.request_id: entry.job.priority for entry in live}, 0),
        work=Table({entry.job.request_id: entry.job.work for entry in live}, 0),
        arrived=Table({entry.job.request_id: entry.job.arrived for entry in live}, 0),
        deadline=Table({entry.job.request_id: ticks(entry.job.deadline) for entry in live}, inf),
        phase=Table(phase, Phase.NEW),
        slot=Table({run.job.request_id: slot for slot, run in enumerate(snapshot.running) if run}, -1),
        run=Table({run.job.request_id: run.run for run in running}, -1),
        ticket=Table({entry.job.request_id: entry.ticket for entry in queue}, -1),
        remaining=Table({entry.job.request_id: entry.remaining for entry in live}, 0),
        served=Table(dict(served), 0),
        busy=Table({slot: run is not None for slot, run in enumerate(snapshot.running)}, False),
        holder=Table({slot: run.job.request_id for slot, run in enumerate(snapshot.running) if run}, None),
        ticketed=Table({entry.ticket: entry.job.request_id for entry in queue}, None),
        runner=Table({run.run: run.job.request_id for run in running}, None),
        next_ticket=snapshot.next_ticket,
        next_run=snapshot.next_run,
        waiting=snapshot.waiting,
        seat=Table(seats, -1),
        seated=Table({seat: entry.job.request_id for seat, entry in enumerate(queue)}, None),
        lowest_running=sum(run.urgency == lowest for run in running),
        rank=Table({}, -1),
        ranked=Table({}, -1),
    )
    return Seen(**fields)


def ticks(deadline: int | None) -> float:
    """A deadline as a number."""
    return inf if deadline is None else deadline


def with_a_stranger(state: Seen, job: Job, urgency: Any) -> Seen:
    """The same state with one more job, which is new."""
    name = key(job.request_id)
    return replace(
        state,
        jobs=Finite((*state.jobs, name)),
        phase=state.phase.put(name, Phase.NEW),
        urgency=Table({**state.urgency.entries, name: urgency}, urgency),
        priority=state.priority.put(name, job.priority),
        work=state.work.put(name, job.work),
        arrived=state.arrived.put(name, job.arrived),
        deadline=state.deadline.put(name, ticks(job.deadline)),
    )


def with_one_that_left(state: Seen, before: Seen, request_id: RequestId, phase: Phase) -> Seen:
    """The same state with one more job, which has just ended or was cancelled."""
    name = key(request_id)
    return replace(
        state,
        jobs=Finite((*state.jobs, name)),
        phase=state.phase.put(name, phase),
        urgency=state.urgency.put(name, before.urgency[name]),
        priority=state.priority.put(name, before.priority[name]),
        work=state.work.put(name, before.work[name]),
        arrived=state.arrived.put(name, before.arrived[name]),
        deadline=state.deadline.put(name, before.deadline[name]),
    )
