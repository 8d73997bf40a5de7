"""Timing: what is compared runs in turns, so that whatever slows the machine slows all of it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from statistics import median
from time import process_time
from typing import TypeAlias

from bench.record import Figure, digits

Batch: TypeAlias = Callable[[int], object]
"""Does its work so many times."""
ROUNDS = 5
LONGEST = 50_000
"""Times in one batch, at most."""


def interleaved(subjects: Mapping[str, Batch], unit: str, scale: float, seconds: float) -> dict[str, Figure]:
    """The least and the median time of each subject, a batch of each in turn, `ROUNDS` times.

    A batch lasts about `seconds`, but does its work at least once. Figures are seconds times `scale`. The collector of
    cycles is off within a batch, as it is in `timeit`.
    """
    sizes = {name: _size(batch, seconds) for name, batch in subjects.items()}
    spent: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(ROUNDS):
        for name, batch in subjects.items():
            spent[name].append(timed(batch, sizes[name]) / sizes[name])
    return {name: figure(name, times, unit, scale) for name, times in spent.items()}


def timed(batch: Batch, times: int) -> float:
    """The seconds of the processor that the batch takes."""
    gc.collect()
    gc.disable()
    try:
        began = process_time()
        batch(times)
        return process_time() - began
    finally:
        gc.enable()


def figure(subject: str, times: list[float], unit: str, scale: float = 1.0) -> Figure:
    """The least and the median of times in seconds, scaled."""
    return Figure(subject, digits(min(times) * scale), digits(median(times) * scale), unit, len(times))


def _size(batch: Batch, seconds: float) -> int:
    size = 1
    while (took := timed(batch, size)) < seconds / 10 and size < LONGEST:
        size *= 4
    return max(1, min(LONGEST, int(size * seconds / took)))
