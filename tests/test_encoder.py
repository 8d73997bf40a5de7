"""The two readings of the specification agree on explored states, and a fault of the encoder would be seen."""

from __future__ import annotations

from itertools import islice

import pytest

from model.prove.encoder import check
from model.prove.machines import AUTOSCALE, MACHINES, SCHEDULER, Machine
from model.prove.search import Step, arguments, search
from model.prove.terms import Term

EACH = 2


def some_steps(machine: Machine) -> list[Step]:
    """Steps of every action: possible ones, spread over the histories, and ones that the guard forbids."""
    found: dict[str, list[Step]] = {action.name: [] for action in machine.actions}
    for instance in machine.instances():
        for history in search(machine, [instance], machine.numbers, 60):
            found[history[-1].action.name].append(history[-1])
    taken = [step for steps in found.values() for step in steps[len(steps) // 3 :: len(steps) // EACH + 1][:EACH]]
    states = list(dict.fromkeys(step.after for step in taken))
    for action in machine.actions:
        forbidden = (
            Step(action, given, state, action.step(state, *given))
            for state in states[::3]
            for given in arguments(action.guard, state, machine.numbers)
            if not action.guard(state, *given)
        )
        taken += islice(forbidden, 1)
    return taken


@pytest.mark.parametrize("name", MACHINES)
def test_the_readings_agree(name: str) -> None:
    steps = some_steps(MACHINES[name])
    assert {step.action.name for step in steps} == {action.name for action in MACHINES[name].actions}
    assert [str(each) for each in check(MACHINES[name], steps)] == []


def test_a_wrong_comparison_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Term, "__le__", Term.__lt__)
    differences = list(islice(check(AUTOSCALE, some_steps(AUTOSCALE)), 50))
    assert {"the guard", "the_view_is_in_its_domain"} & {each.of for each in differences}


def test_a_table_that_forgets_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.prove.terms.TermTable.put", lambda table, _key, _value: table)
    steps = [step for step in some_steps(SCHEDULER) if step.action.name == "cancel_queued"]
    assert {"phase", "seat"} & {each.of for each in check(SCHEDULER, steps)}
