"""The encoder check: at explored steps, the symbolic reading of guard, step and claims says what the executed one says.
The quantified terms themselves are taken, their bound variables instantiated with the members of the instance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

import z3

from model.prove import terms
from model.prove.machines import Machine
from model.prove.search import Step, sorts
from spec.logic import Action, Domain, Table

NUMBERS = range(-1, 12)
"""What a bound whole number is instantiated with; it must go beyond every count of the instances."""


_grounded: dict[tuple[int, str], tuple[Any, Any]] = {}
"""Claims written out for the members of an instance, by the number of the claim."""


@dataclass(frozen=True)
class Difference:
    """Where the two readings differ."""

    of: str
    step: Step
    executed: object
    symbolic: object

    def __str__(self) -> str:
        return f"{self.of} at {self.step}: executed {self.executed}, symbolic {self.symbolic}"


class Encoded:
    """One action of a machine in the symbolic reading, made once and compared at many steps."""

    def __init__(self, machine: Machine, action: Action) -> None:
        self._action = action
        self._hints = get_type_hints(machine.state)
        self._asked = [
            *((each, False) for each in machine.inductive + machine.theorems),
            *((each, True) for each in machine.steps if not each.about or action.name in each.about),
        ]
        self._s = terms.state(machine.state)
        self._given = terms.parameters(action.guard)
        with terms.definitions() as defined:
            self._guard = action.guard(self._s, *self._given)
            self._t = action.step(self._s, *self._given)
            self._claims = list(self._judged(self._s, self._t, self._given))
        self._defined = defined

    def differences(self, step: Step) -> Iterator[Difference]:
        """Every difference at an executed step, or at a choice of arguments where the guard forbids one."""
        kinds = [kind for _, kind in sorts(self._action.guard)]
        values = list(zip(self._given, step.arguments, kinds, strict=True))
        for name, kind in self._hints.items():
            values.append((getattr(self._s, name), getattr(step.before, name), kind))
        read = _world(step.before, self._hints, values, self._defined)
        guard = self._action.guard(step.before, *step.arguments)
        if read(self._guard) != guard:
            yield Difference("the guard", step, guard, not guard)
        for name, kind in self._hints.items():
            for executed, symbolic, at in _cells(getattr(step.after, name), getattr(self._t, name), kind):
                if not read(symbolic == terms.Term(_value(executed, at))):
                    yield Difference(name, step, executed, symbolic)
        holds = self._judged(step.before, step.after, list(step.arguments))
        for (each, _), executed, symbolic in zip(self._asked, holds, self._claims, strict=True):
            if read(symbolic) != executed:
                yield Difference(each.name, step, executed, not executed)

    def _judged(self, s: Any, t: Any, given: list[Any]) -> Iterator[Any]:
        for each, of_a_step in self._asked:
            yield each.claim(s, t, *given[: bool(each.about)]) if of_a_step else each.claim(t)


def _world(
    state: Any, hints: dict[str, Any], values: list[tuple[Any, Any, Any]], defined: list[Any]
) -> Callable[[Any], bool]:
    """How claims read where the symbolic values have these executed ones and the sorts the members of the state."""
    members = {str(z3.IntSort()): [z3.IntVal(number) for number in NUMBERS]}
    for name, kind in hints.items():
        if get_origin(kind) is Domain:
            sort = get_args(kind)[0]
            members[str(terms.sort_of(sort))] = [_value(each, sort) for each in getattr(state, name)]
    solver = z3.Solver()
    solver.add(*(z3.Distinct(*each) for each in members.values()))
    for symbolic, executed, kind in values:
        solver.add(*(cell.expr == _value(value, at) for value, cell, at in _cells(executed, symbolic, kind)))
    solver.add(*(_ground(equation, members) for equation in defined))
    if solver.check() != z3.sat:
        raise RuntimeError(f"no model of the executed state {state}")
    model = solver.model()
    world = str(sorted(members.items()))

    def read(claim: Any) -> bool:
        expression = terms.lift(claim)
        key = (expression.get_id(), world)
        if key not in _grounded:  # the expression is kept with it, or its number would be given to another
            _grounded[key] = (expression, _ground(expression, members))
        return bool(z3.is_true(model.eval(_grounded[key][1], model_completion=True)))

    return read


def _cells(executed: Any, symbolic: Any, kind: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Each single value of an executed field, its symbolic one, and its type."""
    if get_origin(kind) is Domain:
        return
    if get_origin(kind) is not Table:
        yield executed, symbolic, kind
        return
    key, value = get_args(kind)
    for each in executed.entries:
        yield executed[each], symbolic[terms.Term(_value(each, key))], value


def _value(executed: Any, kind: Any) -> Any:
    """The executed value of that type as an expression; a member of a sort is a constant with its name."""
    if kind in (int, bool) or isinstance(executed, Enum):
        return terms.lift(executed)
    return z3.Const(f"{kind.__name__}.{executed}", terms.sort_of(kind))


def _ground(expression: Any, members: dict[str, list[Any]]) -> Any:
    """The expression with every quantifier written out."""
    if z3.is_quantifier(expression):
        choices = members[str(expression.var_sort(0))]
        return z3.And(*(_ground(z3.substitute_vars(expression.body(), each), members) for each in choices))
    parts = expression.children()
    return expression.decl()(*(_ground(part, members) for part in parts)) if parts else expression


def check(machine: Machine, steps: list[Step]) -> Iterator[Difference]:
    """Every difference between the two readings at these steps."""
    encoded = {action.name: Encoded(machine, action) for action in machine.actions}
    for step in steps:
        yield from encoded[step.action.name].differences(step)
