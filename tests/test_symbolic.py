"""Symbolic execution: it agrees with the function itself, on every path, or says which line it cannot follow."""

from __future__ import annotations

import inspect
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from itertools import product
from random import Random
from typing import Any

import pytest

from impl.autoscale import decide, savings_permil
from model.policy.deadline import Overdue, within
from model.prove.terms import Term
from model.symbolic import execution as symbolic
from model.symbolic import guard
from model.symbolic.execution import Explorer, Path
from model.symbolic.subset import Unfollowable
from model.symbolic.symbols import Opaque, Symbol, Word
from tests.sources import made

SEED = 7
EDGES = (-(2**63), -1001, -7, -4, -3, -2, -1, 0, 1, 2, 3, 4, 7, 60, 1001, 2**63 - 1, 2**70)


class Level(IntEnum):
    LOW = 1
    HIGH = 10


def parameters(function: Callable[..., Any]) -> list[str]:
    empty = inspect.Parameter.empty
    return [each.name for each in inspect.signature(function).parameters.values() if each.default is empty]


def explored(function: Callable[..., Any]) -> tuple[Explorer, Sequence[Path]]:
    explorer, names = Explorer(), parameters(function)
    return explorer, explorer.paths(function, lambda of: tuple(map(of, names)), [])


def refusal(function: Callable[..., Any]) -> str:
    with pytest.raises(Unfollowable) as caught:
        explored(function)
    return str(caught.value)


def ending(function: Callable[..., Any], arguments: Iterable[int]) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        return type(error).__name__


def differences(function: Callable[..., Any], points: Iterable[tuple[int, ...]]) -> list[str]:
    """Where the paths and the function itself disagree; each point must lie on one path, and only one."""
    explorer, paths = explored(function)
    names = parameters(function)
    wrong = []
    for point in points:
        here = explorer.fixed(dict(zip(names, point, strict=True)))
        taken = [path for path in paths if explorer.possible([*here, *path.conditions])]
        real = ending(function, point)
        if len(taken) != 1 or not same(explorer, taken[0], here, real):
            wrong.append(f"{point}: {real!r}, {len(taken)} paths")
    return wrong


def same(explorer: Explorer, path: Path, here: list[Any], real: Any) -> bool:
    if path.error:
        return f": {real}:" in path.error
    return equal(explorer, path.result, [*here, *path.conditions], real)


def equal(explorer: Explorer, result: Any, here: list[Any], real: Any) -> bool:
    if isinstance(result, Term):
        return (
            type(real) is int
            and explorer.possible([*here, result == real])
            and not explorer.possible([*here, result != real])
        )
    if isinstance(result, tuple):
        return all(equal(explorer, one, here, other) for one, other in zip(result, real, strict=True))
    return type(result) is type(real) and bool(result == real)


def grid(count: int, width: int) -> list[tuple[int, ...]]:
    """Edges and random numbers, the same at each run."""
    random = Random(SEED)
    return [
        tuple(random.choice((random.choice(EDGES), random.randint(-9, 9))) for _ in range(width)) for _ in range(count)
    ]


# Agreement with the function itself

DIVISIONS = [f"def f(a):\n    return a {operator} {b}\n" for operator in ("//", "%") for b in (-7, -2, -1, 1, 2, 7)] + [
    f"def f(b):\n    return {a} {operator} b\n" for operator in ("//", "%") for a in (-7, 0, 7)
]


@pytest.mark.parametrize("source", DIVISIONS)
def test_division_by_and_of_a_plain_number_is_pythons(source: str) -> None:
    assert differences(made(source), [(n,) for n in (-8, -7, -6, -1, 0, 1, 6, 7, 8)]) == []


@pytest.mark.parametrize("operation", ["a // b", "a % b", "divmod(a, b)"])
def test_division_of_symbols_is_pythons_whatever_their_signs(operation: str) -> None:
    assert differences(made(f"def f(a, b):\n    return {operation}\n"), product(range(-3, 4), range(-2, 3))) == []


def test_the_grid_notices_a_division_that_rounds_to_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    def truncated(self: Explorer, a: Any, b: Any) -> tuple[Symbol, Symbol]:
        if self.fork(b == 0):
            raise ZeroDivisionError
        if self.fork(b < 0):
            quotient, remainder = self._positive(a, -b)
            return -quotient, remainder
        return self._positive(a, b)

    monkeypatch.setattr(Explorer, "divide", truncated)
    monkeypatch.setattr(Explorer, "_equal", lambda *_: True)
    assert differences(made("def f(a, b):\n    return a // b\n"), product(range(-3, 4), range(-2, 3)))


AGREE = [
    "def f(a, b):\n    return max(a, b, 0) - min(a, 2 * b)\n",
    "def f(a, b):\n    return abs(a - b) + (a > b) + (a == 3)\n",
    "def f(a, b):\n    return 1 if 0 <= a < b < 60 else -1\n",
    "def f(a, b):\n    return a in (1, 2, b) and not b\n",
    "def f(a, b):\n    if a and b or not a:\n        return 1\n    return 2\n",
    "def f(a, b):\n    while a > 0 and a < 4:\n        a += 1\n    return a + b\n",
    "def f(a, b):\n    n = 0\n    for k in range(3):\n        n += k * a\n        if n > b:\n            break\n"
    "    else:\n        n = -1\n    return n\n",
    "def f(a, b):\n    return sum([a, b, 1]) if any(k == a for k in (1, 2, 3)) else len((a, b))\n",
    "def f(a, b):\n    match a, b:\n        case 0, 1 | 2:\n            return 1\n        case x, 3 if x > 7:\n"
    "            return x\n        case _:\n            return b\n",
    "def f(a, b):\n    return helper(helper(a)) + helper(b)\n",
    "def f(a, b):\n    return Level.HIGH if a == Level.LOW else Level.LOW.value + b\n",
    "def f(a, b):\n    return Level.HIGH if isinstance(a, int) and not isinstance(a, (bool, str)) else b\n",
    "def f(a, b, limits=(3, 60)):\n    low, high = limits\n    return (low < a) + (limits[b > 1] < a)\n",
    "def f(a, b):\n    assert a != 3\n    if b == 3:\n        raise ValueError('three')\n    return a // (b - 1)\n",
    "def f(a, b):\n    return a < 'x' if b == 'x' else 5 - a\n",
    "def f(a, b):\n    return (a, (b, -a)) if (c := a - b) > 1 else c\n",
    "def f(a, b):\n    return (a // 4) // 4 + a // 16 * 2 + a % 10 // 3 + b\n",
    "def f(a, b):\n    return 7 > a != b and 3 * a >= b\n",
    "f = lambda a, b: a if b is not None else 0\n",
    "def f(a, b):\n    if b > 3:\n        raise KeyError\n    return sum(id for id in (a, b))\n",
]


@pytest.mark.parametrize("source", AGREE)
def test_the_paths_agree_with_the_function(source: str) -> None:
    helper = made("def helper(n):\n    return n - 1 if n > 0 else -n\n", "helper")
    assert differences(made(source, helper=helper, Level=Level), grid(10, 2)) == []


def test_the_paths_agree_with_the_shipped_functions() -> None:
    assert differences(savings_permil, grid(20, 2)) == []
    assert differences(decide, [*grid(12, 4), *product((0, 1, 2), (0, 1, 2), (0, 59, 60), (0, 60))]) == []


def test_the_comparison_of_paths_and_function_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Symbol, "__ge__", Symbol.__gt__)
    monkeypatch.setattr(Explorer, "_equal", lambda *_: True)
    assert differences(decide, product((0, 1), (0, 1), (0, 60), (0, 60)))


def test_a_path_that_was_misread_is_found_by_running_its_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Symbol, "__neg__", Symbol.__pos__)
    assert "itself ends otherwise" in refusal(made("def f(a):\n    return -a if a > 1 else 0\n"))


# What cannot be followed is named by its line

UNFOLLOWABLE = [
    ("import math\ndef f(a):\n    return math.floor(a)\n", 3, "math.floor(a)"),
    ("import random\ndef f(a):\n    return random.random() < a\n", 3, "random.random()"),
    ("import time\ndef f(a):\n    return time.monotonic() < a\n", 3, "time.monotonic()"),
    ("def f(a):\n    b = a\n    return int(b)\n", 3, "int(b)"),
    ("def f(a):\n    return float(a)\n", 2, "float(a)"),
    ("def f(a):\n    return sorted((a, 1))[0]\n", 2, "sorted"),
    ("def f(a):\n    print(a)\n    return 1\n", 2, "print(a)"),
    ("def f(a):\n    return str(a) == '1'\n", 2, "str(a)"),
    ("def f(a):\n    return max(a, 1, key=id)\n", 2, "key=id"),
    ("def f(a):\n    return a.bit_length()\n", 2, "bit_length"),
    ("def f(a):\n    return a.real\n", 2, "a part of a symbolic value"),
    ("def f(a):\n    return type(a) is int\n", 2, "type(a)"),
    ("def f(a):\n    return a.__class__\n", 2, "__class__"),
    ("def f(a):\n    return eval('a')\n", 2, "eval"),
    ("def f(a):\n    return max(range(a))\n", 2, "range(a)"),
    ("def f(a):\n    n = 0\n    for _ in range(a):\n        n += 1\n    return n\n", 3, "a plain one is needed"),
    ("def f(a):\n    return (1, 2)[a]\n", 2, "such as an index"),
    ("def f(a):\n    return {0: 1}[a]\n", 2, "as a key"),
    ("def f(a):\n    return a in {0, 1}\n", 2, "as a key or in a set"),
    ("def f(a):\n    return 'ab' * a\n", 2, "a plain one is needed"),
    ("def f(a):\n    return '%d' % a\n", 2, "a plain one is needed"),
    ("def f(a):\n    return f'{a}'\n", 2, "as text"),
    ("def f(a):\n    return a / 2\n", 2, "float"),
    ("def f(a):\n    return 1 / a\n", 2, "float"),
    ("def f(a):\n    if a > 0:\n        return a > 0.5\n    return 0\n", 3, "float"),
    ("def f(a):\n    return 1.5 * a\n", 2, "float"),
    ("def f(a):\n    return a ** 2\n", 2, "Pow"),
    ("def f(a):\n    return a & 1\n", 2, "BitAnd"),
    ("def f(a):\n    return 1 << a\n", 2, "LShift"),
    ("def f(a):\n    return ~a\n", 2, "Invert"),
    ("ZERO = 0\ndef f(a):\n    return a is ZERO\n", 3, "`is` between numbers"),
    ("def f(a):\n    b = a\n    return a is not b\n", 3, "`is` between numbers"),
    ("def f(a):\n    match a:\n        case int():\n            return 1\n", 3, "MatchClass"),
    ("def f(a):\n    try:\n        return 1 // a\n    except Exception:\n        return 2\n", 2, "Try"),
    ("def f(a):\n    with a:\n        return 1\n", 2, "With"),
    ("def f(a):\n    import os\n    return 1\n", 2, "Import"),
    ("def f(a):\n    yield a\n", 2, "Yield"),
    ("async def f(a):\n    return a\n", 1, "async"),
    ("def f(a):\n    g = lambda: 1\n    return g()\n", 2, "Lambda"),
    ("def f(a):\n    def g():\n        return 1\n    return g()\n", 2, "FunctionDef"),
    ("def f(a):\n    g = max\n    return g(a, 1)\n", 3, "g(a, 1)"),
    ("n = 0\ndef f(a):\n    global n\n    n = a\n    return n\n", 3, "Global"),
    ("n = 0\ndef g():\n    global n\n    n += 1\ndef f(a):\n    return n + a\n", 6, "may change"),
    ("seen = []\ndef f(a):\n    return len(seen) + a\n", 3, "`seen` may change"),
    ("seen = []\ndef f(a):\n    seen.append(a)\n    return 1\n", 3, "seen.append(a)"),
    ("seen = {}\ndef f(a):\n    seen[0] = a\n    return 1\n", 3, "outlive the call"),
    ("class Box:\n    n = 0\ndef f(a):\n    Box.n = a\n    return 1\n", 4, "outlive the call"),
    ("def f(a, seen=[]):\n    seen += [a]\n    return len(seen)\n", 1, "the default []"),
    ("class Odd:\n    def __gt__(self, other): return True\nodd = Odd()\ndef f(a):\n    return a < odd\n", 5, "`odd`"),
    ("class Box:\n    n = iter([1])\ndef f(a):\n    box = Box\n    return sum(box.n) + a\n", 4, "`Box` may change"),
    ("import time\ndef f(a):\n    clock = time\n    return clock.time() + a\n", 3, "`time`"),
    ("def f(a):\n    me = f\n    return sum(me.n) + a\n", 2, "`f` may change"),
    ("def f(a):\n    return sum(f.n) + a\n", 2, "`f.n` may change"),
    ("n = []\ndef f(a):\n    return sum(n for n in (1, a)) + len(n)\n", 3, "`n` may change"),
    ("from enum import Enum\nclass E(Enum):\n    A = []\ndef f(a):\n    e = E.A\n    return sum(e.value)\n", 5, "E.A"),
    ("f = [lambda a: 1, lambda a: 2][0]\n", 1, "two functions"),
    ("def g(n):\n    return n ** 2\ndef f(a):\n    return g(a)\n", 2, "Pow"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "line", "why"), UNFOLLOWABLE, ids=lambda each: str(each)[:60])
def test_what_cannot_be_followed_is_named_by_its_line(source: str, line: int, why: str) -> None:
    said = refusal(made(source))
    assert f">:{line}: `{source.splitlines()[line - 1].strip()}`: " in said
    assert why in said


def test_an_int_with_operators_of_its_own_cannot_be_followed() -> None:
    class Odd(IntEnum):
        ONE = 1

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = IntEnum.__hash__

    assert "operators of its own" in refusal(made("def f(a):\n    return a == Odd.ONE\n", Odd=Odd))


def test_only_plain_functions_are_followed() -> None:
    assert "a plain Python function was expected" in refusal(print)
    source = "from functools import lru_cache\n@lru_cache\ndef f(a):\n    return 1\n"
    assert "a plain Python function was expected" in refusal(made(source))


def test_a_function_without_the_source_it_was_made_of_cannot_be_followed() -> None:
    function = made("def f(a):\n    return 1\n")
    function.__code__ = made("def f(a):\n    return 2\n").__code__.replace(co_filename=function.__code__.co_filename)
    assert "no longer the one that was loaded" in refusal(function)
    exec("def f(a): return 1", found := {})  # type: ignore[var-annotated]
    assert "not at hand" in refusal(found["f"])


def test_code_that_was_not_read_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    function = made("def g(n):\n    return n > 1\ndef f(a):\n    return g(a)\n")
    monkeypatch.setattr(symbolic, "followed", lambda each: frozenset([each.__code__]))
    assert ":4: `return g(a)`: code is called that was not read" in refusal(function)


def test_what_leads_to_a_refusal_is_shown_with_an_input_and_its_error() -> None:
    said = refusal(made("def f(a):\n    if a == 41:\n        raise ValueError(f'not {a}')\n    return 1\n"))
    assert "reached by {'a': 41}; it raises ValueError('not 41')" in said


# Bounds

ENDLESS = [
    ("def f(a):\n    while True:\n        pass\n", "lines"),
    ("def f(a):\n    return sum(1 for _ in range(10**12))\n", "lines"),
    ("def f(a):\n    while a > 0:\n        a -= 1\n    return a\n", "decisions"),
    ("def f(a):\n    return f(a - 1) if a > 0 else a\n", "decisions"),
    (f"def f(a):\n    return sum(({', '.join(f'a > {n}' for n in range(25))}))\n", "decisions"),
    (f"def f(a):\n    return {' + '.join(['a'] * 2000)}\n", "nested too deeply"),
    ("def f(a, b):\n    return (a > 0) + (b > 0) + (a > b) + (a > 9) + (b > 9) + (a - b > 4)\n", "paths"),
]


@pytest.mark.parametrize(("source", "bound"), ENDLESS, ids=lambda each: str(each)[:40])
def test_what_does_not_end_within_bounds_is_undetermined(
    source: str, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbolic, "PATHS", 9)
    monkeypatch.setattr(symbolic, "FORKS", 20)
    assert bound in refusal(made(source))


def test_endless_arithmetic_is_stopped_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "SECONDS", 0.3)
    assert "does not end" in refusal(made("def f(a):\n    n = 7\n    while True:\n        n = n * n\n"))


def test_a_recursion_without_end_is_an_error() -> None:
    _, paths = explored(made("def f(a):\n    return f(a)\n"))
    assert ["RecursionError" in path.error for path in paths] == [True]


def test_other_decisions_when_run_again_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    function = made("def f(a):\n    return a > next(turns)\n", turns=iter((0, 0, 1, 1)))  # each path is run twice
    monkeypatch.setattr(symbolic, "followed", lambda each: frozenset([each.__code__]))
    assert "other decisions when it is run again" in refusal(function)


def test_what_the_solver_cannot_tell_is_undetermined() -> None:
    assert "cannot tell" in refusal(made("def f(a, b, c):\n    return a * a * a + b * b * b + c * c * c == 114\n"))


def test_a_deadline_ends_sleep_and_leaves_an_earlier_timer_running() -> None:
    start = time.monotonic()
    with pytest.raises(Overdue), within(30), within(0.05):
        time.sleep(20)
    assert time.monotonic() - start < 10
    with within(30), within(0.01):
        pass
    time.sleep(0.05)


def test_off_the_main_thread_there_is_no_deadline() -> None:
    done: list[bool] = []

    def work() -> None:
        with within(0.001):
            time.sleep(0.01)
        done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done


def test_tracing_is_left_as_it_was() -> None:
    before = sys.gettrace()
    explored(decide)
    assert sys.gettrace() is before


# The symbols themselves


def test_a_symbol_is_no_int() -> None:
    assert not issubclass(Symbol, int)
    assert not {"__index__", "__int__", "__float__"} - vars(Symbol.__mro__[1]).keys()


def test_texts_can_be_compared_and_nothing_else() -> None:
    explorer = Explorer()
    word = Word(explorer.symbol("w"))
    chat = made("def f(word):\n    return (word == 'chat') + 2 * (word in ('image', 'chat')) + 4 * (word != 3)\n")
    found = {path.sample["w"]: path.result for path in explorer.paths(chat, lambda of: (named(explorer, of),), [])}
    assert {explorer.text(code): result for code, result in found.items()}.items() >= {("chat", 7), ("image", 6)}
    assert sorted(found.values()) == [4, 6, 7]
    for look in (len, hash, str, list, lambda each: each < "x", lambda each: each.upper()):
        with pytest.raises(Unfollowable):
            look(word)


def named(explorer: Explorer, of: Callable[[str], Any]) -> Any:
    number = of("w")
    return Word(number) if type(number) is Symbol else explorer.text(number)


def test_an_opaque_value_cannot_be_looked_at() -> None:
    for look in (len, hash, str, bool, lambda each: each == 1, lambda each: isinstance(each, int)):
        with pytest.raises(Unfollowable):
            look(Opaque())
