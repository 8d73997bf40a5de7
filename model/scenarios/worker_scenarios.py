"""Scenarios of the closed loop: lives of the shipped controller, each step held to the specification, and of the
executed specification, which has to answer the same.

A line begins with its settings: `ttl`, the `budget` of a start, `patience`, `alarm` and `hang` as the controller has
them; `start` and `stop`, the seconds that a worker takes to be ready and to be gone; `probe`, those from one probe to
the next; `warm`, if a worker is ready at t0. A step is an instant, `t12` or `+3` after the one before, and what happens
then. There is a tick each second, from t0 to the last instant; demand and probe are as they were told last. What comes
of it names every instant at which a command is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from impl.probe import Verdict
from impl.worker import Controller
from impl.worker_state import Do, Settings
from model.conform.worker_events import Exited, JobEnded
from model.scenarios.life import HEAD, Life, settings_of
from model.scenarios.notation import Failed, Line, Notation, Said, begun, hold, noting, parts
from model.scenarios.worker_specified import SpecifiedController


@dataclass(frozen=True)
class WorkerCase:
    """One line: what happens at which instants, before their ticks."""

    line: Line
    head: dict[str, int]
    instants: tuple[tuple[int, tuple[Said, ...]], ...]
    statements: tuple[Said, ...]

    @classmethod
    def read(cls, line: Line) -> WorkerCase:
        """What the line says. Raises ValueError."""
        head, steps = begun(line.happens, HEAD)
        settings_of(head)
        return cls(line, head, tuple(_instants(parts(steps))), tuple(map(STATEMENTS.read, parts(line.expected))))

    def check(self, make: type[Controller] = Controller, *, judged: bool = True) -> Life:
        """The life of the controller. Raises Failed if it is not as the line says; with `judged`, Violation too, and
        Failed if the specification would have it otherwise."""
        with noting(str(self.line)):
            life = self._live(make, judged=judged)
            meant = self._live(SpecifiedController, judged=False).met if judged else life.met
            for here, there in zip(life.met, meant, strict=True):
                if here != there:
                    raise Failed(f"it came to {here}, by the specification to {there}")
        return life

    def _live(self, make: Callable[[Settings, int], Any], *, judged: bool) -> Life:
        life = Life(self.head, make, judged=judged)
        for instant, happenings in self.instants:
            while life.now < instant:
                life.tick()
            for happening in happenings:
                with noting(f"at t{instant}: {happening.text}"):
                    happening.meaning(life)
        life.tick()
        for statement in self.statements:
            hold(statement, life)
        return life


# What happens


def _instants(steps: list[str]) -> Iterator[tuple[int, tuple[Said, ...]]]:
    now = 0
    for step in steps:
        found = re.fullmatch(r"([t+])(\d+) (.+)", step)
        if found is None:
            raise ValueError(f"{step!r} is no step, expected an instant and what happens then, such as t12 demand=0")
        instant = int(found[2]) if found[1] == "t" else now + int(found[2])
        if instant < now:
            raise ValueError(f"{step!r} comes after t{now}, expected instants in their order")
        now = instant
        yield now, tuple(HAPPENINGS.read(happening.strip()) for happening in found[3].split(","))


def _be(name: str, *value: Any) -> Callable[..., None]:
    """From now on it is so."""
    return lambda life, *told: setattr(life, name, *value, *told)


def _ended(life: Life) -> None:
    life.meet(JobEnded(life.knows.generation))


HAPPENINGS = Notation(
    "happening",
    {
        "demand=NUMBER": _be("demand"),
        "demand=?": _be("demand", None),
        "probe=true": _be("claim", None),
    }
    | {f"probe={verdict.value}": _be("claim", verdict) for verdict in Verdict}
    | {
        "ended": _ended,
        "crash": Life.crash,
        "late exit NUMBER": lambda life, generation: life.meet(Exited(generation)),
        "starts fail": _be("starts_fail", True),
        "starts work": _be("starts_fail", False),
        "hangs": _be("hangs", True),
        "recovers": _be("hangs", False),
        "bad ttl=VALUE": lambda life, ttl: life.be_refused(lambda: Settings(ttl)),
        "bad demand=VALUE": lambda life, demand: life.be_refused(lambda: life.controller.tick(life.now, demand)),
        "bad now=VALUE": lambda life, now: life.be_refused(lambda: life.controller.tick(now, 0)),
        "end": lambda _: None,
    },
)

# What comes of it: what is found, and what should be


def _told(instants: Sequence[int]) -> str:
    """The instants as a line has them."""
    known = set(instants)
    begins = [at for at in sorted(known) if at - 1 not in known]
    ends = [at for at in sorted(known) if at + 1 not in known]
    return " ".join(f"t{a}" if a == b else f"t{a}..t{b}" for a, b in zip(begins, ends, strict=True))


def _when(do: Do, life: Life, instants: Sequence[int] = ()) -> tuple[str, str]:
    found = [at for at in range(life.now) if do in (life.said[at] or [Do.HOLD])]
    return _told(found), _told(instants)


STATEMENTS = Notation(
    "statement",
    {f"{do.name} at TIMES": partial(_when, do) for do in Do}
    | {f"no {do.name}": partial(_when, do) for do in Do}
    | {
        "alarm at TIMES": lambda life, instants: (_told(life.alarms), _told(instants)),
        "no alarm": lambda life: (_told(life.alarms), ""),
        "phase WORD": lambda life, phase: (life.knows.phase.value, phase),
        "NUMBER starts an hour": lambda life, number: (
            sum(said.count(Do.SPAWN) for said in life.said.values()) * 3600 // life.now,
            number,
        ),
    },
)
