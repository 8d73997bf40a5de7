"""The shipped `decide`, `savings_permil` and `urgency`, or those of a policy, judged on every input."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from impl.autoscale import Action, decide, savings_permil
from impl.jobs import by_priority
from model.policy.file import CONSEQUENCES, RESPECT, VIEW, Policy
from model.prove.terms import Term
from model.symbolic.execution import Explorer, Sample, words
from model.symbolic.findings import Judgement
from model.symbolic.promises import SHIPPED, Case, Function, Judge, Numbers, Promise, Subject, Trial, attempt, is_number
from model.symbolic.rules import rules
from model.symbolic.subset import Unfollowable, start_of
from model.symbolic.urgency import judge_urgency
from spec import autoscale
from spec.logic import Claim, Property, both, either, implies

EQUALS = "equals_the_specification"
"""The promise that shipped code owes; of a policy it is only reported."""
MAKE = {int(action): next(it for it in autoscale.ACTIONS if it.name == action.name.lower()) for action in Action}
"""The action of the specification behind each code that `decide` may return."""
SAVINGS = Property(autoscale.savings_lie_between_0_and_1000, autoscale.a_part_is_saved)


@dataclass(frozen=True)
class Kind:
    """What is asked of a function of plain numbers. `view` makes what its promises speak of, `domain` says which views
    there are, `fits` which results are of the right kind, and `show` puts a result in words."""

    name: str
    parameters: tuple[str, ...]
    view: Callable[[Numbers], Any]
    domain: Callable[[Any], Claim]
    fits: Callable[[Any], Claim]
    show: Callable[[Any], str]
    expected: str
    assumptions: tuple[str, ...] = ()


def judge(policy: Policy | None = None, *, solvers: Iterable[str] = SHIPPED.solvers, seeds: int = 1) -> list[Judgement]:
    """What is found of the functions that the policy defines; of the shipped ones where there is none."""
    by = replace(SHIPPED, solvers=tuple(solvers), seeds=seeds)
    if policy is None:
        return [judge_decide(decide, by), judge_savings(savings_permil, by), judge_urgency(by_priority, by)]
    waives = policy.waives | ({RESPECT} if policy.waives & CONSEQUENCES else frozenset())
    by = replace(by, shipped=False, waives=waives)
    found = [judge_decide(policy.decide, by)] if policy.decide is not None else []
    return [*found, judge_urgency(policy.urgency, by)] if policy.urgency is not None else found


def judge_decide(function: Function = decide, by: Judge = SHIPPED) -> Judgement:
    """On all integers of its domain: warm and demand 0 or 1, idle and ttl not negative."""
    promises = [_of_decision(each) for each in autoscale.ALWAYS if each.claim is not SAVINGS.claim]
    equals = Promise(EQUALS, "The decision is the one that the specification allows.", _is_allowed, None, by.shipped)
    return _judged(DECIDE, function, [*promises, equals], by)


def judge_savings(function: Function = savings_permil, by: Judge = SHIPPED) -> Judgement:
    """On all integers, negative ones among them."""
    promises = [
        Promise(SAVINGS.name, SAVINGS.sentence, _of_saving(SAVINGS.claim), _of_saving(_is_a_part)),
        Promise(EQUALS, "The saving is the one that the specification defines.", _is_the_saving, None, by.shipped),
    ]
    return _judged(SAVED, function, promises, by)


def _judged(kind: Kind, function: Function, promises: list[Promise], by: Judge) -> Judgement:
    explorer = Explorer()
    view = kind.view(explorer.number)
    domain = [kind.domain(view)]
    try:
        paths = explorer.paths(function, lambda of: tuple(map(of, kind.parameters)), domain)
        table = rules(explorer, domain, paths, kind.show)
    except Unfollowable as unfollowable:
        why = str(unfollowable)
        findings = by.unfollowed("autoscale", kind.name, promises, why)
        return Judgement(kind.name, start_of(function), findings, why=why)
    cases = [Case(path.conditions, path.result, not path.error and kind.fits(path.result)) for path in paths]

    def rerun(sample: Sample) -> Trial:
        given = {name: sample[name] for name in kind.parameters}
        result, error = attempt(function, *given.values())
        told = error or f"returns {kind.show(result)}"
        called = f"{kind.name}({', '.join(f'{name}={value}' for name, value in given.items())})"
        return Trial(kind.view(given.__getitem__), result, not error and bool(kind.fits(result)), f"{called} {told}")

    samples = [path.sample for path in paths]
    subject = Subject(
        "autoscale", kind.name, kind.expected, kind.assumptions, explorer, domain, view, cases, rerun, samples
    )
    return Judgement(
        kind.name, start_of(function), by.findings(subject, promises), table, len(paths), note=_defaults(kind, function)
    )


def _defaults(kind: Kind, function: Function) -> str:
    further = list(signature(function).parameters.values())[len(kind.parameters) :]
    return ", ".join(f"{each.name}={each.default!r}" for each in further)


def _text(result: Any) -> str:
    return words(result) if isinstance(result, Term) else repr(result)


# Decisions


def _view(of: Numbers) -> autoscale.State:
    warm, demand, idle, ttl = map(of, VIEW)
    return autoscale.State(warm, demand, idle, ttl, autoscale.Decision.UNDECIDED, 0)


def _is_action(result: Any) -> Claim:
    return is_number(result) and both(result >= 0, result <= 3)


def _action(result: Any) -> str:
    return Action(result).name if type(result) is not Term and _is_action(result) else _text(result)


def _of_decision(each: Property) -> Promise:
    """The property of the state after the decision, and its witness of the states before and after."""

    def holds(seen: autoscale.State, result: Any) -> Claim:
        return both(*(implies(result == code, each.claim(make.step(seen))) for code, make in MAKE.items()))

    def witness(seen: autoscale.State, result: Any) -> Claim:
        assert each.witness is not None
        return either(*(both(result == code, each.witness(seen, make.step(seen))) for code, make in MAKE.items()))

    return Promise(each.name, each.sentence, holds, witness if each.witness else None)


def _is_allowed(seen: autoscale.State, result: Any) -> Claim:
    """The guards of the specification hold of the decision that was taken, and of no other."""
    guards = {code: make.guard(seen) for code, make in MAKE.items()}
    return both(*(both(implies(result == a, guard), implies(guard, result == a)) for a, guard in guards.items()))


DECIDE = Kind(
    "decide",
    VIEW,
    _view,
    autoscale.the_view_is_in_its_domain,
    _is_action,
    _action,
    "an action, 0 to 3",
    ("the_view_is_in_its_domain",),
)


# Savings


def _of_saving(claim: Callable[..., Claim]) -> Callable[[Any, Any], Claim]:
    return lambda _, permil: claim(replace(NOTHING, permil=permil))


def _is_a_part(measured: autoscale.State) -> Claim:
    return autoscale.a_part_is_saved(NOTHING, measured)


def _is_the_saving(view: tuple[Any, Any], permil: Any) -> Claim:
    return autoscale.is_the_saving(*view, permil)


NOTHING = autoscale.State(0, 0, 0, 0, autoscale.Decision.UNDECIDED, 0)
SAVED = Kind(
    "savings_permil",
    ("warm_sec", "window_sec"),
    lambda of: (of("warm_sec"), of("window_sec")),
    lambda _: True,
    is_number,
    _text,
    "a whole number",
)
