"""Evidence for reports to be made of: real answers of quick commands, and those of slow ones in the form they have."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import redirect_stdout
from copy import deepcopy
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

from model import evidence
from model.__main__ import main
from model.engines.engine import Outcome, Verdict, engines_of
from model.mutants.child import Task
from model.mutants.matrix import Matrix
from model.mutants.run import Trial
from model.planted.catalogue import BUGS
from model.prove.machines import MACHINES
from model.prove.obligations import POSSIBLE, SOMETIMES
from model.prove.solvers import SOLVERS
from model.report.parts import gather
from model.steps import STEPS, TESTS, required

ROOT = Path(__file__).resolve().parent.parent
OF = {step.name: step for step in STEPS}
ZERO = "0" * 64
Answer = Callable[[], Any]


@cache
def _asked(*words: str) -> str:
    said = StringIO()
    with redirect_stdout(said):
        main([*words, "--json"])
    return said.getvalue()


def asked(*words: str) -> Any:
    """What the command answers to a program."""
    return json.loads(_asked(*words))


def explored() -> Any:
    """Every history of a small instance, which is said to be as large as that of the main job."""
    size = {"distinct_states": 37752, "transitions": 100810, "depth": 14}
    return asked("explore", "--slots", "1", "--jobs", "3", "--levels", "2", "--capacity", "1") | size


def refuted() -> Any:
    """What a policy that serves the least urgent first is found to break."""
    policy = str(ROOT / "examples" / "policies" / "upside_down.py")
    return asked("explore", "--slots", "1", "--jobs", "3", "--levels", "2", "--policy", policy)


def fuzzed() -> Any:
    """A few random histories, which are said to be as many as must be, and to have shown all that must be seen."""
    said = {"verdict": "tested", "never_seen": [], "histories": 500}
    return asked("fuzz", "--histories", "5", "--seed", "1") | said


def proved() -> Any:
    """The rows of `prove`, with the answers that tests/test_obligations.py has the solvers give."""
    rows = []
    for machine in MACHINES.values():
        for action, about in required(machine):
            witness = about == POSSIBLE or action == SOMETIMES
            row = {"machine": machine.name, "action": action, "property": about, "digest": ZERO, "assumptions": []}
            row |= {"verdict": "reachable" if witness else "proved", "answers": ["sat" if witness else "unsat"]}
            rows += [row | {"solver": name, "version": "1", "seconds": 0.001, "seeds": 1} for name in SOLVERS]
    return rows


def caught() -> Any:
    """Each planted bug caught by the first of its engines, by the property that it breaks."""
    trials = []
    for bug in BUGS.values():
        engines = tuple(engines_of(bug.target))
        outcomes = {name: Outcome(Verdict.SURVIVED) for name in engines}
        outcomes[engines[0]] = Outcome(Verdict.KILLED, (bug.property,), 0.1)
        trials.append(Trial(Task(bug.name, bug.target, engines), outcomes))
    return Matrix(tuple(trials), {}).as_json()


ANSWERS: dict[str, Answer] = {
    "gates": lambda: {"said": "nx_sched_qos pass=5/5 GREEN\nMESHAUTOSCALEGATE verdict=GREEN\n"},
    "prove": proved,
    "table": lambda: asked("table"),
    "explore": explored,
    "explore-worker": lambda: asked("explore", "--machine", "worker"),
    "fuzz-scheduler": fuzzed,
    "tests": lambda: {"tests": 4, "files": dict.fromkeys(TESTS, 1), "failures": 0, "errors": 0, "skipped": []},
    "mutants": caught,
    "simulate": lambda: asked("simulate"),
}
"""What is in a folder of evidence, unless a test says otherwise; the other steps have none."""


def keep(folder: Path, name: str, result: Any, code: int = 0, **otherwise: Any) -> None:
    """Put the evidence of a step into the folder."""
    step = OF[name]
    told = evidence.record(("python", "-m", *step.argv), code, 1.5, result)
    evidence.write(step.file(folder), told | otherwise)


def fill(folder: Path, *names: str) -> None:
    """Put evidence of these steps into the folder, or of all in ANSWERS."""
    for name in names or ANSWERS:
        keep(folder, name, deepcopy(ANSWERS[name]()))


def told(folder: Path, *, complete: bool = False, junit: bool = False) -> dict[str, Any]:
    """The evidence.json of a report, as a program reads it."""
    files = {"obligations": 0, "junit": junit}
    found: dict[str, Any] = json.loads(json.dumps(gather(folder, complete=complete) | {"files": files}))
    return found


def strength(of: dict[str, Any], name: str) -> tuple[str, str]:
    """Of the specification and of the code."""
    (found,) = (each for each in of["properties"] if each["id"] == name)
    return found["spec"]["strength"], found["code"]["strength"]
