"""Decisions that are wrong on purpose. Each is the shipped one but for what it says."""

from __future__ import annotations

from impl.autoscale import Action, decide, savings_permil
from model.planted.bugs import wrong_decide, wrong_savings


@wrong_decide("never_reap_with_demand", "kedacore/keda#6719")
def reaps_by_the_queue_alone(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """Demand does not hold a reap back: what is in flight was never queued."""
    if warm == 1 and idle_sec >= ttl_sec:
        return Action.REAP
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("never_reap_with_demand", "mostlygeek/llama-swap#19")
def swaps_without_asking(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """A request makes room for the worker that it wants, whatever the present one is doing."""
    if warm == 1 and demand != 0:
        return Action.REAP
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("never_reap_with_demand", "judoscale/judoscale-ruby#27")
def asks_for_a_demand_of_one(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """The test is `demand == 1`, so that a count of 2 is none (nx_mesh_autoscale.nx:61)."""
    if demand == 1:
        return decide(warm, demand, idle_sec, ttl_sec)
    return decide(warm, 0, idle_sec, ttl_sec)


@wrong_decide("never_reap_before_the_ttl", "kedacore/keda#157")
def halves_the_ttl(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """The cool-down counts from half way."""
    if warm == 1 and demand == 0 and idle_sec + idle_sec >= ttl_sec:
        return Action.REAP
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("never_reap_before_the_ttl", "knative/serving#6780, kedacore/keda#5008")
def reaps_when_idle_began_now(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """An idle time of 0 is taken for one that was never stamped, and so for a long one."""
    if warm == 1 and demand == 0 and idle_sec == 0:
        return Action.REAP
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("never_reap_before_the_ttl", "ollama/ollama#10422")
def reaps_one_second_early(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """The boundary is one second off."""
    if warm == 1 and demand == 0 and idle_sec + 1 >= ttl_sec:
        return Action.REAP
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("never_spawn_while_warm", "mostlygeek/llama-swap#281")
def starts_for_every_demand(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """Whether one is warm is not asked."""
    return Action.SPAWN if demand != 0 else decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("never_spawn_while_warm", "ollama/ollama#6148")
def reloads_after_a_pause(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """A worker that was idle for a while is loaded anew, though it is warm."""
    if warm == 1 and demand != 0 and idle_sec > ttl_sec:
        return Action.SPAWN
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("never_spawn_while_warm", "ray-project/ray#18925")
def adds_one_when_all_is_well(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """A warm worker that has just been used is joined by another."""
    if warm == 1 and demand != 0 and idle_sec == 0:
        return Action.SPAWN
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("spawn_at_once_when_cold_and_wanted", "kedacore/http-add-on#1692")
def forgets_demand_after_a_long_pause(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """Once it has been idle for the ttl, a cold worker is never started."""
    if warm == 0 and demand != 0 and idle_sec >= ttl_sec:
        return Action.HOLD
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("spawn_at_once_when_cold_and_wanted", "mostlygeek/llama-swap#946")
def never_starts(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """What was stopped stays stopped."""
    return Action.HOLD if warm == 0 else decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("serve_only_when_warm", "kserve/kserve#2882")
def serves_before_it_is_ready(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """Work is forwarded to a cold worker."""
    return Action.SERVE if demand != 0 else decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("serve_at_once_when_warm_and_wanted", "ollama/ollama#6148, mostlygeek/llama-swap#588")
def reaps_before_it_serves(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """A worker whose ttl is over is stopped first, and started for the demand that was there."""
    if warm == 1 and demand != 0 and idle_sec >= ttl_sec:
        return Action.REAP
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("serve_at_once_when_warm_and_wanted", "ollama/ollama#17408")
def holds_what_is_wanted(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """Who waits on a warm worker is never woken."""
    return Action.HOLD if warm == 1 and demand != 0 else decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("never_serve_without_demand", "knative/serving#15033")
def starts_without_demand(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """A cold worker that has rested for the ttl is started."""
    if warm == 0 and demand == 0 and idle_sec >= ttl_sec:
        return Action.SPAWN
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("never_serve_without_demand", "ray-project/ray#59076")
def serves_a_phantom(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """Demand that has gone is still served."""
    return Action.SERVE if warm == 1 else decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("reap_once_idle_for_the_ttl", "vmorganp/Lazytainer#35")
def waits_for_the_ttl_twice(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """Idle is measured twice in a row."""
    return decide(warm, demand, idle_sec, ttl_sec + ttl_sec)


@wrong_decide("reap_once_idle_for_the_ttl", "ray-project/ray#61551")
def never_reaps(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """It starts one and never goes back to zero."""
    return Action.HOLD if warm == 1 and demand == 0 else decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("reap_once_idle_for_the_ttl", "ollama/ollama#10422")
def takes_a_ttl_of_zero_for_none(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """With a ttl of 0 a worker is kept for ever."""
    if warm == 1 and demand == 0 and ttl_sec == 0:
        return Action.HOLD
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("reap_once_idle_for_the_ttl", "vmorganp/Lazytainer#35, daintreehq/daintree#8466")
def reaps_after_the_ttl(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """The test is `>` where it should be `>=`."""
    if warm == 1 and demand == 0 and idle_sec == ttl_sec:
        return Action.HOLD
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_decide("rest_at_zero", "ray-project/ray#61731")
def reaps_what_is_cold(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """A worker that was never seen warm is stopped again and again."""
    if warm == 0 and demand == 0 and idle_sec >= ttl_sec:
        return Action.REAP
    return decide(warm, demand, idle_sec, ttl_sec)


@wrong_savings("savings_lie_between_0_and_1000", "r-simmer/simmer#67")
def saves_more_than_all(warm_sec: int, window_sec: int) -> int:
    """A negative warm time saves more than the window (nx_mesh_autoscale.nx:76)."""
    if window_sec > 0 and warm_sec < 0:
        return (window_sec - warm_sec) * 1000 // window_sec
    return savings_permil(warm_sec, window_sec)


@wrong_savings("savings_lie_between_0_and_1000", "r-simmer/simmer#67")
def saves_less_than_nothing(warm_sec: int, window_sec: int) -> int:
    """A warm time beyond the window saves less than nothing."""
    if 0 < window_sec < warm_sec:
        return (window_sec - warm_sec) * 1000 // window_sec
    return savings_permil(warm_sec, window_sec)


@wrong_savings("equals_the_specification", "kubernetes-sigs/kueue#8065")
def counts_the_warm_seconds(warm_sec: int, window_sec: int) -> int:
    """The share that was used is told as the share that was saved."""
    if window_sec > 0 and 0 < warm_sec < window_sec:
        return warm_sec * 1000 // window_sec
    return savings_permil(warm_sec, window_sec)


@wrong_savings("equals_the_specification", "knative/serving#8610")
def saves_all_of_nothing(warm_sec: int, window_sec: int) -> int:
    """An empty window saves everything."""
    return 1000 if window_sec == 0 else savings_permil(warm_sec, window_sec)
