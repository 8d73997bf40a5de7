"""Every event that the controller hears has an outcome in every state, and only one."""

from __future__ import annotations

from spec.logic import Claim, Property, at_most_one, both, either, implies, negate
from spec.worker import (
    is_a_tick,
    may_be_late,
    may_become_ready,
    may_confirm,
    may_count_a_refusal,
    may_crash,
    may_give_up,
    may_hold,
    may_lose,
    may_note,
    may_reap,
    may_renew,
    may_see_nothing,
    may_serve,
    may_spawn,
)
from spec.worker_claims import a_group_outlives_its_process, a_second_worker_is_started, an_idle_clock_runs
from spec.worker_state import Demand, State, Verdict


def every_tick_has_an_outcome(s: State, demand: Demand, now: int) -> Claim:
    """At each tick the controller decides something."""
    return implies(
        is_a_tick(s, demand, now),
        either(
            may_spawn(s, demand, now),
            may_serve(s, demand, now),
            may_reap(s, demand, now),
            may_give_up(s, demand, now),
            may_renew(s, demand, now),
            may_hold(s, demand, now),
        ),
    )


def a_tick_has_only_one_outcome(s: State, demand: Demand, now: int) -> Claim:
    """At no tick may the controller decide two things."""
    return at_most_one(
        may_spawn(s, demand, now),
        may_serve(s, demand, now),
        may_reap(s, demand, now),
        may_give_up(s, demand, now),
        may_renew(s, demand, now),
        may_hold(s, demand, now),
    )


def probed_warm(s: State) -> tuple[Claim, ...]:
    return may_become_ready(s), may_note(s, Verdict.WARM)


def probed_cold(s: State) -> tuple[Claim, ...]:
    return may_count_a_refusal(s), may_lose(s), may_note(s, Verdict.COLD)


def every_probe_has_an_outcome(s: State) -> Claim:
    """Whatever a probe concludes, the controller takes it in some way."""
    return both(either(*probed_warm(s)), either(*probed_cold(s)), may_see_nothing(s))


def a_probe_has_only_one_outcome(s: State) -> Claim:
    """No conclusion of a probe is taken in two ways."""
    return both(at_most_one(*probed_warm(s)), at_most_one(*probed_cold(s)))


def every_exit_has_an_outcome(s: State, generation: int) -> Claim:
    """The end of a process is a crash of the present worker, or known already."""
    return implies(
        both(generation <= s.generation, negate(s.runs[generation])),
        either(may_crash(s, generation), may_be_late(s, generation)),
    )


def every_confirmation_has_an_outcome(s: State, generation: int, port: Verdict) -> Claim:
    """That a group is gone, and its port free or a stranger's, ends a stop, is a crash, or is known already."""
    return implies(
        both(generation <= s.generation, negate(s.alive[generation]), negate(s.runs[generation])),
        either(
            port == Verdict.UNKNOWN,
            may_confirm(s, generation, port),
            may_crash(s, generation),
            may_be_late(s, generation),
        ),
    )


def an_exit_has_only_one_outcome(s: State, generation: int) -> Claim:
    """No end of a process is both a crash and known already."""
    return at_most_one(may_crash(s, generation), may_be_late(s, generation))


OUTCOMES = (
    Property(every_tick_has_an_outcome, a_second_worker_is_started),
    Property(a_tick_has_only_one_outcome, a_second_worker_is_started),
    Property(every_probe_has_an_outcome, an_idle_clock_runs),
    Property(a_probe_has_only_one_outcome, an_idle_clock_runs),
    Property(every_exit_has_an_outcome, a_group_outlives_its_process),
    Property(every_confirmation_has_an_outcome, a_group_outlives_its_process),
    Property(an_exit_has_only_one_outcome, a_group_outlives_its_process),
)
