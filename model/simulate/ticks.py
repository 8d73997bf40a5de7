"""The virtual clock counts whole ticks of one nanosecond; no float ever enters it."""

SECOND = 10**9
"""Ticks in a second."""


def ticks_for(steps: int, rate: int) -> int:
    """Ticks that `steps` of work take at `rate` steps a second, rounded up."""
    return -(-steps * SECOND // rate)


def steps_in(ticks: int, rate: int) -> int:
    """Whole steps done in `ticks` at `rate` steps a second: fewer than `steps` before `ticks_for(steps, rate)`."""
    return ticks * rate // SECOND
