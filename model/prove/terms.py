"""The symbolic reading of `spec.logic`: claims as Z3 terms, domains as sorts, tables as arrays.

A term is no bool and no int: `if term:` raises, so a specification with Python control flow over claims cannot be
read wrongly, only not at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from functools import cache
from inspect import signature
from typing import Any, get_args, get_origin, get_type_hints

import z3

from spec import logic


@dataclass(frozen=True)
class Scope:
    """A closed world: so many jobs and members of each other sort, no interval longer than `width`."""

    jobs: int
    others: int
    width: int

    def members(self, kind: type) -> int:
        """How many members the sort has."""
        return self.jobs if kind is logic.Job else self.others


_scope: ContextVar[Scope | None] = ContextVar("scope", default=None)
_definitions: ContextVar[list[z3.BoolRef] | None] = ContextVar("definitions", default=None)


class Term:
    """A symbolic value: a claim, a number, a member of a sort."""

    __slots__ = ("expr",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expr: z3.ExprRef) -> None:
        self.expr = expr

    def __bool__(self) -> bool:
        raise TypeError("a symbolic claim has no truth value: join claims with both, either, implies, negate, ite")

    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        return Term(self.expr == self._like(other))

    def __ne__(self, other: object) -> Term:  # type: ignore[override]
        return Term(self.expr != self._like(other))

    def __lt__(self, other: object) -> Term:
        return Term(self._int() < self._like(other))

    def __le__(self, other: object) -> Term:
        return Term(self._int() <= self._like(other))

    def __gt__(self, other: object) -> Term:
        return Term(self._int() > self._like(other))

    def __ge__(self, other: object) -> Term:
        return Term(self._int() >= self._like(other))

    def __add__(self, other: object) -> Term:
        return Term(self._int() + self._like(other))

    def __radd__(self, other: object) -> Term:
        return Term(self._like(other) + self._int())

    def __sub__(self, other: object) -> Term:
        return Term(self._int() - self._like(other))

    def __rsub__(self, other: object) -> Term:
        return Term(self._like(other) - self._int())

    def __mul__(self, other: object) -> Term:
        return Term(self._int() * self._like(other))

    def __rmul__(self, other: object) -> Term:
        return Term(self._like(other) * self._int())

    def __repr__(self) -> str:
        return f"Term({self.expr})"

    def _int(self) -> Any:
        if self.expr.sort() != z3.IntSort():
            raise TypeError(f"{self.expr} is no number")
        return self.expr

    def _like(self, other: object) -> Any:
        lifted = lift(other)
        if lifted.sort() != self.expr.sort():
            raise TypeError(f"{other!r} and {self.expr} are of different sorts")
        return lifted


class TermTable:
    """A symbolic table: a Z3 array."""

    __slots__ = ("array",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: z3.ArrayRef) -> None:
        self.array = array

    def __getitem__(self, key: object) -> Term:
        return Term(z3.Select(self.array, lift(key)))

    def put(self, key: object, value: object) -> TermTable:
        """The same table but for one entry."""
        return TermTable(z3.Store(self.array, lift(key), lift(value)))

    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        if not isinstance(other, TermTable):
            raise TypeError(f"{other!r} is no symbolic table")
        return Term(self.array == other.array)


class TermDomain:
    """All members of a sort of which `claim` holds; in a closed world, those among `members`."""

    __slots__ = ("claim", "members", "sort")

    def __init__(
        self,
        sort: z3.SortRef,
        claim: Callable[[Term], logic.Claim] = lambda _: True,
        members: tuple[Term, ...] | None = None,
    ) -> None:
        self.sort = sort
        self.claim = claim
        self.members = members


@contextmanager
def closed(scope: Scope) -> Iterator[None]:
    """Inside the block every sort of the specification is finite and every quantifier is written out."""
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)


def sort_of(kind: Any) -> z3.SortRef:
    """The Z3 sort of a Python type of the specification."""
    if kind in (int, bool):
        return z3.IntSort() if kind is int else z3.BoolSort()
    if get_origin(kind) is logic.Table:
        return z3.ArraySort(*map(sort_of, get_args(kind)))
    scope = _scope.get()
    return _named_sort(kind, None if scope is None or issubclass(kind, Enum) else scope.members(kind))


@cache
def _named_sort(kind: type, size: int | None) -> z3.SortRef:
    if issubclass(kind, Enum):
        return z3.EnumSort(kind.__name__, [str(member) for member in kind])[0]
    if size is None:
        return z3.DeclareSort(kind.__name__)
    return z3.EnumSort(f"{kind.__name__}{size}", [f"{kind.__name__}{size}.{number}" for number in range(size)])[0]


def domain_of(kind: type) -> TermDomain:
    """All members of a sort of the specification."""
    sort: Any = sort_of(kind)
    scope = _scope.get()
    if scope is None:
        return TermDomain(sort)
    return TermDomain(sort, members=tuple(Term(sort.constructor(number)()) for number in range(scope.members(kind))))


def lift(value: object) -> Any:
    """The Z3 expression of a symbolic or a plain value."""
    match value:
        case Term():
            return value.expr
        case z3.ExprRef():
            return value
        case TermTable():
            return value.array
        case bool():
            return z3.BoolVal(value)
        case Enum():
            sort: Any = sort_of(type(value))
            return sort.constructor(list(type(value)).index(value))()
        case int():
            return z3.IntVal(value)
    raise TypeError(f"{value!r} has no symbolic reading: expected a term, a bool, an int or an enum member")


def constant(kind: Any, name: str) -> Any:
    """A fresh symbolic value of a type of the specification."""
    if get_origin(kind) is logic.Domain:
        return domain_of(get_args(kind)[0])
    made = z3.Const(name, sort_of(kind))
    return TermTable(made) if get_origin(kind) is logic.Table else Term(made)


def state(kind: type, name: str = "s") -> Any:
    """A symbolic state: each field of the dataclass an unknown of its own, `s.phase` and so on."""
    return kind(**{field: constant(hint, f"{name}.{field}") for field, hint in get_type_hints(kind).items()})


def parameters(function: Callable[..., Any]) -> list[Any]:
    """A symbolic value for each parameter of a guard or claim behind the state."""
    hints = get_type_hints(function)
    return [constant(hints[name], name) for name in list(signature(function).parameters)[1:]]


@contextmanager
def definitions() -> Iterator[list[z3.BoolRef]]:
    """Collects what has to hold beside the claims made inside the block: the equations of the tables that `each` makes,
    and in a closed world that no interval is too long."""
    found: list[z3.BoolRef] = []
    token = _definitions.set(found)
    try:
        yield found
    finally:
        _definitions.reset(token)


def is_number(value: object) -> bool:
    """Whether it is a symbolic whole number."""
    return isinstance(value, Term) and bool(value.expr.sort() == z3.IntSort())


def member(kind: type, place: int) -> Any:
    """The member of a closed sort at that place; a whole number is its own place."""
    if kind is int:
        return place
    sort: Any = sort_of(kind)
    return Term(sort.constructor(place)())


def find(claims: list[Any], numbers: list[Any], most: int) -> Callable[[Term], Any] | None:
    """A case in which the claims hold and no number in `numbers` is beyond `most` in size: how each term reads in it.
    A member of a closed sort reads as its place in the sort. None if there is no such case, or none was found in time.
    """
    solver = z3.Solver()
    solver.set("timeout", 10_000)
    solver.add(*map(lift, claims), *(lift(logic.both(number >= -most, number <= most)) for number in numbers))
    if solver.check() != z3.sat:
        return None
    case = solver.model()
    return lambda term: _read(case.eval(term.expr, model_completion=True))


def _read(value: Any) -> Any:
    if z3.is_int_value(value):
        return value.as_long()
    if z3.is_bool(value):
        return z3.is_true(value)
    sort = value.sort()
    return next(place for place in range(sort.num_constructors()) if z3.eq(sort.constructor(place)(), value))


def text(claim: object) -> str:
    """The claim in SMT-LIB, the same on every run."""
    return _renumbered(lift(claim).sexpr())


def query(claims: list[Any], expected: str) -> str:
    """The question whether the claims can hold together, as an SMT-LIB 2.6 file; `expected` is "sat" or "unsat"."""
    solver = z3.Solver()
    solver.add(*map(lift, claims))
    header = f"(set-info :smt-lib-version 2.6)\n(set-logic ALL)\n(set-info :status {expected})\n"
    return f"{header}{_renumbered(solver.sexpr())}(check-sat)\n"


def _renumbered(text: str) -> str:
    """The same text with its bound names numbered in the order they come, so that it does not depend on the run."""
    seen: dict[str, str] = {}

    def name(found: re.Match[str]) -> str:
        return seen.setdefault(found[0], f"{found[1]}!{len(seen)}")

    return re.sub(r"\b([A-Za-z]\w*)!(\d+)", name, text)


def _define(equation: Any) -> None:
    found = _definitions.get()
    if found is None:
        raise RuntimeError("a whole-table update, or an interval in a closed world, needs `with definitions()`")
    found.append(lift(equation))


@logic.negate.register
def _(claim: Term) -> Term:
    return Term(z3.Not(claim.expr))


@logic.ite.register
def _(condition: Term, then: Any, otherwise: Any) -> Any:
    if not z3.is_bool(condition.expr):
        raise TypeError(f"{condition.expr} is no claim")
    if otherwise is False:
        return Term(z3.And(condition.expr, lift(then)))
    if otherwise is True:
        return Term(z3.Implies(condition.expr, lift(then)))
    if then is True:
        return Term(z3.Or(condition.expr, lift(otherwise)))
    chosen = z3.If(condition.expr, lift(then), lift(otherwise))
    return TermTable(chosen) if z3.is_array(chosen) else Term(chosen)


@logic.where.register
def _(domain: TermDomain, claim: Callable[[Any], Any]) -> Any:
    return TermDomain(domain.sort, lambda member: logic.both(domain.claim(member), claim(member)), domain.members)


@logic.every.register
def _(domain: TermDomain, claim: Callable[[Any], Any]) -> Any:
    if domain.members is not None:
        return logic.both(True, *(logic.implies(domain.claim(each), claim(each)) for each in domain.members))
    member = z3.FreshConst(domain.sort, domain.sort.name().lower())
    body = logic.implies(domain.claim(Term(member)), claim(Term(member)))
    return Term(z3.ForAll([member], lift(body)))


@logic.numbers.register
def _(bound: Term, first: Any = 0) -> TermDomain:
    scope = _scope.get()
    if scope is None:
        return TermDomain(z3.IntSort(), lambda n: logic.both(n >= first, n < bound))
    _define(bound - first <= scope.width)
    members = tuple(Term(lift(first + offset)) for offset in range(scope.width))
    return TermDomain(z3.IntSort(), lambda n: n < bound, members)


@logic.each.register
def _(table: TermTable, domain: TermDomain, value: Callable[[Any], Any]) -> TermTable:
    if domain.members is not None:
        for key in domain.members:
            table = logic.ite(domain.claim(key), table.put(key, value(key)), table)
        return table
    made = TermTable(z3.FreshConst(table.array.sort(), "each"))
    key = Term(z3.FreshConst(domain.sort, "key"))
    _define(z3.ForAll([key.expr], made[key].expr == lift(logic.ite(domain.claim(key), value(key), table[key]))))
    return made
