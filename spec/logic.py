"""The connectives that join claims, and the tables and domains they speak of.

Here they are executed on finite sets. The symbolic reading registers itself from outside; this file knows no solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

K = TypeVar("K")
K_co = TypeVar("K_co", covariant=True)
V = TypeVar("V")

Claim: TypeAlias = Any
"""A bool when executed, a term when proved."""


class Job:
    """The sort of jobs; no value is ever made of it."""


class Slot:
    """The sort of slots; no value is ever made of it."""


class Domain(Protocol[K_co]):
    """A set of members of one sort."""

    def __iter__(self) -> Iterator[K_co]: ...


class Finite(tuple[K, ...]):
    """A finite set, executed: its members in a fixed order."""

    __slots__ = ()


class Table(Generic[K, V]):
    """A finite function with a default outside its meaning. Immutable."""

    __slots__ = ("default", "entries")

    def __init__(self, entries: Mapping[K, V], default: V) -> None:
        self.entries = entries
        self.default = default

    def __getitem__(self, key: K) -> V:
        return self.entries.get(key, self.default)

    def put(self, key: K, value: V) -> Table[K, V]:
        """The same table but for one entry."""
        return Table({**self.entries, key: value}, self.default)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.entries == other.entries

    def __hash__(self) -> int:
        return hash(frozenset(self.entries.items()))

    def __repr__(self) -> str:
        return f"Table({dict(self.entries)!r})"


@singledispatch
def negate(claim: Claim) -> Claim:
    """The claim is false."""
    raise TypeError(f"{claim!r} is no claim: a comparison, or another connective, was expected")


@negate.register
def _(claim: bool) -> Claim:
    return not claim


@singledispatch
def ite(condition: Claim, then: Any, otherwise: Any) -> Any:
    """`then` where the condition holds, else `otherwise`; both are evaluated."""
    raise TypeError(f"{condition!r} is no claim: a comparison, or a connective, was expected")


@ite.register
def _(condition: bool, then: Any, otherwise: Any) -> Any:
    return then if condition else otherwise


def both(*claims: Claim) -> Claim:
    """All the claims hold."""
    joined: Claim = True
    for claim in claims:
        joined = claim if joined is True else False if joined is False else ite(joined, claim, False)
    return joined


def either(*claims: Claim) -> Claim:
    """At least one of the claims holds."""
    joined: Claim = False
    for claim in claims:
        joined = claim if joined is False else True if joined is True else ite(joined, True, claim)
    return joined


def implies(premise: Claim, conclusion: Claim) -> Claim:
    """The conclusion holds wherever the premise does."""
    return conclusion if premise is True else True if premise is False else ite(premise, conclusion, True)


def at_most_one(*claims: Claim) -> Claim:
    """No two of the claims hold."""
    return both(*(implies(claim, negate(either(False, *claims[place:]))) for place, claim in enumerate(claims, 1)))


@singledispatch
def where(domain: Any, claim: Callable[[Any], Claim]) -> Domain[Any]:
    """The members of which the claim holds."""
    raise TypeError(f"{domain!r} is no domain")


@where.register
def _(domain: Finite, claim: Callable[[Any], Claim]) -> Any:  # type: ignore[type-arg]
    return Finite(filter(claim, domain))


@singledispatch
def every(domain: Any, claim: Callable[[Any], Claim]) -> Claim:
    """The claim holds of each member."""
    raise TypeError(f"{domain!r} is no domain")


@every.register
def _(domain: Finite, claim: Callable[[Any], Claim]) -> Claim:  # type: ignore[type-arg]
    return all(map(claim, domain))


def some(domain: Any, claim: Callable[[Any], Claim]) -> Claim:
    """The claim holds of at least one member."""
    return negate(every(domain, lambda member: negate(claim(member))))


@singledispatch
def numbers(bound: Any, first: Any = 0) -> Any:
    """The whole numbers from `first` up to, not including, `bound`."""
    raise TypeError(f"{bound!r} is no whole number")


@numbers.register
def _(bound: int, first: int = 0) -> Any:
    return Finite(range(first, bound))


@singledispatch
def each(table: Any, domain: Any, value: Callable[[Any], Any]) -> Any:
    """The table with `value(key)` for each key of the domain; the rest as it was."""
    raise TypeError(f"{table!r} is no table")


@each.register
def _(table: Table, domain: Iterable[Any], value: Callable[[Any], Any]) -> Any:  # type: ignore[type-arg]
    return Table({**table.entries, **{key: value(key) for key in domain}}, table.default)


def sentence(function: Callable[..., Any]) -> str:
    """The first paragraph of its docstring, on one line: what a claim or a step says in English."""
    return " ".join((function.__doc__ or "").split("\n\n")[0].split())


@dataclass(frozen=True, slots=True)
class Action:
    """One kind of step: when it may happen, and what it does. Guard and step take the same arguments."""

    guard: Callable[..., Claim]
    step: Callable[..., Any]

    @property
    def name(self) -> str:
        """The name of the step."""
        return self.step.__name__


@dataclass(frozen=True, slots=True)
class Property:
    """A claim, and the witness without which it would be empty talk: some step that makes its premise true.

    Of a state, the claim takes the state; of a step, the states before and after. One that is `about` some actions
    takes their first argument too, and its witness is that one of them happens.
    """

    claim: Callable[..., Claim]
    witness: Callable[..., Claim] | None = None
    about: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the claim, which is its ID."""
        return self.claim.__name__

    @property
    def sentence(self) -> str:
        """The claim in English."""
        return sentence(self.claim)
