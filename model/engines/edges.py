"""What is asked of a scheduler beside its histories: how it begins, what it refuses, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from impl.core import Core
from impl.jobs import IMAGE, Job, Snapshot
from impl.scheduler import Scheduler
from model.engines.engine import WrongKind
from model.engines.watch import raised_by_the_code

CROWD, EVENTS = 600, 60
"""Jobs that live at once, and events that are counted."""
MOST_COMPARISONS, MOST_ENTRIES = 60, 6
"""Comparisons an event, far above the logarithm of the crowd and far below the crowd; entries kept a live job."""
NAMES = ("bad_input_changes_nothing", "an_event_costs_little", "memory_follows_the_live_jobs")
"""The claims beside those of the specification that have to catch something."""


def at_the_edges(make: type[Scheduler]) -> Iterator[str]:
    """The claims that are broken."""
    if make(2, capacity=3, reserve=1).snapshot() != Snapshot(3, 1, (None, None), (), 0, 0, 0):
        yield "conformance"
    yield from of_bad_input(make)
    yield from of_cost(make.core)


def of_bad_input(make: type[Scheduler]) -> Iterator[str]:
    """The claim that bad input is refused and changes nothing."""
    tuples: Callable[[Any], Any] = lambda job: (1,) if getattr(job, "work", 2) > 1 else 1  # noqa: E731
    scheduler = make(1, urgency=tuples)
    scheduler.admit(Job("A", IMAGE, 2))
    before = scheduler.snapshot()
    if not isinstance(before, Snapshot):
        raise WrongKind(f"a snapshot is {before!r}")
    calls: list[Callable[[], object]] = [partial(make, *size) for size in ((0,), (-1,), (True,), ("1",))]
    calls += [partial(make, 1, capacity=-1), partial(make, 1, reserve=-1)]
    calls += [partial(scheduler.admit, Job("B", IMAGE, 1))]
    restored: object = make.restore(before, urgency=tuples)
    if not isinstance(restored, Scheduler):
        raise WrongKind(f"what was restored is {restored!r}")
    calls += [partial(restored.admit, Job("B", IMAGE, 1))]
    calls += [partial(scheduler.at_once, (), (), (Job("C", IMAGE, 2), Job("B", IMAGE, 1)))]
    calls += [partial(scheduler.admit, job) for job in (None, Job("B", True, 2), Job("B", IMAGE, 0), Job(None, 1, 2))]  # type: ignore[arg-type]
    calls += [partial(scheduler.complete, None), partial(scheduler.progress, None, 1), partial(scheduler.cancel, None)]  # type: ignore[arg-type]
    calls += [partial(make.restore, before._replace(waiting=1)), partial(make.restore, before._replace(next_run=0))]
    for call in calls:
        try:
            call()
        except ValueError:
            if scheduler.snapshot() == before:
                continue
        except Exception as error:
            if not raised_by_the_code(error.__traceback__):
                raise
        yield "bad_input_changes_nothing"


class Counted:
    """An urgency that counts how often any is compared."""

    comparisons = 0

    def __init__(self, level: int) -> None:
        self.level = level

    def __lt__(self, other: Counted) -> bool:
        Counted.comparisons += 1
        return self.level < other.level

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return isinstance(other, Counted) and self.level == other.level

    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Counted:
        return Counted(-self.level)


def of_cost(make: type[Core]) -> Iterator[str]:
    """The claims that an event costs no more than a few comparisons, and that what is over is forgotten: among many
    that run, and among many that wait."""
    for slots in (CROWD, 1):
        core = make(slots, CROWD, 0)
        for number in range(CROWD):
            core.admit(Job(number, 1, 1), Counted(1))
        begun = Counted.comparisons
        for number in range(EVENTS):
            core.cancel(CROWD + number - 1 if number else 1)
            core.admit(Job(CROWD + number, 1, 1), Counted(1))
        if Counted.comparisons - begun > EVENTS * MOST_COMPARISONS:
            yield "an_event_costs_little"
        for number in range(10 * CROWD):
            core.cancel(CROWD + EVENTS + number - 1)
            core.admit(Job(CROWD + EVENTS + number, 1, 1), Counted(1))
        if entries(core) > MOST_ENTRIES * CROWD:
            yield "memory_follows_the_live_jobs"


def entries(core: Any) -> int:
    """How much a core keeps."""
    return sum(len(kept) for kept in vars(core).values() if isinstance(kept, list | dict | set))
