"""What is true of the closed loop: in every state, of every step, and at least once.

Liveness is shown in pieces. `demand_is_served_once_starts_succeed` says that in each phase the step towards service is
possible, `only_a_failure_moves_a_wanted_worker_back` that no other step leads away from it. With FAIR-LOOP (ticks go
on, and what was told to stop ends) and PROBE-ANSWERS (a ready worker is seen WARM, a free port COLD) wanted work is
served once starts succeed. An idle worker outlives its ttl by less than one tick: the first tick that knows demand and
probe reaps it.
"""

from __future__ import annotations

from typing import Any

from spec.logic import Claim, Property, both, either, every, implies, ite, negate, some
from spec.scheduler_claims import every_job_has_work
from spec.worker import (
    a_stranger_answers,
    may_become_ready,
    may_confirm,
    may_renew,
    may_serve,
    may_spawn,
)
from spec.worker_state import (
    Demand,
    Place,
    State,
    Verdict,
    doubled,
    generations,
    in_flight,
    is_cold,
    is_in_flight,
    is_live,
    is_starting,
    is_stopping,
    is_waiting,
    is_wanted,
    is_warm,
    live,
    nothing_is_alive,
    was_of_use,
)

# In every state


def never_two_workers(s: State) -> Claim:
    """At most one worker is alive, with all its group: the last that was started."""
    return every(generations(s), lambda g: implies(s.alive[g], g == s.generation))


def what_was_served_and_what_remains_are_the_work(s: State) -> Claim:
    """What a live job was served and what remains of it add up to its work; a job that is done was served all of it."""
    return every(
        s.jobs,
        lambda j: both(
            implies(is_live(s, j), both(s.served[j] + s.remaining[j] == s.work[j], s.remaining[j] >= 0)),
            implies(s.place[j] == Place.DONE, s.served[j] == s.work[j]),
        ),
    )


def work_is_in_flight_only_on_a_warm_worker(s: State) -> Claim:
    """Whatever is in flight is on a warm worker: what was handed to one that is lost waits again."""
    return either(is_warm(s), every(s.jobs, lambda j: negate(is_in_flight(s, j))))


def the_back_off_stays_within_its_bounds(s: State) -> Claim:
    """The back-off is none, or from the shortest to the longest."""
    return either(s.back_off == 0, both(s.shortest <= s.back_off, s.back_off <= s.longest))


# In every state, for the proofs alone


def nothing_is_alive_in_cold(s: State) -> Claim:
    """While the worker is cold, no process of any worker is left."""
    return implies(is_cold(s), nothing_is_alive(s))


def a_process_belongs_to_its_group(s: State) -> Claim:
    """A worker whose process runs is alive; generations count from 1."""
    return both(
        s.generation >= 0,
        negate(s.alive[0]),
        every(generations(s), lambda g: implies(s.runs[g], s.alive[g])),
    )


def no_clock_is_ahead(s: State) -> Claim:
    """No clock began in the future."""
    return both(s.since <= s.now, s.quiet <= s.now)


# What the user of the controller owes


def the_constants_are_sound(s: State) -> Claim:
    """No time is negative, budgets and patience are at least 1, and the back-off has bounds to double between."""
    return both(
        s.ttl >= 0,
        s.start_budget >= 1,
        s.patience >= 1,
        s.alarm_after >= 1,
        s.hang_budget >= 0,
        s.shortest >= 1,
        s.shortest <= s.longest,
    )


# Of every step


def is_a_start(s: State, t: State) -> Claim:
    return negate(t.generation == s.generation)


def is_a_stop(s: State, t: State) -> Claim:
    return both(negate(is_stopping(s)), is_stopping(t))


def never_spawn_unless_cold(s: State, t: State) -> Claim:
    """A worker is started only while cold and the port is seen free; it is a new generation."""
    return implies(is_a_start(s, t), both(is_cold(s), s.seen == Verdict.COLD, t.generation == s.generation + 1))


def work_progresses_only_on_a_warm_worker(s: State, t: State) -> Claim:
    """Steps are served only to a job in flight on a warm worker whose process runs."""
    return every(
        live(s),
        lambda j: either(
            t.served[j] == s.served[j],
            both(is_warm(s), s.runs[s.generation], is_in_flight(s, j)),
        ),
    )


def a_crash_loses_no_job(s: State, t: State) -> Claim:
    """When a worker is lost, stopped, started or adopted, every job lives on with its work intact."""
    return either(
        t.phase == s.phase,
        every(
            live(s),
            lambda j: both(is_live(t, j), t.served[j] == s.served[j], t.remaining[j] == s.remaining[j]),
        ),
    )


def a_stop_has_a_reason(s: State, t: State) -> Claim:
    """A worker is stopped only if its process ended, its start is overdue, it refused again and again, it hangs, or it
    was idle for the ttl."""
    return implies(
        is_a_stop(s, t),
        either(
            negate(s.runs[s.generation]),
            both(is_starting(s), s.start_budget <= t.now - t.since),
            both(is_warm(s), s.patience <= s.refusals + 1),
            both(is_warm(s), is_wanted(s), s.hang_budget >= 1, s.hang_budget <= t.now - t.quiet),
            both(is_warm(s), negate(is_wanted(s)), s.ttl <= t.now - t.since),
        ),
    )


def a_stop_ends_in_cold(s: State, t: State) -> Claim:
    """A worker that is stopping becomes cold, and is never revived."""
    return implies(is_stopping(s), either(is_stopping(t), is_cold(t)))


def nothing_is_adopted_in_cold(s: State, t: State) -> Claim:
    """A worker that is cold and gone stays cold until it is started: whoever answers on its port is a stranger."""
    return implies(both(is_cold(s), negate(s.alive[s.generation])), either(is_cold(t), is_a_start(s, t)))


def a_failed_start_backs_off_and_recovers(s: State, t: State) -> Claim:
    """A failed start doubles the back-off, no start comes before it is over, and a job that ends clears it."""
    return both(
        implies(both(is_starting(s), is_stopping(t)), t.back_off == doubled(s)),
        implies(is_a_start(s, t), either(s.back_off == 0, both(negate(s.touched), s.back_off <= t.now - s.since))),
        implies(some(in_flight(s), lambda j: t.place[j] == Place.DONE), t.back_off == 0),
    )


# Of some steps


def never_reap_while_busy(s: State, t: State, demand: Demand) -> Claim:
    """No worker is reaped while anything is queued or in flight."""
    return every(s.jobs, lambda j: both(negate(is_waiting(s, j)), negate(is_in_flight(s, j))))


def no_decision_rests_on_an_unknown(s: State, t: State, demand: Demand) -> Claim:
    """Nothing is started, used or reaped while demand or probe is unknown."""
    return both(negate(demand == Demand.UNKNOWN), negate(s.seen == Verdict.UNKNOWN))


def the_idle_clock_starts_when_demand_ends(s: State, t: State, demand: Demand) -> Claim:
    """While anything is wanted the idle clock of a warm worker stands at the present, as it does when it has just
    become ready or reported work; it runs while nothing is wanted."""
    return implies(
        is_warm(s),
        both(
            implies(either(s.touched, is_wanted(s)), t.since == t.now),
            implies(both(negate(s.touched), demand == Demand.NONE), t.since == s.since),
        ),
    )


def an_idle_worker_is_reaped_within_ttl_plus_one_tick(s: State, t: State, demand: Demand) -> Claim:
    """A tick that knows demand and probe leaves no worker warm that nobody wants and that was idle for the ttl."""
    return implies(
        both(is_warm(t), demand == Demand.NONE, s.seen == Verdict.WARM),
        t.now - t.since < s.ttl,
    )


def trouble_raises_an_alarm(s: State, t: State, demand: Demand) -> Claim:
    """A stranger on the port, work that does not progress, a stop without end and lasting ignorance are told at every
    tick."""
    return implies(
        either(
            a_stranger_answers(s),
            both(is_warm(s), demand == Demand.SOME, negate(s.touched), s.alarm_after <= t.now - s.quiet),
            both(is_stopping(s), negate(s.touched), s.alarm_after <= t.now - s.since),
            s.patience <= t.blind,
        ),
        t.alarm,
    )


def a_lost_worker_backs_off_unless_it_was_of_use(s: State, t: State, *_: object) -> Claim:
    """A worker that is lost before any job ended on it doubles the back-off; one that was of use leaves it."""
    return t.back_off == ite(was_of_use(s), s.back_off, doubled(s))


def only_a_failure_moves_a_wanted_worker_back(s: State, t: State, *_: object) -> Claim:
    """While work is wanted, every other step leaves the worker where it is, or brings it nearer to service."""
    return implies(is_wanted(s), steps_to_service(t) <= steps_to_service(s))


def steps_to_service(s: State) -> Any:
    return ite(is_warm(s), 0, ite(is_starting(s), 1, ite(is_cold(s), 2, 3)))


def the_controller_stays(s: State, t: State) -> Claim:
    """Phase, worker, clocks and back-off are as they were, and so are the jobs."""
    return both(
        s.phase == t.phase,
        s.generation == t.generation,
        s.now == t.now,
        s.since == t.since,
        s.quiet == t.quiet,
        s.touched == t.touched,
        s.back_off == t.back_off,
        s.proven == t.proven,
        s.blind == t.blind,
        s.alarm == t.alarm,
        every(
            s.jobs,
            lambda j: both(
                s.place[j] == t.place[j],
                implies(is_live(s, j), both(s.served[j] == t.served[j], s.remaining[j] == t.remaining[j])),
            ),
        ),
    )


def an_unknown_probe_alone_changes_nothing(s: State, t: State, *_: object) -> Claim:
    """A probe that finds out nothing moves no phase, clock or job, and never counts as a refusal."""
    return both(the_controller_stays(s, t), either(t.refusals == 0, t.refusals == s.refusals))


def a_late_event_of_an_old_worker_changes_nothing(s: State, t: State, generation: int) -> Claim:
    """An exit or report of a worker that is over, or that is not ready, leaves everything as it was."""
    return both(the_controller_stays(s, t), s.seen == t.seen, s.refusals == t.refusals)


# Theorems: they follow from what is true in every state


def demand_is_served_once_starts_succeed(s: State) -> Claim:
    """While work is wanted the way to service is open in every phase: a stopped group can be confirmed gone, a cold
    worker started once the longest back-off is over, a starting one become ready, a warm one be used or renewed."""
    later = s.now + s.longest
    return implies(
        is_wanted(s),
        both(
            implies(both(is_stopping(s), nothing_is_alive(s)), may_confirm(s, s.generation, Verdict.COLD)),
            implies(
                both(is_cold(s), s.seen == Verdict.COLD, negate(s.touched)),
                may_spawn(s, Demand.SOME, later),
            ),
            implies(is_starting(s), may_become_ready(s)),
            implies(
                both(is_warm(s), s.seen == Verdict.WARM),
                either(may_serve(s, Demand.SOME, s.now), may_renew(s, Demand.SOME, s.now)),
            ),
        ),
    )


# Sometimes


def a_second_worker_is_started(s: State, t: State) -> Claim:
    """A worker is started after another."""
    return both(is_a_start(s, t), s.generation >= 1)


def a_job_outlives_its_worker(s: State, t: State) -> Claim:
    """A job that was served in part waits again for a worker."""
    return some(in_flight(s), lambda j: both(is_waiting(t, j), s.served[j] >= 1))


def a_job_that_lost_its_worker_is_done(s: State, t: State) -> Claim:
    """A job ends on a later worker than the first."""
    return both(s.generation >= 2, some(in_flight(s), lambda j: t.place[j] == Place.DONE))


def the_back_off_reaches_its_longest(s: State, t: State) -> Claim:
    """Failures in a row double the back-off until it can grow no more."""
    return both(s.back_off < s.longest, s.shortest <= s.back_off, t.back_off == t.longest)


def a_stop_is_confirmed(s: State, t: State) -> Claim:
    """A worker that was stopping becomes cold."""
    return both(is_stopping(s), is_cold(t))


def a_stranger_is_met(s: State, t: State) -> Claim:
    """The port of a cold worker answers."""
    return a_stranger_answers(t)


def a_group_outlives_its_process(s: State, t: State) -> Claim:
    """The process of a worker has ended, and others of its group live on."""
    return both(t.alive[t.generation], negate(t.runs[t.generation]))


def an_idle_clock_runs(s: State, t: State) -> Claim:
    """A warm worker has been idle for a while."""
    return both(is_warm(t), t.since < t.now)


def a_worker_that_was_of_use_is_stopped(s: State, t: State) -> Claim:
    """A worker on which a job had ended is stopped."""
    return both(is_a_stop(s, t), was_of_use(s))


TICKS = ("spawn", "serve", "reap", "give_up", "renew", "hold")
DECISIONS = ("spawn", "serve", "reap")
FAILURES = ("crash", "lose", "give_up", "renew")
OTHERS = (
    *("arrive", "dispatch", "work", "finish", "cancel", "die", "vanish"),
    *("become_ready", "count_a_refusal", "see_nothing", "note", "confirm", "late", "early"),
    *("spawn", "serve", "reap", "hold"),
)

ALWAYS = (
    Property(never_two_workers, a_second_worker_is_started),
    Property(what_was_served_and_what_remains_are_the_work, a_job_that_lost_its_worker_is_done),
    Property(work_is_in_flight_only_on_a_warm_worker, a_job_outlives_its_worker),
    Property(the_back_off_stays_within_its_bounds, the_back_off_reaches_its_longest),
)

LEMMAS = (
    Property(nothing_is_alive_in_cold, a_stop_is_confirmed),
    Property(a_process_belongs_to_its_group, a_group_outlives_its_process),
    Property(no_clock_is_ahead, an_idle_clock_runs),
)

ASSUMED = (
    Property(the_constants_are_sound, an_idle_clock_runs),
    Property(every_job_has_work, a_job_outlives_its_worker),
)

STEPS = (
    Property(never_spawn_unless_cold, a_second_worker_is_started),
    Property(work_progresses_only_on_a_warm_worker, a_job_that_lost_its_worker_is_done),
    Property(a_crash_loses_no_job, a_job_outlives_its_worker),
    Property(a_stop_has_a_reason, a_worker_that_was_of_use_is_stopped),
    Property(a_stop_ends_in_cold, a_stop_is_confirmed),
    Property(nothing_is_adopted_in_cold, a_stranger_is_met),
    Property(a_failed_start_backs_off_and_recovers, the_back_off_reaches_its_longest),
    Property(never_reap_while_busy, about=("reap",)),
    Property(no_decision_rests_on_an_unknown, about=DECISIONS),
    Property(the_idle_clock_starts_when_demand_ends, about=TICKS),
    Property(an_idle_worker_is_reaped_within_ttl_plus_one_tick, about=TICKS),
    Property(trouble_raises_an_alarm, about=TICKS),
    Property(a_lost_worker_backs_off_unless_it_was_of_use, about=FAILURES),
    Property(only_a_failure_moves_a_wanted_worker_back, about=OTHERS),
    Property(an_unknown_probe_alone_changes_nothing, about=("see_nothing",)),
    Property(a_late_event_of_an_old_worker_changes_nothing, about=("late", "early")),
)

THEOREMS = (Property(demand_is_served_once_starts_succeed, a_second_worker_is_started),)
