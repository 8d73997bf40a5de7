"""Scale to zero: the worker holds VRAM only while there is work. Pure decisions, made of comparisons and arithmetic
alone, so that they run on symbolic integers as on plain ones. Arguments are checked where they enter, not here."""

from enum import IntEnum


class Action(IntEnum):
    """What to do with the worker; the codes are the original's (nx_mesh_autoscale.nx:28-31)."""

    HOLD = 0
    SPAWN = 1
    SERVE = 2
    REAP = 3


def decide(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> Action:
    """Start a cold worker that is wanted, use a warm one, stop one that idled for the ttl (nx_mesh_autoscale.nx:60).

    `warm` and `demand` are 0 or 1; `idle_sec` and `ttl_sec` are whole seconds >= 0. Demand is whatever is not zero: the
    original asks `demand == 1`, so a count of 2 lets it stop a busy worker.
    """
    if demand != 0:
        if warm == 0:
            return Action.SPAWN
        return Action.SERVE
    if warm == 1 and idle_sec >= ttl_sec:
        return Action.REAP
    return Action.HOLD


def savings_permil(warm_sec: int, window_sec: int) -> int:
    """VRAM seconds saved against a worker that is always up, in permil of the window, rounded down: 0 to 1000.

    An empty window saves nothing (nx_mesh_autoscale.nx:74). Warm time outside the window is clamped to it: the original
    exceeds 1000 when it is negative, and its product overflows i64 in windows beyond 2**63 / 1000 seconds.
    """
    if window_sec <= 0 or warm_sec >= window_sec:
        return 0
    if warm_sec <= 0:
        return 1000
    return (window_sec - warm_sec) * 1000 // window_sec
