"""WRONG: `>` for `>=`. Where idle equals the ttl the worker stays; with a ttl of 0 it outlives its first idle tick."""

from impl.autoscale import Action


def decide(warm, demand, idle_sec, ttl_sec):
    if demand != 0:
        return Action.SPAWN if warm == 0 else Action.SERVE
    return Action.REAP if warm == 1 and idle_sec > ttl_sec else Action.HOLD
