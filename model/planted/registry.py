"""The list of the planted, and the pieces they are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from impl.core import Core
from impl.jobs import Job, Lease, Placed, Running, Waiting
from impl.scheduler import Scheduler


@dataclass(frozen=True)
class Planted:
    """A wrong scheduler, the claim it breaks ("conformance" where it only takes a step that the specification does not
    know), and the public report it is modelled on, as repository#number."""

    scheduler: type[Scheduler]
    claim: str
    report: str

    @property
    def name(self) -> str:
        """What the scheduler does, in a word."""
        return self.scheduler.__name__

    @property
    def sentence(self) -> str:
        """What the scheduler does."""
        return self.scheduler.__doc__ or ""


PLANTED: dict[str, Planted] = {}


def planted(claim: str, report: str) -> Callable[[type[Core]], type[Core]]:
    """Enter the core into the list, as a scheduler that decides by it."""

    def enter(core: type[Core]) -> type[Core]:
        scheduler = type(core.__name__, (Scheduler,), {"core": core, "__doc__": core.__doc__})
        PLANTED[core.__name__] = Planted(scheduler, claim, report)
        return core

    return enter


class Pieces(Core):
    """The shipped core with some of its steps in one piece, for the planted to take at the wrong time."""

    def lives(self, job: Job) -> bool:
        """The id of the job is in use."""
        return job.request_id in self._slot_of or job.request_id in self._queue

    def runs(self) -> list[Running]:
        """The running jobs in the order of their slots."""
        return [run for run in self._slots if run is not None]

    def preempt(self, victim: Running, job: Job, urgency: Any) -> Placed:
        """The victim returns to the queue and the job takes its slot."""
        self._leave(victim)
        self._enqueue(victim.job, victim.urgency, victim.remaining)
        return Placed(self._start(victim.slot, job, urgency, job.work), victim.job)

    def hand_over(self, run: Running, heir: Waiting) -> Lease:
        """The run is over and the heir leaves the queue for its slot."""
        self._leave(run)
        del self._queue[heir.job.request_id]
        return self._start(run.slot, heir.job, heir.urgency, heir.remaining)
