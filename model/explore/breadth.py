"""Breadth-first exploration of the shipped scheduler on a finite instance."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, TypeAlias

from model.conform.events import Event
from model.conform.monitor import Violation
from model.explore.shapes import Label, Move, Setting, Shape

State: TypeAlias = tuple[int, tuple[int, ...], int]
"""The number of the shape, the names of its jobs by place, and how many jobs were admitted: the next name."""


@dataclass(frozen=True)
class Found:
    """A violation at the end of a shortest history: each event with the name of its job."""

    violation: Violation
    history: tuple[tuple[Label, int], ...]


@dataclass
class Exploration:
    """What was seen. `states` and `transitions` count named jobs; `shapes` and `judged` count what was executed."""

    states: int = 0
    transitions: int = 0
    depth: int = 0
    shapes: int = 0
    judged: int = 0
    exhaustive: bool = True
    seconds: float = 0.0
    actions: dict[str, int] = field(default_factory=dict)
    found: dict[str, Found] = field(default_factory=dict)
    waived: set[str] = field(default_factory=set)

    @property
    def verdict(self) -> str:
        """`explored` if every state was seen and none is wrong."""
        return "refuted" if self.found else "explored" if self.exhaustive else "undetermined"


class _Followers:
    """The moves of each shape, made when they are first asked for."""

    def __init__(self, setting: Setting, exploration: Exploration) -> None:
        self.setting = setting
        self.exploration = exploration
        self.number: dict[Shape, int] = {}
        self.shapes: list[Shape] = []
        self.lives: list[tuple[Event, ...] | None] = []
        self.moves: dict[tuple[int, bool], list[Any]] = {}

    def place(self, shape: Shape, life: tuple[Event, ...] | None) -> int:
        """The number of the shape, which this life leads to."""
        found = self.number.setdefault(shape, len(self.shapes))
        if found == len(self.shapes):
            self.shapes.append(shape)
            self.lives.append(life)
        return found

    def of(self, number: int, arrivals: bool) -> list[Any]:
        """The arrivals at a shape, or its other moves; each with the number of the shape that follows, and how to pick
        the names by place."""
        known = self.moves.get((number, arrivals))
        if known is None:
            known = self.moves[number, arrivals] = []
            for move in self.setting.moves(self.shapes[number], arrivals=arrivals, life=self.lives[number]):
                self.exploration.judged += 1
                self.exploration.actions[move.action] = self.exploration.actions.get(move.action, 0) + 1
                self.exploration.waived.update(move.waived)
                follows = -1 if move.violation else self.place(move.after, move.life)
                known.append((move, follows, _picker(move.places)))
        return known


def _picker(places: tuple[int, ...]) -> Any:
    if len(places) > 1:
        return itemgetter(*places)
    return (lambda names: (names[places[0]],)) if places else (lambda _: ())


def explore(setting: Setting, jobs: int, most: int | None = None, *, to_the_end: bool = True) -> Exploration:
    """All histories in which `jobs` jobs arrive, until `most` states are known; more make it no longer exhaustive. If
    not `to_the_end`, all histories of the length of the shortest that breaks a claim are the last."""
    began = time.perf_counter()
    seen = Exploration()
    followers = _Followers(setting, seen)
    birth = None if setting.every_order else ()
    first: State = (followers.place(Shape((None,) * setting.slots, ()), birth), (), 0)
    parents: dict[State, tuple[State, Move] | None] = {first: None}
    level = [first]
    while level:
        following: list[State] = []
        for state in level:
            shape, names, admitted = state
            extended = (*names, admitted)
            for came in (0, 1) if admitted < jobs else (0,):
                moves = followers.of(shape, bool(came))
                seen.transitions += len(moves)
                for move, follows, pick in moves:
                    if follows < 0:
                        _note(seen, parents, state, move)
                        continue
                    new = (follows, pick(extended), admitted + came)
                    if new not in parents:
                        if most is not None and len(parents) >= most:
                            seen.exhaustive = False
                            continue
                        parents[new] = (state, move)
                        following.append(new)
        seen.depth += bool(following)
        level = following
        if seen.found and level and not to_the_end:
            seen.exhaustive = False
            break
    seen.states = len(parents)
    seen.shapes = len(followers.shapes)
    seen.seconds = time.perf_counter() - began
    return seen


def _note(seen: Exploration, parents: dict[State, tuple[State, Move] | None], state: State, move: Move) -> None:
    """Keep the first, and so shortest, history for each claim that is broken."""
    violation = move.violation
    if violation is None or all(claim in seen.found for claim in violation.claims):
        return
    history = [(move.label, _name(state, move.label))]
    while (step := parents[state]) is not None:
        state, taken = step
        history.append((taken.label, _name(state, taken.label)))
    found = Found(violation, tuple(reversed(history)))
    for claim in violation.claims:
        seen.found.setdefault(claim, found)


def _name(state: State, label: Label) -> int:
    """The name of the job that the event is about."""
    _, names, admitted = state
    return (*names, admitted)[label.place] if label.place >= 0 else -1
