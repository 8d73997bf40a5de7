"""What happens sooner or later: the claims of spec/README.md, and what the explorers found on finite instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from model.report.steps import Found
from model.report.strength import instance


def liveness(found: Iterable[Found], claims: Iterable[Mapping[str, str]]) -> dict[str, Any]:
    """`claims`, each with what was `found` of it; `lassos`: who may wait for ever, with the way into it."""
    seen = [(of, of.result["liveness"]) for of in found if isinstance(of.result, dict) and of.result.get("liveness")]
    return {
        "claims": [{**claim, "found": list(_verdicts(seen, claim["name"]))} for claim in claims],
        "lassos": [lasso for each in seen for lasso in _lassos(*each)],
    }


def _verdicts(seen: Iterable[tuple[Found, Mapping[str, Any]]], name: str) -> Iterator[dict[str, Any]]:
    for of, live in seen:
        if name in live:
            yield {"step": of.step.name, "strength": live[name], "seen": instance(of.result)}


def _lassos(of: Found, live: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    ways = {**live.get("starvation", {}), **({"demand": live["lasso"]} if "lasso" in live else {})}
    for kind, lasso in ways.items():
        if lasso:
            yield {"step": of.step.name, "kind": kind, "seen": instance(of.result), **lasso}
