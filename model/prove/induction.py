"""Why an obligation fails: the smallest state, action and state in which it does, found in a closed world, read as
values, and tried again on the executed specification before anybody is shown it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

from model.prove import terms
from model.prove.explain import Part, explain
from model.prove.machines import Machine
from model.prove.obligations import ALWAYS, INITIALLY
from model.prove.search import Step, search, sorts
from model.prove.words import words
from spec.logic import Action, Domain, Finite, Job, Property, Table, negate

WORLDS = [terms.Scope(jobs, others, 4) for jobs, others in ((1, 1), (2, 1), (3, 1), (3, 2), (4, 2))]
SIZES = (1, 2, 4, 8, 16)
"""Counterexamples are sought in the smaller worlds first, and there with the smaller numbers."""
HISTORIES = 700
"""States of each small instance that are searched for a history that leads to the fault."""


@dataclass(frozen=True)
class Counterexample:
    """A case in which every claim of the induction holds before, and `about` does not after.

    `history`: a shortest way from a first state to a step that breaks it, if small instances have one; then it is a
    fault. Otherwise it was not reached there, and a lemma may be missing.
    """

    machine: str
    action: str
    about: str
    sentence: str
    arguments: tuple[tuple[str, Any], ...]
    before: Any
    after: Any
    false: tuple[Part, ...]
    history: tuple[Step, ...] | None

    def lines(self) -> Iterable[str]:
        """For people."""
        told = ", ".join(f"{name} = {value!r}" for name, value in self.arguments)
        yield f"counterexample to induction: {self.machine}, {self.action}({told}) breaks {self.about}"
        yield f"  {self.sentence}"
        yield from ("  before:", *words(self.before))
        if self.after is not self.before:
            yield from ("  after:", *words(self.after, self.before))
        yield from (f"  {part}" for part in self.false)
        if self.history is None:
            yield "  Not reached within small instances: a lemma may be missing."
        else:
            yield "  Reached, so it is a fault; a shortest history:"
            yield from (f"    {place}. {step}" for place, step in enumerate(self.history, 1))


def counterexample(machine: Machine, action: str, about: str) -> Counterexample | None:
    """The smallest case in which the action breaks the property; None if no closed world has one."""
    aim = next(each for each in machine.properties if each.name == about)
    acting = next((each for each in machine.actions if each.name == action), None)
    for world in WORLDS:
        for most in SIZES:
            with terms.closed(world), terms.definitions() as defined:
                found = _find(machine, acting, action, aim, most, defined)
            if found is not None:
                return _told(machine, acting, action, aim, *found)
    return None


def _find(
    machine: Machine, acting: Action | None, action: str, aim: Property, most: int, defined: list[Any]
) -> tuple[Any, list[Any]] | None:
    s = terms.state(machine.state)
    given = terms.parameters(acting.guard if acting else aim.claim) if acting or aim in machine.outcomes else []
    premises = [each.claim(s) for each in _premises(machine, action)]
    if acting:
        premises.append(acting.guard(s, *given))
    if action == INITIALLY:
        premises.append(machine.initial(s))
    claim = aim.claim(*_subjects(machine, acting, aim, s, given))
    hints = get_type_hints(machine.state)
    cells = [
        getattr(s, name)[each] for name, kind in hints.items() if get_origin(kind) is Table for each in _keys(kind)
    ]
    numbers = [each for each in [*vars(s).values(), *given, *cells] if terms.is_number(each)]
    read = terms.find([*premises, negate(claim), *defined], numbers, most)
    if read is None:
        return None
    values = {field.name: _value(read, getattr(s, field.name), hints[field.name]) for field in fields(machine.state)}
    kinds = sorts(acting.guard if acting else aim.claim)
    return machine.state(**values), [_value(read, each, kind) for each, (_, kind) in zip(given, kinds, strict=False)]


def _told(
    machine: Machine, acting: Action | None, action: str, aim: Property, before: Any, given: list[Any]
) -> Counterexample:
    after = acting.step(before, *given) if acting else before
    subjects = _subjects(machine, acting, aim, before, given)
    holds = [each.claim(before) for each in _premises(machine, action)]
    if not all(holds) or (acting and not acting.guard(before, *given)) or aim.claim(*subjects):
        raise RuntimeError(f"the two readings of {action} and {aim.name} differ on {before} with {given}")
    names = [name for name, _ in sorts(acting.guard if acting else aim.claim)]
    return Counterexample(
        machine.name,
        action,
        aim.name,
        aim.sentence,
        tuple(zip(names, given, strict=False)),
        before,
        after,
        tuple(explain(aim.claim, *subjects)),
        _history(machine, action, aim),
    )


def _premises(machine: Machine, action: str) -> tuple[Property, ...]:
    if action == INITIALLY:
        return machine.assumed
    return machine.inductive + (machine.finite if action == ALWAYS else ())


def _subjects(machine: Machine, acting: Action | None, aim: Property, s: Any, given: list[Any]) -> list[Any]:
    """What the claim of the property is asked of."""
    if acting is None:
        return [s, *given]
    t = acting.step(s, *given)
    return [s, t, *given[: bool(aim.about)]] if aim in machine.steps else [t]


def _history(machine: Machine, action: str, aim: Property) -> tuple[Step, ...] | None:
    """A shortest history of the executed specification that ends in a step that breaks the property."""
    if aim in machine.outcomes or action == INITIALLY:
        return None

    def breaks(step: Step) -> bool:
        given = list(step.arguments)
        asked = not aim.about or step.action.name in aim.about
        return asked and not aim.claim(*_subjects(machine, step.action, aim, step.before, given))

    best: tuple[Step, ...] | None = None
    for instance in machine.instances():
        for history in search(machine, [instance], machine.numbers, HISTORIES):
            if best is not None and len(history) >= len(best):
                break
            if breaks(history[-1]):
                best = history
    return best


def _value(read: Callable[[Any], Any], symbolic: Any, kind: Any) -> Any:
    """The symbolic value of that type as the executed specification would have it."""
    if get_origin(kind) is Domain:
        return Finite(_member(get_args(kind)[0], place) for place in range(len(symbolic.members)))
    if get_origin(kind) is Table:
        key, value = get_args(kind)
        places = range(-2 * SIZES[-1], 4 * SIZES[-1]) if key is int else range(len(_keys(kind)))
        entries = {_member(key, place): _value(read, symbolic[terms.member(key, place)], value) for place in places}
        return Table(entries, next(iter(entries.values())))
    return _member(kind, read(symbolic))


def _keys(kind: Any) -> tuple[Any, ...]:
    """The keys of a table of that type, where they are the members of a closed sort."""
    key = get_args(kind)[0]
    return () if key is int else terms.domain_of(key).members or ()


def _member(kind: Any, place: Any) -> Any:
    """The member of a type at that place: a letter for a job, a number for a slot."""
    if kind is Job:
        return "ABCDEFGH"[place]
    return list(kind)[place] if isinstance(kind, type) and issubclass(kind, Enum) else place
