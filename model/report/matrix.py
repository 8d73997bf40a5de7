"""The kill matrix as the report shows it: planted bugs and mutants by property and engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from model.engines.engine import NAMES
from model.planted.catalogue import BUGS
from model.report.steps import Found

LISTS = ("survivors", "missed", "useless", "undetermined", "equivalent_but_killed", "equivalent_but_unknown")


def matrix(found: Found) -> dict[str, Any]:
    """`properties`: how many mutants each killed by each engine, in all and alone; `planted`: each bug with who caught
    it; what is open. Without fresh evidence the planted bugs alone, each caught by nobody."""
    result = found.result
    rows = {row["name"]: row for row in (result or {"mutants": []})["mutants"]}
    told: dict[str, Any] = {
        "state": found.state,
        "engines": list(NAMES),
        "properties": [],
        "planted": [_planted(name, rows.get(name)) for name in BUGS],
        "mutants": len(rows),
        "killed": 0,
        **{name: [] for name in LISTS},
        "redundant": [],
    }
    if result is None:
        return told
    kills: dict[str, Counter[str]] = {}
    for row in rows.values():
        for engine, of in row["engines"].items():
            for claim in of["killers"] if of["verdict"] == "killed" else ():
                kills.setdefault(claim, Counter())[engine] += 1
    wanted = sorted({*result["kills"], *result["useless"]})
    told["properties"] = [
        {
            "name": name,
            "by": {engine: kills.get(name, Counter())[engine] for engine in NAMES},
            "all": result["kills"].get(name, 0),
            "alone": len(result["sole_killers"].get(name, [])),
        }
        for name in wanted
    ]
    told["killed"] = sum(any(of["verdict"] == "killed" for of in row["engines"].values()) for row in rows.values())
    return told | {name: result[name] for name in LISTS} | {"redundant": result["redundant"]}


def _planted(name: str, row: Mapping[str, Any] | None) -> dict[str, Any]:
    bug = BUGS[name]
    engines = row["engines"] if row else {}
    return {
        "name": name,
        "target": bug.target,
        "sentence": bug.sentence,
        "property": bug.property,
        "source": bug.source,
        "caught_by": {engine: list(of["killers"]) for engine, of in engines.items() if of["verdict"] == "killed"},
        "tried": row is not None,
    }
