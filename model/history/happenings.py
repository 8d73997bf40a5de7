"""Histories of the scheduler as plain values, told by the names of jobs: they can be read, written down, and played on
any scheduler, for they hold no lease."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from impl.checks import check_id, check_int, check_job, check_size, check_steps
from impl.jobs import Job, RequestId

MOST_SLOTS = 65_536
"""The largest scheduler that a history is played on."""
NEVER = -1
"""The number of a run that no job was ever given."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One event: what happens, to which job, and what else is told of it. Made by `admit`, `complete`, `progress`,
    `cancel` and `restart`, as which it is printed too."""

    name: str
    job: RequestId | None = None
    details: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        told = [] if self.job is None else [quoted(self.job)]
        told += [f"{name}={quoted(value)}" for name, value in self.details]
        return f"{self.name}({', '.join(told)})"

    def as_json(self) -> dict[str, Any]:
        """The same for programs; `from_json` reads it."""
        return {"event": self.name, **({} if self.job is None else {"job": self.job}), **dict(self.details)}


def admit(
    job: RequestId,
    *,
    priority: int,
    work: int,
    modality: str = "",
    arrived: int = 0,
    deadline: int | None = None,
) -> Happening:
    """The job arrives; units as in `impl.jobs.Job`. Raises ValueError where the scheduler would."""
    check_job(Job(job, priority, work, modality, arrived, deadline))
    return _happening("admit", job, priority=priority, work=work, modality=modality, arrived=arrived, deadline=deadline)


def complete(job: RequestId, *, run: int | None = None) -> Happening:
    """The run of the job is reported over: the one it was given last, or its `run`-th, counted from 0 through all the
    jobs of that name and every restart. `NEVER` is a run that it was not given. Raises ValueError."""
    return _happening("complete", check_id(job), run=_run(run))


def progress(job: RequestId, steps: int, *, run: int | None = None) -> Happening:
    """That run reports `steps` done. Raises ValueError."""
    return _happening("progress", check_id(job), steps=check_steps(steps), run=_run(run))


def cancel(job: RequestId) -> Happening:
    """Nobody wants the job any more. Raises ValueError."""
    return _happening("cancel", check_id(job))


def restart() -> Happening:
    """The worker was lost."""
    return Happening("restart")


KINDS: dict[str, Callable[..., Happening]] = {
    "admit": admit,
    "complete": complete,
    "progress": progress,
    "cancel": cancel,
    "restart": restart,
}
USUAL = {"modality": "", "arrived": 0, "deadline": None, "run": None}
"""What need not be told of an event, and what it is then."""


def _happening(name: str, job: RequestId, **details: Any) -> Happening:
    """The event with all that is not as usual."""
    return Happening(name, job, tuple((key, value) for key, value in details.items() if USUAL.get(key, ...) != value))


def _run(run: int | None) -> int | None:
    return None if run is None else check_int("run", run, NEVER)


def from_json(record: object) -> Happening:
    """The event that the record tells. Raises ValueError."""
    if not isinstance(record, Mapping):
        raise ValueError(f"{record!r:.100} is no event, expected a record")
    return told(str(record.get("event")), (), {name: value for name, value in record.items() if name != "event"})


def told(kind: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Happening:
    """The event of that kind. Raises ValueError if there is none, or it cannot have these arguments."""
    if kind not in KINDS:
        raise ValueError(f"{kind!r:.100} is no event, expected one of {', '.join(KINDS)}")
    try:
        return KINDS[kind](*arguments, **named)
    except TypeError as error:
        raise ValueError(f"the event {kind} is told wrongly: {error}") from None


def quoted(value: object) -> str:
    """The value as Python reads it, in double quotes where that needs no escape."""
    shown = ascii(value)
    return f'"{shown[1:-1]}"' if shown.startswith("'") and '"' not in shown else shown


def letter(number: int) -> str:
    """The name of job `number`, counted from 0: A to Z, then J27 and so on."""
    return chr(ord("A") + number) if number < 26 else f"J{number + 1}"


History: TypeAlias = tuple[Happening, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """A history and where it happens: on so many slots and queue places, under the urgency of a policy file or, without
    one, the shipped urgency. Raises ValueError for a size that no scheduler has."""

    history: History
    slots: int
    capacity: int
    reserve: int
    policy: str | None = None

    def __post_init__(self) -> None:
        check_size(self.slots, self.capacity, self.reserve)
        if self.slots > MOST_SLOTS:
            raise ValueError(f"slots is {self.slots}, expected at most {MOST_SLOTS}")
