"""The closed loop at one instant: what the controller knows, which processes there are, and the work.

Time comes with the tick, which is last at its instant. Whatever happens between two ticks belongs to the instant of the
later one: it touches the clocks, and they begin there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from spec.logic import Claim, Domain, Job, Table, both, either, every, ite, negate, numbers, some, where


class WorkerPhase(Enum):
    """Where the worker is in its life, as the controller has it."""

    COLD = "cold"
    STARTING = "starting"
    WARM = "warm"
    STOPPING = "stopping"


class Verdict(Enum):
    """What a probe of the port concludes: somebody answers as a worker does, nobody listens, or neither is sure."""

    WARM = "warm"
    COLD = "cold"
    UNKNOWN = "unknown"


class Demand(Enum):
    """What the controller is told of the work that is queued or in flight."""

    NONE = "none"
    SOME = "some"
    UNKNOWN = "unknown"


class Place(Enum):
    """Where a job is: it waits, queued or in a slot without a worker, or is in flight on the worker."""

    NEW = "new"
    WAITING = "waiting"
    IN_FLIGHT = "in flight"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class State:
    """The constants, what the controller knows, which processes there are, and the work. Times are whole seconds.

    `since` is when the present phase began: the start, the order to stop, the confirmed end, and of a warm worker the
    last instant with demand, or ready. `quiet` is the last instant at which wanted work progressed, or nothing was
    wanted. `touched` says that both begin at the next tick. `blind` counts ticks in a row without the knowledge to
    decide. `proven` says that a job ended since it was ready. `runs` is the worker's own process, `alive` its group.
    """

    ttl: int
    start_budget: int
    patience: int
    alarm_after: int
    hang_budget: int
    shortest: int
    longest: int

    phase: WorkerPhase
    generation: int
    seen: Verdict
    refusals: int
    now: int
    since: int
    quiet: int
    touched: bool
    back_off: int
    proven: bool
    blind: int
    alarm: bool

    alive: Table[int, bool]
    runs: Table[int, bool]

    jobs: Domain[Job]
    work: Table[Job, int]
    place: Table[Job, Place]
    remaining: Table[Job, int]
    served: Table[Job, int]


def initial(s: State) -> Claim:
    """No worker was ever started, no job has come, and nothing is known of the port."""
    return both(
        is_cold(s),
        s.generation == 0,
        nothing_is_alive(s),
        negate(s.runs[0]),
        s.seen == Verdict.UNKNOWN,
        s.refusals == 0,
        s.since == s.now,
        s.quiet == s.now,
        s.touched,
        s.back_off == 0,
        negate(s.proven),
        s.blind == 0,
        negate(s.alarm),
        every(s.jobs, lambda j: s.place[j] == Place.NEW),
    )


# Words


def is_cold(s: State) -> Claim:
    return s.phase == WorkerPhase.COLD


def is_starting(s: State) -> Claim:
    return s.phase == WorkerPhase.STARTING


def is_warm(s: State) -> Claim:
    return s.phase == WorkerPhase.WARM


def is_stopping(s: State) -> Claim:
    return s.phase == WorkerPhase.STOPPING


def generations(s: State) -> Any:
    """Every start so far; 0 stands for none."""
    return numbers(s.generation + 1)


def nothing_is_alive(s: State) -> Claim:
    return every(generations(s), lambda g: negate(s.alive[g]))


def is_waiting(s: State, job: Job) -> Claim:
    return s.place[job] == Place.WAITING


def is_in_flight(s: State, job: Job) -> Claim:
    return s.place[job] == Place.IN_FLIGHT


def is_live(s: State, job: Job) -> Claim:
    return either(is_waiting(s, job), is_in_flight(s, job))


def in_flight(s: State) -> Domain[Job]:
    return where(s.jobs, lambda j: is_in_flight(s, j))


def live(s: State) -> Domain[Job]:
    return where(s.jobs, lambda j: is_live(s, j))


def is_wanted(s: State) -> Claim:
    """Anything is queued or in flight."""
    return some(s.jobs, lambda j: is_live(s, j))


def was_of_use(s: State) -> Claim:
    """A job has ended on the warm worker."""
    return both(is_warm(s), s.proven)


def doubled(s: State) -> Any:
    """The back-off after one more failure."""
    return ite(s.back_off == 0, s.shortest, ite(s.longest <= 2 * s.back_off, s.longest, 2 * s.back_off))
