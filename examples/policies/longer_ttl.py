"""Keep a busy worker warm for longer: three times the ttl, where the last hours saw enough requests.

`demand_history` is the number of requests in each of these hours, for whoever deploys the policy to fill in. It reaps
later than the specification demands, and says so.

$ python -m model table --policy examples/policies/longer_ttl.py
WAIVED: reap_once_idle_for_the_ttl
refuted      reap_once_idle_for_the_ttl [waived]: A warm worker that has been idle for the ttl is reaped
holds: 9 of 9 properties proved by each solver
"""

from impl.autoscale import Action

WAIVES = ("reap_once_idle_for_the_ttl",)


def decide(warm, demand, idle_sec, ttl_sec, demand_history=(4, 7, 2)):
    if demand != 0:
        return Action.SPAWN if warm == 0 else Action.SERVE
    keep = 3 * ttl_sec if sum(demand_history) >= 10 else ttl_sec
    return Action.REAP if warm == 1 and idle_sec >= keep else Action.HOLD
