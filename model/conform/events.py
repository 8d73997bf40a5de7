"""The events a scheduler can meet, as values: what the engines generate, replay and judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from impl.jobs import Job, Lease, Outcome, RequestId
from impl.scheduler import Scheduler


@dataclass(frozen=True, slots=True)
class Admit:
    """A job arrives."""

    job: Job


@dataclass(frozen=True, slots=True)
class Complete:
    """A run is reported over."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class Progress:
    """A run reports steps done."""

    lease: Lease
    steps: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """Nobody wants a job any more."""

    request_id: RequestId


@dataclass(frozen=True, slots=True)
class Restart:
    """The worker was lost."""


Event: TypeAlias = Admit | Complete | Progress | Cancel | Restart


def apply(scheduler: Scheduler, event: Event) -> Outcome:
    """Let the scheduler meet the event."""
    match event:
        case Admit(job):
            return scheduler.admit(job)
        case Complete(lease):
            return scheduler.complete(lease)
        case Progress(lease, steps):
            return scheduler.progress(lease, steps)
        case Cancel(request_id):
            return scheduler.cancel(request_id)
        case Restart():
            return scheduler.restart()
