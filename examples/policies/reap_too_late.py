"""WRONG: `>` for `>=`. Where idle equals the ttl the worker stays; with a ttl of 0 it outlives its first idle tick.

$ python -m model table --policy examples/policies/reap_too_late.py
refuted      reap_once_idle_for_the_ttl: A warm worker that has been idle for the ttl is reaped at the first
decide(warm=1, demand=0, idle_sec=0, ttl_sec=0) returns HOLD
"""

from impl.autoscale import Action


def decide(warm, demand, idle_sec, ttl_sec):
    if demand != 0:
        return Action.SPAWN if warm == 0 else Action.SERVE
    return Action.REAP if warm == 1 and idle_sec > ttl_sec else Action.HOLD
