"""The executed specification of scheduler and policy, on every short history of small instances: its claims hold there,
come true there, and each is a claim that something breaks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from enum import Enum
from functools import cache
from typing import Any

import pytest

from model.prove.machines import AUTOSCALE, SCHEDULER, Machine
from model.prove.search import Step, arguments, search
from spec import autoscale, scheduler_outcomes
from spec.logic import Finite, Property, Table, negate
from spec.scheduler import free, is_queued, is_running

MACHINES = pytest.mark.parametrize("machine", [SCHEDULER, AUTOSCALE], ids=lambda machine: machine.name)
STATES = 80
"""Of each small instance, the nearest to its start."""


@cache
def steps(machine: Machine) -> list[Step]:
    """Every step within the histories, the shortest first."""
    return [
        history[-1] for first in machine.instances() for history in search(machine, [first], machine.numbers, STATES)
    ]


def states(machine: Machine) -> list[Any]:
    return [*machine.instances(), *dict.fromkeys(step.after for step in steps(machine))]


def is_asked(about: Property, step: Step) -> bool:
    return not about.about or step.action.name in about.about


def holds(about: Property, step: Step, after: Any) -> bool:
    """The claim of a step, had it led to the state `after`."""
    return bool(about.claim(step.before, after, *step.arguments[: bool(about.about)]))


@MACHINES
def test_every_instance_is_a_first_state(machine: Machine) -> None:
    assert all(machine.initial(first) for first in machine.instances())
    assert not all(machine.initial(step.after) for step in steps(machine))


@MACHINES
def test_every_action_and_every_witness_is_seen(machine: Machine) -> None:
    assert {step.action.name for step in steps(machine)} == {action.name for action in machine.actions}
    unseen = [
        witness.__name__
        for witness in machine.witnesses
        if not any(witness(step.before, step.after) for step in steps(machine))
    ]
    assert unseen == []


@MACHINES
def test_every_claim_of_a_state_holds_in_every_state(machine: Machine) -> None:
    claims = machine.inductive + machine.theorems
    assert [(each.name, state) for state in states(machine) for each in claims if not each.claim(state)] == []


@MACHINES
def test_every_claim_of_a_step_holds_of_every_step(machine: Machine) -> None:
    broken = [
        (each.name, str(step))
        for step in steps(machine)
        for each in machine.steps
        if is_asked(each, step) and not holds(each, step, step.after)
    ]
    assert broken == []


def broken_outcomes(machine: Machine, among: tuple[Property, ...]) -> set[str]:
    """Those of the claims on outcomes that are false of some event in some state."""
    return {
        each.name
        for state in states(machine)[::11]
        for each in among
        if not all(each.claim(state, *given) for given in arguments(each.claim, state, machine.numbers))
    }


@MACHINES
def test_every_event_has_one_outcome_in_every_state(machine: Machine) -> None:
    assert broken_outcomes(machine, machine.finite + machine.outcomes) == set()


# Each claim can be broken


def damaged(state: Any) -> Iterator[Any]:
    """The state with one number, flag or phase changed, be it in a table."""
    for field in fields(state):
        value = getattr(state, field.name)
        if isinstance(value, Table):
            for key, entry in value.entries.items():
                others = value.entries.values() if isinstance(entry, str) else changed(entry)
                yield from (replace(state, **{field.name: value.put(key, other)}) for other in others)
        elif not isinstance(value, Finite):
            yield from (replace(state, **{field.name: other}) for other in changed(value))


def changed(value: Any) -> Iterator[Any]:
    """Values of its kind; large numbers too, as nothing is one more than a job's work."""
    match value:
        case bool():
            yield not value
        case Enum():
            yield from type(value)
        case int():
            yield from (value - 1, value + 1, -1, 9)


@MACHINES
def test_one_change_of_some_state_breaks_every_claim(machine: Machine) -> None:
    unbroken = set(machine.inductive + machine.theorems)
    for state in states(machine)[::3]:
        for other in damaged(state):
            unbroken -= {each for each in unbroken if not each.claim(other)}
        if not unbroken:
            break
    assert {each.name for each in unbroken} == set()


@pytest.mark.parametrize("about", SCHEDULER.steps, ids=lambda about: about.name)
def test_one_change_of_what_follows_some_step_breaks_its_claim(about: Property) -> None:
    asked = [step for step in steps(SCHEDULER) if is_asked(about, step)][::7]
    assert any(not holds(about, step, after) for step in asked for after in damaged(step.after))


def never(*_: Any) -> bool:
    return False


def always(*_: Any) -> bool:
    return True


def nowhere(s: Any) -> Any:
    return Finite()


def any_free_slot(s: Any, job: Any, slot: Any) -> Any:
    return negate(s.busy[slot])


def is_anyone_running(s: Any, job: Any) -> Any:
    return is_running(s, job)


def is_anyone_queued(s: Any, job: Any) -> Any:
    return is_queued(s, job)


@pytest.mark.parametrize(
    ("word", "meaning", "notices"),
    [
        ("free", nowhere, "some_free_slot_is_the_lowest"),
        ("is_the_victim", never, "some_running_job_yields_first"),
        ("is_the_heir", never, "some_queued_job_inherits_first"),
        ("may_place", never, "every_admission_has_an_outcome"),
        ("may_preempt", never, "every_admission_has_an_outcome"),
        ("may_finish_with_an_heir", never, "every_completion_has_an_outcome"),
        ("may_finish_to_idle", never, "every_completion_has_an_outcome"),
        ("may_work", never, "every_report_of_progress_has_an_outcome"),
        ("may_cancel_with_an_heir", never, "every_cancel_has_an_outcome"),
        ("may_cancel_nothing", never, "every_cancel_has_an_outcome"),
        ("may_enqueue", always, "an_admission_has_only_one_outcome"),
        ("may_finish_to_idle", always, "a_completion_has_only_one_outcome"),
        ("may_refuse_the_steps", always, "a_report_of_progress_has_only_one_outcome"),
        ("may_cancel_queued", always, "a_cancel_has_only_one_outcome"),
        ("may_place", any_free_slot, "the_slot_is_unique"),
        ("is_the_victim", is_anyone_running, "the_victim_is_unique"),
        ("is_the_heir", is_anyone_queued, "the_heir_is_unique"),
    ],
)
def test_a_word_of_another_meaning_leaves_an_event_with_no_outcome_or_two(
    monkeypatch: pytest.MonkeyPatch, word: str, meaning: Any, notices: str
) -> None:
    monkeypatch.setattr(scheduler_outcomes, word, meaning)
    [about] = [each for each in SCHEDULER.finite + SCHEDULER.outcomes if each.name == notices]
    assert broken_outcomes(SCHEDULER, (about,)) == {notices}


@pytest.mark.parametrize("word", ["may_spawn", "may_serve", "may_reap", "may_hold"])
@pytest.mark.parametrize(
    ("meaning", "notices"), [(never, "every_view_has_a_decision"), (always, "a_view_has_only_one_decision")]
)
def test_a_decision_of_another_meaning_is_noticed(
    monkeypatch: pytest.MonkeyPatch, word: str, meaning: Any, notices: str
) -> None:
    monkeypatch.setattr(autoscale, word, meaning)
    assert broken_outcomes(AUTOSCALE, AUTOSCALE.outcomes) == {notices}


def test_the_free_slots_are_those_that_are_not_in_use() -> None:
    assert all(set(free(s)) == {slot for slot in s.slots if not s.busy[slot]} for s in states(SCHEDULER))
