"""Who gets a slot, who yields it, who inherits it, and who finds no place."""

from __future__ import annotations

from itertools import permutations

import pytest

from impl.jobs import (
    CAPACITY,
    CHAT,
    IMAGE,
    Ended,
    Job,
    Lease,
    Placed,
    Progressed,
    Queued,
    RequestId,
)
from impl.scheduler import Scheduler
from tests.stories import FULL, chat, image, lease, remaining, running, unchanged, waiting, with_jobs

# Urgency


def test_the_default_urgency_is_the_priority() -> None:
    assert (CHAT, IMAGE, CAPACITY) == (10, 1, 64)
    scheduler = with_jobs(Job("A", 2, 9), Job("B", 3, 9), Job("C", 3, 9))
    assert (running(scheduler), waiting(scheduler)) == (["B"], ["A", "C"])
    assert scheduler.snapshot().running[0] == (Job("B", 3, 9), 3, 9, 0, 1)


def test_a_job_arrived_at_0_without_a_deadline_unless_said_otherwise() -> None:
    assert Job("A", 1, 1) == Job("A", 1, 1, modality="", arrived=0, deadline=None)


def test_urgency_is_asked_once_and_stays_fixed() -> None:
    asked: list[RequestId] = []
    urgencies = iter([1, 2, 5, 4])

    def urgency(job: Job) -> int:
        asked.append(job.request_id)
        return next(urgencies)

    scheduler = Scheduler(1, urgency=urgency)
    for name in "ABCD":
        scheduler.admit(image(name))
    assert (running(scheduler), waiting(scheduler)) == (["C"], ["A", "B", "D"])
    scheduler.restart()
    scheduler.complete(lease(scheduler, "C"))
    scheduler.cancel("D")
    scheduler.progress(lease(scheduler, "B"), 1)
    scheduler.complete(lease(scheduler, "B"))
    assert running(scheduler) == ["A"]
    assert asked == ["A", "B", "C", "D"]


TUPLES = [(), (0,), (-1,), (0, 5), (0,) * 4]


def test_a_longer_tuple_is_more_urgent_than_its_beginning() -> None:
    for arrival in permutations(range(len(TUPLES))):
        scheduler = Scheduler(1, urgency=lambda job: (1, *TUPLES[int(job.request_id)]))
        for number in arrival:
            scheduler.admit(image(number))
        order = []
        while (first := running(scheduler)[0]) is not None:
            order.append(TUPLES[int(first)])
            scheduler.complete(lease(scheduler, first))
        assert order == sorted(TUPLES, reverse=True)


def test_among_equal_tuples_the_earlier_goes_first_and_none_is_preempted() -> None:
    scheduler = Scheduler(1, urgency=lambda job: (job.priority, -(job.deadline or 0)))
    for name, deadline in (("A", 5), ("B", 5), ("C", 5), ("D", 4)):
        scheduler.admit(Job(name, IMAGE, 9, deadline=deadline))
    assert (running(scheduler), waiting(scheduler)) == (["D"], ["B", "C", "A"])


# Slots and victims


def test_a_newcomer_takes_the_lowest_free_slot() -> None:
    scheduler = with_jobs(*map(image, "ABCDE"), slots=5)
    for name in "DBA":
        scheduler.cancel(name)
    assert running(scheduler) == [None, None, "C", None, "E"]
    for name, slot in (("X", 0), ("Y", 1), ("Z", 3)):
        assert scheduler.admit(chat(name)) == Placed(lease(scheduler, name))
        assert lease(scheduler, name).slot == slot


def test_nobody_is_preempted_while_a_slot_is_free() -> None:
    scheduler = with_jobs(image("A"), slots=2)
    assert scheduler.admit(chat("C")) == Placed(Lease(1, "C", 1))
    assert running(scheduler) == ["A", "C"]


@pytest.mark.parametrize(
    ("priorities", "victim"),
    [((1, 1, 1), 0), ((2, 1, 1), 1), ((2, 2, 1), 2), ((2, 1, 2), 1), ((3, 2, 1), 2), ((9, 9, 9), 0), ((10, 9, 9), 1)],
)
def test_the_victim_is_the_least_urgent_and_of_equals_in_the_lowest_slot(
    priorities: tuple[int, ...], victim: int
) -> None:
    scheduler = with_jobs(*(Job(slot, priority, 9) for slot, priority in enumerate(priorities)), slots=3)
    assert scheduler.admit(chat("C")) == Placed(Lease(victim, "C", 3), preempted=Job(victim, priorities[victim], 9))
    assert waiting(scheduler) == [victim]


def test_the_lowest_slot_yields_even_if_its_job_started_last() -> None:
    scheduler = with_jobs(image("A"), image("B"), slots=2)
    scheduler.cancel("A")
    scheduler.admit(image("D"))
    assert scheduler.admit(chat("C")) == Placed(Lease(0, "C", 3), preempted=image("D"))


def test_equals_never_preempt_each_other() -> None:
    scheduler = with_jobs(chat("A", 20))
    assert scheduler.admit(chat("B", 20)) == Queued(0)
    assert scheduler.complete(lease(scheduler, "A")) == Ended("A", heir=Lease(0, "B", 1))


# Heirs


def test_the_heir_is_the_most_urgent_and_of_equals_the_earliest() -> None:
    scheduler = with_jobs(chat("A"), image("B"), Job("C", 5, 9), image("D"), Job("E", 5, 9))
    order = []
    while (first := running(scheduler)[0]) is not None:
        order.append(first)
        scheduler.complete(lease(scheduler, first))
    assert order == ["A", "C", "E", "B", "D"]


def test_a_preempted_job_waits_behind_equals_with_its_work_intact() -> None:
    scheduler = with_jobs(image("A"))
    assert scheduler.progress(Lease(0, "A", 0), 10) == Progressed(20)
    assert scheduler.admit(image("B")) == Queued(0)
    assert scheduler.admit(chat("C")) == Placed(Lease(0, "C", 1), preempted=image("A"))
    assert [(entry.ticket, entry.remaining) for entry in scheduler.snapshot().queue] == [(0, 30), (1, 20)]
    assert scheduler.complete(Lease(0, "C", 1)) == Ended("C", heir=Lease(0, "B", 2))
    assert scheduler.complete(Lease(0, "B", 2)) == Ended("B", heir=Lease(0, "A", 3))
    assert remaining(scheduler) == {"A": 20}


def test_twenty_preemptions_lose_nothing() -> None:
    scheduler = with_jobs(image("A", 100))
    for _ in range(20):
        assert isinstance(scheduler.progress(lease(scheduler, "A"), 1), Progressed)
        assert isinstance(scheduler.admit(chat("C", 1)), Placed)
        assert isinstance(scheduler.complete(lease(scheduler, "C")), Ended)
    assert remaining(scheduler) == {"A": 80}


# The queue


def test_the_queue_has_64_places_and_one_more_a_slot_for_the_preempted() -> None:
    scheduler = with_jobs(*map(image, range(66)), slots=2)
    assert scheduler.snapshot()[:2] == (64, 2)
    with unchanged(scheduler):
        assert scheduler.admit(image("late")) == FULL
    assert isinstance(scheduler.admit(chat("C")), Placed)
    assert isinstance(scheduler.admit(chat("D")), Placed)
    assert scheduler.snapshot().waiting == 66
    assert set(remaining(scheduler)) == {*range(66), "C", "D"}


@pytest.mark.parametrize("capacity", [0, 1, 2, 5])
@pytest.mark.parametrize("reserve", [0, 1, 3])
@pytest.mark.parametrize("slots", [1, 2])
def test_newcomers_fill_the_capacity_and_victims_the_reserve(slots: int, capacity: int, reserve: int) -> None:
    scheduler = with_jobs(*map(image, range(slots + capacity)), slots=slots, capacity=capacity, reserve=reserve)
    with unchanged(scheduler):
        assert scheduler.admit(image("late")) == FULL
    for number in range(min(slots, reserve)):
        assert isinstance(scheduler.admit(chat(f"C{number}")), Placed)
        with unchanged(scheduler):
            assert scheduler.admit(image("late")) == FULL
    with unchanged(scheduler):
        assert scheduler.admit(chat("last")) == FULL
    assert len(remaining(scheduler)) == slots + capacity + min(slots, reserve)


def test_a_preempted_job_takes_a_place_that_no_newcomer_has_then() -> None:
    scheduler = with_jobs(image("A"), chat("C"), capacity=1, reserve=1)
    assert scheduler.admit(chat("D")) == FULL
    assert scheduler.admit(image("B")) == FULL
    scheduler.cancel("A")
    assert scheduler.admit(image("B")) == Queued(1)


def test_without_a_reserve_a_victim_takes_a_place_of_the_capacity() -> None:
    scheduler = with_jobs(image("A"), capacity=1, reserve=0)
    assert isinstance(scheduler.admit(chat("C")), Placed)
    with unchanged(scheduler):
        assert scheduler.admit(Job("D", 11, 1)) == FULL
    assert running(scheduler) == ["C"]


def test_with_neither_a_slot_is_all_there_is() -> None:
    scheduler = with_jobs(image("A"), capacity=0, reserve=0)
    with unchanged(scheduler):
        assert scheduler.admit(chat("C")) == FULL
    scheduler.complete(Lease(0, "A", 0))
    assert scheduler.admit(chat("C")) == Placed(Lease(0, "C", 1))


def test_a_peer_of_the_running_does_not_displace_a_waiting_image() -> None:
    scheduler = with_jobs(chat("A"), image("B"), capacity=1)
    with unchanged(scheduler):
        assert scheduler.admit(chat("C")) == FULL


def test_a_refusal_leaves_no_residue() -> None:
    scheduler = with_jobs(*map(chat, "ABC"), capacity=2)
    with unchanged(scheduler):
        assert scheduler.admit(chat("D")) == FULL
    scheduler.complete(Lease(0, "A", 0))
    assert scheduler.admit(chat("D")) == Queued(2)


def test_a_full_queue_still_lets_chat_preempt() -> None:
    scheduler = with_jobs(image("A"), image("B", 5), image("C", 5), capacity=2)
    scheduler.progress(Lease(0, "A", 0), 3)
    assert scheduler.admit(chat("D")) == Placed(Lease(0, "D", 1), preempted=image("A"))
    assert remaining(scheduler) == {"D": 5, "B": 5, "C": 5, "A": 27}
