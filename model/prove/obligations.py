"""What has to be shown of a machine, each as one named query in SMT-LIB.

A proof is a query that must be unsatisfiable. Before the proofs come the witnesses, queries in a closed world that must
be satisfiable: each action is possible and each witness comes true where every claim holds, or the proofs say nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from model.prove import terms
from model.prove.machines import Machine
from spec.logic import Action, Claim, Property, both, either, negate, sentence

INITIALLY, ALWAYS, SOMETIMES = "initially", "always", "sometimes"
"""What stands for the action where it is the first state, every state, or any step."""
POSSIBLE = "is_possible"
WORLD = terms.Scope(jobs=4, others=2, width=4)
"""The closed world in which witnesses are sought."""


@dataclass(frozen=True)
class Obligation:
    """`action` keeps the property `about`, or makes the witness `about` true. A solver's answer to `text` must be
    `expected`."""

    machine: str
    action: str
    about: str
    sentence: str
    assumptions: tuple[str, ...]
    text: str
    expected: str = "unsat"

    @property
    def name(self) -> str:
        """What is claimed, in a few words."""
        return f"{self.machine}: {self.action} {'keeps' if self.expected == 'unsat' else '-'} {self.about}"

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def obligations(machine: Machine, action: str | None = None, about: str | None = None) -> Iterator[Obligation]:
    """Those of the machine: the witnesses, then the proofs of the first state, of each action, of the theorems and the
    outcomes. With the name of an action (or `initially`, `always`, `sometimes`) or of a property: its own alone."""

    def asked(properties: Iterable[Property], of: str) -> list[Property]:
        return [each for each in properties if about in (None, each.name) and (not each.about or of in each.about)]

    yield from _witnesses(machine, action, about)
    if action in (None, INITIALLY):
        yield from _initially(machine, asked(machine.lemmas + machine.always, INITIALLY))
    for each in machine.actions:
        if action in (None, each.name):
            yield from _of(machine, each, asked(machine.inductive, each.name), asked(machine.steps, each.name))
    if action in (None, ALWAYS):
        yield from _theorems(machine, asked(machine.theorems, ALWAYS))
        yield from _outcomes(machine, asked(machine.outcomes, ALWAYS))


def _witnesses(machine: Machine, action: str | None, about: str | None) -> Iterator[Obligation]:
    for each in machine.actions:
        if action in (None, each.name) and about in (None, POSSIBLE):
            yield _witness(
                machine, each.name, POSSIBLE, f"It may happen: {sentence(each.step)}", [each], lambda *_: True
            )
    for claim in machine.witnesses:
        if action in (None, SOMETIMES) and about in (None, claim.__name__):
            yield _witness(machine, SOMETIMES, claim.__name__, sentence(claim), machine.actions, claim)


def _witness(
    machine: Machine, action: str, about: str, said: str, actions: Sequence[Action], claim: Callable[..., Claim]
) -> Obligation:
    with terms.closed(WORLD), terms.definitions() as defined:
        s = terms.state(machine.state)
        steps = []
        for each in actions:
            arguments = terms.parameters(each.guard)
            steps.append(both(each.guard(s, *arguments), claim(s, each.step(s, *arguments))))
        claims = [*(each.claim(s) for each in machine.inductive), either(*steps), *map(terms.Term, defined)]
        text = f"; {machine.name}: {action}, {about}\n; {said}\n" + terms.query(claims, "sat")
    return Obligation(machine.name, action, about, said, (), text, "sat")


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
    premises = [*(before[each] for each in machine.assumed + machine.always), guard, *map(terms.Term, defined)]
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
        yield _obligation(machine, ALWAYS, each, premises, claim, ("FINITE",) if machine.finite else ())


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
