"""Breadth-first search of a finite graph whose edges are steps that were judged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from model.conform.monitor import Violation

S = TypeVar("S")
E = TypeVar("E")


@dataclass(frozen=True)
class Found(Generic[E]):
    """A violation, and the events of a shortest history to it, that of the wrong step last."""

    violation: Violation
    history: tuple[E, ...]


@dataclass
class Reached(Generic[S, E]):
    """What was seen. `levels` counts the states by their distance from the first; `parents` says how each was reached
    first; `found` has a shortest history for each claim that is broken."""

    parents: dict[S, tuple[S, E] | None]
    levels: list[int] = field(default_factory=lambda: [1])
    transitions: int = 0
    exhaustive: bool = True
    seconds: float = 0.0
    found: dict[str, Found[E]] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """The distance of the farthest state."""
        return len(self.levels) - 1

    @property
    def verdict(self) -> str:
        """`explored` if every state was seen and no step is wrong."""
        return "refuted" if self.found else "explored" if self.exhaustive else "undetermined"

    def way(self, state: S) -> tuple[E, ...]:
        """The events of a shortest history to the state."""
        events: list[E] = []
        while (step := self.parents[state]) is not None:
            state, event = step
            events.append(event)
        return tuple(reversed(events))

    def note(self, state: S, event: E, violation: Violation) -> None:
        """Keep the first, and so shortest, history for each claim that is broken."""
        if any(claim not in self.found for claim in violation.claims):
            found = Found(violation, (*self.way(state), event))
            for claim in violation.claims:
                self.found.setdefault(claim, found)


def reach(
    first: S,
    follow: Callable[[S], Iterable[tuple[E, S | Violation]]],
    most: int | None = None,
    until: str | None = None,
) -> Reached[S, E]:
    """Every state that can be reached, until `most` are known, or the claim `until` is broken; then it is no longer
    exhaustive.

    `follow` gives the events of a state, each with the state that follows; nothing follows a violation.
    """
    began = time.perf_counter()
    seen: Reached[S, E] = Reached({first: None})
    parents, level = seen.parents, [first]
    while level:
        following: list[S] = []
        for state in level:
            for event, after in follow(state):
                seen.transitions += 1
                if isinstance(after, Violation):
                    seen.note(state, event, after)
                    if until in seen.found:
                        seen.exhaustive = False
                        return seen
                elif after not in parents:
                    if most is not None and len(parents) >= most:
                        seen.exhaustive = False
                        continue
                    parents[after] = (state, event)
                    following.append(after)
        if following:
            seen.levels.append(len(following))
        level = following
    seen.seconds = time.perf_counter() - began
    return seen
