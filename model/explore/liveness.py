"""What happens sooner or later, on finite instances of the shipped scheduler, under FAIR: a running job ends sooner or
later, unless it is preempted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from model.explore.shapes import Label, Move, Setting, Shape

Node: TypeAlias = tuple[Shape, int]
"""A shape, and the place in it of the job that is watched."""
CROWD = 4
"""So many jobs live at once; ended ones are followed by new ones without end."""


@dataclass(frozen=True)
class Lasso:
    """A way into a cycle that repeats for ever: the watched job waits all along, though every slot is freed in it."""

    way: tuple[Label, ...]
    cycle: tuple[Label, ...]


class Histories:
    """The histories of an instance in which jobs keep arriving, and one job, the first to come, is watched."""

    def __init__(self, setting: Setting) -> None:
        self.setting = replace(setting, actions=("admit", "complete"))
        self._moves: dict[tuple[Shape, bool], list[Move]] = {}

    def moves(self, shape: Shape, *, arrivals: bool = True) -> Iterator[Move]:
        """The completions at a shape, and the arrivals unless the crowd is there."""
        crowd = sum(entry is not None for entry in (*shape.slots, *shape.queue))
        for coming in (False, True) if arrivals and crowd < CROWD else (False,):
            if (shape, coming) not in self._moves:
                self._moves[shape, coming] = list(self.setting.moves(shape, arrivals=coming))
            yield from self._moves[shape, coming]

    def follow(self, node: Node) -> Iterator[tuple[Move, Node]]:
        """Each move of the node in which the watched job lives on."""
        shape, watched = node
        for move in self.moves(shape):
            if watched in move.places:
                yield move, (move.after, move.places.index(watched))

    def shapes(self) -> dict[Shape, None]:
        """Every shape that can be reached."""
        empty = Shape((None,) * self.setting.slots, ())
        known, waiting = {empty: None}, deque([empty])
        while waiting:
            for move in self.moves(waiting.popleft()):
                if move.after not in known:
                    known[move.after] = None
                    waiting.append(move.after)
        return known


def waits(node: Node) -> bool:
    """Whether the watched job is queued."""
    shape, watched = node
    return watched >= sum(entry is not None for entry in shape.slots)


def starvation(setting: Setting, kind: int) -> Lasso | None:
    """A shortest way and cycle on which a job of that kind waits for ever; None if there is none."""
    histories = Histories(setting)
    empty = Shape((None,) * setting.slots, ())
    first = next(move for move in histories.moves(empty) if move.label.number == kind and move.label.action == "admit")
    start: Node = (first.after, 0)
    ways: dict[Node, tuple[Label, ...]] = {start: (first.label,)}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        if waits(node) and (cycle := _cycle(histories, node)) is not None:
            return Lasso(ways[node], cycle)
        for move, following in histories.follow(node):
            if following not in ways:
                ways[following] = (*ways[node], move.label)
                waiting.append(following)
    return None


def _cycle(histories: Histories, start: Node) -> tuple[Label, ...] | None:
    """A shortest cycle through waiting nodes back to the start in which every slot is freed at least once."""
    every_slot = (1 << histories.setting.slots) - 1
    known = {(start, 0)}
    waiting: deque[tuple[Node, int, tuple[Label, ...]]] = deque([(start, 0, ())])
    while waiting:
        node, freed, labels = waiting.popleft()
        for move, following in histories.follow(node):
            if not waits(following):
                continue
            now = freed | (1 << move.label.place if move.label.action == "complete" else 0)
            if following == start and now == every_slot:
                return (*labels, move.label)
            if (following, now) not in known:
                known.add((following, now))
                waiting.append((following, now, (*labels, move.label)))
    return None


def undrained(setting: Setting) -> list[Shape]:
    """The reachable shapes from which the system does not drain: without arrivals every completion leaves fewer jobs,
    and some job runs while any is live, so that under FAIR none is left in the end."""
    histories = Histories(setting)

    def live(shape: Shape) -> int:
        return sum(entry is not None for entry in (*shape.slots, *shape.queue))

    wrong = []
    for shape in histories.shapes():
        followers = [move.after for move in histories.moves(shape, arrivals=False)]
        if (live(shape) and not followers) or any(live(after) >= live(shape) for after in followers):
            wrong.append(shape)
    return wrong


@dataclass(frozen=True)
class Liveness:
    """What was found of an instance: the shapes from which it does not drain, and how a job of each kind starves, if it
    can. Strict priority starves all but the most urgent, by design."""

    drains: bool
    lassos: tuple[tuple[str, Lasso | None], ...]

    def lines(self) -> Iterator[str]:
        """For people."""
        drained = "explored" if self.drains else "refuted"
        yield f"the_system_drains: {drained}: without arrivals every live job ends, from every reachable state (FAIR)"
        for kind, lasso in self.lassos:
            if lasso is None:
                yield f"a job of {kind} never starves here: explored, with at most {CROWD} jobs at once (FAIR)"
            else:
                yield f"a job of {kind} may starve: it waits for ever though every slot is freed again and again"
                yield f"  first:    {', '.join(map(words, lasso.way))}"
                yield f"  for ever: {', '.join(map(words, lasso.cycle))}"

    def as_json(self) -> dict[str, object]:
        """For programs."""
        return {
            "the_system_drains": "explored" if self.drains else "refuted",
            "starvation": {
                kind: lasso and {"way": list(map(words, lasso.way)), "cycle": list(map(words, lasso.cycle))}
                for kind, lasso in self.lassos
            },
        }


def liveness(setting: Setting) -> Liveness:
    """Both questions, of the instance and of each of its kinds of jobs."""
    names = [f"priority {job.priority}, work {job.work}" for job in setting.kinds]
    return Liveness(
        not undrained(setting),
        tuple((name, starvation(setting, kind)) for kind, name in enumerate(names)),
    )


def words(label: Label) -> str:
    """An event of a lasso in words."""
    return f"admit a job of kind {label.number}" if label.action == "admit" else f"complete in slot {label.place}"
