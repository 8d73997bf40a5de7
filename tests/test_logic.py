"""The connectives, executed: what they mean on plain values, and what they are told when something is no claim."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from spec.logic import (
    Finite,
    Property,
    Table,
    at_most_one,
    both,
    each,
    either,
    every,
    implies,
    ite,
    negate,
    numbers,
    sentence,
    some,
    where,
)

TRUTHS = (False, True)
DIGITS = Finite(range(10))


@pytest.mark.parametrize("claims", [claims for size in range(4) for claims in product(TRUTHS, repeat=size)])
def test_connectives_are_those_of_python(claims: tuple[bool, ...]) -> None:
    assert both(*claims) is all(claims)
    assert either(*claims) is any(claims)
    assert at_most_one(*claims) is (sum(claims) <= 1)


@pytest.mark.parametrize(("premise", "conclusion"), list(product(TRUTHS, repeat=2)))
def test_an_implication_fails_only_where_its_premise_alone_holds(premise: bool, conclusion: bool) -> None:
    assert implies(premise, conclusion) is (not premise or conclusion)
    assert ite(premise, "then", "otherwise") == ("then" if premise else "otherwise")


def test_quantifiers_range_over_their_domain_in_its_order() -> None:
    assert where(DIGITS, lambda n: n % 3 == 0) == Finite((0, 3, 6, 9))
    assert every(DIGITS, lambda n: n < 10)
    assert not every(DIGITS, lambda n: n < 9)
    assert some(DIGITS, lambda n: n == 9)
    assert not some(DIGITS, lambda n: n == 10)
    assert every(Finite(), lambda _: False)
    assert not some(Finite(), lambda _: True)
    assert numbers(10) == DIGITS
    assert numbers(5, 3) == Finite((3, 4))
    assert numbers(0) == Finite()


def test_a_table_is_changed_by_making_another() -> None:
    table = Table({"a": 1, "b": 2}, 0)
    assert table["a"] == 1
    assert table["c"] == 0
    changed = table.put("a", 5)
    assert (table["a"], changed["a"], changed["b"]) == (1, 5, 2)
    doubled = each(table, Finite(("a", "c")), lambda key: 2 * table[key])
    assert doubled == Table({"a": 2, "b": 2, "c": 0}, 0)
    assert table == Table({"a": 1, "b": 2}, 0)
    assert table != changed
    assert table != {"a": 1, "b": 2}


def test_equal_tables_are_one_member_of_a_set_and_show_their_entries() -> None:
    one, again = Table({"a": 1, "b": 2}, 0), Table({"b": 2, "a": 1}, 0)
    assert {one, again, one.put("a", 3)} == {one, Table({"a": 3, "b": 2}, 0)}
    assert repr(one) == "Table({'a': 1, 'b': 2})"


@pytest.mark.parametrize(
    ("connective", "message"),
    [
        (lambda: negate(1), "1 is no claim: a comparison, or another connective, was expected"),
        (lambda: some(DIGITS, lambda n: n), "0 is no claim: a comparison, or another connective, was expected"),
        (lambda: at_most_one(True, "no"), "'no' is no claim: a comparison"),
        (lambda: ite(None, 1, 2), "None is no claim: a comparison, or a connective, was expected"),
        (lambda: both("yes", True), "'yes' is no claim: a comparison, or a connective, was expected"),
        (lambda: either(0, True), "0 is no claim: a comparison, or a connective, was expected"),
        (lambda: implies(1, True), "1 is no claim: a comparison, or a connective, was expected"),
        (lambda: where([1], bool), r"\[1\] is no domain"),
        (lambda: every({1}, bool), r"\{1\} is no domain"),
        (lambda: some(range(1), bool), r"range\(0, 1\) is no domain"),
        (lambda: numbers(1.0), "1.0 is no whole number"),
        (lambda: each({}, DIGITS, abs), r"\{\} is no table"),
    ],
)
def test_what_is_no_claim_domain_or_table_is_told_so(connective: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        connective()


def test_a_sentence_is_the_first_paragraph_on_one_line() -> None:
    def claim(s: object) -> bool:
        """It holds
        of all.

        Or so it is said.
        """
        return True

    about = Property(claim)
    assert about.name == "claim"
    assert about.sentence == sentence(claim) == "It holds of all."
    claim.__doc__ = None
    assert about.sentence == ""
