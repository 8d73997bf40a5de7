"""What NEW does otherwise than OLD, of one function of a policy.

NEW is *stricter* than OLD if it does nothing that OLD does not do, and *laxer* if it is the other way round; both make
it *equivalent*, neither *incomparable*. What that means of a decision or an urgency says the file that compares it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model.symbolic.findings import Finding

STRICTER, LAXER = "new_is_at_least_as_strict", "old_is_at_least_as_strict"
"""The two promises that make the relation."""
SAME = "every_change_is_allowed"
"""The promise that the exit code depends on."""


@dataclass(frozen=True)
class Change:
    """Where OLD does the one thing and NEW the other. `sample` is the smallest input there, on which both were run, as
    `example` tells."""

    old: str
    new: str
    where: str
    sample: Mapping[str, Any]
    example: str
    allowed: bool = False

    @property
    def words(self) -> str:
        """The change in short."""
        return f"{self.old}->{self.new}"

    def as_json(self) -> dict[str, object]:
        """The change for programs."""
        told = {"old": self.old, "new": self.new, "where": self.where, "sample": dict(self.sample)}
        return {**told, "example": self.example, "allowed": self.allowed}


@dataclass(frozen=True)
class Difference:
    """All that was found of one function. `why` says what could not be followed; without `findings` both policies have
    the shipped function. `history` tells, of urgencies, where two schedulers part."""

    function: str
    findings: Sequence[Finding] = ()
    changes: Sequence[Change] = ()
    why: str = ""
    history: Mapping[str, Any] | None = None

    @property
    def relation(self) -> str:
        """`different` if they differ in a way that is not known, `undetermined` if it is not known whether they do."""
        if not self.findings:
            return "equivalent"
        relations = {
            ("proved", "proved"): "equivalent",
            ("proved", "refuted"): "stricter",
            ("refuted", "proved"): "laxer",
            ("refuted", "refuted"): "incomparable",
        }
        found = tuple(_agreed(self.findings, name) for name in (STRICTER, LAXER))
        return relations.get(found, "different" if "refuted" in found else "undetermined")  # type: ignore[arg-type]

    def as_json(self) -> dict[str, object]:
        """The difference for programs."""
        return {
            "function": self.function,
            "relation": self.relation,
            "changes": [change.as_json() for change in self.changes],
            "history": self.history,
            "findings": [finding.as_json() for finding in self.findings],
            "unfollowed": self.why,
        }


def joined(relations: Iterable[str]) -> str:
    """The relation of two policies, from those of their functions."""
    found = set(relations) - {"equivalent"}
    if len(found) < 2:
        return next(iter(found), "equivalent")
    return "different" if found & {"different", "undetermined"} else "incomparable"


def _agreed(findings: Iterable[Finding], name: str) -> str:
    """What all solvers found of the promise."""
    verdicts = {finding.verdict for finding in findings if finding.about == name}
    return verdicts.pop() if len(verdicts) == 1 else "undetermined"
