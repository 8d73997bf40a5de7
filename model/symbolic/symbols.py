"""Values that are not known: what a function under symbolic execution gets in place of its arguments.

A comparison of symbolic numbers answers with a plain bool, which the explorer decides. All that has no symbolic answer
raises Unfollowable with the line that asked.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn, Protocol

from model.prove.terms import lift
from model.symbolic.subset import Unfollowable, place


class World(Protocol):
    """What decides the comparisons."""

    def fork(self, condition: Any) -> bool:
        """The truth of the condition on the path that is being run."""

    def divide(self, a: Any, b: Any) -> tuple[Symbol, Symbol]:
        """Quotient and remainder of two expressions."""

    def code(self, text: str) -> int:
        """The number that stands for the text."""


def here() -> str:
    """The line that is being run, outside this file and the explorer."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("model.symbolic"):
        frame = frame.f_back
    return place(frame.f_code.co_filename, frame.f_lineno) if frame is not None else "?"


def _refused(why: str) -> Any:
    def refuse(*_: object) -> NoReturn:
        raise Unfollowable(here(), why)

    return refuse


def _number(value: object) -> Any:
    """The expression of a symbolic number, or the plain number; None for what is neither."""
    if type(value) is Symbol:
        return value.expr
    if isinstance(value, float | complex):
        raise Unfollowable(here(), "a float meets a symbolic number; whole numbers were expected")
    if not isinstance(value, int):
        return None
    if any(getattr(type(value), name) is not getattr(int, name) for name in _OPERATORS):
        raise Unfollowable(here(), "a number with operators of its own; a plain int was expected")
    return int(value)


def _compared(compare: Callable[[Any, Any], Any]) -> Any:
    def ask(self: Symbol, other: object) -> Any:
        there = _number(other)
        return NotImplemented if there is None else self.world.fork(compare(self.expr, there))

    return ask


def _computed(compute: Callable[[Any, Any], Any]) -> Any:
    def make(self: Symbol, other: object) -> Any:
        there = _number(other)
        return NotImplemented if there is None else Symbol(compute(self.expr, there), self.world)

    return make


def _divided(take: Callable[[tuple[Symbol, Symbol]], Any], *, swapped: bool = False) -> Any:
    def divide(self: Symbol, other: object) -> Any:
        there = _number(other)
        if there is None:
            return NotImplemented
        return take(self.world.divide(lift(there), self.expr) if swapped else self.world.divide(self.expr, lift(there)))

    return divide


class _Unknown:
    """What no symbolic value can do."""

    __slots__ = ()
    __hash__ = _refused("a symbolic value as a key or in a set; comparisons were expected")
    __repr__ = __str__ = __format__ = _refused("a symbolic value as text")
    __index__ = __int__ = __float__ = _refused("a symbolic number where a plain one is needed, such as an index")
    __truediv__ = __rtruediv__ = _refused("`/` makes a float; `//` was expected")
    __getattr__ = _refused("a part of a symbolic value")


class Opaque(_Unknown):
    """A value that may be passed on, but not looked at."""

    __slots__ = ()
    __hash__ = _Unknown.__hash__
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refused("a value that may be of any kind")
    __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __add__ = __mul__ = __mod__ = __eq__
    __class__ = property(__eq__)


class Word(Opaque):
    """A text of which nothing is known but which other texts it equals."""

    __slots__ = ("number",)
    __class__ = property(lambda _: str)
    __hash__ = _Unknown.__hash__

    def __init__(self, number: Symbol) -> None:
        self.number = number

    def __eq__(self, other: object) -> Any:
        if type(other) is Word:
            return self.number == other.number
        return self.number == self.number.world.code(other) if type(other) is str else NotImplemented

    def __ne__(self, other: object) -> Any:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal


class Symbol(_Unknown):
    """A whole number that is not known. It is no int, but says it is one, as the plain number would."""

    __slots__ = ("expr", "world")
    __class__ = property(lambda _: int)
    __hash__ = _Unknown.__hash__

    def __init__(self, expr: Any, world: World) -> None:
        self.expr = expr
        self.world = world

    __eq__ = _compared(operator.eq)
    __ne__ = _compared(operator.ne)
    __lt__ = _compared(operator.lt)
    __le__ = _compared(operator.le)
    __gt__ = _compared(operator.gt)
    __ge__ = _compared(operator.ge)
    __add__ = __radd__ = _computed(operator.add)
    __mul__ = __rmul__ = _computed(operator.mul)
    __sub__ = _computed(operator.sub)
    __rsub__ = _computed(lambda mine, other: other - mine)
    __divmod__ = _divided(lambda parts: parts)
    __rdivmod__ = _divided(lambda parts: parts, swapped=True)
    __floordiv__ = _divided(operator.itemgetter(0))
    __rfloordiv__ = _divided(operator.itemgetter(0), swapped=True)
    __mod__ = _divided(operator.itemgetter(1))
    __rmod__ = _divided(operator.itemgetter(1), swapped=True)

    def __neg__(self) -> Symbol:
        return Symbol(-self.expr, self.world)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return -self if self < 0 else self

    def __bool__(self) -> bool:
        return bool(self != 0)


_OPERATORS = [name for name in vars(Symbol) if name in vars(int) and name not in ("__doc__", "__class__", "__hash__")]
