"""What comes true of the scheduler at least once, or the claims about it were never put to the test."""

from __future__ import annotations

from spec.logic import Claim, Job, both, negate, some
from spec.scheduler import State, is_new, is_queued, is_running, queued, running


def is_preempted(s: State, t: State, job: Job) -> Claim:
    return both(is_running(s, job), is_queued(t, job))


def a_job_waits(s: State, t: State) -> Claim:
    """A job is queued."""
    return some(t.jobs, lambda j: is_queued(t, j))


def a_preemption_happens(s: State, t: State) -> Claim:
    """A running job returns to the queue."""
    return some(s.jobs, lambda j: is_preempted(s, t, j))


def a_victim_had_a_peer(s: State, t: State) -> Claim:
    """Of two equally urgent running jobs one is preempted."""
    return some(
        s.jobs,
        lambda j: both(
            is_preempted(s, t, j),
            some(running(s), lambda r: both(negate(r == j), s.urgency[r] == s.urgency[j])),
        ),
    )


def a_victim_resumes(s: State, t: State) -> Claim:
    """A queued job that was served before runs again."""
    return some(s.jobs, lambda j: both(is_queued(s, j), s.served[j] >= 1, is_running(t, j)))


def an_equal_waits_behind_an_equal(s: State, t: State) -> Claim:
    """Two equally urgent jobs are queued."""
    waits = queued(t)
    return some(waits, lambda a: some(waits, lambda b: both(negate(a == b), t.urgency[a] == t.urgency[b])))


def an_equal_inherits_before_an_equal(s: State, t: State) -> Claim:
    """A job inherits a slot while an equally urgent one goes on waiting."""
    waits = queued(s)
    return some(
        waits,
        lambda h: both(
            is_running(t, h),
            some(waits, lambda q: both(is_queued(t, q), s.urgency[q] == s.urgency[h])),
        ),
    )


def an_image_waits_while_chat_runs(s: State, t: State) -> Claim:
    """A job is queued while one of higher priority runs."""
    return some(queued(t), lambda q: some(running(t), lambda r: t.priority[q] < t.priority[r]))


def the_queue_fills_to_its_reserve(s: State, t: State) -> Claim:
    """Every queue place is taken, those of the reserve too."""
    return both(t.reserve >= 1, t.waiting == t.capacity + t.reserve)


def an_image_runs_beside_a_full_queue(s: State, t: State) -> Claim:
    """A job of the lowest level runs while no newcomer may queue, and the reserve has a place for every slot."""
    return both(
        t.size <= t.reserve,
        t.capacity <= t.waiting,
        some(running(t), lambda r: t.urgency[r] == t.lowest),
        some(t.jobs, lambda n: both(is_new(t, n), t.lowest < t.urgency[n])),
    )


def a_run_outlives_the_worker(s: State, t: State) -> Claim:
    """A running job gets a new run in the same slot."""
    return some(
        running(s),
        lambda j: both(is_running(t, j), s.slot[j] == t.slot[j], negate(s.run[j] == t.run[j])),
    )
