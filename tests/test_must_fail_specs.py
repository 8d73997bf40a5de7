"""Specifications with one fault each: the obligation that should notice does, and its counterexample is real."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from model.prove.induction import counterexample
from model.prove.machines import AUTOSCALE, SCHEDULER, Machine
from model.prove.obligations import obligations
from model.prove.solvers import ask_cvc5, ask_z3
from spec import autoscale
from spec.logic import Action, Claim, Job, Property, Slot, both, each, either, every, negate
from spec.scheduler import (
    Phase,
    State,
    all_slots_are_busy,
    book,
    enqueue,
    enter,
    finish_to_idle,
    finish_with_an_heir,
    is_new,
    is_queued,
    is_running,
    is_the_heir,
    is_the_victim,
    line_up,
    may_cancel_queued,
    may_enqueue,
    may_finish_with_an_heir,
    may_place,
    may_preempt,
    may_refuse_the_full_queue,
    may_restart,
    may_work,
    nobody_waits,
    preempt,
    queued,
    restart,
    running,
    start,
    step_out,
    stop,
)


@dataclass(frozen=True)
class Fault:
    """One action with a fault, and the property whose obligation notices."""

    action: str
    guard: Callable[..., Claim]
    step: Callable[..., Any]
    breaks: str
    machine: Machine = SCHEDULER
    reached: bool = True

    def planted(self) -> Machine:
        self.step.__name__ = self.action
        actions = tuple(
            Action(self.guard, self.step) if each.name == self.action else each for each in self.machine.actions
        )
        return replace(self.machine, actions=actions)


def may_preempt_without_reserve(s: State, job: Job, victim: Job) -> Claim:
    return both(is_new(s, job), all_slots_are_busy(s), is_the_victim(s, victim), s.urgency[victim] < s.urgency[job])


def may_preempt_equals(s: State, job: Job, victim: Job) -> Claim:
    return both(
        is_new(s, job),
        all_slots_are_busy(s),
        is_the_victim(s, victim),
        s.urgency[victim] <= s.urgency[job],
        s.waiting < s.capacity + s.reserve,
    )


def may_preempt_any_less_urgent(s: State, job: Job, victim: Job) -> Claim:
    return both(
        is_new(s, job),
        all_slots_are_busy(s),
        is_running(s, victim),
        s.urgency[victim] < s.urgency[job],
        s.waiting < s.capacity + s.reserve,
    )


def may_preempt_beside_a_free_slot(s: State, job: Job, victim: Job) -> Claim:
    return both(
        is_new(s, job),
        nobody_waits(s),
        is_the_victim(s, victim),
        s.urgency[victim] < s.urgency[job],
        s.waiting < s.capacity + s.reserve,
    )


def preempt_and_forget_the_work(s: State, job: Job, victim: Job) -> State:
    t = preempt(s, job, victim)
    return replace(t, remaining=t.remaining.put(victim, t.work[victim]))


def enqueue_without_a_ticket(s: State, job: Job) -> State:
    t = line_up(enter(s, job), job)
    return replace(t, ticket=s.ticket, ticketed=s.ticketed)


def may_inherit_any(s: State, job: Job, heir: Job) -> Claim:
    return both(is_running(s, job), is_queued(s, heir))


def may_inherit_last(s: State, job: Job, heir: Job) -> Claim:
    waits = queued(s)
    return both(
        is_running(s, job),
        is_queued(s, heir),
        every(waits, lambda q: either(s.urgency[q] < s.urgency[heir], s.ticket[q] <= s.ticket[heir])),
        every(waits, lambda q: s.urgency[q] <= s.urgency[heir]),
    )


def finish_without_booking(s: State, job: Job, heir: Job) -> State:
    return start(step_out(stop(s, job, Phase.ENDED), heir, Phase.RUNNING), heir, s.slot[job])


def may_finish_to_idle_while_jobs_wait(s: State, job: Job) -> Claim:
    return is_running(s, job)


def may_place_anywhere(s: State, job: Job, slot: Slot) -> Claim:
    return both(is_new(s, job), negate(s.busy[slot]))


def may_enqueue_before_less_urgent(s: State, job: Job) -> Claim:
    return both(is_new(s, job), all_slots_are_busy(s), s.waiting < s.capacity)


def may_enqueue_one_more(s: State, job: Job) -> Claim:
    return both(
        is_new(s, job),
        all_slots_are_busy(s),
        every(running(s), lambda r: s.urgency[job] <= s.urgency[r]),
        s.waiting <= s.capacity + s.reserve,
    )


def place_under_an_old_run(s: State, job: Job, slot: Slot) -> State:
    return replace(start(enter(s, job), job, slot), next_run=s.next_run)


def restart_under_the_old_runs(s: State) -> State:
    return replace(restart(s), next_run=s.next_run, run=s.run, runner=s.runner, busy=s.busy)


def restart_without_new_numbers(s: State) -> State:
    return replace(restart(s), next_run=s.next_run)


def restart_and_forget_the_work(s: State) -> State:
    return replace(restart(s), remaining=each(s.remaining, running(s), lambda j: s.work[j]))


def work_without_booking(s: State, job: Job, steps: int) -> State:
    return replace(book(s, job, steps), served=s.served)


def cancel_without_counting(s: State, job: Job) -> State:
    return replace(step_out(s, job, Phase.CANCELLED), waiting=s.waiting)


def refuse_and_forget_a_ticket(s: State, job: Job) -> State:
    return replace(s, next_ticket=s.next_ticket + 1)


def may_be_stale_and_late(s: State, job: Job, slot: Slot, run: int) -> Claim:
    return is_running(s, job)


def stale_yet_booked(s: State, job: Job, slot: Slot, run: int) -> State:
    return book(s, job, 1)


def may_reap_early(s: autoscale.State) -> Claim:
    return both(autoscale.is_undecided(s), s.demand == 0, s.warm == 1)


def may_reap_what_is_not_one(s: autoscale.State) -> Claim:
    return both(autoscale.is_undecided(s), negate(s.demand == 1), s.warm == 1, s.ttl <= s.idle)


def may_spawn_when_warm(s: autoscale.State) -> Claim:
    return both(autoscale.is_undecided(s), s.demand == 1)


def may_measure_too_much(s: autoscale.State, warm: int, window: int, permil: int) -> Claim:
    return both(window >= 1, permil * window <= (window - warm) * 1000)


def demand_is_a_count(s: autoscale.State) -> Claim:
    """Demand is a count."""
    return both(either(s.warm == 0, s.warm == 1), s.demand >= 0, s.idle >= 0, s.ttl >= 0)


COUNTING = replace(AUTOSCALE, assumed=(Property(demand_is_a_count, autoscale.a_worker_is_spawned),))

FAULTS = {
    "drop the reserve": Fault("preempt", may_preempt_without_reserve, preempt, "the_queue_stays_within_its_bound"),
    "preempt equals": Fault("preempt", may_preempt_equals, preempt, "only_strictly_less_urgent_work_is_preempted"),
    "preempt any less urgent": Fault(
        "preempt", may_preempt_any_less_urgent, preempt, "the_least_urgent_running_job_is_the_victim"
    ),
    "preempt beside a free slot": Fault(
        "preempt", may_preempt_beside_a_free_slot, preempt, "nothing_is_preempted_while_a_slot_is_free"
    ),
    "the victim starts anew": Fault("preempt", may_preempt, preempt_and_forget_the_work, "no_work_is_lost"),
    "forget the ticket": Fault("enqueue", may_enqueue, enqueue_without_a_ticket, "equals_keep_their_order"),
    "any queued heir": Fault(
        "finish_with_an_heir", may_inherit_any, finish_with_an_heir, "no_job_waits_behind_a_less_urgent_one"
    ),
    "the latest heir": Fault(
        "finish_with_an_heir",
        may_inherit_last,
        finish_with_an_heir,
        "the_earliest_of_the_most_urgent_inherits",
    ),
    "the end is not booked": Fault(
        "finish_with_an_heir", may_finish_with_an_heir, finish_without_booking, "no_work_is_lost"
    ),
    "leave a slot free while jobs wait": Fault(
        "finish_to_idle",
        may_finish_to_idle_while_jobs_wait,
        finish_to_idle,
        "no_slot_idles_while_a_job_waits",
    ),
    "queue behind a less urgent job": Fault(
        "enqueue", may_enqueue_before_less_urgent, enqueue, "no_job_waits_behind_a_less_urgent_one"
    ),
    "queue one too many": Fault("enqueue", may_enqueue_one_more, enqueue, "the_queue_stays_within_its_bound"),
    "reuse a run number": Fault("place", may_place, place_under_an_old_run, "runs_are_never_reused"),
    "restart without new numbers": Fault("restart", may_restart, restart_without_new_numbers, "runs_are_never_reused"),
    "a crash forgets the work": Fault("restart", may_restart, restart_and_forget_the_work, "no_work_is_lost"),
    "work is not booked": Fault("work", may_work, work_without_booking, "no_work_is_lost"),
    "a cancel is not counted": Fault(
        "cancel_queued", may_cancel_queued, cancel_without_counting, "every_live_job_has_exactly_one_place"
    ),
    "a refusal draws a ticket": Fault(
        "refuse_the_full_queue", may_refuse_the_full_queue, refuse_and_forget_a_ticket, "a_refusal_changes_nothing"
    ),
    "a late event is booked": Fault("stale", may_be_stale_and_late, stale_yet_booked, "a_stale_event_changes_nothing"),
    "reap before the ttl": Fault("reap", may_reap_early, autoscale.reap, "never_reap_before_the_ttl", AUTOSCALE),
    "demand is tested for one": Fault(
        "reap", may_reap_what_is_not_one, autoscale.reap, "never_reap_with_demand", COUNTING, reached=False
    ),
    "spawn while warm": Fault("spawn", may_spawn_when_warm, autoscale.spawn, "never_spawn_while_warm", AUTOSCALE),
    "save more than all": Fault(
        "measure",
        may_measure_too_much,
        autoscale.measure,
        "savings_lie_between_0_and_1000",
        AUTOSCALE,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_obligation_that_should_notice_does(name: str) -> None:
    fault = FAULTS[name]
    found = counterexample(fault.planted(), fault.action, fault.breaks)
    assert found is not None, "no counterexample in a closed world"
    assert found.false, "the false part of the formula is not shown"
    assert (found.history is not None) == fault.reached
    print("\n".join(found.lines()))


@pytest.mark.parametrize("name", list(FAULTS)[::6])
def test_no_solver_proves_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.prove.solvers.TIMEOUT_MS", 1_000)
    fault = FAULTS[name]
    [obligation] = obligations(fault.planted(), fault.action, fault.breaks)
    assert ask_z3(obligation.text, 1).word != "unsat"
    assert ask_cvc5(obligation.text, 1).word != "unsat"


def test_two_slots_that_will_both_do_are_no_unique_slot() -> None:
    machine = replace(
        SCHEDULER,
        outcomes=(Property(the_slot_of_a_careless_placement_is_unique, SCHEDULER.outcomes[0].witness),),
    )
    found = counterexample(machine, "always", "the_slot_of_a_careless_placement_is_unique")
    assert found is not None
    assert is_the_heir(found.before, found.before.jobs[0]) in (True, False)


def the_slot_of_a_careless_placement_is_unique(s: State, job: Job, slot: Slot, other: Slot) -> Claim:
    """A newcomer can be placed in one slot alone."""
    return either(negate(both(may_place_anywhere(s, job, slot), may_place_anywhere(s, job, other))), slot == other)


@pytest.mark.parametrize("about", ["no_work_is_lost", "equals_keep_their_order", "runs_are_never_reused"])
def test_the_specification_itself_has_no_counterexample(about: str) -> None:
    assert counterexample(SCHEDULER, "preempt", about) is None
