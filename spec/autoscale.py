"""What the autoscale policy may decide, and what is always true of its decisions.

`warm` (the model is in VRAM) and `demand` (something is queued or in flight) are 0 or 1; times are whole seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from spec.logic import Action, Claim, Property, at_most_one, both, either, implies, ite, negate


class Decision(Enum):
    """What the policy tells the host to do."""

    UNDECIDED = "undecided"
    HOLD = "hold"
    SPAWN = "spawn"
    SERVE = "serve"
    REAP = "reap"


@dataclass(frozen=True)
class State:
    """What the policy sees, what it decided, and the last saving that it measured, in permil."""

    warm: int
    demand: int
    idle: int
    ttl: int
    decision: Decision
    permil: int


def initial(s: State) -> Claim:
    """Nothing was decided and nothing measured."""
    return both(is_undecided(s), s.permil == 0)


# Words


def is_undecided(s: State) -> Claim:
    return s.decision == Decision.UNDECIDED


def is_wanted(s: State) -> Claim:
    return s.demand == 1


def is_warm(s: State) -> Claim:
    return s.warm == 1


def has_idled_for_the_ttl(s: State) -> Claim:
    return s.ttl <= s.idle


def is_the_saving(warm: int, window: int, permil: int) -> Claim:
    """The share of the window that was not warm, in permil, rounded down, from 0 to 1000; an empty window saves 0."""
    saved = ite(warm < 0, window, ite(window < warm, 0, window - warm))
    return ite(
        window <= 0,
        permil == 0,
        both(permil * window <= saved * 1000, saved * 1000 < (permil + 1) * window),
    )


# Actions


def may_observe(s: State, warm: int, demand: int, idle: int, ttl: int) -> Claim:
    return the_view_is_in_its_domain(observe(s, warm, demand, idle, ttl))


def observe(s: State, warm: int, demand: int, idle: int, ttl: int) -> State:
    """The world has moved on and the policy is asked again."""
    return replace(s, warm=warm, demand=demand, idle=idle, ttl=ttl, decision=Decision.UNDECIDED)


def may_spawn(s: State) -> Claim:
    return both(is_undecided(s), is_wanted(s), negate(is_warm(s)))


def spawn(s: State) -> State:
    """Start the worker."""
    return replace(s, decision=Decision.SPAWN)


def may_serve(s: State) -> Claim:
    return both(is_undecided(s), is_wanted(s), is_warm(s))


def serve(s: State) -> State:
    """Dispatch the work now."""
    return replace(s, decision=Decision.SERVE)


def may_reap(s: State) -> Claim:
    return both(is_undecided(s), negate(is_wanted(s)), is_warm(s), has_idled_for_the_ttl(s))


def reap(s: State) -> State:
    """Stop the worker and free its memory."""
    return replace(s, decision=Decision.REAP)


def may_hold(s: State) -> Claim:
    return both(
        is_undecided(s),
        negate(is_wanted(s)),
        either(negate(is_warm(s)), negate(has_idled_for_the_ttl(s))),
    )


def hold(s: State) -> State:
    """Leave things as they are."""
    return replace(s, decision=Decision.HOLD)


def may_measure(s: State, warm: int, window: int, permil: int) -> Claim:
    return is_the_saving(warm, window, permil)


def measure(s: State, warm: int, window: int, permil: int) -> State:
    """Say how much was saved against a worker that is always on."""
    return replace(s, permil=permil)


ACTIONS = (
    Action(may_observe, observe),
    Action(may_spawn, spawn),
    Action(may_serve, serve),
    Action(may_reap, reap),
    Action(may_hold, hold),
    Action(may_measure, measure),
)


# Claims


def the_view_is_in_its_domain(s: State) -> Claim:
    """Warm and demand are 0 or 1; no time is negative."""
    return both(
        either(s.warm == 0, s.warm == 1),
        either(s.demand == 0, s.demand == 1),
        s.idle >= 0,
        s.ttl >= 0,
    )


def never_reap_with_demand(s: State) -> Claim:
    """No worker is reaped while anything is queued or in flight."""
    return implies(s.decision == Decision.REAP, s.demand == 0)


def never_reap_before_the_ttl(s: State) -> Claim:
    """No worker is reaped before it has been idle for the ttl."""
    return implies(s.decision == Decision.REAP, s.ttl <= s.idle)


def never_spawn_while_warm(s: State) -> Claim:
    """No second worker is started while one is warm."""
    return implies(s.decision == Decision.SPAWN, s.warm == 0)


def spawn_at_once_when_cold_and_wanted(s: State) -> Claim:
    """A cold worker that is wanted is started at the first decision."""
    return implies(both(s.warm == 0, s.demand == 1), either(s.decision == Decision.SPAWN, is_undecided(s)))


def serve_only_when_warm(s: State) -> Claim:
    """Nothing is dispatched to a cold worker."""
    return implies(s.decision == Decision.SERVE, s.warm == 1)


def serve_at_once_when_warm_and_wanted(s: State) -> Claim:
    """A warm worker that is wanted serves at the first decision."""
    return implies(both(s.warm == 1, s.demand == 1), either(s.decision == Decision.SERVE, is_undecided(s)))


def never_serve_without_demand(s: State) -> Claim:
    """Nothing is dispatched when nothing is wanted, and nothing is started."""
    return implies(either(s.decision == Decision.SERVE, s.decision == Decision.SPAWN), s.demand == 1)


def reap_once_idle_for_the_ttl(s: State) -> Claim:
    """A warm worker that has been idle for the ttl is reaped at the first decision."""
    return implies(
        both(s.warm == 1, s.demand == 0, s.ttl <= s.idle),
        either(s.decision == Decision.REAP, is_undecided(s)),
    )


def rest_at_zero(s: State) -> Claim:
    """A cold worker that nobody wants is left alone."""
    return implies(both(s.warm == 0, s.demand == 0), either(s.decision == Decision.HOLD, is_undecided(s)))


def every_view_has_a_decision(s: State) -> Claim:
    """Whatever the policy sees, it may decide something."""
    return implies(is_undecided(s), either(may_spawn(s), may_serve(s), may_reap(s), may_hold(s)))


def a_view_has_only_one_decision(s: State) -> Claim:
    """Whatever the policy sees, it may not decide two things."""
    return at_most_one(may_spawn(s), may_serve(s), may_reap(s), may_hold(s))


def savings_lie_between_0_and_1000(s: State) -> Claim:
    """A saving is a share: from 0 to 1000 permil."""
    return both(s.permil >= 0, s.permil <= 1000)


def a_worker_is_spawned(s: State, t: State) -> Claim:
    """The decision is SPAWN."""
    return t.decision == Decision.SPAWN


def a_worker_serves(s: State, t: State) -> Claim:
    """The decision is SERVE."""
    return t.decision == Decision.SERVE


def a_worker_is_reaped(s: State, t: State) -> Claim:
    """The decision is REAP."""
    return t.decision == Decision.REAP


def a_cold_worker_is_left_alone(s: State, t: State) -> Claim:
    """The decision is HOLD and the worker cold."""
    return both(t.decision == Decision.HOLD, t.warm == 0)


def a_part_is_saved(s: State, t: State) -> Claim:
    """A saving is neither nothing nor everything."""
    return both(t.permil >= 1, t.permil <= 999)


ASSUMED = (Property(the_view_is_in_its_domain, a_worker_is_spawned),)

ALWAYS = (
    Property(never_reap_with_demand, a_worker_is_reaped),
    Property(never_reap_before_the_ttl, a_worker_is_reaped),
    Property(never_spawn_while_warm, a_worker_is_spawned),
    Property(spawn_at_once_when_cold_and_wanted, a_worker_is_spawned),
    Property(serve_only_when_warm, a_worker_serves),
    Property(serve_at_once_when_warm_and_wanted, a_worker_serves),
    Property(never_serve_without_demand, a_worker_serves),
    Property(reap_once_idle_for_the_ttl, a_worker_is_reaped),
    Property(rest_at_zero, a_cold_worker_is_left_alone),
    Property(savings_lie_between_0_and_1000, a_part_is_saved),
)

OUTCOMES = (
    Property(every_view_has_a_decision, a_worker_is_spawned),
    Property(a_view_has_only_one_decision, a_worker_is_spawned),
)
