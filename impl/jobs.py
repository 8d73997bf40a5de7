"""The words of the scheduler: jobs, leases, outcomes and snapshots. All are frozen; none decides anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

RequestId: TypeAlias = int | str
Urgency: TypeAlias = int | tuple[int, ...]

CHAT = 10
"""Priority of interactive chat (nx_sched_qos.nx:13)."""
IMAGE = 1
"""Priority of background image renders (nx_sched_qos.nx:14)."""
CAPACITY = 64
"""Queue places open to newcomers (nx_sched_qos.nx:27)."""


@dataclass(frozen=True, slots=True)
class Job:
    """One request for a slot.

    `priority` and `work` (steps) are i64, `work` at least 1; `arrived` and `deadline` are ticks, for policies to read.
    A job is checked when it is admitted, not here.
    """

    request_id: RequestId
    priority: int
    work: int
    modality: str = ""
    arrived: int = 0
    deadline: int | None = None


def by_priority(job: Job) -> int:
    """The default urgency: the priority itself."""
    return job.priority


Policy: TypeAlias = Callable[[Job], Urgency]


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of one run of one job to one slot. No `run` is used twice, so a late event cannot hit a later run."""

    slot: int
    request_id: RequestId
    run: int


class Running(NamedTuple):
    """A job in its slot. `remaining` in steps."""

    job: Job
    urgency: Any
    remaining: int
    slot: int
    run: int

    @property
    def lease(self) -> Lease:
        return Lease(self.slot, self.job.request_id, self.run)


class Waiting(NamedTuple):
    """A job in the queue. `remaining` in steps; a smaller `ticket` came earlier."""

    job: Job
    urgency: Any
    remaining: int
    ticket: int


class Snapshot(NamedTuple):
    """The whole state. `running` has an entry a slot (None: free), `queue` is in ticket order, `waiting` its length."""

    capacity: int
    reserve: int
    running: tuple[Running | None, ...]
    queue: tuple[Waiting, ...]
    waiting: int
    next_run: int
    next_ticket: int


class Reason(StrEnum):
    """Why an event was refused."""

    LIVE = "this request id is still live"
    FULL = "the queue is full"
    STEPS = "the steps lie outside 1..remaining"


@dataclass(frozen=True, slots=True)
class Placed:
    """The newcomer runs; `preempted` is the job that made room and now waits with its work intact."""

    lease: Lease
    preempted: Job | None = None


@dataclass(frozen=True, slots=True)
class Queued:
    """The newcomer waits."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing changed."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Progressed:
    """The steps are booked; `remaining` are left. Reaching 0 ends nothing."""

    remaining: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The run ended and its remaining work counts as served; `heir` is the lease of the job that took the slot."""

    request_id: RequestId
    heir: Lease | None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The job left; `heir` is the lease of the job that took its slot."""

    request_id: RequestId
    heir: Lease | None = None


@dataclass(frozen=True, slots=True)
class Restarted:
    """The worker was lost: every running job keeps its slot and its work under a new lease, in slot order."""

    leases: tuple[Lease, ...]


@dataclass(frozen=True, slots=True)
class Stale:
    """The lease is of a run that is over. Nothing changed."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """No live job has that id. Nothing changed."""


Outcome: TypeAlias = Placed | Queued | Refused | Progressed | Ended | Cancelled | Restarted | Stale | Nothing
