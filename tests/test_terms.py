"""The symbolic reading follows the connectives, and refuses what it would misread."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any

import pytest
import z3

from model.prove import terms
from model.prove.solvers import ask_cvc5, ask_z3
from spec.logic import (
    Action,
    Finite,
    Job,
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
    some,
    where,
)
from spec.scheduler import Phase, State, may_place


class Light(Enum):
    RED = "red"
    GREEN = "green"


def number(name: str) -> Any:
    return terms.constant(int, name)


def valid(claim: Any) -> bool:
    """Whether both solvers say that the claim holds in every case."""
    text = terms.query([negate(claim)], "unsat")
    words = {ask_z3(text, 1).word, ask_cvc5(text, 1).word}
    assert len(words) == 1, words
    return words == {"unsat"}


def test_a_claim_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        bool(number("n") == 0)


def a_step_with_a_python_if(s: State, job: Job, slot: Any) -> State:
    if s.waiting == 0:
        return s
    return replace(s, waiting=s.waiting - 1)


def a_step_with_a_python_and(s: State, job: Job, slot: Any) -> Any:
    return s.waiting == 0 and s.capacity > 0


@pytest.mark.parametrize("step", [a_step_with_a_python_if, a_step_with_a_python_and])
def test_a_step_with_python_control_flow_cannot_be_read(step: Any) -> None:
    action = Action(may_place, step)
    with pytest.raises(TypeError, match="no truth value"):
        action.step(terms.state(State), *terms.parameters(action.guard))


@pytest.mark.parametrize("test", [lambda n: n in (1, 2), lambda n: not n < 1, lambda n: 0 <= n <= 3])
def test_what_python_decides_by_truth_cannot_be_read(test: Any) -> None:
    with pytest.raises(TypeError, match="no truth value"):
        test(number("n"))


def test_identity_with_an_enum_member_is_false_and_so_forbidden_in_the_specification() -> None:
    light = terms.constant(Light, "light")
    assert (light is Light.RED) is False
    assert not valid(light == Light.RED)
    assert valid(either(light == Light.RED, light == Light.GREEN))


def test_two_domains_do_not_capture_each_other() -> None:
    jobs = terms.domain_of(Job)
    all_equal = every(jobs, lambda a: every(jobs, lambda b: a == b))
    assert not valid(all_equal)
    assert valid(every(jobs, lambda a: some(jobs, lambda b: a == b)))


def test_a_reading_that_reuses_one_bound_name_would_prove_that_all_jobs_are_equal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(z3, "FreshConst", lambda sort, _prefix: z3.Const("x", sort))
    jobs = terms.domain_of(Job)
    assert valid(every(jobs, lambda a: every(jobs, lambda b: a == b)))


def test_enum_constants_have_their_full_names() -> None:
    assert "Phase.RUNNING" in terms.text(terms.constant(Phase, "p") == Phase.RUNNING)


@pytest.mark.parametrize(
    "misuse",
    [
        lambda: number("n") == Phase.NEW,
        lambda: number("n") == 1.5,
        lambda: number("n") == "1",
        lambda: terms.constant(Phase, "p") < terms.constant(Phase, "q"),
        lambda: terms.constant(bool, "b") + 1,
        lambda: ite(number("n"), 1, 2),
        lambda: ite(1, 1, 2),
        lambda: negate(1),
        lambda: every([1, 2], lambda _: True),
        lambda: where({1}, lambda _: True),
        lambda: numbers("3"),
        lambda: each({}, Finite(()), lambda _: 0),
        lambda: each(terms.constant(Table[Job, int], "t"), terms.domain_of(Job), lambda _: 0),
    ],
)
def test_what_has_no_meaning_is_refused(misuse: Any) -> None:
    with pytest.raises((TypeError, RuntimeError)):
        misuse()


@pytest.mark.parametrize("a", [False, True])
@pytest.mark.parametrize("b", [False, True])
def test_connectives_mean_the_same_in_both_readings(a: bool, b: bool) -> None:
    p, q = terms.constant(bool, "p"), terms.constant(bool, "q")
    for join in (both, either, implies, at_most_one, lambda x, y: ite(x, y, negate(y))):
        meant: bool = join(a, b)
        assert valid(implies(both(p == a, q == b), join(p, q) == meant))
        assert valid(implies(q == b, join(a, q) == meant))
        assert valid(implies(p == a, join(p, b) == meant))


def test_a_whole_table_update_changes_its_domain_alone() -> None:
    table = terms.constant(Table[int, int], "t")
    with terms.definitions() as defined:
        changed = each(table, numbers(number("n") + 3, number("n")), lambda i: i * 2)
    meant = both(*map(terms.Term, defined))
    assert valid(implies(meant, changed[number("n") + 1] == (number("n") + 1) * 2))
    assert valid(implies(meant, changed[number("n") + 3] == table[number("n") + 3]))
    executed = each(Table({0: 7, 9: 8}, 0), numbers(3, 0), lambda i: i * 2)
    assert executed == Table({0: 0, 1: 2, 2: 4, 9: 8}, 0)


def test_a_closed_world_has_so_many_members() -> None:
    with terms.closed(terms.Scope(jobs=3, others=2, width=2)):
        jobs = terms.domain_of(Job)
        a, b, c, d = (terms.constant(Job, name) for name in "abcd")
        four = both(*(negate(x == y) for x, y in ((a, b), (a, c), (a, d), (b, c), (b, d), (c, d))))
        assert valid(negate(four))
        assert len(jobs.members or ()) == 3


def test_the_text_of_a_query_is_the_same_on_every_run() -> None:
    jobs = terms.domain_of(Job)
    texts = {terms.text(every(jobs, lambda a: some(jobs, lambda b: negate(a == b)))) for _ in range(3)}
    assert len(texts) == 1
