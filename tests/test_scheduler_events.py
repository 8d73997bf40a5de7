"""Whose report counts: leases, cancels, ids that come again, and the loss of the worker."""

from __future__ import annotations

import pytest

from impl.jobs import (
    Cancelled,
    Ended,
    Job,
    Lease,
    Nothing,
    Placed,
    Progressed,
    Queued,
    RequestId,
    Restarted,
    Stale,
)
from impl.scheduler import Scheduler
from tests.stories import FULL, LIVE, STEPS, chat, image, lease, remaining, running, unchanged, waiting, with_jobs

# Leases


def test_runs_are_numbered_by_one_counter() -> None:
    scheduler = Scheduler(2)
    leases = [scheduler.admit(job) for job in (image("A"), image("B"), chat("C"))]
    assert leases == [Placed(Lease(0, "A", 0)), Placed(Lease(1, "B", 1)), Placed(Lease(0, "C", 2), image("A"))]
    assert scheduler.complete(Lease(1, "B", 1)) == Ended("B", heir=Lease(1, "A", 3))
    assert scheduler.snapshot().next_run == 4


def test_a_run_may_end_early() -> None:
    scheduler = with_jobs(chat("A", 8))
    assert scheduler.complete(Lease(0, "A", 0)) == Ended("A")
    assert (running(scheduler), waiting(scheduler)) == ([None], [])


@pytest.mark.parametrize("steps", [-(2**63), -1, 0, 31, 2**63 - 1])
def test_steps_outside_1_to_remaining_are_refused(steps: int) -> None:
    scheduler = with_jobs(image("A"))
    with unchanged(scheduler):
        assert scheduler.progress(Lease(0, "A", 0), steps) == STEPS


def test_progress_to_0_ends_nothing() -> None:
    scheduler = with_jobs(image("A"), image("B"))
    assert scheduler.progress(Lease(0, "A", 0), 29) == Progressed(1)
    assert scheduler.progress(Lease(0, "A", 0), 1) == Progressed(0)
    with unchanged(scheduler):
        assert scheduler.progress(Lease(0, "A", 0), 1) == STEPS
    assert running(scheduler) == ["A"]
    assert isinstance(scheduler.admit(chat("C")), Placed)
    assert remaining(scheduler) == {"C": 5, "B": 30, "A": 0}
    assert scheduler.complete(Lease(0, "C", 1)) == Ended("C", heir=Lease(0, "B", 2))
    assert scheduler.complete(Lease(0, "B", 2)) == Ended("B", heir=Lease(0, "A", 3))
    assert scheduler.complete(Lease(0, "A", 3)) == Ended("A")


@pytest.mark.parametrize(
    "stale",
    [
        Lease(0, "A", 1),
        Lease(0, "A", -1),
        Lease(1, "A", 0),
        Lease(-2, "A", 0),
        Lease(7, "A", 0),
        Lease(0, "B", 0),
        Lease(1, "W", 1),
        Lease(0, "nobody", 0),
        Lease(0, 0, 0),
    ],
)
def test_a_lease_of_no_present_run_is_stale(stale: Lease) -> None:
    scheduler = with_jobs(image("A"), image("B"), image("W"), slots=2)
    with unchanged(scheduler):
        assert scheduler.complete(stale) == Stale()
        assert scheduler.progress(stale, 1) == Stale()
        assert scheduler.progress(stale, 0) == Stale()


@pytest.mark.parametrize("over", ["ended", "cancelled", "preempted", "resumed", "restarted", "reused"])
def test_a_lease_is_stale_once_its_run_is_over(over: str) -> None:
    scheduler = with_jobs(image("A"))
    late = lease(scheduler, "A")
    match over:
        case "ended":
            scheduler.complete(late)
        case "cancelled":
            scheduler.cancel("A")
        case "preempted":
            scheduler.admit(chat("C"))
        case "resumed":
            scheduler.admit(chat("C"))
            scheduler.complete(lease(scheduler, "C"))
        case "restarted":
            scheduler.restart()
        case "reused":
            scheduler.complete(late)
            scheduler.admit(image("A"))
    with unchanged(scheduler):
        assert scheduler.complete(late) == Stale()
        assert scheduler.progress(late, 1) == Stale()


def test_late_reports_hit_no_later_run() -> None:
    scheduler = with_jobs(image("A"))
    scheduler.progress(Lease(0, "A", 0), 10)
    scheduler.admit(chat("C"))
    assert scheduler.progress(Lease(0, "A", 0), 5) == Stale()
    assert scheduler.complete(Lease(0, "A", 0)) == Stale()
    assert remaining(scheduler) == {"C": 5, "A": 20}
    assert scheduler.complete(Lease(0, "C", 1)) == Ended("C", heir=Lease(0, "A", 2))
    assert scheduler.complete(Lease(0, "C", 1)) == Stale()
    assert remaining(scheduler) == {"A": 20}


def test_only_a_running_job_has_a_lease() -> None:
    scheduler = with_jobs(image("A"), image("B"))
    assert scheduler.lease_of("A") == Lease(0, "A", 0)
    assert scheduler.lease_of("B") is None
    assert scheduler.lease_of("nobody") is None
    scheduler.complete(Lease(0, "A", 0))
    assert scheduler.lease_of("A") is None
    assert scheduler.lease_of("B") == Lease(0, "B", 1)


# Cancels


def test_a_waiting_job_leaves_the_queue() -> None:
    scheduler = with_jobs(chat("A"), chat("B"), chat("C"))
    assert scheduler.cancel("B") == Cancelled("B")
    assert (running(scheduler), waiting(scheduler)) == (["A"], ["C"])
    assert scheduler.complete(Lease(0, "A", 0)) == Ended("A", heir=Lease(0, "C", 1))


def test_the_slot_of_a_cancelled_job_goes_to_the_heir_at_once() -> None:
    scheduler = with_jobs(chat("A"), image("B"), chat("C"))
    assert scheduler.cancel("A") == Cancelled("A", heir=Lease(0, "C", 1))
    assert (running(scheduler), waiting(scheduler)) == (["C"], ["B"])


def test_a_slot_that_nobody_wants_becomes_free() -> None:
    scheduler = with_jobs(image("A"), image("B"), slots=2)
    assert scheduler.cancel("A") == Cancelled("A")
    assert running(scheduler) == [None, "B"]


def test_a_preempted_job_can_be_cancelled() -> None:
    scheduler = with_jobs(image("A"), chat("C"))
    assert scheduler.cancel("A") == Cancelled("A")
    assert scheduler.complete(lease(scheduler, "C")) == Ended("C")
    assert running(scheduler) == [None]
    assert isinstance(scheduler.admit(image("A")), Placed)


@pytest.mark.parametrize("name", ["ended", "cancelled", "cancelled while it waited", "refused", "nobody", 0])
def test_to_cancel_who_is_not_live_does_nothing_and_says_so(name: RequestId) -> None:
    scheduler = with_jobs(image("ended"), image("cancelled"), image("cancelled while it waited"), capacity=2)
    assert scheduler.admit(image("refused")) == FULL
    scheduler.complete(lease(scheduler, "ended"))
    scheduler.cancel("cancelled while it waited")
    scheduler.cancel("cancelled")
    scheduler.admit(image("A"))
    scheduler.admit(image("B"))
    with unchanged(scheduler):
        assert scheduler.cancel(name) == Nothing()


def test_slots_and_queue_empty_at_once() -> None:
    scheduler = with_jobs(*map(image, "ABC"), slots=2)
    assert scheduler.complete(Lease(0, "A", 0)) == Ended("A", heir=Lease(0, "C", 2))
    assert scheduler.complete(Lease(1, "B", 1)) == Ended("B")
    assert (running(scheduler), waiting(scheduler)) == (["C", None], [])


# Ids


@pytest.mark.parametrize("name", ["running", "waiting"])
def test_a_live_id_is_refused(name: str) -> None:
    scheduler = with_jobs(image("running"), image("waiting"))
    with unchanged(scheduler):
        assert scheduler.admit(chat(name)) == LIVE
        assert scheduler.admit(image(name)) == LIVE


def test_a_live_id_is_refused_as_such_even_when_the_queue_is_full_or_a_slot_is_free() -> None:
    assert with_jobs(image("A"), image("B"), capacity=1).admit(image("B")) == LIVE
    assert with_jobs(image("A"), slots=2).admit(image("A")) == LIVE


@pytest.mark.parametrize("ending", ["ended", "cancelled", "cancelled while it waited"])
def test_an_id_may_be_used_again_after_its_job_ended(ending: str) -> None:
    scheduler = with_jobs(chat("A"), image("B"))
    name = "B" if ending == "cancelled while it waited" else "A"
    if ending == "ended":
        scheduler.complete(lease(scheduler, "A"))
    else:
        scheduler.cancel(name)
    again = Job(name, 11, 7)
    assert scheduler.admit(again) == Placed(lease(scheduler, name), preempted=image("B") if name == "A" else chat("A"))
    assert remaining(scheduler)[name] == 7


def test_an_id_that_left_the_queue_does_not_keep_its_turn() -> None:
    scheduler = with_jobs(chat("A"), image("B"), image("C"))
    scheduler.cancel("B")
    assert scheduler.admit(image("B")) == Queued(2)
    assert scheduler.complete(lease(scheduler, "A")) == Ended("A", heir=Lease(0, "C", 1))


def test_a_number_and_a_text_are_two_ids() -> None:
    scheduler = with_jobs(image(1), image("1"), slots=2)
    assert scheduler.cancel("1") == Cancelled("1")
    assert running(scheduler) == [1, None]


# The loss of the worker


def test_after_a_restart_nobody_moved_and_every_lease_is_new() -> None:
    scheduler = with_jobs(*map(image, "ABCD"), slots=4)
    scheduler.cancel("B")
    scheduler.progress(Lease(2, "C", 2), 10)
    assert scheduler.restart() == Restarted((Lease(0, "A", 4), Lease(2, "C", 6), Lease(3, "D", 7)))
    assert (running(scheduler), remaining(scheduler)) == (["A", None, "C", "D"], {"A": 30, "C": 20, "D": 30})
    assert scheduler.snapshot().next_run == 8
    with unchanged(scheduler):
        assert scheduler.complete(Lease(2, "C", 2)) == Stale()
        assert scheduler.progress(Lease(0, "A", 0), 1) == Stale()
    assert scheduler.admit(image("E")) == Placed(Lease(1, "E", 8))


def test_the_queue_outlives_the_worker() -> None:
    scheduler = with_jobs(chat("A"), image("B"), image("C"))
    before = scheduler.snapshot()
    assert scheduler.restart() == Restarted((Lease(0, "A", 1),))
    assert scheduler.restart() == Restarted((Lease(0, "A", 2),))
    after = scheduler.snapshot()
    assert (after.queue, after.next_ticket, after.next_run) == (before.queue, before.next_ticket, 3)
    assert scheduler.complete(Lease(0, "A", 2)) == Ended("A", heir=Lease(0, "B", 3))


def test_a_restart_of_nothing_still_counts() -> None:
    scheduler = Scheduler(3)
    assert scheduler.restart() == Restarted(())
    assert scheduler.admit(image("A")) == Placed(Lease(0, "A", 3))


def test_after_a_restart_the_victim_is_still_the_right_one() -> None:
    scheduler = with_jobs(Job("A", 5, 9), image("B"), image("D"), slots=3)
    scheduler.restart()
    assert scheduler.admit(chat("C")) == Placed(Lease(1, "C", 6), preempted=image("B"))
