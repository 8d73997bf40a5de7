"""Every property of the specification as the report shows it: claim, formula, strengths, assumptions, and what would
falsify it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from model.conform.monitor import Monitor, nonconforming
from model.conform.worker_monitor import Monitor as LoopMonitor
from model.planted.catalogue import BUGS
from model.prove.machines import MACHINES, Machine
from model.report.formula import formula
from model.report.guarantees import guarantees
from model.report.readme import Unreadable
from model.report.steps import Found
from model.report.strength import (
    ASSUMED,
    CODE_ONLY,
    NOT_RUN,
    SPEC_ONLY,
    Grounds,
    Proofs,
    is_kept,
    of_functions,
    of_histories,
    strongest,
)
from model.symbolic.judge import EQUALS, judge_decide
from spec.logic import Property

GROUPS = {
    "always": "True in every state",
    "steps": "True of every step",
    "theorems": "Theorems",
    "outcomes": "Every event has an outcome, and only one",
    "assumed": "Assumed",
    "lemmas": "Lemmas",
}
"""The kinds of properties of a machine, under its own names for them."""
TITLES = {"scheduler": "The scheduler", "autoscale": "The autoscale policy", "worker": "The closed loop"}
JUDGED = {"scheduler": ("always", "steps", "theorems"), "autoscale": ("always",)}
JUDGED["worker"] = (*JUDGED["scheduler"], "lemmas")
"""What the checkers of the code judge at every step, of each machine. The rest they judge as conformance."""
RUN_BY = {"scheduler": ("scheduler", "joined"), "autoscale": (), "worker": ("worker", "joined")}
"""The machines of `explore` and `fuzz` that run the code of each."""
REPLAYED = ("scheduler", "autoscale")
"""Whose steps `simulate` holds to the specification."""
CONFORMANCE = "conformance"
ALLOWED = "The decision is the one that the specification allows."


def properties(found: Mapping[str, Found], stated: Mapping[tuple[str, str], Mapping[str, str]]) -> Iterator[Any]:
    """All of them, machine by machine; last that the code takes the steps of the specification and no other."""
    proofs = Proofs(found["prove"])
    for machine in MACHINES.values():
        for group in GROUPS:
            for each in getattr(machine, group) + (machine.finite if group == "assumed" else ()):
                yield _property(machine, group, each, proofs, found, _row(stated, machine.name, each.name))
        yield _conformance(machine, found)


def _row(stated: Mapping[tuple[str, str], Mapping[str, str]], machine: str, name: str) -> Mapping[str, str]:
    """What spec/README.md has on the property, or on the one of the same name that another machine has."""
    named = [row for (_, other), row in stated.items() if other == name]
    if not named:
        raise Unreadable(f"spec/README.md does not state {machine}.{name}; state it there, with what it rests on")
    return stated.get((machine, name), named[0])


def check(stated: Iterable[tuple[str, str]], required: Iterable[str]) -> None:
    """Raises Unreadable for a property that is stated or required, and that no machine has."""
    of = {name: machine.properties + machine.finite for name, machine in MACHINES.items()}
    known = {f"{name}.{each.name}" for name, properties in of.items() for each in properties}
    known |= {f"{name}.{EQUALS if name == 'autoscale' else CONFORMANCE}" for name in MACHINES}
    named = {*(f"{machine}.{name}" for machine, name in stated), *required}
    if gone := sorted(named - known):
        raise Unreadable(f"{', '.join(gone)}: stated in spec/README.md or required, but no machine has it any more")


def _property(
    machine: Machine,
    group: str,
    each: Property,
    proofs: Proofs,
    found: Mapping[str, Found],
    row: Mapping[str, str],
) -> dict[str, Any]:
    spec = proofs.of(machine, each)
    if group == "assumed":
        spec["kept_by_every_action"] = spec["strength"] if spec["queries"] else NOT_RUN
        spec["strength"] = ASSUMED
    grounds = _grounds(machine.name, group, each, found)
    silent = SPEC_ONLY if group != "assumed" else ASSUMED
    judged = group in JUDGED[machine.name]
    code = {"strength": strongest(grounds) if judged else silent, "grounds": grounds}
    return {
        "id": f"{machine.name}.{each.name}",
        "machine": machine.name,
        "name": each.name,
        "group": group,
        "claim": each.sentence,
        "formula": formula(each.claim),
        "about": list(each.about),
        "inductive": is_kept(machine, each),
        "spec": spec,
        "code": code,
        "says": guarantees(machine.name, group, spec, code),
        "rests_on": row["rests on"],
        "origin": row["origin"],
        "commands": _commands(machine.name, each.name, grounds, found),
        "falsifiers": _falsifiers(machine.name, each.name, found["mutants"]),
    }


def _grounds(machine: str, group: str, each: Property, found: Mapping[str, Found]) -> Grounds:
    if group not in JUDGED[machine]:
        return []
    grounds = of_functions(found["table"], each.name) if machine == "autoscale" else []
    witness = each.witness.__name__ if each.witness else None
    for step in _steps(machine, found):
        seen = of_histories(step, machine, each.name, each.about, witness)
        grounds += [seen] if seen else []
    return grounds


def _steps(machine: str, found: Mapping[str, Found]) -> Iterator[Found]:
    """Those that run the code of this machine and judge each step."""
    for each in found.values():
        words = each.step.argv
        of = words[words.index("--machine") + 1] if "--machine" in words else "scheduler"
        runs = words[0] == "model" and words[1] in ("explore", "fuzz") and of in RUN_BY[machine]
        if runs or (words[:2] == ("model", "simulate") and machine in REPLAYED):
            yield each


def _conformance(machine: Machine, found: Mapping[str, Found]) -> dict[str, Any]:
    """What no formula of the specification says: that the code takes its steps and no other."""
    name = EQUALS if machine.name == "autoscale" else CONFORMANCE
    checkers: dict[str, Callable[..., Any]] = {"scheduler": Monitor.judge, "worker": LoopMonitor.judge}
    claim = nonconforming("").sentence if name == CONFORMANCE else ALLOWED
    grounds = of_functions(found["table"], name) if machine.name == "autoscale" else []
    steps = _steps(machine.name, found)
    grounds += [seen for step in steps if (seen := of_histories(step, machine.name, name, (), None))]
    spec: dict[str, Any] = {"strength": CODE_ONLY, "queries": 0, "assumptions": [], "files": [], "witness": None}
    spec |= {"solvers": [], "seeds": None, "sha256": [], "witness_reached": None, "seconds": 0.0, "counterexamples": []}
    code = {"strength": strongest(grounds), "grounds": grounds}
    return {
        "id": f"{machine.name}.{name}",
        "machine": machine.name,
        "name": name,
        "group": CONFORMANCE,
        "claim": claim,
        "formula": formula(checkers.get(machine.name, judge_decide)),
        "about": [],
        "inductive": False,
        "spec": spec,
        "code": code,
        "says": guarantees(machine.name, CONFORMANCE, spec, code),
        "rests_on": "none",
        "origin": "-",
        "commands": _commands(machine.name, None, grounds, found),
        "falsifiers": _falsifiers(machine.name, name, found["mutants"]),
    }


def _commands(machine: str, name: str | None, grounds: Grounds, found: Mapping[str, Found]) -> list[str]:
    """What reproduces the strengths, each command as it is typed."""
    prove = [f"python -m model prove --machine {machine} --property {name}"] if name else []
    return [*prove, *dict.fromkeys(found[ground["step"]].as_json()["command"] for ground in grounds)]


def _falsifiers(machine: str, name: str, mutants: Found) -> dict[str, Any]:
    """The bugs planted to break this property, and how many mutants of this part it caught, in all and alone."""
    rows = [row for row in (mutants.result or {"mutants": []})["mutants"] if row["target"] == machine]
    caught = {row["name"]: engines for row in rows if (engines := killers(row, name))}
    sole = (mutants.result or {}).get("sole_killers", {}).get(name, [])
    planted = [bug for bug in BUGS.values() if (bug.target, bug.property) == (machine, name)]
    return {
        "planted": [
            {"name": bug.name, "sentence": bug.sentence, "source": bug.source, "caught_by": caught.get(bug.name, [])}
            for bug in planted
        ],
        "state": mutants.state,
        "caught": len(caught),
        "alone": len(set(sole) & set(caught)),
    }


def killers(row: Mapping[str, Any], name: str) -> list[str]:
    """The engines that caught the mutant by this property."""
    return [engine for engine, of in row["engines"].items() if of["verdict"] == "killed" and name in of["killers"]]
