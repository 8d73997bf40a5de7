"""How strongly a property holds, of the specification and of the code, each with the grounds for it.

A strength is one of the words of RANKS; SPEC_ONLY is said of the code where a claim says nothing of code. A ground has
the step that its evidence is from, the word it earns, and what was seen, with its numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from model.prove.machines import Machine
from model.prove.obligations import INITIALLY, POSSIBLE, SOMETIMES
from model.prove.solvers import SOLVERS
from model.report.steps import Found
from model.steps import required
from spec.logic import Property

PROVED, EXPLORED, TESTED, ASSUMED = "proved", "explored", "tested", "assumed"
NOT_RUN, UNDETERMINED, REFUTED = "not run here", "undetermined", "refuted"
SPEC_ONLY, CODE_ONLY = "spec only", "code only"
RANKS = {REFUTED: 0, UNDETERMINED: 1, NOT_RUN: 1, ASSUMED: 2, TESTED: 3, EXPLORED: 4, PROVED: 5}
RANKS |= {SPEC_ONLY: 2, CODE_ONLY: 2}
"""The stronger, the higher."""
Ground: TypeAlias = dict[str, Any]
Grounds: TypeAlias = list[Ground]


def strongest(grounds: Iterable[Ground]) -> str:
    """What the grounds come to: refuted if one of them is, else the best of them."""
    words = [ground["strength"] for ground in grounds]
    return REFUTED if REFUTED in words else max(words, key=RANKS.__getitem__, default=NOT_RUN)


# Of the specification


class Proofs:
    """The rows of `prove`, to be asked for those of one property."""

    def __init__(self, found: Found) -> None:
        self.ran = found.result is not None
        self._rows: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for row in found.result or ():
            self._rows.setdefault((row["machine"], row["property"]), []).append(row)

    def rows(self, machine: str, about: str) -> list[Mapping[str, Any]]:
        """One a solver and query."""
        return self._rows.get((machine, about), [])

    def of(self, machine: Machine, each: Property) -> dict[str, Any]:
        """The strength of the property of the specification, with the queries that make it up.

        `proved` needs every query that the machine's definition asks for, by each solver, of all else that is true
        in every state too, and a witness that was reached: of a claim that is about some actions, that one of them can
        happen.
        """
        wanted = [(action, about) for action, about in required(machine) if about == each.name]
        rows = [row for row in self.rows(machine.name, each.name) if (row["action"], each.name) in wanted]
        witness = each.witness.__name__ if each.witness else None
        told: dict[str, Any] = {
            "strength": judged(wanted, rows),
            "queries": len(wanted),
            "solvers": list(SOLVERS),
            "seeds": min((row["seeds"] for row in rows), default=None),
            "assumptions": sorted({name for row in rows for name in row["assumptions"]}),
            "files": [f"obligations/{machine.name}.{action}.{about}.smt2" for action, about in wanted],
            "sha256": sorted({row["digest"] for row in rows}),
            "witness": witness or f"{' or '.join(each.about)} happens",
            "witness_reached": self._reached(machine, each) if rows else None,
            "seconds": round(sum(row["seconds"] for row in rows), 3),
            "counterexamples": [row["counterexample"] for row in rows if row.get("counterexample")],
        }
        if told["strength"] == PROVED and not (told["witness_reached"] and self._sound(machine, each)):
            told["strength"] = UNDETERMINED
        return told

    def _sound(self, machine: Machine, each: Property) -> bool:
        """All else that is true in every state is proved as well: a query takes it for granted of the state before."""
        others = {other.name for other in machine.lemmas + machine.always} - {each.name}
        wanted = [(action, about) for action, about in required(machine) if about in others]
        return not wanted or judged(wanted, [row for name in others for row in self.rows(machine.name, name)]) == PROVED

    def _reached(self, machine: Machine, each: Property) -> bool:
        if each.witness is None:
            possible = self.rows(machine.name, POSSIBLE)
            return any(row["verdict"] == "reachable" for row in possible if row["action"] in each.about)
        rows = [row for row in self.rows(machine.name, each.witness.__name__) if row["action"] == SOMETIMES]
        return bool(rows) and all(row["verdict"] == "reachable" for row in rows)


def judged(wanted: Sequence[tuple[str, str]], rows: Sequence[Mapping[str, Any]]) -> str:
    """The word for these rows, if each of the wanted queries must be answered by each solver."""
    if not rows:
        return NOT_RUN
    if any(row["verdict"] == REFUTED for row in rows):
        return REFUTED
    asked = {(row["action"], row["property"], row["solver"]) for row in rows if row["verdict"] == PROVED}
    missing = [(*query, solver) for query in wanted for solver in SOLVERS if (*query, solver) not in asked]
    return UNDETERMINED if missing or not wanted else PROVED


def is_kept(machine: Machine, each: Property) -> bool:
    """Whether it is shown of the first state and of each action, or of each state alone."""
    return INITIALLY in {action for action, about in required(machine) if about == each.name}


# Of the code


def of_functions(table: Found, name: str) -> Grounds:
    """What the table of the shipped functions says of the property, each function by all solvers."""
    grounds = []
    for function in table.result["functions"] if table.result else ():
        rows = [row for row in function["findings"] if row["property"] == name]
        words = {row["verdict"] for row in rows}
        place = function["place"].partition(": ")[0]
        if rows:
            word = REFUTED if REFUTED in words else PROVED if words == {PROVED} else UNDETERMINED
            grounds.append(
                {
                    "step": table.step.name,
                    "strength": word,
                    "seen": f"{function['function']} ({place}), on all whole numbers of its domain",
                    "counterexamples": sorted({row["detail"] for row in rows if row["verdict"] == REFUTED}),
                }
            )
    return grounds


def of_histories(found: Found, machine: str, name: str, about: Sequence[str], witness: str | None) -> Ground | None:
    """What an explorer, a fuzzer or a replay of arrivals says of the property; None if it never put it to the test:
    none of the actions that it is about was taken, or its witness never came true.

    Where another claim was violated, the histories beyond were not seen, so this one is undetermined.
    """
    result = found.result
    if result is None:
        return None
    broken, taken = _broken(result), _taken(result, machine)
    never = [action for action in about if action not in taken]
    if not broken and (len(never) == len(about) if about else witness not in (None, *_witnesses(result))):
        return None
    kind = found.step.argv[1]
    usual = EXPLORED if kind == "explore" else TESTED
    green = {"explored", "tested", None}
    word = REFUTED if name in broken else usual if result.get("verdict") in green and not broken else UNDETERMINED
    without = f"; never there: {', '.join(never)}" if never else ""
    return {"step": found.step.name, "strength": word, "seen": seen(kind, result) + without, "counterexamples": []}


def _taken(result: Mapping[str, Any], machine: str) -> set[str]:
    """The actions of the machine that were judged. With two machines those of the scheduler are marked."""
    counted = {**result.get("judged", {}).get("as", {}), **result.get("actions_seen", {})}
    if isinstance(result.get("actions"), Mapping):
        counted |= result["actions"]
    mark = "scheduler " if (result.get("machine"), machine) == ("joined", "scheduler") else ""
    return {action.removeprefix(mark) for action, times in counted.items() if times and action.startswith(mark)}


def _witnesses(result: Mapping[str, Any]) -> Iterable[str]:
    """Those that came true."""
    return [*result.get("witnesses", ()), *result.get("judged", {}).get("witnesses", ())]


def _broken(result: Mapping[str, Any]) -> set[str]:
    one = result.get("violation") or {}
    return {*result.get("violations", {}), *one.get("claims", ()), *([one["property"]] if "property" in one else ())}


def seen(kind: str, result: Mapping[str, Any]) -> str:
    """What was looked at, in a few words."""
    if kind == "explore":
        whole = "all" if result["exhaustive"] else "not all"
        size = f"{result['distinct_states']:,} states and {result['transitions']:,} steps, {whole} of them"
        return f"{instance(result)}: {size}"
    if kind == "fuzz":
        return f"{result['histories']:,} random histories of {result['steps']:,} steps, seed {result['seed']}"
    return f"{result['judged']['events']:,} steps of replayed arrivals, {result['settings']['slots']} slots"


def instance(result: Mapping[str, Any]) -> str:
    """The finite instance of an exploration."""
    parts = []
    if "slots" in result:
        levels = "every order of urgencies" if result["levels"] == "all" else f"levels {result['levels']}"
        slots = f"{result['slots']} slot{'s' if result['slots'] > 1 else ''}"
        parts.append(f"{slots}, {result['jobs']} jobs, {levels}, capacity {result['capacity']}")
    if "actions" in result:
        parts.append(", ".join(result["actions"]))
    if "settings" in result:
        parts.append(", ".join(f"{name} {value}" for name, value in result["settings"].items()))
    return f"{result['machine']} ({'; '.join(parts)})"
