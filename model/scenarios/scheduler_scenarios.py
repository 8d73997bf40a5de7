"""Scenarios of the scheduler: what it meets, played on the shipped one with each step held to the specification, and on
the executed specification, which has to answer the same.

A line begins with `S` slots (1), `Q` queue places (64) and `R` places in reserve (as many as slots). `A=1/30` is a job
of priority 1 and 30 steps; a priority `1..3` is 1, 2 and 3 in turn. `+10` is 10 steps of work on every running job, and
of time. `done(A)` ends A's present run, `late(A#0)` its start number 0, by the lease that was told of it. `&` joins
events of one instant. What comes of it holds at the end, or after every step where it says `always`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from impl.checks import check_size
from impl.jobs import CAPACITY, Job, Lease
from impl.scheduler import Scheduler
from model.conform.events import Admit, Cancel, Complete, Progress, Restart
from model.scenarios.caller import INSTANT, Caller
from model.scenarios.notation import MOST, Failed, Line, Notation, Said, begun, hold, noting, parts
from model.scenarios.specified import Specified

SIZE = {"S": 1, "Q": CAPACITY, "R": -1}
RECORDS = ("admitted", "queued", "started", "preempted", "refused", "ended", "cancelled", "stale", "unknown")


class Bad(Admit):
    """A job arrives that cannot be admitted."""


@dataclass(frozen=True)
class SchedulerCase:
    """One line: each of its histories is a list of steps."""

    line: Line
    size: dict[str, int]
    histories: tuple[tuple[Said, ...], ...]
    statements: tuple[Said, ...]
    invariants: tuple[Said, ...]

    @classmethod
    def read(cls, line: Line) -> SchedulerCase:
        """What the line says. Raises ValueError."""
        size, steps = begun(line.happens, SIZE)
        check_size(size["S"], size["Q"], max(size["R"], 0))
        told = parts(line.expected)
        return cls(
            line,
            size,
            tuple(tuple(map(_step, parts(choice))) for choice in _choices(steps)),
            tuple(STATEMENTS.read(text) for text in told if not text.startswith("always ")),
            tuple(STATEMENTS.read(text[7:]) for text in told if text.startswith("always ")),
        )

    def check(self, make: type[Scheduler] = Scheduler, *, judged: bool = True) -> list[Caller]:
        """What the callers saw. Raises Failed if it is not as the line says; with `judged`, Violation too, and Failed
        if the specification would have it otherwise."""
        with noting(str(self.line)):
            seen = [self._play(make, history, judged=judged) for history in self.histories]
            meant = [self._play(Specified, history, judged=False) for history in self.histories if judged]
            for shipped, specified in zip(seen, meant, strict=judged):
                for here, there in zip(shipped.met, specified.met, strict=True):
                    if here != there:
                        raise Failed(f"{here.step!r} came to {here[1:]}, by the specification to {there[1:]}")
        return seen

    def _play(self, make: Callable[..., Any], history: tuple[Said, ...], *, judged: bool) -> Caller:
        size = self.size
        scheduler = make(size["S"], capacity=size["Q"], reserve=None if size["R"] < 0 else size["R"])
        caller = Caller(scheduler, judged=judged)
        for step in history:
            caller.step = step.text
            with noting(f"at {step.text}"):
                step.meaning(caller)
                for invariant in self.invariants:
                    hold(invariant, caller)
        for statement in self.statements:
            hold(statement, caller)
        return caller


# What happens


def _choices(text: str) -> Iterator[str]:
    """The text with each of its ranges of priorities at one of them."""
    found = re.search(r"=(\d+)\.\.(\d+)/", text)
    if found is None:
        yield text
        return
    for level in range(int(found[1]), int(found[2]) + 1):
        yield from _choices(f"{text[: found.start()]}={level}/{text[found.end() :]}")


def _step(text: str) -> Said:
    """One step, or the events of one instant."""
    if "&" not in text:
        return STEPS.read(text)
    events = [EVENTS.read(event.strip()) for event in text.split("&")]
    return Said(text, lambda caller: _happen(caller, *(event.meaning(caller) for event in events)))


def _happen(caller: Caller, *events: Any) -> None:
    in_order = sorted(events, key=lambda event: next(n for n, kind in enumerate(INSTANT) if isinstance(event, kind)))
    meet = caller.be_refused if any(isinstance(event, Bad) for event in events) else caller.meet
    meet(*in_order)


def _late(caller: Caller, name: str, number: int) -> Lease:
    if number >= len(caller.leases[name]):
        raise Failed(f"{name} was given {len(caller.leases[name])} leases, which has none of number {number}")
    return caller.leases[name][number]


def _work(caller: Caller, steps: int) -> None:
    for run in filter(None, caller.after.running):
        if run.remaining < steps:
            raise Failed(f"{run.job.request_id} has {run.remaining} steps left, expected at least {steps}")
        caller.meet(Progress(caller.lease(run.job.request_id), steps))
    caller.clock += steps


def _drain(caller: Caller) -> None:
    """Whoever is in the lowest busy slot ends, until nobody runs."""
    for _ in range(MOST):
        name = next((name for name in caller.running() if name != "-"), None)
        if name is None:
            return
        caller.meet(Complete(caller.lease(name)))
    raise Failed(f"after {MOST} completions somebody still runs")


EVENTS = Notation(
    "event of an instant",
    {
        "NAME=LEVEL/NUMBER": lambda _, name, priority, work: Admit(Job(name, priority, work)),
        "bad NAME=VALUE/VALUE": lambda _, name, priority, work: Bad(Job(name, priority, work)),
        "done(NAME)": lambda caller, name: Complete(caller.lease(name)),
        "late(NAME#NUMBER)": lambda caller, name, number: Complete(_late(caller, name, number)),
        "cancel(NAME)": lambda _, name: Cancel(name),
    },
)
STEPS = Notation(
    "step",
    {form: lambda caller, *of, event=event: _happen(caller, event(caller, *of)) for form, event in EVENTS.forms.items()}
    | {
        "+NUMBER": _work,
        "late(NAME#NUMBER, +NUMBER)": lambda caller, name, number, steps: caller.meet(
            Progress(_late(caller, name, number), steps)
        ),
        "restart": lambda caller: caller.meet(Restart()),
        "reload": Caller.reload,
        "drain": _drain,
    },
)

# What comes of it: what is found, and what should be


def _remaining(caller: Caller) -> dict[Any, int]:
    entries = (*caller.after.running, *caller.after.queue)
    return {entry.job.request_id: entry.remaining for entry in entries if entry}


def _places(caller: Caller) -> Counter[Any]:
    return Counter(name for name in (*caller.running(), *caller.waiting()) if name != "-")


def _first_starts(caller: Caller) -> tuple[list[Any], list[Any]]:
    """Those who waited when they came, in the order in which they first started; and by priority, the earlier first."""
    jobs = [met.event.job for met in caller.met if isinstance(met.event, Admit)]
    waited = {job.request_id: job.priority for job in jobs if caller.who("queued")[job.request_id]}
    started = [name for name in caller.who("started") if name in waited]
    return started, sorted(waited, key=lambda name: -waited[name])


def _count(word: str, caller: Caller, number: int) -> tuple[int, int]:
    return caller.who(word).total(), number


def _count_of(word: str, caller: Caller, name: str, number: int = 1) -> tuple[int, int]:
    return caller.who(word)[name], number


COUNTS: dict[str, Callable[..., Any]] = {
    **{f"{word} NUMBER": partial(_count, word) for word in RECORDS},
    **{f"{word} NAME=NUMBER": partial(_count_of, word) for word in RECORDS},
    **{f"{word} NAME": partial(_count_of, word) for word in RECORDS},
}
STATEMENTS = Notation(
    "statement",
    {
        "run{NAMES}": lambda caller, names: (set(caller.running()) - {"-"}, set(names)),
        "slots[NAMES]": lambda caller, names: (caller.running(), names),
        "queue[NAMES]": lambda caller, names: (caller.waiting(), names),
        "free NUMBER": lambda caller, number: (caller.running().count("-"), number),
        "rem NAME=NUMBER": lambda caller, name, steps: (_remaining(caller).get(name), steps),
        "served NAME=NUMBER": lambda caller, name, steps: (caller.served[name], steps),
        "ended NAME at NUMBER": lambda caller, name, at: (
            [clock for word, who, clock in caller.records if (word, who) == ("ended", name)],
            [at],
        ),
        "one place each": lambda caller: (
            _places(caller),
            caller.who("admitted") - caller.who("ended", "cancelled"),
        ),
        "one end each": lambda caller: (caller.who("ended", "cancelled"), caller.who("admitted")),
        "most urgent first": _first_starts,
        "starves NAME": lambda caller, name: (caller.starvation(name) is not None, True),
        **COUNTS,
    },
)
