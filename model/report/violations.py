"""What was found against a property, or could not be settled, step by step, with the places in the source."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from impl.autoscale import decide, savings_permil
from impl.core import Core
from impl.jobs import by_priority
from impl.worker import Controller
from model.exits import HOLDS
from model.prove.machines import MACHINES
from model.report.formula import formula
from model.report.steps import FRESH, Found

FUNCTIONS: dict[str, Callable[..., Any]] = {"decide": decide, "savings_permil": savings_permil, "urgency": by_priority}
"""The shipped functions by the name that the table has for them."""
Violation = dict[str, Any]


def violations(found: Mapping[str, Found], known: Mapping[tuple[str, str], Mapping[str, Any]]) -> Iterator[Violation]:
    """Of all fresh evidence. `known` has the formula of each property by machine and name."""
    for each in found.values():
        if each.state != FRESH:
            continue
        kind = each.step.argv[1] if each.step.answers else each.step.argv[0]
        told = list(READERS.get(kind, _nothing)(each.result))
        if not told and each.code:
            lacks = list(each.step.lacks(each.result)) if each.exit == HOLDS else []
            more = f", and {len(lacks) - 1} more of the kind" if lacks[1:] else ""
            detail = f"It does not show what it must: {lacks[0]}{more}." if lacks else f"Its exit code is {each.exit}."
            told = [_told("", "", detail, verdict="undetermined")]
        for violation in told:
            place = known.get((violation["machine"], violation["property"]))
            yield {"step": each.step.name, **violation, "source": _place(place), "code": _code(violation)}


def _told(machine: str, about: str, detail: str, **more: Any) -> Violation:
    blank: Violation = {"machine": machine, "property": about, "sentence": "", "detail": detail, "verdict": "refuted"}
    return blank | {"history": [], "rows": None, "function": None} | more


def _of_proofs(rows: list[Mapping[str, Any]]) -> Iterator[Violation]:
    for row in rows:
        if row["verdict"] in ("refuted", "undetermined") and row.get("owed", True) and not row.get("waived"):
            said = ", ".join(dict.fromkeys(row["answers"])) or "nothing"
            detail = row.get("detail") or f"{row['solver']} says {said} of {row['action']}."
            function = row["action"] if row["action"] in FUNCTIONS else None
            yield _told(
                row["machine"],
                row["property"],
                detail,
                verdict=row["verdict"],
                sentence=row.get("sentence", ""),
                history=row.get("counterexample", []),
                function=function,
            )


def _of_table(result: Mapping[str, Any]) -> Iterator[Violation]:
    for function in result["functions"]:
        for violation in _of_proofs(function["findings"]):
            yield {**violation, "function": function["function"]}


def _of_exploration(result: Mapping[str, Any]) -> Iterator[Violation]:
    for claim, of in result["violations"].items():
        yield _found(result["machine"], claim, of)
    for claim, word in result.get("liveness", {}).items():
        if word == "refuted":
            yield _told(result["machine"], claim, "It is not so on this instance, sooner or later.")


def _of_fuzz(result: Mapping[str, Any]) -> Iterator[Violation]:
    of = result["violation"]
    for number, claim in enumerate(of.get("claims", ())):
        yield _found(result["machine"], claim, of if number == 0 else {**of, "rows": None})
    if result["never_seen"]:
        never = ", ".join(result["never_seen"])
        yield _told(result["machine"], "", f"Never seen, so not put to the test: {never}.", verdict="undetermined")


def _found(machine: str, claim: str, of: Mapping[str, Any]) -> Violation:
    history = [_line(each) for each in of.get("history", ())]
    told = {"sentence": of.get("sentence", ""), "history": history, "rows": of.get("rows")}
    return _told(_owner(machine, claim), claim, of.get("detail", ""), **told)


def _of_replay(result: Mapping[str, Any]) -> Iterator[Violation]:
    if of := result["violation"]:
        machine = _owner("scheduler", of["property"])
        yield _told(machine, of["property"], of["detail"], sentence=of["sentence"], history=of["steps"])


def _of_mutants(result: Mapping[str, Any]) -> Iterator[Violation]:
    of = {row["name"]: row["target"] for row in result["mutants"]}
    for name in result["survivors"]:
        yield _told(of[name], "", f"The mutant {name} survived: no engine caught it.")
    for name in result["missed"]:
        yield _told(of[name], "", f"The planted bug {name} was not caught by the property that it breaks.")
    for name in result["undetermined"]:
        yield _told(of[name], "", f"No engine has a verdict on the mutant {name}.", verdict="undetermined")
    for name in result["useless"]:
        yield _told("", name, "It caught no mutant, so nothing shows that it could.")
    for name in result["never_first"]:
        if name not in result["useless"]:
            yield _told("", name, "It was never the first to notice a mutant, so nothing shows that it would alone.")
    for name in result["equivalent_but_killed"]:
        yield _told(of[name], "", f"The mutant {name} is listed as equivalent, and was caught.")
    for name in result["equivalent_but_unknown"]:
        yield _told("", "", f"{name} is listed as equivalent, and is no mutant.")


def _of_tests(result: Mapping[str, Any]) -> Iterator[Violation]:
    if bad := result["failures"] + result["errors"]:
        yield _told("", "", f"{bad} of {result['tests']} tests failed; junit.xml names them.")


def _nothing(_: Any) -> Iterator[Violation]:
    return iter(())


READERS: dict[str, Callable[[Any], Iterator[Violation]]] = {
    "prove": _of_proofs,
    "table": _of_table,
    "explore": _of_exploration,
    "fuzz": _of_fuzz,
    "simulate": _of_replay,
    "mutants": _of_mutants,
    "pytest": _of_tests,
}
"""What reads the result of each command."""


def _owner(machine: str, claim: str) -> str:
    """The machine that has the property, first of all the one that was run."""
    run = ("scheduler", "worker") if machine == "joined" else (machine, *MACHINES)
    return next((name for name in run if claim in {each.name for each in MACHINES[name].properties}), run[0])


def _line(event: Any) -> str:
    """An event of a history in words."""
    if isinstance(event, str):
        return event
    given = ", ".join(f"{name}={value!r}" for name, value in event.items() if name != "event")
    return f"{event.get('event', '')}({given})"


def _place(of: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if of is None else {"file": of["file"], "line": of["line"]}


def _code(violation: Mapping[str, Any]) -> dict[str, Any] | None:
    """Where the shipped code took the step, if that is known: the function, or what met the last event."""
    if violation["function"] in FUNCTIONS:
        return _place(formula(FUNCTIONS[violation["function"]]))
    last = re.match(r"[a-z_]+", (violation["history"] or [""])[-1])
    part = {"scheduler": Core, "worker": Controller}.get(violation["machine"])
    method: Any = getattr(part, last[0], None) if part and last else None
    return None if method is None else _place(formula(method))
