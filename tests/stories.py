"""Short ways to say what a scheduler met and what it is at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from impl.jobs import CAPACITY, CHAT, IMAGE, Job, Lease, Reason, Refused, RequestId
from impl.scheduler import Scheduler

FULL = Refused(Reason.FULL)
LIVE = Refused(Reason.LIVE)
STEPS = Refused(Reason.STEPS)


def image(name: RequestId, work: int = 30) -> Job:
    return Job(name, IMAGE, work)


def chat(name: RequestId, work: int = 5) -> Job:
    return Job(name, CHAT, work)


def with_jobs(*jobs: Job, slots: int = 1, capacity: int = CAPACITY, reserve: int | None = None) -> Scheduler:
    """A scheduler that admitted these jobs, one after the other."""
    scheduler = Scheduler(slots, capacity=capacity, reserve=reserve)
    for job in jobs:
        assert not isinstance(scheduler.admit(job), Refused)
    return scheduler


def running(scheduler: Scheduler) -> list[RequestId | None]:
    return [run.job.request_id if run else None for run in scheduler.snapshot().running]


def waiting(scheduler: Scheduler) -> list[RequestId]:
    assert scheduler.snapshot().waiting == len(scheduler.snapshot().queue)
    return [entry.job.request_id for entry in scheduler.snapshot().queue]


def remaining(scheduler: Scheduler) -> dict[RequestId, int]:
    after = scheduler.snapshot()
    return {entry.job.request_id: entry.remaining for entry in (*after.running, *after.queue) if entry}


def lease(scheduler: Scheduler, name: RequestId) -> Lease:
    found = scheduler.lease_of(name)
    assert found is not None
    return found


@contextmanager
def unchanged(scheduler: Scheduler) -> Iterator[None]:
    before = scheduler.snapshot()
    yield
    assert scheduler.snapshot() == before
