"""Several events of one instant: the same as one by one, once all of them are sound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from impl.jobs import (
    Cancelled,
    Ended,
    Job,
    Lease,
    Nothing,
    Placed,
    Queued,
    Stale,
)
from impl.scheduler import Scheduler
from tests.stories import FULL, LIVE, chat, image, remaining, unchanged, with_jobs


def test_completions_come_before_cancels_and_those_before_arrivals() -> None:
    scheduler = with_jobs(image("A"), image("B"), image("D"))
    assert scheduler.at_once([Lease(0, "A", 0)], ["B", "D"], [chat("C"), image("A")]) == (
        Ended("A", heir=Lease(0, "B", 1)),
        Cancelled("B", heir=Lease(0, "D", 2)),
        Cancelled("D"),
        Placed(Lease(0, "C", 3)),
        Queued(2),
    )


def test_who_ends_at_the_instant_of_an_arrival_is_not_preempted() -> None:
    scheduler = with_jobs(image("A", 10))
    scheduler.progress(Lease(0, "A", 0), 10)
    assert scheduler.at_once([Lease(0, "A", 0)], arrivals=[chat("C")]) == (Ended("A"), Placed(Lease(0, "C", 1)))
    assert remaining(scheduler) == {"C": 5}


def test_an_instant_may_repeat_itself() -> None:
    scheduler = with_jobs(image("A"), capacity=0, reserve=0)
    assert scheduler.at_once([Lease(0, "A", 0)] * 2, ["A", "X"], [image("X"), image("X"), image("Y")]) == (
        Ended("A"),
        Stale(),
        Nothing(),
        Nothing(),
        Placed(Lease(0, "X", 1)),
        LIVE,
        FULL,
    )


def test_an_instant_without_events_is_nothing() -> None:
    scheduler = with_jobs(image("A"))
    with unchanged(scheduler):
        assert scheduler.at_once() == ()


def test_the_events_may_come_from_generators() -> None:
    scheduler = with_jobs(image("A"), image("B"))
    outcomes = scheduler.at_once((Lease(0, name, 0) for name in "A"), iter(["B"]), (chat(name) for name in ("C", "D")))
    assert outcomes == (Ended("A", Lease(0, "B", 1)), Cancelled("B"), Placed(Lease(0, "C", 2)), Queued(1))


def test_a_generator_that_fails_changes_nothing() -> None:
    def arrivals() -> Iterator[Job]:
        yield chat("C")
        raise LookupError

    def names() -> Iterator[str]:
        yield "A"
        raise LookupError

    scheduler = with_jobs(image("A"), image("B"))
    with unchanged(scheduler), pytest.raises(LookupError):
        scheduler.at_once([Lease(0, "A", 0)], ["B"], arrivals())
    with unchanged(scheduler), pytest.raises(LookupError):
        scheduler.at_once([Lease(0, "A", 0)], names())
    with unchanged(scheduler), pytest.raises(LookupError):
        scheduler.at_once(Lease(0, name, 0) for name in names())


def test_the_urgency_of_each_arrival_is_asked_once_before_the_first_change() -> None:
    asked: list[tuple[Any, int]] = []

    def urgency(job: Job) -> int:
        asked.append((job.request_id, scheduler.snapshot().next_run))
        return job.priority

    scheduler = Scheduler(1, urgency=urgency)
    scheduler.at_once(arrivals=[image("A"), chat("B"), image("A"), image("D")])
    assert asked == [("A", 0), ("B", 0), ("A", 0), ("D", 0)]
