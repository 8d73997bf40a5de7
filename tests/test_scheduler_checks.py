"""What the scheduler does not accept: it says what was wrong, and nothing has changed."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impl.checks import ordinal
from impl.jobs import Job, Lease, Placed, Progressed, Queued
from impl.scheduler import Scheduler
from tests.stories import chat, image, running, unchanged, waiting, with_jobs

LEAST, GREATEST = -(2**63), 2**63 - 1
NO_NUMBERS = [True, False, 1.0, 1.5, float("nan"), float("inf"), "10", "", b"1", None, (), [1], 10**30, -(10**30), 1j]


def busy() -> Scheduler:
    """A scheduler with an image to preempt, and one that waits."""
    return with_jobs(image("A"), image("B"), capacity=1)


def job(**fields: Any) -> Job:
    return chat("X")._replace(**fields)


BAD_JOBS: list[tuple[str, Any]] = [
    *(("priority", job(priority=bad)) for bad in (*NO_NUMBERS, LEAST - 1, GREATEST + 1)),
    *(("work", job(work=bad)) for bad in (*NO_NUMBERS, 0, -1, LEAST, GREATEST + 1)),
    *(("arrived", job(arrived=bad)) for bad in (*NO_NUMBERS, LEAST - 1, GREATEST + 1)),
    *(("deadline", job(deadline=bad)) for bad in NO_NUMBERS if bad is not None),
    *(("request_id", job(request_id=bad)) for bad in (None, True, 1.0, b"A", (), ["A"])),
    *(("modality", job(modality=bad)) for bad in (None, 1, b"chat")),
    *(("job", bad) for bad in (None, 1, "X", ("X", 10, 5), {"request_id": "X"}, Lease(0, "X", 0))),
]


@pytest.mark.parametrize(("field", "bad"), BAD_JOBS)
def test_a_bad_job_is_refused_by_name_before_anything_changes(field: str, bad: Any) -> None:
    scheduler = busy()
    with unchanged(scheduler), pytest.raises(ValueError, match=rf"^{field} is .*, expected .*; nothing was changed$"):
        scheduler.admit(bad)
    with unchanged(scheduler), pytest.raises(ValueError, match=rf"^{field} is "):
        scheduler.at_once([Lease(0, "A", 0)], ["B"], [chat("C"), bad])
    assert isinstance(scheduler.admit(chat("X")), Placed)


@pytest.mark.parametrize("priority", [LEAST, -1, 0, 1, GREATEST])
@pytest.mark.parametrize("work", [1, GREATEST])
def test_the_range_is_that_of_i64(priority: int, work: int) -> None:
    scheduler = Scheduler(1)
    extreme = Job("A", priority, work, "chat", LEAST, GREATEST)
    assert scheduler.admit(extreme) == Placed(Lease(0, "A", 0))
    assert scheduler.progress(Lease(0, "A", 0), work) == Progressed(0)


def test_urgencies_at_the_ends_of_the_range_are_in_order() -> None:
    scheduler = with_jobs(Job("A", LEAST, 1), Job("B", LEAST, 1), Job("C", GREATEST, 1), Job("D", 0, 1))
    assert (running(scheduler), waiting(scheduler)) == (["C"], ["B", "A", "D"])
    scheduler.cancel("C")
    assert running(scheduler) == ["D"]


def test_a_named_number_is_a_number() -> None:
    priority = IntEnum("priority", {"HIGH": 7})
    scheduler = Scheduler(1)
    scheduler.admit(Job("A", priority.HIGH, 1))
    [run] = scheduler.snapshot().running
    assert run
    assert type(run.urgency) is int


@pytest.mark.parametrize(
    "urgency",
    [True, 1.5, float("nan"), None, "1", (), (True,), (1, 2.0), (1, None), ((1,),), [1], {1}, b"1"],
)
def test_a_bad_urgency_is_refused_before_anything_changes(urgency: Any) -> None:
    scheduler = Scheduler(1, capacity=1, urgency=lambda job: urgency if job.request_id == "bad" else 1)
    scheduler.admit(image("A"))
    with unchanged(scheduler), pytest.raises(ValueError, match=r"^urgency is .*; nothing was changed$"):
        scheduler.admit(image("bad"))
    with unchanged(scheduler), pytest.raises(ValueError, match=r"^urgency is "):
        scheduler.at_once([Lease(0, "A", 0)], ["A"], [image("B"), image("bad")])
    assert scheduler.admit(image("B")) == Queued(0)


def test_ints_and_tuples_do_not_mix() -> None:
    scheduler = Scheduler(2, urgency=lambda job: job.priority if job.modality else (job.priority,))
    mixed = [image("A"), image("B")._replace(modality="image")]
    with unchanged(scheduler), pytest.raises(ValueError, match="always an int or always a tuple of ints"):
        scheduler.at_once(arrivals=mixed)
    assert isinstance(scheduler.admit(mixed[1]), Placed)
    with unchanged(scheduler), pytest.raises(ValueError, match="always an int or always a tuple of ints"):
        scheduler.admit(mixed[0])
    with unchanged(scheduler), pytest.raises(ValueError, match="always an int or always a tuple of ints"):
        scheduler.at_once(cancels=["B"], arrivals=[mixed[0]])


def test_an_error_of_the_policy_reaches_the_caller_and_changes_nothing() -> None:
    def urgency(job: Job) -> int:
        if job.request_id == "bad":
            raise ZeroDivisionError
        return job.priority

    scheduler = Scheduler(1, urgency=urgency)
    scheduler.admit(image("A"))
    with unchanged(scheduler), pytest.raises(ZeroDivisionError):
        scheduler.admit(image("bad"))
    with unchanged(scheduler), pytest.raises(ZeroDivisionError):
        scheduler.at_once([Lease(0, "A", 0)], ["A"], [image("B"), image("bad")])


@pytest.mark.parametrize("steps", NO_NUMBERS)
def test_bad_steps_are_refused(steps: Any) -> None:
    scheduler = busy()
    for lease in (Lease(0, "A", 0), Lease(0, "A", 9)):
        with unchanged(scheduler), pytest.raises(ValueError, match=r"^steps is .*; nothing was changed$"):
            scheduler.progress(lease, steps)


@pytest.mark.parametrize("lease", [None, 0, "A", (0, "A", 0), Placed(Lease(0, "A", 0)), image("A")])
def test_what_is_no_lease_is_refused(lease: Any) -> None:
    scheduler = busy()
    with unchanged(scheduler), pytest.raises(ValueError, match=r"^lease is .*; nothing was changed$"):
        scheduler.complete(lease)
    with unchanged(scheduler), pytest.raises(ValueError, match=r"^lease is "):
        scheduler.progress(lease, 1)
    with unchanged(scheduler), pytest.raises(ValueError, match=r"^lease is "):
        scheduler.at_once([Lease(0, "A", 0), lease], ["B"], [chat("C")])


BAD_LEASES: list[Any] = [
    *((slot, "A", 0) for slot in (0.0, False, "0", None)),
    *((0, "A", run) for run in (0.0, False, "0", None)),
    *((0, name, 0) for name in (None, True, 1.0, b"A", ["A"])),
]


@pytest.mark.parametrize("parts", BAD_LEASES)
def test_a_lease_of_wrong_parts_is_refused(parts: tuple[Any, Any, Any]) -> None:
    scheduler = busy()
    calls: list[Callable[[Lease], object]] = [
        scheduler.complete,
        lambda lease: scheduler.progress(lease, 1),
        lambda lease: scheduler.at_once([lease]),
    ]
    for call in calls:
        with unchanged(scheduler), pytest.raises(ValueError, match=r"; nothing was changed$"):
            call(Lease(*parts))


@pytest.mark.parametrize("name", [None, True, 1.0, b"A", (), ["A"], Lease(0, "A", 0)])
def test_what_is_no_id_is_refused(name: Any) -> None:
    scheduler = busy()
    calls: list[Callable[[Any], object]] = [
        scheduler.cancel,
        scheduler.lease_of,
        lambda name: scheduler.at_once(cancels=["A", name]),
    ]
    for call in calls:
        with unchanged(scheduler), pytest.raises(ValueError, match=r"^request_id is .*; nothing was changed$"):
            call(name)


@pytest.mark.parametrize(
    ("name", "slots", "size"),
    [
        *(("slots", bad, {}) for bad in (0, -1, *NO_NUMBERS)),
        *(("capacity", 1, {"capacity": bad}) for bad in (-1, *NO_NUMBERS)),
        *(("reserve", 1, {"reserve": bad}) for bad in (-1, *NO_NUMBERS) if bad is not None),
    ],
)
def test_a_bad_size_is_refused(name: str, slots: Any, size: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=rf"^{name} is "):
        Scheduler(slots, **size)


URGENCIES = st.lists(st.integers(-3, 3), min_size=1, max_size=4).map(tuple) | st.lists(
    st.integers(), min_size=1, max_size=4
).map(tuple)


@given(URGENCIES, URGENCIES)
def test_the_negation_of_a_tuple_orders_the_other_way(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a: Any = ordinal(left)
    b: Any = ordinal(right)
    assert (a < b) == (left < right) == (-b < -a)
    assert (a == b) == (left == right) == (-a == -b)
    assert (hash(a) == hash(b)) or left != right


@given(st.lists(URGENCIES, max_size=8))
def test_the_order_of_the_heirs_is_total_and_the_earlier_of_equals_comes_first(
    urgencies: list[tuple[int, ...]],
) -> None:
    by_heap = sorted((-ordinal(urgency), ticket) for ticket, urgency in enumerate(urgencies))  # type: ignore[operator]
    expected = sorted(enumerate(urgencies), key=lambda entry: entry[1], reverse=True)
    assert [ticket for _, ticket in by_heap] == [ticket for ticket, _ in expected]
