"""The words of the scheduler: jobs, leases, outcomes and snapshots. All are frozen; none decides anything."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias, TypeVar

RequestId: TypeAlias = int | str
Urgency: TypeAlias = int | tuple[int, ...]

CHAT = 10
"""Priority of interactive chat (nx_sched_qos.nx:13)."""
IMAGE = 1
"""Priority of background image renders (nx_sched_qos.nx:14)."""
CAPACITY = 64
"""Queue places open to newcomers (nx_sched_qos.nx:27)."""


class Job(NamedTuple):
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


class Lease(NamedTuple):
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


Kind = TypeVar("Kind", bound=type)


def distinct(kind: Kind) -> Kind:
    """A kind of named tuple whose values equal only their like, and are all true, as an outcome must.

    Data classes would say so by themselves, but take half of what a command takes to start.
    """

    methods = {
        "__eq__": lambda self, other: type(self) is type(other) and tuple(self) == tuple(other),
        "__ne__": lambda self, other: (self == other) is False,
        "__hash__": lambda self: hash((kind, *self)),
        "__bool__": lambda _: True,
    }
    for name, method in methods.items():
        setattr(kind, name, method)
    return kind


@distinct
class Placed(NamedTuple):
    """The newcomer runs; `preempted` is the job that made room and now waits with its work intact."""

    lease: Lease
    preempted: Job | None = None


@distinct
class Queued(NamedTuple):
    """The newcomer waits."""

    ticket: int


@distinct
class Refused(NamedTuple):
    """Nothing changed."""

    reason: Reason


@distinct
class Progressed(NamedTuple):
    """The steps are booked; `remaining` are left. Reaching 0 ends nothing."""

    remaining: int


@distinct
class Ended(NamedTuple):
    """The run ended and its remaining work counts as served; `heir` is the lease of the job that took the slot."""

    request_id: RequestId
    heir: Lease | None = None


@distinct
class Cancelled(NamedTuple):
    """The job left; `heir` is the lease of the job that took its slot."""

    request_id: RequestId
    heir: Lease | None = None


@distinct
class Restarted(NamedTuple):
    """The worker was lost: every running job keeps its slot and its work under a new lease, in slot order."""

    leases: tuple[Lease, ...]


@distinct
class Stale(NamedTuple):
    """The lease is of a run that is over. Nothing changed."""


@distinct
class Nothing(NamedTuple):
    """No live job has that id. Nothing changed."""


Outcome: TypeAlias = Placed | Queued | Refused | Progressed | Ended | Cancelled | Restarted | Stale | Nothing
