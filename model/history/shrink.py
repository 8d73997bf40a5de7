"""The smallest history that breaks a claim: no event can be dropped, and no number be made smaller."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from re import fullmatch
from typing import Any

from model.history.happenings import USUAL, Happening, History, letter
from model.history.play import Step
from model.policy.file import PolicyError

BUDGET = 20_000
"""Events that the search may play: some seconds of it."""


def shrink(history: Sequence[Happening], claim: str, play: Callable[[History], list[Step]]) -> tuple[History, bool]:
    """A history that breaks the claim at its last event, and whether it is known to be the smallest: that no event of
    it can be dropped and no number be lowered. `play` plays on a fresh scheduler. Raises ValueError if the history does
    not break the claim; one that is too long to be played within the budget is returned as it is."""
    search, whole = _Search(claim, play), tuple(history)
    lengths = (*(2**power for power in range(len(whole).bit_length() - 1)), len(whole))
    found = search.first(whole[-length:] for length in lengths)  # its end is often enough
    if found is None and search.budget:
        raise ValueError(f"the history does not break {claim} when it is played; expected one that does")
    if found is None:
        return whole, False
    while (smaller := search.smaller(found)) is not None:
        found = smaller
    renamed = search.broken(_renamed(found))
    return found if renamed is None else renamed, search.budget > 0


class _Search:
    def __init__(self, claim: str, play: Callable[[History], list[Step]]) -> None:
        self.claim = claim
        self.play = play
        self.budget = BUDGET

    def smaller(self, history: History) -> History | None:
        """The first smaller history that breaks the claim."""
        return self.first((*_shorter(history), *_lower(history)))

    def first(self, histories: Iterable[History]) -> History | None:
        """The first of the histories that breaks the claim, up to where it does."""
        return next((found for found in map(self.broken, histories) if found is not None), None)

    def broken(self, history: History) -> History | None:
        """The history up to the event that breaks the claim; None if none does, or if the budget is spent."""
        if self.budget < len(history):
            self.budget = 0
            return None
        self.budget -= len(history)
        try:
            last = self.play(history)[-1]
        except PolicyError:
            return None
        return history[: last.number] if last.violation and self.claim in last.violation.claims else None


def _renamed(history: History) -> History:
    """With the letters of its jobs from A on, if letters they are."""
    names = dict.fromkeys(happening.job for happening in history if happening.job is not None)
    if not all(isinstance(name, str) and fullmatch("[A-Z]|J[0-9]+", name) for name in names):
        return history
    new = {name: letter(place) for place, name in enumerate(names)}
    return tuple(replace(each, job=None if each.job is None else new[each.job]) for each in history)


def _shorter(history: History) -> Iterator[History]:
    """Without some neighbours: first many, at last one."""
    size = len(history) // 2
    while size:
        for start in range(0, len(history), size):
            yield history[:start] + history[start + size :]
        size //= 2


def _lower(history: History) -> Iterator[History]:
    """With one number lower."""
    for place, happening in enumerate(history):
        for at, (name, value) in enumerate(happening.details):
            for lower in _values(name, value):
                kept = () if lower == USUAL.get(name, ...) else ((name, lower),)
                details = happening.details[:at] + kept + happening.details[at + 1 :]
                yield (*history[:place], replace(happening, details=details), *history[place + 1 :])


def _values(name: str, value: Any) -> Iterator[Any]:
    """Simpler values, the simplest first."""
    if name in ("run", "deadline"):
        yield None
    if isinstance(value, str):
        yield ""
        return
    least = 0 if name in USUAL else 1
    if value < least:
        least = -1 if value < 0 else 0
    distance = value - least if value > least else least - value
    while distance:
        yield value - distance if value > least else value + distance
        distance //= 2
