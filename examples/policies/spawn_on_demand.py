"""WRONG: it takes SPAWN for harmless where a worker is up. That would be a second model on a full GPU.

$ python -m model table --policy examples/policies/spawn_on_demand.py
refuted      never_spawn_while_warm: No second worker is started while one is warm.
decide(warm=1, demand=1, idle_sec=0, ttl_sec=0) returns SPAWN
"""

from impl.autoscale import Action


def decide(warm, demand, idle_sec, ttl_sec):
    if demand != 0:
        return Action.SPAWN
    return Action.REAP if warm == 1 and idle_sec >= ttl_sec else Action.HOLD
