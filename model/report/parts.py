"""All that the report says, as one plain dict: evidence.json. The page shows this and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from model import evidence
from model.draw.originals import findings
from model.exits import HOLDS, UNDETERMINED, VIOLATED, worst
from model.report.liveness import liveness
from model.report.matrix import matrix
from model.report.properties import CONFORMANCE, GROUPS, TITLES, check, properties
from model.report.readme import stated
from model.report.requirements import NOT_CLAIMED, REQUIREMENTS
from model.report.steps import FRESH, Found, look
from model.report.strength import NOT_RUN, RANKS, REFUTED
from model.report.strength import UNDETERMINED as UNKNOWN
from model.report.trust import trusted_base
from model.report.violations import violations
from model.steps import STEPS, Step

FORMAT = "slotproof-evidence/1"
WORDS = {HOLDS: "holds", VIOLATED: "violated", UNDETERMINED: "undetermined"}


def gather(
    folder: Path, *, complete: bool = False, steps: Iterable[Step] = STEPS, failed: Iterable[str] = ()
) -> dict[str, Any]:
    """What the evidence in the folder comes to. `complete`: whatever the main job would complain of is a violation, and
    so is a property of which nothing is known. `failed` are steps that were to be run and came to no verdict.

    Raises Unreadable if spec/README.md and the machines do not state the same properties.
    """
    found = look(steps, folder)
    readme = stated()
    check(readme["properties"], (name for each in REQUIREMENTS for name in each.properties))
    rows = list(properties(found, readme["properties"]))
    known = {(row["machine"], row["name"]): row["formula"] for row in rows}
    wrong = list(violations(found, known))
    complaints = [f"{name}: {each}" for name, of in found.items() for each in of.complaints]
    complaints += [f"{name}: it was run here, and came to no verdict" for name in failed]
    complaints += list(_unknown(rows)) if complete else []
    code = worst(*(of.code for of in found.values()), *(_code(each) for each in wrong), *(UNDETERMINED for _ in failed))
    if complete and complaints:
        code = VIOLATED
    return {
        "format": FORMAT,
        "verdict": WORDS[code],
        "exit": code,
        "complete": complete,
        "complaints": complaints,
        "revision": evidence.revision(),
        "sources": evidence.sources(),
        "tools": evidence.tools(),
        "steps": [of.as_json() for of in found.values()],
        "counts": counts(rows, found),
        "violations": wrong,
        "waivers": waivers(found),
        "trusted": trusted_base(evidence.tools()),
        "assumptions": [_assumption(row, rows) for row in readme["assumptions"]],
        "machines": [_machine(name, rows) for name in TITLES],
        "properties": rows,
        "requirements": [_requirement(each, rows) for each in REQUIREMENTS],
        "functions": found["table"].result["functions"] if found["table"].result else [],
        "matrix": matrix(found["mutants"]),
        "deviations": readme["deviations"],
        "liveness": liveness(found.values(), readme["liveness"]),
        "not_claimed": [*readme["not_claimed"], *NOT_CLAIMED],
        "findings": findings(),
        "simulations": [_simulation(of) for of in found.values() if of.step.argv[:2] == ("model", "simulate")],
        "compared": None,
    }


def _unknown(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The properties of which the evidence says nothing."""
    for row in rows:
        for kind, of in (("specification", row["spec"]), ("code", row["code"])):
            if of["strength"] in (NOT_RUN, UNKNOWN):
                yield f"{row['id']}: {kind} {of['strength']}"


def _code(violation: Mapping[str, Any]) -> int:
    return VIOLATED if violation["verdict"] == REFUTED else UNDETERMINED


def counts(rows: list[dict[str, Any]], found: Mapping[str, Found]) -> dict[str, Any]:
    """How many properties have which strength, of the specification and of the code; how many steps are fresh."""
    of = {kind: Counter(row[kind]["strength"] for row in rows) for kind in ("spec", "code")}
    words = sorted({*of["spec"], *of["code"]}, key=lambda word: (-RANKS[word], word))
    return {
        "properties": len(rows),
        "words": words,
        **{kind: {word: seen[word] for word in words} for kind, seen in of.items()},
        "steps": len(found),
        "fresh": sum(each.state == FRESH for each in found.values()),
        "queries": sum(row["spec"]["queries"] for row in rows),
        "seconds": round(sum(row["spec"]["seconds"] for row in rows), 1),
    }


def waivers(found: Mapping[str, Found]) -> list[dict[str, str]]:
    """What a policy waives, as the fresh evidence names it."""
    named: dict[str, list[str]] = {}
    for name, of in found.items():
        told = of.result if isinstance(of.result, dict) else {}
        for claim in (*told.get("waives", ()), *told.get("waived", ())):
            named.setdefault(claim, []).append(name)
    return [{"property": claim, "steps": ", ".join(of)} for claim, of in sorted(named.items())]


def _assumption(row: Mapping[str, str], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """An assumption, the properties that rest on it by name, and those that state it for all queries of a machine."""
    name = row["name"]
    stating = [each["id"] for each in rows if each["group"] == "assumed" and name in _names(each["origin"])]
    resting = [each["id"] for each in rows if name in _names(each["rests_on"]) or name in each["spec"]["assumptions"]]
    return {
        "name": name,
        "assumed": row["what is assumed"],
        "checked": row["where it is checked"],
        "carries": resting,
        "stated_as": stating,
    }


def _names(rests_on: str) -> set[str]:
    return {word.strip(",;") for word in rests_on.split()}


def _machine(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The properties of a machine by their kinds, in the order of the page."""
    kinds = {**GROUPS, CONFORMANCE: "The code and the specification"}
    groups = {kind: [row["id"] for row in rows if (row["machine"], row["group"]) == (name, kind)] for kind in kinds}
    told = [{"kind": kind, "title": kinds[kind], "properties": of} for kind, of in groups.items() if of]
    return {"name": name, "title": TITLES[name], "groups": told}


def _requirement(each: Any, rows: list[dict[str, Any]]) -> dict[str, Any]:
    of = {row["id"]: row for row in rows}
    carried = [
        {"id": name, "spec": of[name]["spec"]["strength"], "code": of[name]["code"]["strength"]}
        for name in each.properties
    ]
    asked = ["prove"] if any(of[name]["spec"]["queries"] for name in each.properties) else []
    steps = dict.fromkeys(
        [*asked, *(ground["step"] for name in each.properties for ground in of[name]["code"]["grounds"])]
    )
    return {"name": each.name, "text": each.text, "properties": carried, "steps": list(steps)}


def _simulation(of: Found) -> dict[str, Any]:
    """A replay of arrivals: how it went beside first come, first served, and the whole result for the drawings."""
    told = {"step": of.step.name, "state": of.state, "command": of.as_json()["command"], "result": of.result}
    columns = {name: (of.result or {}).get(name) for name in ("shipped", "first_come_first_served")}
    figures = {name: dict(figured(of)) for name, of in columns.items() if of}
    rows = [{"what": what, **{name: of[what] for name, of in figures.items()}} for what in figures.get("shipped", ())]
    return told | {"figures": rows}


def figured(of: Mapping[str, Any]) -> Iterable[tuple[str, float | None]]:
    """The figures of a replay that people ask for, each with its name and unit."""
    for name, wait in of["chat"]["wait_sec"].items():
        yield f"chat wait, {NAMES[name]}, s", rounded(wait)
    yield "chats refused", of["chat"]["refused"]
    yield "chats that came", of["chat"]["arrived"]
    for name, turnaround in of["image"]["turnaround_sec"].items():
        yield f"render turnaround, {NAMES[name]}, s", rounded(turnaround)
    yield "renders refused", of["image"]["refused"]
    yield "renders that came", of["image"]["arrived"]
    yield "preemptions", of["preemptions"]
    yield "worker starts", of["worker"]["starts"]
    yield "GPU memory held, s", of["worker"]["vram_sec"]
    yield "of a window of, s", of["worker"]["window_sec"]
    yield "saved, permil", of["worker"]["saved_permil"]


NAMES = {"p50": "median", "p95": "95 of 100 within", "p99": "99 of 100 within", "max": "longest"}


def rounded(seconds: float | None) -> float | None:
    """To the millisecond."""
    return None if seconds is None else round(seconds, 3)
