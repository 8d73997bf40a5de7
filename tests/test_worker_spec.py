"""The specification of the closed loop: it is alive, its liveness comes true, and one fault each is noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from model.prove.induction import counterexample
from model.prove.machines import WORKER, Machine
from model.prove.obligations import obligations
from model.prove.search import Step, sorts
from model.prove.solvers import ask_cvc5, ask_z3
from model.prove.worker_instances import after, worker_instance, worker_instances
from spec import worker, worker_world
from spec.logic import Action, Claim, Job, Property, both, each, either, every, implies, ite, negate
from spec.worker_state import (
    Demand,
    Place,
    State,
    Verdict,
    WorkerPhase,
    in_flight,
    initial,
    is_cold,
    is_in_flight,
    is_starting,
    is_stopping,
    is_waiting,
    is_wanted,
    is_warm,
)

SEEDS = 14
PATIENT = worker_instance(jobs="AB", start_budget=4, longest=4, hang_budget=0)
HASTY = worker_instance(jobs="AB", patience=1, ttl=0, longest=2)
RARE = {"controller_restart": 0.95, "die": 0.8, "lose": 0.7, "cancel": 0.7, "see_nothing": 0.5}
"""How often an action is passed over, so that lives get long enough."""


# A walk over the executed specification


def walk(state: State, seed: int, length: int) -> Iterator[Step]:
    """Steps taken at random, those that end something less often; a job that is over may come again."""
    random = Random(seed)
    while length:
        action = random.choice(WORKER.actions)
        if random.random() < RARE.get(action.name, 0):
            continue
        given = tuple(random.choice(choices(kind, name, state)) for name, kind in sorts(action.guard))
        if action.guard(state, *given):
            step = Step(action, given, state, action.step(state, *given))
            yield step
            state = step.after
            length -= 1
        over = [job for job in state.jobs if state.place[job] in (Place.DONE, Place.CANCELLED)]
        for job in over if random.random() < 0.05 else ():
            state = replace(state, place=state.place.put(job, Place.NEW))


def choices(kind: Any, name: str, state: State) -> Any:
    if kind is Job:
        return state.jobs
    if kind is int:
        return {"now": [state.now, state.now + 1, state.now + 2], "generation": range(state.generation + 1)}.get(
            name, [1, 2]
        )
    return list(kind)


def wrong(step: Step) -> Iterator[str]:
    """The claims that do not hold of the step."""
    for each_ in WORKER.inductive + WORKER.theorems:
        if not each_.claim(step.after):
            yield each_.name
    for each_ in WORKER.steps:
        given = step.arguments[: bool(each_.about)]
        if (not each_.about or step.action.name in each_.about) and not each_.claim(step.before, step.after, *given):
            yield each_.name


@pytest.fixture(scope="module")
def walks() -> list[Step]:
    starts = (PATIENT, HASTY, *worker_instances())
    return [step for start in starts for seed in range(SEEDS) for step in walk(start, seed, 120)]


def test_every_claim_holds_on_every_walk(walks: list[Step]) -> None:
    assert initial(PATIENT)
    assert [(str(step), name) for step in walks for name in wrong(step)] == []


def test_every_action_and_every_witness_is_seen(walks: list[Step]) -> None:
    assert set(Counter(step.action.name for step in walks)) == {action.name for action in WORKER.actions}
    unseen = [
        witness.__name__ for witness in WORKER.witnesses if not any(witness(step.before, step.after) for step in walks)
    ]
    assert unseen == []


def test_every_event_has_one_outcome_on_every_walk(walks: list[Step]) -> None:
    for step in walks[::50]:
        state = step.after
        for about in WORKER.outcomes:
            for given in combinations(about.claim, state):
                assert about.claim(state, *given), f"{about.name}{given} in {state}"


def combinations(claim: Callable[..., Claim], state: State) -> Iterator[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [()]
    for name, kind in sorts(claim):
        found = [(*given, choice) for given in found for choice in choices(kind, name, state)]
    yield from found


# Liveness, on executed states: what is possible is done, and probes answer


def in_good_faith(state: State) -> State:
    """The next step of a world and a controller that do what they can, time going on by one second a tick."""
    g, now = state.generation, state.now + 1
    demand = Demand.SOME if is_wanted(state) else Demand.NONE
    helpful: list[tuple[Any, ...]] = (
        [("die", g), ("vanish", g), ("confirm", g, Verdict.COLD)] if is_stopping(state) else []
    )
    helpful += [("note", Verdict.COLD)] if is_cold(state) else [("become_ready",), ("note", Verdict.WARM)]
    for step in helpful:
        state = attempt(state, *step)
    for tick in ("spawn", "serve", "reap", "give_up", "renew", "hold"):
        after = attempt(state, tick, demand, now)
        if after is not state:
            return after
    raise AssertionError(f"no tick is possible in {state}")


def attempt(state: State, name: str, *given: Any) -> State:
    action = next(action for action in WORKER.actions if action.name == name)
    return action.step(state, *given) if action.guard(state, *given) else state


def test_wanted_work_is_served_once_starts_succeed(walks: list[Step]) -> None:
    for step in walks[::25]:
        state = step.after
        if is_wanted(state):
            patience = state.longest + 4
            while not (is_warm(state) and state.seen == Verdict.WARM):
                state = in_good_faith(state)
                patience -= 1
                assert patience, f"never served: {step.after}"


def test_an_idle_worker_is_reaped_within_its_ttl_and_a_tick(walks: list[Step]) -> None:
    idle = 0
    for step in walks[::4]:
        state = step.after
        if is_warm(state) and not is_wanted(state):
            idle += 1
            for _ in range(state.ttl + 2):
                state = in_good_faith(state) if is_warm(state) else state
            assert not is_warm(state), f"never reaped: {step.after}"
    assert idle > 20


# Specifications with one fault each


@dataclass(frozen=True)
class Fault:
    """One action with a fault, and the property whose obligation notices."""

    action: str
    breaks: str
    guard: Callable[..., Claim] | None = None
    step: Callable[..., Any] | None = None

    def planted(self) -> Machine:
        if self.step is not None:
            self.step.__name__ = self.action
        actions = tuple(
            Action(self.guard or sound.guard, self.step or sound.step) if sound.name == self.action else sound
            for sound in WORKER.actions
        )
        return replace(WORKER, actions=actions)


def may_spawn_while_starting(s: State, demand: Demand, now: int) -> Claim:
    return both(worker.is_a_tick(s, demand, now), demand == Demand.SOME, either(is_cold(s), is_starting(s)))


def may_spawn_beside_a_stranger(s: State, demand: Demand, now: int) -> Claim:
    return both(worker.is_a_tick(s, demand, now), demand == Demand.SOME, is_cold(s), s.back_off == 0)


def may_spawn_at_once(s: State, demand: Demand, now: int) -> Claim:
    return both(worker.is_a_tick(s, demand, now), demand == Demand.SOME, is_cold(s), s.seen == Verdict.COLD)


def spawn_two(s: State, demand: Demand, now: int) -> State:
    t = worker.spawn(s, demand, now)
    again = t.generation + 1
    return replace(t, generation=again, alive=t.alive.put(again, True), runs=t.runs.put(again, True))


def may_confirm_too_soon(s: State, generation: int, port: Verdict) -> Claim:
    return both(generation == s.generation, is_stopping(s), negate(s.runs[generation]), negate(port == Verdict.UNKNOWN))


def may_reap_an_empty_queue(s: State, demand: Demand, now: int) -> Claim:
    ticked = worker.at_the_tick(s, Demand.NONE, now)
    return both(
        s.now <= now,
        every(s.jobs, lambda j: negate(is_waiting(s, j))),
        worker.reap_is_due(ticked, Demand.NONE),
        demand == Demand.NONE,
    )


def may_reap_in_ignorance(s: State, demand: Demand, now: int) -> Claim:
    known = worker.may_reap(s, Demand.NONE, now)
    return both(negate(is_wanted(s)), known, negate(demand == Demand.SOME))


def may_reap_while_starting(s: State, demand: Demand, now: int) -> Claim:
    return both(worker.is_a_tick(s, demand, now), demand == Demand.NONE, is_starting(s), s.ttl <= now - s.since)


def may_hold_at_the_ttl(s: State, demand: Demand, now: int) -> Claim:
    ticked = worker.at_the_tick(s, demand, now)
    return both(worker.is_a_tick(s, demand, now), is_warm(s), demand == Demand.NONE, now - ticked.since <= s.ttl)


def hold_in_silence(s: State, demand: Demand, now: int) -> State:
    return replace(worker.hold(s, demand, now), alarm=False)


def serve_from_its_start(s: State, demand: Demand, now: int) -> State:
    return replace(worker.serve(s, demand, now), since=s.since)


def crash_and_drop_the_work(s: State, generation: int) -> State:
    gone = each(s.place, in_flight(s), lambda _: Place.CANCELLED)
    return replace(worker.crash(s, generation), place=gone)


def crash_and_start_the_work_anew(s: State, generation: int) -> State:
    return replace(worker.crash(s, generation), remaining=s.work)


def crash_and_leave_the_work(s: State, generation: int) -> State:
    return replace(worker.crash(s, generation), place=s.place)


def may_crash_of_old(s: State, generation: int) -> Claim:
    return both(generation <= s.generation, either(is_starting(s), is_warm(s)), negate(s.runs[generation]))


def late_yet_taken(s: State, generation: int) -> State:
    return worker.stop(s)


def see_a_refusal(s: State) -> State:
    return replace(s, seen=Verdict.UNKNOWN, refusals=s.refusals + 1)


def see_a_new_start(s: State) -> State:
    t = worker.see_nothing(s)
    return replace(t, phase=ite(is_warm(s), WorkerPhase.STARTING, s.phase))


def may_revive(s: State) -> Claim:
    return either(is_starting(s), is_stopping(s))


def may_adopt_a_stranger(s: State) -> Claim:
    return either(is_starting(s), is_cold(s))


def finish_without_forgiving(s: State, job: Job) -> State:
    return replace(worker_world.finish(s, job), back_off=s.back_off)


def fail_without_an_end(s: State, demand: Demand, now: int) -> State:
    return replace(worker.give_up(s, demand, now), back_off=s.back_off + s.back_off + 1)


def lose_without_a_back_off(s: State) -> State:
    return replace(worker.lose(s), back_off=s.back_off)


def may_work_when_dead(s: State, job: Job, steps: int) -> Claim:
    return both(is_in_flight(s, job), steps >= 1, steps <= s.remaining[job])


def may_dispatch_anywhere(s: State, job: Job) -> Claim:
    return is_waiting(s, job)


FAULTS = {
    "spawn while starting": Fault("spawn", "never_spawn_unless_cold", may_spawn_while_starting),
    "two workers while starting": Fault("spawn", "never_two_workers", may_spawn_while_starting),
    "two starts at once": Fault("spawn", "never_two_workers", step=spawn_two),
    "spawn beside a stranger": Fault("spawn", "never_spawn_unless_cold", may_spawn_beside_a_stranger),
    "spawn before the back-off is over": Fault("spawn", "a_failed_start_backs_off_and_recovers", may_spawn_at_once),
    "cold before the stop is confirmed": Fault("confirm", "nothing_is_alive_in_cold", may_confirm_too_soon),
    "count only the queue as demand": Fault("reap", "never_reap_while_busy", may_reap_an_empty_queue),
    "take unknown demand for none": Fault("reap", "no_decision_rests_on_an_unknown", may_reap_in_ignorance),
    "reap a worker that starts": Fault("reap", "a_stop_has_a_reason", may_reap_while_starting),
    "reap one tick late": Fault("hold", "an_idle_worker_is_reaped_within_ttl_plus_one_tick", may_hold_at_the_ttl),
    "raise no alarm": Fault("hold", "trouble_raises_an_alarm", step=hold_in_silence),
    "idle from the start of the request": Fault(
        "serve", "the_idle_clock_starts_when_demand_ends", step=serve_from_its_start
    ),
    "a crash drops the running job": Fault("crash", "a_crash_loses_no_job", step=crash_and_drop_the_work),
    "a crash forgets the progress": Fault(
        "crash", "what_was_served_and_what_remains_are_the_work", step=crash_and_start_the_work_anew
    ),
    "a crash leaves work in flight": Fault(
        "crash", "work_is_in_flight_only_on_a_warm_worker", step=crash_and_leave_the_work
    ),
    "an old exit stops the new worker": Fault("crash", "a_stop_has_a_reason", may_crash_of_old),
    "a late event is taken": Fault("late", "a_late_event_of_an_old_worker_changes_nothing", step=late_yet_taken),
    "a time-out is a refusal": Fault("see_nothing", "an_unknown_probe_alone_changes_nothing", step=see_a_refusal),
    "a time-out is a new start": Fault(
        "see_nothing", "only_a_failure_moves_a_wanted_worker_back", step=see_a_new_start
    ),
    "a stopping worker is revived": Fault("become_ready", "a_stop_ends_in_cold", may_revive),
    "a stranger is adopted": Fault("become_ready", "nothing_is_adopted_in_cold", may_adopt_a_stranger),
    "the back-off is never reset": Fault(
        "finish", "a_failed_start_backs_off_and_recovers", step=finish_without_forgiving
    ),
    "the back-off grows for ever": Fault("give_up", "the_back_off_stays_within_its_bounds", step=fail_without_an_end),
    "a lost worker does not back off": Fault(
        "lose", "a_lost_worker_backs_off_unless_it_was_of_use", step=lose_without_a_back_off
    ),
    "the dead work": Fault("work", "work_progresses_only_on_a_warm_worker", may_work_when_dead),
    "dispatch to a worker that is not warm": Fault(
        "dispatch", "work_is_in_flight_only_on_a_warm_worker", may_dispatch_anywhere
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_obligation_that_should_notice_does(name: str) -> None:
    fault = FAULTS[name]
    found = counterexample(fault.planted(), fault.action, fault.breaks)
    assert found is not None, "no counterexample in a closed world"
    assert found.false, "the false part of the formula is not shown"
    assert found.history is not None, "no history of a small instance leads to it"


@pytest.mark.parametrize("name", list(FAULTS)[::4])
def test_no_solver_proves_it(name: str) -> None:
    fault = FAULTS[name]
    [obligation] = obligations(fault.planted(), fault.action, fault.breaks)
    assert ask_z3(obligation.text, 1).word != "unsat"
    assert ask_cvc5(obligation.text, 1).word != "unsat"


def test_a_tick_without_an_outcome_would_be_noticed() -> None:
    machine = replace(WORKER, outcomes=(Property(a_careless_tick_has_an_outcome, WORKER.outcomes[0].witness),))
    assert counterexample(machine, "always", "a_careless_tick_has_an_outcome") is not None


def a_careless_tick_has_an_outcome(s: State, demand: Demand, now: int) -> Claim:
    """At each tick of a warm worker it is used, reaped or left alone for less than its ttl."""
    return implies(
        both(is_warm(s), worker.is_a_tick(s, demand, now)),
        either(worker.may_serve(s, demand, now), worker.may_reap(s, demand, now), now - s.since < s.ttl),
    )


def test_the_instances_are_lives_of_the_specification() -> None:
    assert len({state.phase for state in worker_instances()}) == 3
    with pytest.raises(ValueError, match="not possible"):
        after(PATIENT, ("become_ready",))
