"""Whether an urgency respects the priority: a job of lower priority never has the same or a higher urgency."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from impl.checks import I64_MAX, I64_MIN
from impl.jobs import Job, by_priority
from model.policy.file import RESPECT
from model.prove.terms import Term
from model.symbolic.execution import Explorer, Path, Sample, words
from model.symbolic.findings import Judgement
from model.symbolic.promises import SHIPPED, Case, Function, Judge, Numbers, Promise, Subject, Trial, attempt, is_number
from model.symbolic.rules import Rule, rules
from model.symbolic.subset import Unfollowable, start_of
from model.symbolic.symbols import Opaque, Symbol, Word
from spec.logic import Claim, Property, both, either, implies, negate
from spec.scheduler import the_urgency_respects_the_priority

PAIRS = 10_000
"""The most pairs of paths through an urgency."""
LESS, MORE = "job", "other"
"""The two jobs; the first is the one of lower priority."""


def judge_urgency(function: Function = by_priority, by: Judge = SHIPPED) -> Judgement:
    """On all pairs of jobs that the scheduler admits: numbers in i64, at least one step of work, a deadline or none."""
    sentence = Property(the_urgency_respects_the_priority).sentence
    promise = Promise(RESPECT, sentence, lambda priorities, urgencies: implies(lower(*priorities), lower(*urgencies)))
    explorer = Explorer()
    try:
        less, more = (variants(explorer, function, who) for who in (LESS, MORE))
        if len(less) * len(more) > PAIRS:
            raise Unfollowable(start_of(function), f"more than {PAIRS} pairs of paths lead through it")
        table = [_readable(explorer, rule) for rule in rules(explorer, admissible(explorer, LESS), less, shown)]
    except Unfollowable as unfollowable:
        why = str(unfollowable)
        return Judgement("urgency", start_of(function), by.unfollowed("scheduler", "urgency", [promise], why), why=why)
    cases = [_case(one, other) for one, other in product(less, more)]

    def rerun(sample: Sample) -> Trial:
        jobs = [job_of(explorer, who, sample.__getitem__, bool(sample[no_deadline(who)])) for who in (LESS, MORE)]
        trials = [attempt(function, job) for job in jobs]
        told = [error or f"returns {shown(result)}" for result, error in trials]
        fits = not any(error for _, error in trials) and comparable(*(result for result, _ in trials))
        said = "; ".join(f"urgency({job}) {each}" for job, each in zip(jobs, told, strict=True))
        return Trial([job.priority for job in jobs], [result for result, _ in trials], fits, said)

    priorities = [explorer.number(f"{who}.priority") for who in (LESS, MORE)]
    domain = [claim for who in (LESS, MORE) for claim in admissible(explorer, who)]
    kind = "an int or a tuple of ints, always the same of the two"
    subject = Subject("scheduler", "urgency", kind, ("every_job_has_work",), explorer, domain, priorities, cases, rerun)
    return Judgement("urgency", start_of(function), by.findings(subject, [promise]), table, len(less))


def _readable(explorer: Explorer, rule: Rule) -> Rule:
    """The same rule with a job for a sample."""
    job = job_of(explorer, LESS, rule.sample.__getitem__, bool(rule.sample[no_deadline(LESS)]))
    return replace(rule, sample={name: value for name, value in job._asdict().items() if name != "request_id"})


def no_deadline(who: str) -> str:
    return f"{who}.deadline is None"


def admissible(explorer: Explorer, who: str) -> list[Claim]:
    """What the scheduler checks when a job is admitted."""
    numbers = {name: explorer.number(f"{who}.{name}") for name in ("priority", "work", "arrived", "deadline")}
    least = dict.fromkeys(numbers, I64_MIN) | {"work": 1}
    return [both(least[name] <= number, number <= I64_MAX) for name, number in numbers.items()]


def job_of(explorer: Explorer, who: str, of: Numbers, absent: bool) -> Job:
    known = [of(f"{who}.{name}") for name in ("priority", "work", "modality", "arrived", "deadline")]
    priority, work, modality, arrived, deadline = known
    symbolic = type(modality) is Symbol
    text: Any = Word(modality) if symbolic else explorer.text(modality)
    request: Any = Opaque() if symbolic else who
    return Job(request, priority, work, text, arrived, None if absent else deadline)


def variants(explorer: Explorer, function: Function, who: str) -> list[Path]:
    """The paths for a job without a deadline, then for one with a deadline."""
    found: list[Path] = []
    for absent in (True, False):
        flag = explorer.flag(no_deadline(who))
        variant = flag if absent else negate(flag)
        arguments = partial(_arguments, explorer, who, absent)
        paths = explorer.paths(function, arguments, [*admissible(explorer, who), variant])
        found += [replace(path, conditions=(variant, *path.conditions)) for path in paths]
    return found


def _arguments(explorer: Explorer, who: str, absent: bool, of: Numbers) -> tuple[Job]:
    return (job_of(explorer, who, of, absent),)


def _case(one: Path, other: Path) -> Case:
    fits = not (one.error or other.error) and comparable(one.result, other.result)
    return Case((*one.conditions, *other.conditions), (one.result, other.result), fits)


def comparable(one: Any, other: Any) -> bool:
    """Both are numbers, or both tuples of some."""
    if type(one) is tuple and type(other) is tuple:
        return bool(one and other) and all(map(is_number, one + other))
    return is_number(one) and is_number(other)


def lower(one: Any, other: Any) -> Claim:
    """One urgency is lower than another of its kind, as Python compares them."""
    ours, others = (each if type(each) is tuple else (each,) for each in (one, other))
    if not ours or not others:
        return len(ours) < len(others)
    return either(ours[0] < others[0], both(ours[0] == others[0], lower(ours[1:], others[1:])))


def shown(result: Any) -> str:
    if type(result) is tuple:
        return f"({', '.join(map(shown, result))}{',' * (len(result) == 1)})"
    return words(result) if isinstance(result, Term) else repr(result)
