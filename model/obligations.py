"""What has to be proved of a machine, each as one named query in SMT-LIB that must be unsatisfiable."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from model import terms
from model.machines import Machine
from spec.logic import Action, Property, negate

INITIALLY, ALWAYS = "initially", "always"
"""What stands for the action in an obligation of the initial state, and in one of every state."""


@dataclass(frozen=True)
class Obligation:
    """`action` keeps, starts or obeys the property `about`; `text` asks a solver for a case in which it does not."""

    machine: str
    action: str
    about: str
    sentence: str
    assumptions: tuple[str, ...]
    text: str

    @property
    def name(self) -> str:
        """What is claimed, in a few words."""
        return f"{self.machine}: {self.action} keeps {self.about}"

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def obligations(machine: Machine, action: str | None = None, about: str | None = None) -> Iterator[Obligation]:
    """Those of the machine: of the first state, of each action, then the theorems and outcomes. With the name of an
    action, `initially` or `always`, or of a property: its obligations alone."""

    def asked(properties: Iterable[Property], of: str) -> list[Property]:
        return [each for each in properties if about in (None, each.name) and (not each.about or of in each.about)]

    if action in (None, INITIALLY):
        yield from _initially(machine, asked(machine.lemmas + machine.always, INITIALLY))
    for each in machine.actions:
        if action in (None, each.name):
            yield from _of(machine, each, asked(machine.inductive, each.name), asked(machine.steps, each.name))
    if action in (None, ALWAYS):
        yield from _theorems(machine, asked(machine.theorems, ALWAYS))
        yield from _outcomes(machine, asked(machine.outcomes, ALWAYS))


def _initially(machine: Machine, asked: list[Property]) -> Iterator[Obligation]:
    s = terms.state(machine.state)
    premises = [machine.initial(s), *(each.claim(s) for each in machine.assumed)]
    for each in asked:
        yield _obligation(machine, INITIALLY, each, premises, each.claim(s))


def _of(machine: Machine, action: Action, kept: list[Property], obeyed: list[Property]) -> Iterator[Obligation]:
    s = terms.state(machine.state)
    arguments = terms.parameters(action.guard)
    with terms.definitions() as defined:
        guard = action.guard(s, *arguments)
        t = action.step(s, *arguments)
    before = {each: each.claim(s) for each in machine.inductive}
    premises = [*before.values(), guard, *map(terms.Term, defined)]
    for each in kept:
        claim = each.claim(t)
        untouched = terms.text(before[each]) == terms.text(claim)
        yield _obligation(machine, action.name, each, [before[each]] if untouched else premises, claim)
    for each in obeyed:
        yield _obligation(machine, action.name, each, premises, each.claim(s, t, *arguments[: bool(each.about)]))


def _theorems(machine: Machine, asked: list[Property]) -> Iterator[Obligation]:
    s = terms.state(machine.state)
    premises = [each.claim(s) for each in machine.inductive]
    for each in asked:
        yield _obligation(machine, ALWAYS, each, premises, each.claim(s))


def _outcomes(machine: Machine, asked: list[Property]) -> Iterator[Obligation]:
    s = terms.state(machine.state)
    premises = [each.claim(s) for each in machine.inductive + machine.finite]
    for each in asked:
        claim = each.claim(s, *terms.parameters(each.claim))
        yield _obligation(machine, ALWAYS, each, premises, claim, ("FINITE",))


def _obligation(
    machine: Machine, action: str, aim: Property, premises: list[object], claim: object, more: tuple[str, ...] = ()
) -> Obligation:
    assumptions = (*(each.name for each in machine.assumed), *more)
    header = f"""; {machine.name}: {action}, {aim.name}
; {aim.sentence}
; Satisfiable only by a counterexample; assuming {", ".join(assumptions)}.
"""
    text = header + terms.query([*premises, negate(claim)], "unsat")
    return Obligation(machine.name, action, aim.name, aim.sentence, assumptions, text)
