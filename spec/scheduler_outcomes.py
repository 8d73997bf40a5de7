"""Every event has an outcome in every state, and only one.

An outcome is an action; the arguments of the event are its first arguments, and the slot, victim or heir that the
scheduler chooses is unique.
"""

from __future__ import annotations

from spec.logic import Claim, Job, Property, Slot, at_most_one, both, either, every, implies, negate, some
from spec.scheduler import (
    State,
    free,
    is_live,
    is_new,
    is_queued,
    is_running,
    is_the_heir,
    is_the_victim,
    may_be_stale,
    may_cancel_nothing,
    may_cancel_queued,
    may_cancel_to_idle,
    may_cancel_with_an_heir,
    may_enqueue,
    may_finish_to_idle,
    may_finish_with_an_heir,
    may_place,
    may_preempt,
    may_refuse_the_full_queue,
    may_refuse_the_live_id,
    may_refuse_the_steps,
    may_work,
)
from spec.scheduler_sometimes import a_job_waits, a_preemption_happens, an_equal_inherits_before_an_equal

# FINITE: what first-order logic cannot say of finite sets


def some_free_slot_is_the_lowest(s: State) -> Claim:
    """If any slot is free, one of them has the lowest number."""
    return implies(
        some(s.slots, lambda k: negate(s.busy[k])),
        some(free(s), lambda k: every(free(s), lambda other: s.number[k] <= s.number[other])),
    )


def some_running_job_yields_first(s: State) -> Claim:
    """If any job runs, one of them is the victim that comes first."""
    return implies(some(s.jobs, lambda j: is_running(s, j)), some(s.jobs, lambda j: is_the_victim(s, j)))


def some_queued_job_inherits_first(s: State) -> Claim:
    """If any job waits, one of them is the heir."""
    return implies(some(s.jobs, lambda j: is_queued(s, j)), some(s.jobs, lambda j: is_the_heir(s, j)))


# At least one


def every_admission_has_an_outcome(s: State, job: Job) -> Claim:
    """A new or live job that arrives is placed, preempts, is queued or is refused."""
    return implies(
        either(is_new(s, job), is_live(s, job)),
        either(
            some(s.slots, lambda k: may_place(s, job, k)),
            some(s.jobs, lambda v: may_preempt(s, job, v)),
            may_enqueue(s, job),
            may_refuse_the_full_queue(s, job),
            may_refuse_the_live_id(s, job),
        ),
    )


def every_completion_has_an_outcome(s: State, job: Job, slot: Slot, run: int) -> Claim:
    """A run that is reported over ends, to an heir or to idle, or the report is stale."""
    return either(
        may_be_stale(s, job, slot, run),
        some(s.jobs, lambda h: may_finish_with_an_heir(s, job, h)),
        may_finish_to_idle(s, job),
    )


def every_report_of_progress_has_an_outcome(s: State, job: Job, slot: Slot, run: int, steps: int) -> Claim:
    """Reported steps are booked, or refused, or the report is stale."""
    return either(may_be_stale(s, job, slot, run), may_work(s, job, steps), may_refuse_the_steps(s, job, steps))


def every_cancel_has_an_outcome(s: State, job: Job) -> Claim:
    """A cancelled job leaves the queue or its slot, or there was nothing to cancel."""
    return either(
        may_cancel_queued(s, job),
        some(s.jobs, lambda h: may_cancel_with_an_heir(s, job, h)),
        may_cancel_to_idle(s, job),
        may_cancel_nothing(s, job),
    )


# At most one


def an_admission_has_only_one_outcome(s: State, job: Job, slot: Slot, victim: Job) -> Claim:
    """No two of place, preempt, enqueue and the two refusals are possible for one arrival."""
    return at_most_one(
        may_place(s, job, slot),
        may_preempt(s, job, victim),
        may_enqueue(s, job),
        may_refuse_the_full_queue(s, job),
        may_refuse_the_live_id(s, job),
    )


def a_completion_has_only_one_outcome(s: State, job: Job, heir: Job) -> Claim:
    """No run can end both to an heir and to idle."""
    return at_most_one(may_finish_with_an_heir(s, job, heir), may_finish_to_idle(s, job))


def a_report_of_progress_has_only_one_outcome(s: State, job: Job, steps: int) -> Claim:
    """No steps are both booked and refused."""
    return at_most_one(may_work(s, job, steps), may_refuse_the_steps(s, job, steps))


def a_cancel_has_only_one_outcome(s: State, job: Job, heir: Job) -> Claim:
    """No two of the four outcomes of a cancel are possible at once."""
    return at_most_one(
        may_cancel_queued(s, job),
        may_cancel_with_an_heir(s, job, heir),
        may_cancel_to_idle(s, job),
        may_cancel_nothing(s, job),
    )


def the_slot_is_unique(s: State, job: Job, slot: Slot, other: Slot) -> Claim:
    """A newcomer can be placed in one slot alone."""
    return implies(both(may_place(s, job, slot), may_place(s, job, other)), slot == other)


def the_victim_is_unique(s: State, victim: Job, other: Job) -> Claim:
    """There is one victim at most."""
    return implies(both(is_the_victim(s, victim), is_the_victim(s, other)), victim == other)


def the_heir_is_unique(s: State, heir: Job, other: Job) -> Claim:
    """There is one heir at most."""
    return implies(both(is_the_heir(s, heir), is_the_heir(s, other)), heir == other)


FINITE = (
    Property(some_free_slot_is_the_lowest, a_job_waits),
    Property(some_running_job_yields_first, a_preemption_happens),
    Property(some_queued_job_inherits_first, an_equal_inherits_before_an_equal),
)

OUTCOMES = (
    Property(every_admission_has_an_outcome, a_preemption_happens),
    Property(every_completion_has_an_outcome, an_equal_inherits_before_an_equal),
    Property(every_report_of_progress_has_an_outcome, a_job_waits),
    Property(every_cancel_has_an_outcome, an_equal_inherits_before_an_equal),
    Property(an_admission_has_only_one_outcome, a_preemption_happens),
    Property(a_completion_has_only_one_outcome, an_equal_inherits_before_an_equal),
    Property(a_report_of_progress_has_only_one_outcome, a_job_waits),
    Property(a_cancel_has_only_one_outcome, an_equal_inherits_before_an_equal),
    Property(the_slot_is_unique, a_job_waits),
    Property(the_victim_is_unique, a_preemption_happens),
    Property(the_heir_is_unique, an_equal_inherits_before_an_equal),
)
