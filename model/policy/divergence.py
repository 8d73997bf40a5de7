"""The shortest history in which two urgencies lead the scheduler apart."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from impl.jobs import Policy
from impl.scheduler import Scheduler
from model.explore.shapes import Label, Setting, Shape
from model.history.happenings import Happening, History, admit, complete, letter
from model.history.lanes import lanes
from model.history.play import Step, play
from model.prove.machines import SCHEDULER

ACTIONS = ("admit", "complete")
"""An urgency decides who runs when somebody comes, and when somebody leaves."""

EVERYTHING = frozenset(each.name for each in SCHEDULER.properties)


def divergence(setting: Setting, new: Policy, jobs: int) -> History | None:
    """The events, `jobs` arrivals at most, up to the first after which the two schedulers are not in the same state:
    that of the setting, and one with the urgency `new`. None if there is no such history."""
    old = replace(setting, actions=ACTIONS)
    other = replace(old, urgency=new)
    empty = Shape((None,) * old.slots, ())
    known = {(empty, 0)}
    waiting: deque[tuple[Shape, tuple[int, ...], int, History]] = deque([(empty, (), 0, ())])
    while waiting:
        shape, names, came, history = waiting.popleft()
        extended = (*names, came)
        for (label, mine), (_, others) in zip(old.unjudged(shape), other.unjudged(shape), strict=True):
            so_far = (*history, _happening(old, label, letter(extended[label.place])))
            now = came + (label.action == "admit")
            if now > jobs:
                continue
            if mine != others:
                return so_far
            if mine is not None and (mine[0], now) not in known:
                known.add((mine[0], now))
                waiting.append((mine[0], tuple(extended[place] for place in mine[1]), now, so_far))
    return None


def _happening(setting: Setting, label: Label, who: str) -> Happening:
    if label.action == "complete":
        return complete(who)
    facts = setting.kinds[label.number]._asdict()
    return admit(who, **{name: value for name, value in facts.items() if name != "request_id"})


def told(setting: Setting, new: Policy, history: History) -> dict[str, Any]:
    """The history as plain values, with the play of both."""
    played = {"old": _play(setting, setting.urgency, history), "new": _play(setting, new, history)}
    return {
        "slots": setting.slots,
        "events": [happening.as_json() for happening in history],
        **{who: [step.action for step in steps[1:]] for who, steps in played.items()},
        "lanes": {who: [line.rstrip() for line in lanes(steps)] for who, steps in played.items()},
    }


def _play(setting: Setting, urgency: Policy, history: History) -> list[Step]:
    """The play as far as it goes: whatever a policy breaks is for other commands to say."""
    scheduler = Scheduler(setting.slots, capacity=setting.capacity, reserve=setting.reserve, urgency=urgency)
    return play(history, scheduler, urgency, waives=EVERYTHING)


def text(history: Mapping[str, Any]) -> Iterator[str]:
    """The same for people."""
    yield f"on {history['slots']} slot, where they part after {len(history['events'])} events:"
    for who, lines in history["lanes"].items():
        yield f"{who.upper()}: {lines[0]}"
        yield from lines[1:]
