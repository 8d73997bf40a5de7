"""What was found of a function: of each promise, by each solver."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from model.exits import UNDETERMINED, VIOLATED, worst
from model.prove.obligations import Obligation
from model.prove.solvers import SOLVERS, Answer
from model.symbolic.execution import Sample
from model.symbolic.rules import Rule


@dataclass(frozen=True)
class Finding:
    """What one solver said of one promise, under all seeds, and what follows.

    `witness` is an input: a counterexample that was tried on the function itself, or, if the promise is kept, one at
    which it was put to the test. `detail` says more, in words.
    """

    obligation: Obligation
    solver: str
    answers: tuple[Answer, ...]
    verdict: str
    witness: Sample | None = None
    detail: str = ""
    owed: bool = True
    waived: bool = False

    @property
    def about(self) -> str:
        """The name of the promise."""
        return self.obligation.about

    @property
    def counts(self) -> bool:
        """The exit code depends on it."""
        return self.owed and not self.waived

    @property
    def seconds(self) -> float:
        """Solver time, under the slowest seed."""
        return max((answer.seconds for answer in self.answers), default=0.0)

    def as_json(self) -> dict[str, object]:
        """The finding for programs."""
        return {
            "machine": self.obligation.machine,
            "action": self.obligation.action,
            "property": self.about,
            "verdict": self.verdict,
            "answers": [answer.word for answer in self.answers],
            "solver": self.solver,
            "version": SOLVERS[self.solver][0],
            "seconds": round(self.seconds, 4),
            "seeds": len(self.answers),
            "assumptions": list(self.obligation.assumptions),
            "digest": self.obligation.digest,
            "sentence": self.obligation.sentence,
            "witness": None if self.witness is None else dict(self.witness),
            "detail": self.detail,
            "owed": self.owed,
            "waived": self.waived,
        }


@dataclass(frozen=True)
class Judgement:
    """All that was found of one function, which begins at `place`. `why` says what could not be followed; `note` names
    the further parameters, which have their defaults."""

    function: str
    place: str
    findings: Sequence[Finding]
    rules: Sequence[Rule] = ()
    paths: int = 0
    why: str = ""
    note: str = ""

    def as_json(self) -> dict[str, object]:
        """The judgement for programs."""
        return {
            "function": self.function,
            "place": self.place,
            "paths": self.paths,
            "rules": [rule.as_json() for rule in self.rules],
            "findings": [finding.as_json() for finding in self.findings],
            "unfollowed": self.why,
            "defaults": self.note,
        }


def exit_code(findings: Iterable[Finding]) -> int:
    """1 if anything owed is refuted, else 3 if anything owed is undetermined, else 0."""
    codes = {"refuted": VIOLATED, "undetermined": UNDETERMINED}
    return worst(*(codes[each.verdict] for each in findings if each.counts and each.verdict in codes))


def beside(judgements: Iterable[Judgement]) -> int:
    """The same of all that is judged beside an engine that runs the urgency: whether that can be followed is then no
    reason to fail."""
    codes = [(judgement.function, exit_code(judgement.findings)) for judgement in judgements]
    return worst(*(code for function, code in codes if function != "urgency" or code == VIOLATED))
