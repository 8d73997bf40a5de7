"""Whether a function keeps its promises on every input: asked of both solvers, from the paths through it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, TypeAlias

from model.prove.obligations import Obligation
from model.prove.solvers import SOLVERS
from model.prove.terms import Term, query
from model.symbolic.execution import Explorer, Sample
from model.symbolic.findings import Finding
from model.symbolic.subset import Unfollowable
from spec.logic import Claim, both, either, implies, negate

Function: TypeAlias = Callable[..., Any]
Numbers: TypeAlias = Callable[[str], Any]
"""What stands for the input of a name: a term, a symbol, or a plain number."""

ENDS = "it_ends_without_error"
"""The promise that each function is judged by first: that there is a result, of the right kind, for every input."""


@dataclass(frozen=True)
class Promise:
    """A claim about what the function saw and what it returned, and the witness without which it would be empty talk.
    One that is not `owed` is only reported."""

    name: str
    sentence: str
    holds: Callable[[Any, Any], Claim]
    witness: Callable[[Any, Any], Claim] | None = None
    owed: bool = True

    def broken(self, trial: Trial) -> bool:
        """The function itself has broken it."""
        return trial.fits and not self.holds(trial.view, trial.result)


@dataclass(frozen=True)
class Case:
    """The inputs of which `conditions` hold lead to the result, which `fits` if it is of the right kind."""

    conditions: tuple[Claim, ...]
    result: Any
    fits: Claim


@dataclass(frozen=True)
class Trial:
    """The function itself on plain numbers: what it saw and returned, whether that fits, and all of it in words."""

    view: Any
    result: Any
    fits: bool
    words: str


@dataclass(frozen=True)
class Subject:
    """A function whose paths are known. `view` is what its promises speak of, `expected` is what it should return, and
    `samples` are inputs worth trying."""

    machine: str
    function: str
    expected: str
    assumptions: tuple[str, ...]
    explorer: Explorer
    domain: Sequence[Claim]
    view: Any
    cases: Sequence[Case]
    rerun: Callable[[Sample], Trial]
    samples: Sequence[Sample] = ()


def is_number(result: object) -> bool:
    """A plain int, an IntEnum or a symbolic number; a bool is none."""
    return isinstance(result, Term | IntEnum) or type(result) is int


def attempt(function: Function, *arguments: Any) -> tuple[Any, str]:
    """What the function returns, or what it raises, in words."""
    try:
        return function(*arguments), ""
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, f"raises {error!r}"


@dataclass(frozen=True)
class Judge:
    """How functions are judged. On what is `shipped` nothing is left open: an input that leads to an error refutes it,
    and a promise that was never put to the test is not kept."""

    shipped: bool = True
    waives: Collection[str] = ()
    solvers: tuple[str, ...] = tuple(SOLVERS)
    seeds: int = 1

    def findings(self, subject: Subject, promises: Iterable[Promise]) -> list[Finding]:
        """That the function ends, and each promise, by each solver; what is waived comes first."""
        ends = Promise(ENDS, f"Every input leads, without error, to {subject.expected}.", lambda *_: True)
        claim = either(False, *(both(_reached(case), case.fits) for case in subject.cases))
        found = self._asked(subject, ends, claim, lambda trial: not trial.fits)
        whole = {finding.solver for finding in found if finding.verdict == "proved"}
        if not self.shipped:
            found = [replace(each, verdict="undetermined") if each.verdict == "refuted" else each for each in found]
        for promise in promises:
            kept = (
                implies(both(_reached(case), case.fits), promise.holds(subject.view, case.result))
                for case in subject.cases
                if case.fits is not False
            )
            mine = self._asked(subject, promise, both(True, *kept), promise.broken)
            mine = [each if each.solver in whole or each.verdict != "proved" else _open(each) for each in mine]
            if all(finding.verdict == "proved" for finding in mine):
                mine = self._tested(subject, promise, mine)
            found += mine
        return sorted(found, key=lambda finding: not finding.waived)

    def unfollowed(self, machine: str, function: str, promises: Iterable[Promise], why: str) -> list[Finding]:
        """The same of a function whose paths are not known."""
        ends = Promise(ENDS, "Every input leads, without error, to a result.", lambda *_: True)
        found = [
            self._finding(promise, Obligation(machine, function, promise.name, promise.sentence, (), ""), solver, why)
            for promise in (ends, *promises)
            for solver in self.solvers
        ]
        return sorted(found, key=lambda finding: not finding.waived)

    def _finding(self, promise: Promise, obligation: Obligation, solver: str, detail: str = "") -> Finding:
        waived = promise.name in self.waives
        return Finding(obligation, solver, (), "undetermined", None, detail, promise.owed, waived)

    def _asked(
        self, subject: Subject, promise: Promise, claim: Claim, broken: Callable[[Trial], bool]
    ) -> list[Finding]:
        """What each solver says of the claim. Only a counterexample that is `broken` when it is run refutes it."""
        obligation = _obligation(subject, promise, claim)
        answers = {
            solver: tuple(SOLVERS[solver][1](obligation.text, seed) for seed in range(1, self.seeds + 1))
            for solver in self.solvers
        }
        said = {solver: {answer.word for answer in each} for solver, each in answers.items()}
        sample, detail, confirmed = None, "", False
        if any(words != {"unsat"} for words in said.values()):
            sample, detail, confirmed = _counterexample(subject, claim, broken)
        found = []
        for solver, words in said.items():
            verdict = "refuted" if confirmed else "undetermined"
            if words == {"unsat"}:
                verdict = "undetermined" if confirmed else "proved"
            told = detail if words != {"unsat"} else "the other solver found a counterexample" if confirmed else ""
            finding = self._finding(promise, obligation, solver, told)
            found.append(
                replace(finding, answers=answers[solver], verdict=verdict, witness=sample if confirmed else None)
            )
        return found

    def _tested(self, subject: Subject, promise: Promise, proved: list[Finding]) -> list[Finding]:
        """The same findings with an input at which the promise was put to the test."""
        if promise.witness is None:
            return proved
        sample = _meets(subject, promise.witness)
        if sample is not None:
            return [replace(each, witness=sample) for each in proved]
        idle = "it was never put to the test: no input makes its premise true"
        return [replace(_open(each) if self.shipped else each, detail=idle) for each in proved]


def _meets(subject: Subject, witness: Callable[[Any, Any], Claim]) -> Sample | None:
    """An input of which the witness is true, if one is found."""
    for sample in subject.samples:
        trial = subject.rerun(sample)
        if trial.fits and witness(trial.view, trial.result):
            return sample
    met = (both(_reached(case), case.fits, witness(subject.view, case.result)) for case in subject.cases)
    try:
        return subject.explorer.witness([*subject.domain, either(False, *met)])
    except Unfollowable:
        return None


def _reached(case: Case) -> Claim:
    return both(True, *case.conditions)


def _open(finding: Finding) -> Finding:
    return replace(
        finding,
        verdict="undetermined",
        detail="it is kept where there is a result, but it is not proved that there always is one",
    )


def _obligation(subject: Subject, promise: Promise, claim: Claim) -> Obligation:
    header = f"""; {subject.machine}: {subject.function}, {promise.name}
; {promise.sentence}
; Satisfiable only by a counterexample; assuming {", ".join(subject.assumptions) or "nothing"}.
"""
    text = header + query([*subject.domain, *subject.explorer.definitions, negate(claim)], "unsat")
    return Obligation(subject.machine, subject.function, promise.name, promise.sentence, subject.assumptions, text)


def _counterexample(subject: Subject, claim: Claim, broken: Callable[[Trial], bool]) -> tuple[Sample | None, str, bool]:
    """The smallest input that breaks the claim, what became of it, and whether the function itself broke it."""
    try:
        sample = subject.explorer.smallest([*subject.domain, negate(claim)])
    except Unfollowable:
        sample = None
    if sample is None:
        return None, "no counterexample was found, and no proof", False
    trial = subject.rerun(sample)
    if not broken(trial):
        return sample, f"the counterexample was not one when it was tried: {trial.words}", False
    return sample, trial.words, True


SHIPPED = Judge()
"""Judges shipped code, by every solver."""
