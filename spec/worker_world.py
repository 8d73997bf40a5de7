"""What the world does to the closed loop: work comes, goes on and ends, and processes end.

The world may end a process at any time, hold back and repeat what it says of it, and answer a probe as it likes.
"""

from __future__ import annotations

from dataclasses import replace

from spec.logic import Action, Claim, Job, both, negate
from spec.worker_state import Place, State, is_in_flight, is_live, is_waiting, is_warm

# The work


def book(s: State, job: Job, steps: int) -> State:
    """The steps are served, which is a sign of demand and of life."""
    return replace(
        s,
        remaining=s.remaining.put(job, s.remaining[job] - steps),
        served=s.served.put(job, s.served[job] + steps),
        touched=True,
    )


def may_arrive(s: State, job: Job) -> Claim:
    return s.place[job] == Place.NEW


def arrive(s: State, job: Job) -> State:
    """A job comes and waits, whatever the worker does."""
    return replace(
        s,
        place=s.place.put(job, Place.WAITING),
        remaining=s.remaining.put(job, s.work[job]),
        served=s.served.put(job, 0),
    )


def may_dispatch(s: State, job: Job) -> Claim:
    return both(is_warm(s), is_waiting(s, job))


def dispatch(s: State, job: Job) -> State:
    """A waiting job is handed to the warm worker."""
    return replace(s, place=s.place.put(job, Place.IN_FLIGHT))


def is_at_work(s: State, job: Job) -> Claim:
    """The job is in flight on a warm worker whose process runs."""
    return both(is_warm(s), s.runs[s.generation], is_in_flight(s, job))


def may_work(s: State, job: Job, steps: int) -> Claim:
    return both(is_at_work(s, job), steps >= 1, steps <= s.remaining[job])


def work(s: State, job: Job, steps: int) -> State:
    """The worker reports steps done."""
    return book(s, job, steps)


def may_finish(s: State, job: Job) -> Claim:
    return is_at_work(s, job)


def finish(s: State, job: Job) -> State:
    """A job ends, and the worker has shown that it can serve: the back-off is over."""
    ended = book(s, job, s.remaining[job])
    return replace(ended, place=s.place.put(job, Place.DONE), back_off=0, proven=True)


def may_cancel(s: State, job: Job) -> Claim:
    return is_live(s, job)


def cancel(s: State, job: Job) -> State:
    """Nobody wants the job any more."""
    return replace(s, place=s.place.put(job, Place.CANCELLED))


# The processes


def may_die(s: State, generation: int) -> Claim:
    return both(generation >= 1, generation <= s.generation, s.runs[generation])


def die(s: State, generation: int) -> State:
    """The process of a worker ends, of itself or killed; others of its group may live on, and hold port and memory."""
    return replace(s, runs=s.runs.put(generation, False))


def may_vanish(s: State, generation: int) -> Claim:
    return both(generation >= 1, generation <= s.generation, s.alive[generation], negate(s.runs[generation]))


def vanish(s: State, generation: int) -> State:
    """The last of the group of a worker is gone."""
    return replace(s, alive=s.alive.put(generation, False))


ACTIONS = (
    Action(may_arrive, arrive),
    Action(may_dispatch, dispatch),
    Action(may_work, work),
    Action(may_finish, finish),
    Action(may_cancel, cancel),
    Action(may_die, die),
    Action(may_vanish, vanish),
)
