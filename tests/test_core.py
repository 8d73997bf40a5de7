"""What the core asks of an urgency, what an event costs, and how much it keeps."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from math import log2

import pytest

from impl.core import Core
from impl.jobs import Ended, Job, Lease, Placed, Queued, Running


class Ordinal:
    """An urgency that can be compared and negated, and nothing else. `asked` counts how often one was."""

    __hash__ = None  # type: ignore[assignment]
    __slots__ = ("level",)
    asked = 0

    def __init__(self, level: int) -> None:
        self.level = level

    def __neg__(self) -> Ordinal:
        Ordinal.asked += 1
        return Ordinal(-self.level)

    def __lt__(self, other: Ordinal) -> bool:
        Ordinal.asked += 1
        return self.level < other.level

    def __eq__(self, other: object) -> bool:
        Ordinal.asked += 1
        return isinstance(other, Ordinal) and self.level == other.level

    def __bool__(self) -> bool:
        raise AssertionError("an urgency is no condition")


class Crowd:
    """A core under load: newcomers come in turn at three levels."""

    def __init__(self, slots: int, waiting: int) -> None:
        self.core = Core(slots, waiting, slots)
        self.name = 0
        for _ in range(slots + waiting):
            self.admit()

    def admit(self, level: int | None = None) -> None:
        self.name += 1
        urgency = Ordinal(self.name % 3 if level is None else level)
        self.core.admit(Job(self.name, urgency.level, 9), urgency)

    def run(self, slot: int) -> Running:
        run = self.core.snapshot().running[slot]
        assert run
        return run


def test_the_core_compares_and_negates_urgencies_and_asks_no_more() -> None:
    core = Core(1, 2, 1)
    assert core.admit(Job("A", 0, 9), Ordinal(0)) == Placed(Lease(0, "A", 0))
    assert core.admit(Job("B", 0, 9), Ordinal(0)) == Queued(0)
    assert core.admit(Job("C", 0, 9), Ordinal(2)) == Placed(Lease(0, "C", 1), preempted=Job("A", 0, 9))
    core.restart()
    assert core.cancel("C").heir == Lease(0, "B", 3)  # type: ignore[union-attr]
    assert core.complete(Lease(0, "B", 3)) == Ended("B", heir=Lease(0, "A", 4))
    other = Core(1, 2, 1)
    other.load(core.snapshot())
    assert other.complete(Lease(0, "A", 4)) == Ended("A")


# What an event costs, in urgencies asked; on average, for the core tidies up now and then.

ROUNDS = 100


def ends_in_the_last_slot(crowd: Crowd, leases: list[Lease]) -> None:
    heir = crowd.core.complete(leases.pop()).heir  # type: ignore[union-attr]
    assert heir
    leases.append(heir)
    crowd.admit(0)


def ends_in_the_first_slot(crowd: Crowd, leases: list[Lease]) -> None:
    heir = crowd.core.complete(leases[0]).heir  # type: ignore[union-attr]
    assert heir
    leases[0] = heir
    crowd.admit(0)


def leaves_the_queue(crowd: Crowd, leases: list[Lease]) -> None:
    crowd.core.cancel(crowd.name)
    crowd.admit(0)


def preempts_and_leaves(crowd: Crowd, leases: list[Lease]) -> None:
    crowd.admit(3)
    crowd.core.cancel(crowd.name)


@pytest.mark.parametrize(
    "happens", [ends_in_the_last_slot, ends_in_the_first_slot, leaves_the_queue, preempts_and_leaves]
)
@pytest.mark.parametrize(("slots", "waiting"), [(2, 64), (2, 8_192), (1_024, 2), (1_024, 8_192)])
def test_an_event_costs_the_logarithm_of_the_live_jobs(
    slots: int, waiting: int, happens: Callable[[Crowd, list[Lease]], None]
) -> None:
    crowd = Crowd(slots, waiting)
    leases = [run.lease for run in crowd.core.snapshot().running if run]
    Ordinal.asked = 0
    for _ in range(ROUNDS):
        happens(crowd, leases)
    assert 0 < Ordinal.asked / (2 * ROUNDS) < 10 * log2(slots + waiting)


# How much it keeps, in bytes of its pickle.


def size(core: Core) -> int:
    return len(pickle.dumps(core))


def fresh(core: Core) -> Core:
    """Another core in the same state, that has no past."""
    state = core.snapshot()
    other = Core(len(state.running), state.capacity, state.reserve)
    other.load(state)
    return other


def job(number: int, priority: int = 1) -> Job:
    return Job(number, priority, 1)


def test_a_long_life_leaves_nothing_behind() -> None:
    core = Core(2, 64, 2)
    for number in range(100_000):
        placed = core.admit(job(number), 1)
        assert isinstance(placed, Placed)
        core.complete(placed.lease)
    assert core.snapshot().running == (None, None)
    assert size(core) < 2_000


def test_many_preemptions_leave_nothing_behind() -> None:
    core = Core(2, 64, 2)
    for number in range(-20, 0):
        core.admit(job(number), 1)
    for number in range(50_000):
        placed = core.admit(job(number, 10), 10)
        assert isinstance(placed, Placed)
        core.complete(placed.lease)
    assert core.snapshot().waiting == 18
    assert size(core) < 2 * size(fresh(core))


def test_a_slot_that_never_changes_hands_hides_nothing() -> None:
    core = Core(2, 64, 2)
    core.admit(job(-1), 1)
    for number in range(20_000):
        placed = core.admit(job(number, 5), 5)
        assert isinstance(placed, Placed)
        core.complete(placed.lease)
    assert size(core) < 2_000


def test_a_queue_that_was_cancelled_is_gone() -> None:
    core = Core(1, 20_000, 1)
    for number in range(20_000):
        core.admit(job(number), 1)
    full = size(core)
    for number in range(1, 20_000):
        core.cancel(number)
    assert core.snapshot().waiting == 0
    assert size(core) < 2_000 < full / 100


def test_restarts_leave_nothing_behind() -> None:
    core = Core(3, 64, 3)
    for number in range(8):
        core.admit(job(number), 1)
    for _ in range(2_000):
        core.restart()
    assert size(core) < 2 * size(fresh(core))
