"""Two reports side by side: what became stronger or weaker from one to the other."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from model.report.strength import RANKS

KINDS = {"spec": "specification", "code": "code"}


class Unusable(Exception):
    """The file is no evidence.json of a report."""


def load(path: Path, wanted: str) -> dict[str, Any]:
    """The earlier evidence. Raises Unusable."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Unusable(f"{path} cannot be read as JSON: {error}; give the evidence.json of a report") from None
    if not isinstance(told, dict) or told.get("format") != wanted:
        found = told.get("format") if isinstance(told, dict) else type(told).__name__
        raise Unusable(f"{path} has the format {found!r}, expected {wanted!r}; give the evidence.json of a report")
    if wrong := _wrong(told):
        raise Unusable(f"{path} {wrong}; give the evidence.json of a report, as it was written")
    return told


def _wrong(told: Mapping[str, Any]) -> str | None:
    """Why nothing can be compared with it, if so."""
    try:
        names = [each["id"] for each in told["properties"]]
        words = {each[of]["strength"] for each in told["properties"] for of in KINDS} - RANKS.keys()
        counted = {of: dict(Counter(each[of]["strength"] for each in told["properties"])) for of in KINDS}
        stated = {of: {word: times for word, times in told["counts"][of].items() if times} for of in KINDS}
        compare(told, told)
    except (KeyError, TypeError, AttributeError):
        return "lacks what a comparison needs"
    if words:
        return f"has the strength {sorted(map(str, words))[0]!r}, expected one of {', '.join(RANKS)}"
    if len(set(names)) < len(names) or len(names) != told["counts"]["properties"] or counted != stated:
        return "has other properties than it has counted"
    return None


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, list[str]]:
    """`lost` and `gained` strengths, added `assumptions` and `waivers`, and what is `restated`, each a sentence.

    A property that is gone is lost, whatever it was; one that is new is gained if anything is known for it. One that is
    restated has another formula, so that its strengths are those of another claim: for people to judge, and no loss.
    """
    before, after = ({each["id"]: each for each in told["properties"]} for told in (old, new))
    told: dict[str, list[str]] = {"lost": [], "gained": [], "assumptions": [], "waivers": [], "restated": []}
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            told["lost"].append(f"{name} is gone")
        elif name not in before:
            told["gained"].append(f"{name} is new")
        else:
            for kind, change in _changes(before[name], after[name]):
                told[kind].append(f"{name}: {change}")
    waived = {each["property"] for each in old["waivers"]}
    told["waivers"] = [each["property"] for each in new["waivers"] if each["property"] not in waived]
    return told


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for of, kind in KINDS.items():
        then, now = old[of]["strength"], new[of]["strength"]
        if RANKS.get(now, 0) != RANKS.get(then, 0):
            yield "gained" if RANKS.get(now, 0) > RANKS.get(then, 0) else "lost", f"{kind} {then}, now {now}"
    if added := sorted(_rests_on(new) - _rests_on(old)):
        yield "assumptions", f"rests on {', '.join(added)} as well"
    if old["formula"]["sha256"] != new["formula"]["sha256"]:
        yield "restated", f"another formula, at {new['formula']['file']}:{new['formula']['line']}"


def _rests_on(each: Mapping[str, Any]) -> set[str]:
    """All that is assumed for the property: by name, and by its queries."""
    named = {part.strip() for part in each["rests_on"].replace(";", ",").split(",")}
    return (named | set(each["spec"]["assumptions"])) - {"none"}


def is_loss(told: Mapping[str, list[str]]) -> bool:
    """Something holds less strongly than it did, or rests on more."""
    return bool(told["lost"] or told["assumptions"] or told["waivers"])


def lines(told: Mapping[str, list[str]]) -> Iterator[str]:
    """The comparison for people."""
    titles = {"lost": "lost", "gained": "gained", "assumptions": "assumption added", "waivers": "waiver added"}
    titles["restated"] = "restated"
    for kind, title in titles.items():
        yield from (f"{title}: {line}" for line in told[kind])
    if not any(told.values()):
        yield "no property is stronger or weaker than before"
