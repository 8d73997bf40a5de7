"""Which jobs two urgencies order differently, of all that the scheduler admits.

Only the order counts. NEW is stricter if it refines OLD: whatever OLD puts before another, NEW does too, so that it
changes nothing but ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from impl.jobs import Job
from model.policy.difference import LAXER, SAME, STRICTER, Change, Difference
from model.symbolic.execution import Explorer, Path, Sample
from model.symbolic.promises import Case, Function, Judge, Promise, Subject, Trial, attempt
from model.symbolic.subset import Unfollowable, start_of
from model.symbolic.urgency import (
    LESS,
    MORE,
    PAIRS,
    admissible,
    comparable,
    job_of,
    lower,
    no_deadline,
    shown,
    variants,
)
from spec.logic import Claim, both, either, implies, negate

A, B, EQUALS = "A", "B", "equals"
BOTH = (LESS, MORE)


def diff_urgency(old: Function, new: Function, by: Judge) -> Difference:
    """The smallest pair of jobs of each kind of change, and how NEW stands to OLD."""
    explorer = Explorer()
    promises = [
        Promise(SAME, "NEW orders every two jobs as OLD does.", lambda *of: both(_refines(*of), _coarsens(*of))),
        Promise(STRICTER, "NEW puts a job before another wherever OLD does.", _refines, owed=False),
        Promise(LAXER, "OLD puts a job before another wherever NEW does.", _coarsens, owed=False),
    ]

    def rerun(sample: Sample) -> Trial:
        jobs = [job_of(explorer, who, sample.__getitem__, bool(sample[no_deadline(who)])) for who in BOTH]
        tried = [attempt(function, job) for function, job in product((old, new), jobs)]
        results = tuple(result for result, _ in tried)
        fits = not any(error for _, error in tried) and comparable(*results[:2]) and comparable(*results[2:])
        told = [error or shown(result) for result, error in tried]
        said = f"urgency: {A} {told[0]}, {B} {told[1]} in OLD; {A} {told[2]}, {B} {told[3]} in NEW"
        return Trial(jobs, results, fits, said)

    domain = [claim for who in BOTH for claim in admissible(explorer, who)]
    try:
        cases = list(_cases(explorer, old, new))
        changes = list(_changes(explorer, domain, cases, rerun))
    except Unfollowable as unfollowable:
        why = str(unfollowable)
        return Difference("urgency", by.unfollowed("scheduler", "urgency", promises, why), why=why)
    expected = "ints or tuples of ints, always the same of OLD and the same of NEW"
    subject = Subject("scheduler", "urgency", expected, ("every_job_has_work",), explorer, domain, None, cases, rerun)
    return Difference("urgency", by.findings(subject, promises), changes)


def _refines(_: Any, urgencies: Any) -> Claim:
    old_a, old_b, new_a, new_b = urgencies
    return both(implies(lower(old_a, old_b), lower(new_a, new_b)), implies(lower(old_b, old_a), lower(new_b, new_a)))


def _coarsens(_: Any, urgencies: Any) -> Claim:
    old_a, old_b, new_a, new_b = urgencies
    return _refines(None, (new_a, new_b, old_a, old_b))


def _level(one: Any, other: Any) -> Claim:
    return negate(either(lower(one, other), lower(other, one)))


CHANGES: tuple[Callable[[Any, Any, Any, Any], Claim], ...] = (
    lambda old_a, old_b, new_a, new_b: both(lower(old_a, old_b), lower(new_b, new_a)),
    lambda old_a, old_b, new_a, new_b: both(lower(old_a, old_b), _level(new_a, new_b)),
    lambda old_a, old_b, new_a, new_b: both(_level(old_a, old_b), lower(new_a, new_b)),
)
"""Two jobs change their places, become equals, or are equals no more."""


def _cases(explorer: Explorer, old: Function, new: Function) -> Iterator[Case]:
    """The ways that two jobs can take together through OLD and NEW, with the four urgencies."""
    both_ways = [list(_ways(explorer, old, new, who)) for who in BOTH]
    if len(both_ways[0]) * len(both_ways[1]) > PAIRS:
        raise Unfollowable(start_of(new), f"more than {PAIRS} pairs of paths lead through OLD and NEW")
    for (old_a, new_a), (old_b, new_b) in product(*both_ways):
        paths = (old_a, old_b, new_a, new_b)
        results = tuple(path.result for path in paths)
        fits = not any(path.error for path in paths) and comparable(*results[:2]) and comparable(*results[2:])
        yield Case(tuple(condition for path in paths for condition in path.conditions), results, fits)


def _ways(explorer: Explorer, old: Function, new: Function, who: str) -> Iterator[tuple[Path, Path]]:
    """The ways that one job can take through OLD and NEW."""
    for one, other in product(variants(explorer, old, who), variants(explorer, new, who)):
        if explorer.possible([*admissible(explorer, who), *one.conditions, *other.conditions]):
            yield one, other


def _changes(
    explorer: Explorer, domain: list[Claim], cases: list[Case], rerun: Callable[[Sample], Trial]
) -> Iterator[Change]:
    for change in CHANGES:
        shows = either(False, *(both(True, *case.conditions, change(*case.result)) for case in cases if case.fits))
        sample = explorer.smallest([*domain, shows])
        if sample is None:
            continue
        trial = rerun(sample)
        if not trial.fits or not change(*trial.result):
            raise Unfollowable("urgency", f"the run itself does not show a change: {trial.words}")
        old, new = _order(*trial.result[:2]), _order(*trial.result[2:])
        jobs = dict(zip((A, B), trial.view, strict=True))
        told = "; ".join(f"{name} = {_words(job)}" for name, job in jobs.items())
        yield Change(old, new, told, {name: _facts(job) for name, job in jobs.items()}, trial.words)


def _order(one: Any, other: Any) -> str:
    return f"{A} first" if lower(other, one) else f"{B} first" if lower(one, other) else EQUALS


def _facts(job: Job) -> dict[str, Any]:
    """What there is to tell of the job."""
    usual = {"modality": "", "arrived": 0, "deadline": None}
    return {
        name: value for name, value in job._asdict().items() if name != "request_id" and usual.get(name, ...) != value
    }


def _words(job: Job) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in _facts(job).items())
