"""Breadth-first search of the executed specification: the states it reaches, each by a shortest history."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, get_type_hints

from model.prove.machines import Machine
from spec.logic import Action, Job, Slot


@dataclass(frozen=True)
class Step:
    """One step of a history: the action, its arguments, and the states before and after."""

    action: Action
    arguments: tuple[Any, ...]
    before: Any
    after: Any

    def __str__(self) -> str:
        names = list(inspect.signature(self.action.guard).parameters)[1:]
        told = ", ".join(f"{name} = {value!r}" for name, value in zip(names, self.arguments, strict=True))
        return f"{self.action.name}({told})"


@cache
def sorts(function: Callable[..., Any]) -> tuple[tuple[str, Any], ...]:
    """Name and type of each argument behind the state."""
    hints = get_type_hints(function)
    return tuple((name, hints[name]) for name in list(inspect.signature(function).parameters)[1:])


def arguments(function: Callable[..., Any], state: Any, numbers: Iterable[int]) -> Iterator[tuple[Any, ...]]:
    """Every choice of arguments of a guard or claim in the state; its whole numbers are taken from `numbers`."""
    choices: dict[Any, Iterable[Any]] = {
        Job: getattr(state, "jobs", ()),
        Slot: getattr(state, "slots", ()),
        int: tuple(numbers),
        bool: (False, True),
    }
    yield from product(*(choices.get(kind, ()) if kind in choices else tuple(kind) for _, kind in sorts(function)))


def steps(machine: Machine, state: Any, numbers: Iterable[int]) -> Iterator[Step]:
    """Every step that is possible in the state."""
    for action in machine.actions:
        for given in arguments(action.guard, state, numbers):
            if action.guard(state, *given):
                yield Step(action, given, state, action.step(state, *given))


def search(machine: Machine, initial: Iterable[Any], numbers: Iterable[int], most: int) -> Iterator[tuple[Step, ...]]:
    """Each step that the machine can take, at the end of a shortest history that leads to it, until `most` states are
    known. The order is that of breadth: no later history is shorter."""
    known = dict.fromkeys(initial)
    waiting: deque[tuple[Any, tuple[Step, ...]]] = deque((state, ()) for state in known)
    while waiting:
        state, history = waiting.popleft()
        for step in steps(machine, state, numbers):
            yield (*history, step)
            if step.after not in known and len(known) < most:
                known[step.after] = None
                waiting.append((step.after, (*history, step)))
