"""WRONG: it compares whole minutes, so the rest of the last one is cut off and the worker is stopped early.

$ python -m model table --policy examples/policies/whole_minutes.py
refuted      never_reap_before_the_ttl: No worker is reaped before it has been idle for the ttl.
decide(warm=1, demand=0, idle_sec=0, ttl_sec=1) returns REAP
"""

from impl.autoscale import Action


def decide(warm, demand, idle_sec, ttl_sec):
    if demand != 0:
        return Action.SPAWN if warm == 0 else Action.SERVE
    return Action.REAP if warm == 1 and idle_sec // 60 >= ttl_sec // 60 else Action.HOLD
