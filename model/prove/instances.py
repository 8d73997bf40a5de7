"""Small instances of the machines: the first states from which the executed specification is searched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from spec import autoscale, scheduler
from spec.logic import Finite, Table
from spec.scheduler import Phase


def scheduler_instance(
    urgencies: dict[str, int], *, slots: int = 2, capacity: int = 1, reserve: int | None = None, work: int = 2
) -> scheduler.State:
    """No job has come yet; the jobs that can come are named, with their urgency, which is their priority too."""
    names = Finite(urgencies)
    places = {slot: slot for slot in range(slots)}
    made: dict[str, Any] = {field.name: 0 for field in fields(scheduler.State)}
    for table in ("run", "ticket", "remaining", "served", "seat"):
        made[table] = Table(dict.fromkeys(names, 0), 0)
    for table in ("number", "rank", "numbered", "ranked"):
        made[table] = Table(places, 0)
    return scheduler.State(
        **made
        | {
            "jobs": names,
            "slots": Finite(range(slots)),
            "size": slots,
            "capacity": capacity,
            "reserve": slots if reserve is None else reserve,
            "lowest": min(urgencies.values()),
            "urgency": Table(urgencies, 0),
            "priority": Table(urgencies, 0),
            "work": Table(dict.fromkeys(names, work), 0),
            "phase": Table(dict.fromkeys(names, Phase.NEW), Phase.NEW),
            "slot": Table(dict.fromkeys(names, 0), 0),
            "busy": Table(dict.fromkeys(places, False), False),
            "holder": Table(dict.fromkeys(places, names[0]), names[0]),
            "ticketed": Table({}, names[0]),
            "runner": Table({}, names[0]),
            "seated": Table({}, names[0]),
        }
    )


def scheduler_instances() -> Iterator[scheduler.State]:
    """Up to four jobs of up to three levels on one slot or two, with little room to wait."""
    yield scheduler_instance({"A": 1, "B": 2}, slots=1, capacity=1)
    yield scheduler_instance({"A": 1, "B": 1, "C": 2}, slots=1, capacity=1)
    yield scheduler_instance({"A": 1, "B": 2, "C": 2}, slots=1, capacity=2)
    yield scheduler_instance({"A": 1, "B": 1, "C": 2}, slots=2, capacity=1)
    yield scheduler_instance({"A": 1, "B": 2, "C": 3}, slots=1, capacity=0, reserve=1)
    yield scheduler_instance({"A": 1, "B": 1, "C": 2, "D": 2}, slots=2, capacity=1)


def autoscale_instances() -> Iterator[autoscale.State]:
    """One first state: all others are observed."""
    yield autoscale.State(0, 0, 0, 1, autoscale.Decision.UNDECIDED, 0)
