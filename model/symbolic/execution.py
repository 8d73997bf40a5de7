"""Runs a Python function on symbolic whole numbers, once for each path through it, until every path is known.

A comparison is a fork: the run goes one way, and is repeated for the other if some input leads there. What was found of
a path is believed once an input that takes it, given to the function as it is, ends the same way.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import CodeType
from typing import Any, TypeAlias

import z3

from model.prove.terms import Term, lift
from model.symbolic.guard import raised, run
from model.symbolic.subset import Unfollowable, followed, start_of
from model.symbolic.symbols import Opaque, Symbol, Word, here
from spec.logic import Claim

PATHS, FORKS = 256, 64
"""The most paths through a function, and the most forks on one path."""
BOUNDS = (1, 2, 10, 100, 10_000)
"""How far from 0 a witness is looked for, before it may be any number."""
Z3_UNITS = 4_000_000
"""Resource limit of one question."""

Sample: TypeAlias = Mapping[str, int]
Arguments: TypeAlias = Callable[[Callable[[str], Any]], tuple[Any, ...]]
"""Makes the arguments of the function, given what makes the number of a name."""

_OPPOSITE: dict[int, Callable[[Any, Any], Any]] = {
    z3.Z3_OP_LT: operator.ge,
    z3.Z3_OP_GE: operator.lt,
    z3.Z3_OP_GT: operator.le,
    z3.Z3_OP_LE: operator.gt,
    z3.Z3_OP_EQ: operator.ne,
    z3.Z3_OP_DISTINCT: operator.eq,
}


@dataclass(frozen=True)
class Path:
    """One way through the function: what holds of the inputs that take it, a `sample` of them, and the end: the
    `result`, whose symbolic numbers are terms, or the `error` with its line."""

    conditions: tuple[Claim, ...]
    sample: Sample
    result: Any
    error: str = ""


class Explorer:
    """Finds the paths of functions, and answers questions about their inputs.

    `definitions` say what the quotients and remainders are. Whatever the inputs, there is one of each that fits.
    """

    def __init__(self) -> None:
        self.definitions: list[Claim] = []
        self._inputs: dict[str, Any] = {}
        self._texts: list[str] = []
        self._quotients: dict[Any, tuple[Symbol, Symbol]] = {}
        self._given: list[Claim] = []
        self._prefix: list[Any] = []
        self._taken: list[Any] = []
        self._untaken: list[list[Any]] = []

    def number(self, name: str) -> Term:
        """A number that is an input."""
        return Term(self._inputs.setdefault(name, z3.Int(name)))

    def flag(self, name: str) -> Term:
        """A claim that is an input: true or false."""
        return Term(self._inputs.setdefault(name, z3.Bool(name)))

    def symbol(self, name: str) -> Symbol:
        """A number that is an input, as the function gets it."""
        return Symbol(self.number(name).expr, self)

    def text(self, code: int) -> str:
        """What the number of a Word stands for; one that stands for no text of the code has one of its own."""
        known = self._texts and not 0 <= code < len(self._texts)
        return f"{''.join(self._texts)}#{code}" if known else (self._texts or {code: ""})[code]

    def fixed(self, sample: Sample) -> list[Claim]:
        """A claim for each input: that it is the one of the sample."""
        known = [(each, sample[name]) for name, each in self._inputs.items() if name in sample]
        return [Term(each == value if z3.is_int(each) else each if value else z3.Not(each)) for each, value in known]

    def possible(self, claims: Iterable[Claim]) -> bool:
        """Some input satisfies all the claims. Raises Unfollowable if the solver cannot tell."""
        return self._model(claims) is not None

    def witness(self, claims: Iterable[Claim]) -> Sample | None:
        """An input near 0 that satisfies all the claims; None if there is none. Raises Unfollowable as above."""
        claims = list(claims)
        numbers = [each for each in self._inputs.values() if z3.is_int(each)]
        for bound in BOUNDS:
            with suppress(Unfollowable):
                model = self._model([*claims, *(z3.And(-bound <= each, each <= bound) for each in numbers)])
                if model is not None:
                    return self._sample(model)
        model = self._model(claims)
        return None if model is None else self._sample(model)

    def smallest(self, claims: Iterable[Claim]) -> Sample | None:
        """The smallest input that satisfies all the claims; None if there is none. No number is negative if that will
        do, and a flag is true if that will do. Then all numbers are as near to 0 as the farthest lets them be, and each
        of them, the last one first, as the ones behind it let it be. Where the solver cannot tell, it is any input.
        Raises Unfollowable as above."""
        claims = list(claims)
        numbers = [each for each in reversed(self._inputs.values()) if z3.is_int(each)]
        flags = [each for each in self._inputs.values() if not z3.is_int(each)]
        farthest = z3.Int("the farthest number")
        solver = z3.Optimize()
        solver.set("priority", "lex")
        solver.set("rlimit", Z3_UNITS)
        solver.add(*self._with_definitions([lift(claim) for claim in claims]))
        solver.add(*(z3.And(-farthest <= each, each <= farthest) for each in numbers))
        for wish in (z3.And(*(each >= 0 for each in numbers)), *flags):
            solver.minimize(z3.If(wish, 0, 1))
        for distance in (farthest, *(z3.If(each < 0, -each, each) for each in numbers)):
            solver.minimize(distance)
        answer = solver.check()
        if answer == z3.unknown:
            return self.witness(claims)
        return self._sample(solver.model()) if answer == z3.sat else None

    def paths(self, function: Callable[..., Any], arguments: Arguments, premises: Iterable[Claim]) -> tuple[Path, ...]:
        """Every path that some input takes of which the premises hold. Raises Unfollowable."""
        codes = followed(function)
        self._given = list(premises)
        found: list[Path] = []
        pending: list[list[Any]] = [[]]
        while pending:
            if len(found) == PATHS:
                raise Unfollowable(start_of(function), f"more than {PATHS} paths lead through it")
            self._prefix, self._taken, self._untaken = pending.pop(), [], []
            found.append(self._path(function, arguments, codes))
            pending += self._untaken
        return tuple(found)

    def _path(self, function: Callable[..., Any], arguments: Arguments, codes: frozenset[CodeType]) -> Path:
        try:
            result, error = run(function, arguments(self.symbol), codes)
        except Unfollowable as unfollowable:
            raise self._as_for_example(unfollowable, function, arguments, codes) from None
        if len(self._taken) < len(self._prefix):
            raise Unfollowable(start_of(function), "it takes other decisions when it is run again")
        result, reached = _in_terms(result, start_of(function)), [*self._given, *self._taken]
        sample = self.witness(reached)
        if sample is None:
            raise Unfollowable(start_of(function), "no input was found that takes one of its paths")
        real, real_error = run(function, arguments(sample.__getitem__), codes)
        at = [*reached, *self.fixed(sample)]
        if raised(error, codes) != raised(real_error, codes) or not self._equal(result, real, at):
            raise Unfollowable(start_of(function), f"the run for {dict(sample)} itself ends otherwise")
        said = f"{raised(error, codes)[1]}: {type(real_error).__name__}: {real_error}" if real_error else ""
        return Path(tuple(map(Term, self._taken)), sample, _plain(result, real), said)

    def _as_for_example(
        self, unfollowable: Unfollowable, function: Callable[..., Any], arguments: Arguments, codes: frozenset[CodeType]
    ) -> Unfollowable:
        """The same with an input that leads there, and what becomes of it if it is an error."""
        try:
            sample = self.witness([*self._given, *self._taken])
            if sample is None:
                return unfollowable
            _, error = run(function, arguments(sample.__getitem__), codes)
        except Unfollowable:
            return unfollowable
        raises = f"; it raises {error!r}" if error else ""
        return Unfollowable(unfollowable.where, f"{unfollowable.why} (reached by {dict(sample)}{raises})")

    def _sample(self, model: Any) -> Sample:
        return {name: _value(model.eval(each, True)) for name, each in self._inputs.items()}

    def _equal(self, result: Any, real: Any, at: list[Claim]) -> bool:
        if isinstance(result, Term):
            return type(real) is int and not self.possible([*at, result != real])
        if type(result) is tuple and type(real) is tuple and len(result) == len(real):
            return all(self._equal(one, other, at) for one, other in zip(result, real, strict=True))
        return type(result) is type(real) and (not isinstance(result, int) or bool(result == real))

    def _model(self, claims: Iterable[Claim]) -> Any:
        solver = z3.Solver()
        solver.set("rlimit", Z3_UNITS)
        solver.add(*self._with_definitions([lift(claim) for claim in claims]))
        answer = solver.check()
        if answer == z3.unknown:
            raise Unfollowable(here(), "the solver cannot tell which inputs lead on from here")
        return solver.model() if answer == z3.sat else None

    def _with_definitions(self, claims: list[Any]) -> list[Any]:
        """The claims, and what defines the quotients and remainders that they speak of."""
        text = "".join(claim.sexpr() for claim in claims) if self.definitions else ""
        for parts, definition in zip(
            reversed(self._quotients.values()), map(lift, reversed(self.definitions)), strict=True
        ):  # a later one may be made of an earlier one, but not the other way round
            if any(part.expr.sexpr() in text for part in parts):
                text += definition.sexpr()
                claims.append(definition)
        return claims

    # What symbols ask

    def fork(self, condition: Any) -> bool:
        """The truth of the condition on the path that is being run."""
        if not any(letter.isalpha() or letter in "_|" for letter in condition.sexpr()):  # it has no names
            return bool(z3.is_true(z3.simplify(condition)))
        left, right = condition.children()
        plain = right.as_long() if z3.is_int_value(right) else right  # two expressions may change sides in Z3's hands
        opposite = _OPPOSITE[condition.decl().kind()](left, plain)
        if len(self._taken) < len(self._prefix):
            way = self._prefix[len(self._taken)]
            if not (way.eq(condition) or way.eq(opposite)):
                raise Unfollowable(here(), "it takes other decisions when it is run again")
        elif len(self._taken) == FORKS:
            raise Unfollowable(here(), f"after {FORKS} decisions there is no end in sight")
        else:
            so_far = [*self._given, *self._taken]
            way = condition if self.possible([*so_far, condition]) else opposite
            if way is condition and self.possible([*so_far, opposite]):
                self._untaken.append([*self._taken, opposite])
        self._taken.append(way)
        return bool(way.eq(condition))

    def divide(self, a: Any, b: Any) -> tuple[Symbol, Symbol]:
        """Quotient and remainder as Python has them: rounded down, and with the sign of the divisor."""
        if self.fork(b == 0):
            raise ZeroDivisionError
        if self.fork(b < 0):
            quotient, remainder = self._positive(-a, z3.simplify(-b) if z3.is_int_value(b) else -b)
            return quotient, -remainder
        return self._positive(a, b)

    def _positive(self, a: Any, b: Any) -> tuple[Symbol, Symbol]:
        key = (a.sexpr(), b.sexpr())
        if key not in self._quotients:
            a_text, b_text = (words(each) if z3.is_const(each) else f"({words(each)})" for each in (a, b))
            names = [f"({a_text} // {b_text})", f"({a_text} % {b_text})"]
            if len(names[0]) > 80 or "..." in names[0]:
                names = [f"{kind} {len(self._quotients)}" for kind in ("quotient", "remainder")]
            q, r = map(z3.Int, names)
            self.definitions.append(Term(z3.Implies(b > 0, z3.And(a == b * q + r, r >= 0, r < b))))
            self._quotients[key] = Symbol(q, self), Symbol(r, self)
        return self._quotients[key]

    def code(self, text: str) -> int:
        """The number that stands for the text."""
        if text not in self._texts:
            self._texts.append(text)
        return self._texts.index(text)


def words(claim: Any) -> str:
    """A claim or a number as people write it."""
    expr = claim.expr if isinstance(claim, Term) else claim
    text = f"not {expr.arg(0)}" if z3.is_not(expr) else str(expr)
    return " ".join((expr.sexpr() if "..." in text else text).split()).replace(" == ", " = ")


def _plain(result: Any, real: Any) -> Any:
    """The result with the real one in place of whatever is neither a number nor a tuple of some."""
    if type(result) is tuple:
        return tuple(map(_plain, result, real))
    return result if isinstance(result, Term) else real


def _value(known: Any) -> int:
    return int(z3.is_true(known)) if z3.is_bool(known) else int(known.as_long())


def _in_terms(result: Any, where: str) -> Any:
    if type(result) in (Opaque, Word):
        raise Unfollowable(where, "it returns something that is no number")
    if type(result) is tuple:
        return tuple(_in_terms(part, where) for part in result)
    return Term(result.expr) if type(result) is Symbol else result
