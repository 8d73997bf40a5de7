"""Which witnesses came true: without its witness a property was never put to the test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spec import scheduler_claims, worker_claims
from spec.worker_outcomes import OUTCOMES

_OF_SCHEDULER = scheduler_claims.ALWAYS + scheduler_claims.STEPS + scheduler_claims.THEOREMS
_OF_WORKER = worker_claims.ALWAYS + worker_claims.LEMMAS + worker_claims.STEPS + worker_claims.THEOREMS + OUTCOMES
SCHEDULER: dict[str, Any] = {each.witness.__name__: each.witness for each in _OF_SCHEDULER if each.witness}
WORKER: dict[str, Any] = {each.witness.__name__: each.witness for each in _OF_WORKER if each.witness}
"""Those of what the checkers of the code judge, by name: claims on the states before and after a step."""


def look(witnesses: Mapping[str, Any], seen: set[str], before: Any, after: Any) -> None:
    """Add to `seen` the names of those that the step is."""
    seen.update(name for name, witness in witnesses.items() if name not in seen and witness(before, after))
