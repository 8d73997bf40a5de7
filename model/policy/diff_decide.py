"""Where two `decide` differ, on all integers of their domain.

NEW is stricter if, wherever it decides otherwise, it decides HOLD, which does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import product
from typing import Any, TypeAlias

from impl.autoscale import Action
from model.policy.difference import LAXER, SAME, STRICTER, Change, Difference
from model.prove.terms import Term
from model.symbolic.execution import Explorer, Path, Sample
from model.symbolic.judge import DECIDE
from model.symbolic.promises import Case, Function, Judge, Promise, Subject, Trial, attempt
from model.symbolic.rules import rules
from model.symbolic.subset import Unfollowable, start_of
from spec.logic import Claim, both, either

PAIRS = 10_000
"""The most pairs of paths through two functions."""
Allowed: TypeAlias = Collection[tuple[Action, Action]]
"""Changes that may be: what OLD decides, and NEW instead."""


def diff_decide(old: Function, new: Function, allowed: Allowed, by: Judge) -> Difference:
    """Each region in which they differ, and how NEW stands to OLD."""
    explorer = Explorer()
    view = DECIDE.view(explorer.number)
    domain = [DECIDE.domain(view)]
    promises = list(_promises(allowed))

    def rerun(sample: Sample) -> Trial:
        given = [sample[name] for name in DECIDE.parameters]
        (one, error), (other, other_error) = attempt(old, *given), attempt(new, *given)
        told = (error or f"returns {DECIDE.show(one)}", other_error or f"returns {DECIDE.show(other)}")
        asked = ", ".join(f"{name}={value}" for name, value in zip(DECIDE.parameters, given, strict=True))
        fits = not (error or other_error) and bool(DECIDE.fits(one)) and bool(DECIDE.fits(other))
        return Trial(None, (one, other), fits, f"decide({asked}) {told[0]} in OLD and {told[1]} in NEW")

    try:
        olds, news = (explorer.paths(each, lambda of: tuple(map(of, DECIDE.parameters)), domain) for each in (old, new))
        if len(olds) * len(news) > PAIRS:
            raise Unfollowable(start_of(new), f"more than {PAIRS} pairs of paths lead through OLD and NEW")
        pairs = list(product(olds, news))
        regions = sorted(_regions(explorer, domain, pairs), key=lambda region: _size(region.sample))
        table = rules(explorer, domain, regions, lambda codes: "->".join(Action(code).name for code in codes))
        changes = [_change(rule.condition, rule.then, rule.sample, rerun, allowed) for rule in table]
    except Unfollowable as unfollowable:
        why = str(unfollowable)
        return Difference("decide", by.unfollowed("autoscale", "decide", promises, why), why=why)
    cases = [
        Case((*one.conditions, *other.conditions), (_code(one), _code(other)), _fits(one, other))
        for one, other in pairs
    ]
    expected = f"two decisions, each {DECIDE.expected}"
    subject = Subject("autoscale", "decide", expected, DECIDE.assumptions, explorer, domain, view, cases, rerun)
    return Difference("decide", by.findings(subject, promises), changes)


def _promises(allowed: Allowed) -> Iterator[Promise]:
    said = (
        f"There is no change but {', '.join(f'{a.name}->{b.name}' for a, b in allowed)}." if allowed else "No change."
    )
    hold = int(Action.HOLD)

    def among_the_allowed(_: Any, codes: Any) -> Claim:
        old, new = codes
        return either(old == new, *(both(old == int(before), new == int(after)) for before, after in allowed))

    yield Promise(SAME, said, among_the_allowed)
    yield Promise(
        STRICTER,
        "NEW decides as OLD does, or HOLD.",
        lambda _, codes: either(codes[0] == codes[1], codes[1] == hold),
        owed=False,
    )
    yield Promise(
        LAXER,
        "OLD decides as NEW does, or HOLD.",
        lambda _, codes: either(codes[0] == codes[1], codes[0] == hold),
        owed=False,
    )


def _code(path: Path) -> Any:
    """The result, an action as the number that it is."""
    return int(path.result) if isinstance(path.result, Action) else path.result


def _fits(one: Path, other: Path) -> Claim:
    if one.error or other.error:
        return False
    return both(DECIDE.fits(one.result), DECIDE.fits(other.result))


def _regions(explorer: Explorer, domain: list[Claim], pairs: list[tuple[Path, Path]]) -> Iterator[Path]:
    """Where the two decide two things; the result is both, and the sample is the smallest input."""
    for one, other in pairs:
        for (code, here), (new_code, there) in product(_decisions(one), _decisions(other)):
            conditions = (*one.conditions, *other.conditions, *here, *there)
            if code != new_code and explorer.possible([*domain, *conditions]):
                sample = explorer.smallest([*domain, *conditions])
                if sample is not None:
                    yield Path(conditions, sample, (code, new_code))


def _size(sample: Sample) -> tuple[int, ...]:
    """What smaller inputs have less of."""
    numbers = tuple(sample.values())
    return (max(numbers), *numbers[::-1])


def _decisions(path: Path) -> Iterator[tuple[int, tuple[Claim, ...]]]:
    """What is decided on the path, each with when it is."""
    if isinstance(path.result, Term):
        yield from ((int(action), (path.result == int(action),)) for action in Action)
    elif not path.error and DECIDE.fits(path.result):
        yield int(path.result), ()


def _change(where: str, words: str, sample: Sample, rerun: Callable[[Sample], Trial], allowed: Allowed) -> Change:
    """The change, once the functions themselves have shown it."""
    trial = rerun(sample)
    old, new = words.split("->")
    if not trial.fits or tuple(Action(code).name for code in trial.result) != (old, new):
        raise Unfollowable("decide", f"the run itself does not show {words}: {trial.words}")
    return Change(old, new, where, sample, trial.words, (Action[old], Action[new]) in allowed)
