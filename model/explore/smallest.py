"""The smallest history that still shows what a longer one shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def smallest(events: Sequence[T], shows: Callable[[list[T]], bool], simpler: Callable[[T], Iterable[T]]) -> list[T]:
    """Some of the events, in their order: none can be dropped, and none replaced by a `simpler` one. All of them if
    they show nothing when they are played again."""
    kept, before = list(events), None
    if not shows(kept):
        return kept
    while kept != before:
        before, size = kept, len(kept)
        while size := size // 2:
            start = 0
            while start < len(kept):
                fewer = [*kept[:start], *kept[start + size :]]
                if shows(fewer):
                    kept = fewer
                else:
                    start += size
        for place in range(len(kept)):
            others = ([*kept[:place], other, *kept[place + 1 :]] for other in simpler(kept[place]))
            kept = next(filter(shows, others), kept)
    return kept
