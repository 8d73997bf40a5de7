"""What has to be proved of a machine, each as one named query in SMT-LIB that must be unsatisfiable."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

import z3

from model import terms
from model.machines import Machine
from spec.logic import Action, Property


@dataclass(frozen=True)
class Obligation:
    """`action` keeps, starts or obeys `property`; `text` asks a solver for a case in which it does not."""

    machine: str
    action: str
    property: str
    sentence: str
    assumptions: tuple[str, ...]
    text: str

    @property
    def name(self) -> str:
        """What is claimed, in a few words."""
        return f"{self.machine}: {self.action} {'implies' if self.action == 'initially' else 'keeps'} {self.property}"

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def obligations(machine: Machine) -> Iterator[Obligation]:
    """Every obligation of the machine: the initial state, then action by action, then the theorems."""
    yield from _initially(machine)
    for action in machine.actions:
        yield from _of(machine, action)
    yield from _theorems(machine)


def _initially(machine: Machine) -> Iterator[Obligation]:
    s = terms.state(machine.state)
    premises = [machine.initial(s), *(each.claim(s) for each in machine.assumed)]
    for each in machine.lemmas + machine.always:
        yield _obligation(machine, "initially", each, premises, each.claim(s))


def _of(machine: Machine, action: Action) -> Iterator[Obligation]:
    s = terms.state(machine.state)
    arguments = terms.parameters(action)
    with terms.definitions() as defined:
        guard = action.guard(s, *arguments)
        t = action.step(s, *arguments)
    premises = [*(each.claim(s) for each in machine.inductive), guard, *map(terms.Term, defined)]
    for each in machine.inductive:
        yield _obligation(machine, action.name, each, premises, each.claim(t))
    for each in machine.steps:
        if not each.about or action.name in each.about:
            yield _obligation(machine, action.name, each, premises, each.claim(s, t, *arguments[: bool(each.about)]))


def _theorems(machine: Machine) -> Iterator[Obligation]:
    s = terms.state(machine.state)
    premises = [each.claim(s) for each in machine.inductive]
    for each in machine.theorems:
        yield _obligation(machine, "always", each, premises, each.claim(s))


def _obligation(machine: Machine, action: str, aim: Property, premises: list[object], claim: object) -> Obligation:
    solver = z3.Solver()
    solver.add(*map(terms.lift, premises), z3.Not(terms.lift(claim)))
    assumptions = tuple(each.name for each in machine.assumed)
    return Obligation(machine.name, action, aim.name, aim.sentence, assumptions, _renumbered(solver.sexpr()))


def _renumbered(text: str) -> str:
    """The same text with its bound names numbered in the order they come, so that it does not depend on the run."""
    seen: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return seen.setdefault(found[0], f"{found[1]}!{len(seen)}")

    return re.sub(r"\b([A-Za-z]\w*)!(\d+)", name, text)
