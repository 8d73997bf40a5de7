"""The scale-to-zero policy and the savings figure: their properties, at every edge, and the bugs these must catch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import floor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from impl.autoscale import Action, decide, savings_permil

I64_MAX = 2**63 - 1
SECONDS = (0, 1, 59, 60, 61, 999, I64_MAX - 1, I64_MAX)
Policy = Callable[[int, int, int, int], int]

PROPERTIES: dict[str, Callable[[int, int, int, int, int], bool]] = {
    "spawn exactly when cold and wanted": lambda a, w, d, _i, _t: (a == Action.SPAWN) == (w == 0 and d != 0),
    "serve exactly when warm and wanted": lambda a, w, d, _i, _t: (a == Action.SERVE) == (w == 1 and d != 0),
    "reap exactly when idle for the ttl": lambda a, w, d, i, t: (a == Action.REAP) == (w == 1 and d == 0 and i >= t),
    "never reap with demand": lambda a, _w, d, _i, _t: not (a == Action.REAP and d != 0),
    "rest at zero": lambda a, w, d, _i, _t: a == Action.HOLD or w != 0 or d != 0,
}


def violated(policy: Policy, demands: tuple[int, ...] = (0, 1)) -> set[str]:
    """The properties that some state breaks."""
    states = list(product((0, 1), demands, SECONDS, SECONDS))
    return {name for name, holds in PROPERTIES.items() if not all(holds(policy(*s), *s) for s in states)}


def test_the_codes_are_the_originals() -> None:
    assert [(action.name, int(action)) for action in Action] == [("HOLD", 0), ("SPAWN", 1), ("SERVE", 2), ("REAP", 3)]


def test_every_property_holds_at_every_edge() -> None:
    assert violated(decide) == set()


def test_a_count_instead_of_a_flag_never_reaps_a_busy_worker() -> None:
    assert violated(decide, demands=(2, 3, 64, I64_MAX, -1)) == set()


def test_a_ttl_of_zero_reaps_at_the_first_idle_tick_and_not_before() -> None:
    assert decide(1, 0, 0, 0) is Action.REAP
    assert decide(1, 1, 0, 0) is Action.SERVE
    assert decide(0, 1, 0, 0) is Action.SPAWN


def original(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """nx_mesh_autoscale.nx:60-71, as it stands."""
    if demand == 1:
        return Action.SPAWN if warm == 0 else Action.SERVE
    return Action.REAP if warm == 1 and idle_sec >= ttl_sec else Action.HOLD


def test_the_original_agrees_on_flags_and_kills_a_busy_worker_on_counts() -> None:
    assert violated(original) == set()
    assert "never reap with demand" in violated(original, demands=(2,))
    assert original(1, 2, 999, 60) == Action.REAP


def late(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """`>` for `>=`: reaps one tick late, and with the largest ttl never."""
    return Action.HOLD if idle_sec == ttl_sec and not demand else decide(warm, demand, idle_sec, ttl_sec)


def greedy(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """Looks at the idle time first."""
    return Action.REAP if warm and idle_sec >= ttl_sec else decide(warm, demand, idle_sec, ttl_sec)


def restless(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """Reaps what is not there."""
    return decide(warm or 1 - demand, demand, idle_sec, ttl_sec)


def doubling(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """Starts a second worker beside the first."""
    return Action.SPAWN if demand else decide(warm, demand, idle_sec, ttl_sec)


@pytest.mark.parametrize(
    ("bug", "caught_by"),
    [
        (late, {"reap exactly when idle for the ttl"}),
        (
            greedy,
            {
                "serve exactly when warm and wanted",
                "reap exactly when idle for the ttl",
                "never reap with demand",
            },
        ),
        (restless, {"reap exactly when idle for the ttl", "rest at zero"}),
        (doubling, {"spawn exactly when cold and wanted", "serve exactly when warm and wanted"}),
    ],
)
def test_a_planted_bug_is_caught(bug: Policy, caught_by: set[str]) -> None:
    assert violated(bug) == caught_by


class Term:
    """A number that is no int, knows only what a solver's term knows, and counts the questions it was asked."""

    asked = 0

    def __init__(self, value: int) -> None:
        self.value = value

    def _ask(self, answer: bool) -> Term:
        Term.asked += 1
        return Term(answer)

    def __bool__(self) -> bool:
        assert isinstance(self.value, bool), "a number was taken for a truth value"
        return self.value

    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        return self._ask(self.value == plain(other))

    def __ne__(self, other: object) -> Term:  # type: ignore[override]
        return self._ask(self.value != plain(other))

    def __ge__(self, other: object) -> Term:
        return self._ask(self.value >= plain(other))

    def __le__(self, other: object) -> Term:
        return self._ask(self.value <= plain(other))

    def __sub__(self, other: object) -> Term:
        return Term(self.value - plain(other))

    def __mul__(self, other: object) -> Term:
        return Term(self.value * plain(other))

    def __floordiv__(self, other: object) -> Term:
        return Term(self.value // plain(other))

    __hash__ = None  # type: ignore[assignment]


def plain(value: object) -> int:
    number = value.value if isinstance(value, Term) else value
    assert isinstance(number, int)
    return number


def terms(*values: int) -> Iterator[Term]:
    return map(Term, values)


def test_both_functions_run_on_symbolic_numbers() -> None:
    Term.asked = 0
    for state in product((0, 1), (0, 1), SECONDS, SECONDS):
        assert decide(*terms(*state)) is decide(*state)  # type: ignore[arg-type]
    for seconds in product((-5, *SECONDS), repeat=2):
        assert plain(savings_permil(*terms(*seconds))) == savings_permil(*seconds)  # type: ignore[arg-type]
    assert Term.asked > 0


def exact_savings(warm_sec: int, window_sec: int) -> int:
    """The same figure from its meaning: the share of the window, warm time counted only inside it."""
    if window_sec <= 0:
        return 0
    warm = min(max(warm_sec, 0), window_sec)
    return floor(Fraction(window_sec - warm, window_sec) * 1000)


@given(st.integers(-(2**63), I64_MAX), st.integers(-(2**63), I64_MAX))
@example(30, 100)
@example(-1, 100)
@example(0, I64_MAX)
@example(I64_MAX, I64_MAX)
@example(1, 0)
@example(1, -1)
def test_savings_are_the_share_of_the_window_and_lie_between_0_and_1000(warm_sec: int, window_sec: int) -> None:
    assert savings_permil(warm_sec, window_sec) == exact_savings(warm_sec, window_sec)
    assert 0 <= savings_permil(warm_sec, window_sec) <= 1000


@pytest.mark.parametrize(
    ("warm_sec", "window_sec", "permil"),
    [
        (30, 100, 700),
        (0, 100, 1000),
        (100, 100, 0),
        (101, 100, 0),
        (1, 3, 666),
        (1, 1001, 999),
        (1000, 1001, 0),
        (0, 0, 0),
        (5, 0, 0),
        (5, -1, 0),
        (-50, 100, 1000),
        (1, I64_MAX, 999),
        (I64_MAX - 1, I64_MAX, 0),
    ],
)
def test_savings_at_the_edges(warm_sec: int, window_sec: int, permil: int) -> None:
    assert savings_permil(warm_sec, window_sec) == permil


def test_the_original_saves_more_than_everything() -> None:
    def original_savings(warm_sec: int, window_sec: int) -> int:
        return 0 if window_sec <= 0 else max(window_sec - warm_sec, 0) * 1000 // window_sec

    assert original_savings(-50, 100) == 1500
    assert original_savings(30, 100) == savings_permil(30, 100)
