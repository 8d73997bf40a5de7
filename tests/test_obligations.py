"""Every query of the specification as a test of its own, put to both solvers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from model.prove.machines import AUTOSCALE, MACHINES
from model.prove.obligations import Obligation, obligations
from model.prove.solvers import SOLVERS
from model.steps import required
from spec.autoscale import Decision, State
from spec.logic import Claim, Property, negate

WANTED = [(machine.name, *query) for machine in MACHINES.values() for query in required(machine)]
"""Machine, action and property, by the definition of the machine alone."""


@cache
def generated() -> dict[tuple[str, str, str], Obligation]:
    """Those that the suite asks."""
    each = (obligation for machine in MACHINES.values() for obligation in obligations(machine))
    return {(one.machine, one.action, one.about): one for one in each}


def test_the_queries_are_those_that_the_machines_need() -> None:
    assert set(generated()) == set(WANTED)
    assert len(WANTED) == len(set(WANTED))


@pytest.mark.parametrize(("machine", "action", "about"), WANTED, ids=["-".join(each) for each in WANTED])
def test_both_solvers_say_what_is_expected(machine: str, action: str, about: str) -> None:
    obligation = generated()[machine, action, about]
    said = {name: ask(obligation.text, 1).word for name, (_, ask) in SOLVERS.items()}
    assert said == dict.fromkeys(SOLVERS, obligation.expected), obligation.sentence


def nothing_is_ever_started(s: State) -> Claim:
    """No decision is SPAWN."""
    return negate(s.decision == Decision.SPAWN)


def test_a_claim_that_does_not_hold_is_not_taken_for_proved() -> None:
    machine = replace(AUTOSCALE, always=(*AUTOSCALE.always, Property(nothing_is_ever_started)))
    (obligation,) = obligations(machine, "spawn", "nothing_is_ever_started")
    assert [ask(obligation.text, 1).word for _, ask in SOLVERS.values()] == ["sat", "sat"]
