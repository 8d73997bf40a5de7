"""What is true of the scheduler: in every state, of every step, and at least once.

A claim that a reader must accept stands in ALWAYS, STEPS or THEOREMS; ASSUMED is what a user of the scheduler owes;
LEMMAS only carry the proofs.
"""

from __future__ import annotations

from spec.logic import Claim, Job, Property, both, either, every, implies, negate, numbers, some, where
from spec.scheduler import (
    Phase,
    State,
    all_slots_are_busy,
    holds_a_lowest,
    in_use,
    is_live,
    is_new,
    is_queued,
    is_running,
    live,
    may_refuse_the_full_queue,
    nobody_waits,
    queued,
    running,
    the_urgency_respects_the_priority,
    yields_first,
)
from spec.scheduler_sometimes import (
    a_job_waits,
    a_preemption_happens,
    a_run_outlives_the_worker,
    a_victim_had_a_peer,
    a_victim_resumes,
    an_equal_inherits_before_an_equal,
    an_equal_waits_behind_an_equal,
    an_image_runs_beside_a_full_queue,
    an_image_waits_while_chat_runs,
    is_preempted,
    the_queue_fills_to_its_reserve,
)

# In every state


def every_live_job_has_exactly_one_place(s: State) -> Claim:
    """Every live job is running in one slot, or queued once; slot and job agree."""
    return both(
        every(running(s), lambda j: both(s.busy[s.slot[j]], s.holder[s.slot[j]] == j)),
        every(in_use(s), lambda k: both(is_running(s, s.holder[k]), s.slot[s.holder[k]] == k)),
        every(queued(s), lambda j: both(s.seat[j] >= 0, s.seat[j] < s.waiting, s.seated[s.seat[j]] == j)),
        every(numbers(s.waiting), lambda i: both(is_queued(s, s.seated[i]), s.seat[s.seated[i]] == i)),
    )


def no_work_is_lost(s: State) -> Claim:
    """What a live job was served and what remains of it add up to its work; a completed job was served all of it."""
    return every(
        s.jobs,
        lambda j: both(
            implies(is_live(s, j), both(s.served[j] + s.remaining[j] == s.work[j], s.remaining[j] >= 0)),
            implies(s.phase[j] == Phase.ENDED, s.served[j] == s.work[j]),
        ),
    )


def no_job_waits_behind_a_less_urgent_one(s: State) -> Claim:
    """No job is queued while a less urgent one runs, for any urgency that is fixed at admission."""
    runs = running(s)
    return every(queued(s), lambda q: every(runs, lambda r: s.urgency[q] <= s.urgency[r]))


def chat_never_waits_behind_an_image(s: State) -> Claim:
    """No job is queued while one of lower priority runs."""
    runs = running(s)
    return every(queued(s), lambda q: every(runs, lambda r: s.priority[q] <= s.priority[r]))


def no_slot_idles_while_a_job_waits(s: State) -> Claim:
    """While a job is queued, every slot is busy."""
    return either(all_slots_are_busy(s), nobody_waits(s))


def the_queue_stays_within_its_bound(s: State) -> Claim:
    """At most `capacity` + `reserve` jobs wait."""
    return both(s.waiting >= 0, s.waiting <= s.capacity + s.reserve)


def equals_keep_their_order(s: State) -> Claim:
    """No two waiting jobs have the same ticket, and the next ticket is later than all of them."""
    return every(queued(s), lambda j: both(s.ticketed[s.ticket[j]] == j, s.ticket[j] < s.next_ticket))


def runs_are_never_reused(s: State) -> Claim:
    """No two running jobs have the same run number, and the next one is greater than all of them."""
    return every(running(s), lambda j: both(s.runner[s.run[j]] == j, s.run[j] < s.next_run))


# In every state, for the proofs alone


def the_ranks_are_a_permutation(s: State) -> Claim:
    """The slots are ranked 0 to size - 1, each rank once."""
    return both(
        every(s.slots, lambda k: both(s.rank[k] >= 0, s.rank[k] < s.size, s.ranked[s.rank[k]] == k)),
        every(numbers(s.size), lambda i: s.rank[s.ranked[i]] == i),
    )


def the_lowest_hold_the_first_ranks(s: State) -> Claim:
    """The slots that hold a job of the lowest level are exactly those ranked below their number."""
    return both(
        s.lowest_running >= 0,
        s.lowest_running <= s.size,
        every(s.slots, lambda k: holds_a_lowest(s, k) == (s.rank[k] < s.lowest_running)),
        implies(s.lowest_running >= 1, holds_a_lowest(s, s.ranked[s.lowest_running - 1])),
    )


def a_place_is_kept_for_each_lowest_running_job(s: State) -> Claim:
    """With a reserve of at least one place a slot, the queue has room for every running job of the lowest level."""
    return implies(s.size <= s.reserve, s.waiting + s.lowest_running <= s.capacity + s.reserve)


def somebody_has_the_last_seat(s: State) -> Claim:
    """While the count says that somebody waits, somebody does."""
    return implies(s.waiting >= 1, is_queued(s, s.seated[s.waiting - 1]))


# What the user of the scheduler owes


def the_constants_are_sound(s: State) -> Claim:
    """There is a slot, no bound is negative, and the slots are numbered 0 to size - 1."""
    return both(
        s.size >= 1,
        s.capacity >= 0,
        s.reserve >= 0,
        every(s.slots, lambda k: both(s.number[k] >= 0, s.number[k] < s.size, s.numbered[s.number[k]] == k)),
        every(numbers(s.size), lambda i: s.number[s.numbered[i]] == i),
    )


def every_job_has_work(s: State) -> Claim:
    """A job has at least one step of work."""
    return every(s.jobs, lambda j: s.work[j] >= 1)


def no_urgency_is_below_the_lowest(s: State) -> Claim:
    """`lowest` is a lower bound of the urgencies, so that one level can be called the lowest."""
    return every(s.jobs, lambda j: s.lowest <= s.urgency[j])


# Of every step


def only_strictly_less_urgent_work_is_preempted(s: State, t: State) -> Claim:
    """A preempted job is strictly less urgent than the newcomer that takes its slot."""
    return every(
        s.jobs,
        lambda v: implies(
            is_preempted(s, t, v),
            both(
                t.busy[s.slot[v]],
                is_new(s, t.holder[s.slot[v]]),
                s.urgency[v] < t.urgency[t.holder[s.slot[v]]],
            ),
        ),
    )


def the_least_urgent_running_job_is_the_victim(s: State, t: State) -> Claim:
    """No running job is less urgent than a preempted one; among equals the one in the lowest slot is preempted."""
    runs = running(s)
    return every(runs, lambda v: implies(is_preempted(s, t, v), every(runs, lambda r: yields_first(s, v, r))))


def nothing_is_preempted_while_a_slot_is_free(s: State, t: State) -> Claim:
    """A job is preempted only when every slot is busy."""
    busy = all_slots_are_busy(s)
    return every(s.jobs, lambda v: implies(is_preempted(s, t, v), busy))


def the_earliest_of_the_most_urgent_inherits(s: State, t: State) -> Claim:
    """A job leaves the queue for a slot only if none that waited was more urgent, or as urgent and earlier."""
    waits = queued(s)
    return every(
        where(waits, lambda h: is_running(t, h)),
        lambda h: every(
            waits,
            lambda q: either(
                s.urgency[q] < s.urgency[h],
                both(s.urgency[q] == s.urgency[h], s.ticket[h] <= s.ticket[q]),
            ),
        ),
    )


def a_run_that_starts_has_a_new_number(s: State, t: State) -> Claim:
    """A running job keeps the run it had, or has one that no run had before; run numbers only grow."""
    return both(
        s.next_run <= t.next_run,
        every(
            running(t),
            lambda j: either(
                both(is_running(s, j), s.slot[j] == t.slot[j], s.run[j] == t.run[j]),
                both(s.next_run <= t.run[j], t.run[j] < t.next_run),
            ),
        ),
    )


def what_was_admitted_stays_fixed(s: State, t: State) -> Claim:
    """Work, urgency and priority of a job do not change from admission to end."""
    return every(
        live(s),
        lambda j: both(s.work[j] == t.work[j], s.urgency[j] == t.urgency[j], s.priority[j] == t.priority[j]),
    )


def no_live_job_vanishes(s: State, t: State) -> Claim:
    """A live job is live after the step too, or it has ended or was cancelled."""
    return every(
        live(s),
        lambda j: either(is_live(t, j), t.phase[j] == Phase.ENDED, t.phase[j] == Phase.CANCELLED),
    )


# Of some actions


def stays(s: State, t: State, job: Job) -> Claim:
    """The job is where it was, with the work it had."""
    return both(
        s.phase[job] == t.phase[job],
        implies(is_live(s, job), both(s.remaining[job] == t.remaining[job], s.served[job] == t.served[job])),
        implies(is_running(s, job), both(s.slot[job] == t.slot[job], s.run[job] == t.run[job])),
        implies(is_queued(s, job), s.ticket[job] == t.ticket[job]),
    )


def nothing_changes(s: State, t: State) -> Claim:
    return both(
        every(s.jobs, lambda j: stays(s, t, j)),
        every(s.slots, lambda k: s.busy[k] == t.busy[k]),
        s.next_ticket == t.next_ticket,
        s.next_run == t.next_run,
        s.waiting == t.waiting,
    )


def a_refusal_changes_nothing(s: State, t: State, job: Job) -> Claim:
    """A refused event leaves the state as it was."""
    return nothing_changes(s, t)


def a_stale_event_changes_nothing(s: State, t: State, job: Job) -> Claim:
    """An event of a run that is over leaves the state as it was."""
    return nothing_changes(s, t)


def a_cancel_touches_only_its_job(s: State, t: State, job: Job) -> Claim:
    """A cancelled job leaves; every other one stays as it was, but for the heir of its slot, which keeps its work."""
    return both(
        negate(is_live(t, job)),
        every(
            s.jobs,
            lambda j: either(
                j == job,
                stays(s, t, j),
                both(
                    is_running(s, job),
                    is_queued(s, j),
                    is_running(t, j),
                    t.slot[j] == s.slot[job],
                    s.remaining[j] == t.remaining[j],
                    s.served[j] == t.served[j],
                ),
            ),
        ),
    )


def the_live_jobs_only_shrink(s: State, t: State, *_: object) -> Claim:
    """Without arrivals no job becomes live."""
    return every(live(t), lambda j: is_live(s, j))


def a_job_that_leaves_is_live_no_more(s: State, t: State, job: Job) -> Claim:
    """A finished or cancelled job was live and is so no more."""
    return both(is_live(s, job), negate(is_live(t, job)))


# Theorems: they follow from what is true in every state


def chat_is_never_refused_while_an_image_runs(s: State) -> Claim:
    """While a job of the lowest level runs, no newcomer of a higher level is refused for want of room, provided the
    reserve has a place for every slot. Middle levels are not protected."""
    return implies(
        both(s.size <= s.reserve, some(running(s), lambda r: s.urgency[r] == s.lowest)),
        every(
            where(s.jobs, lambda n: both(is_new(s, n), s.lowest < s.urgency[n])),
            lambda n: negate(may_refuse_the_full_queue(s, n)),
        ),
    )


def a_job_runs_while_any_is_live(s: State) -> Claim:
    """While any job is live, at least one runs."""
    return either(some(s.jobs, lambda j: is_running(s, j)), every(s.jobs, lambda j: negate(is_live(s, j))))


REFUSALS = ("refuse_the_full_queue", "refuse_the_live_id", "refuse_the_steps", "cancel_nothing")
CANCELS = ("cancel_queued", "cancel_with_an_heir", "cancel_to_idle")
FINISHES = ("finish_with_an_heir", "finish_to_idle")
OTHERS = ("work", "stale", "restart", "reuse")

ALWAYS = (
    Property(every_live_job_has_exactly_one_place, a_job_waits),
    Property(no_work_is_lost, a_victim_resumes),
    Property(no_job_waits_behind_a_less_urgent_one, an_image_waits_while_chat_runs),
    Property(chat_never_waits_behind_an_image, an_image_waits_while_chat_runs),
    Property(no_slot_idles_while_a_job_waits, a_job_waits),
    Property(the_queue_stays_within_its_bound, the_queue_fills_to_its_reserve),
    Property(equals_keep_their_order, an_equal_waits_behind_an_equal),
    Property(runs_are_never_reused, a_run_outlives_the_worker),
)

LEMMAS = (
    Property(the_ranks_are_a_permutation, a_job_waits),
    Property(the_lowest_hold_the_first_ranks, an_image_runs_beside_a_full_queue),
    Property(a_place_is_kept_for_each_lowest_running_job, an_image_runs_beside_a_full_queue),
    Property(somebody_has_the_last_seat, a_job_waits),
)

ASSUMED = (
    Property(the_constants_are_sound, a_job_waits),
    Property(every_job_has_work, a_job_waits),
    Property(the_urgency_respects_the_priority, an_image_waits_while_chat_runs),
    Property(no_urgency_is_below_the_lowest, an_image_waits_while_chat_runs),
)

STEPS = (
    Property(no_live_job_vanishes, a_preemption_happens),
    Property(only_strictly_less_urgent_work_is_preempted, a_preemption_happens),
    Property(the_least_urgent_running_job_is_the_victim, a_victim_had_a_peer),
    Property(nothing_is_preempted_while_a_slot_is_free, a_preemption_happens),
    Property(the_earliest_of_the_most_urgent_inherits, an_equal_inherits_before_an_equal),
    Property(a_run_that_starts_has_a_new_number, a_run_outlives_the_worker),
    Property(what_was_admitted_stays_fixed, a_victim_resumes),
    Property(a_refusal_changes_nothing, about=REFUSALS),
    Property(a_stale_event_changes_nothing, about=("stale",)),
    Property(a_cancel_touches_only_its_job, about=CANCELS),
    Property(the_live_jobs_only_shrink, about=REFUSALS + CANCELS + FINISHES + OTHERS),
    Property(a_job_that_leaves_is_live_no_more, about=CANCELS + FINISHES),
)

THEOREMS = (
    Property(chat_is_never_refused_while_an_image_runs, an_image_runs_beside_a_full_queue),
    Property(a_job_runs_while_any_is_live, a_job_waits),
)
