"""The trusted base: what must be right for a green report to mean anything, and how much of it there is to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from model.evidence import HOUSE, digest


class Trusted(NamedTuple):
    """Files (patterns from the house on) that stand or fall together, and what a mistake in them would mean."""

    what: str
    files: tuple[str, ...]
    why: str


FILES = (
    Trusted(
        "the claims",
        ("spec/scheduler*.py", "spec/autoscale.py", "spec/worker*.py"),
        "They are what is shown. A claim that says too little is shown all the same, so read them.",
    ),
    Trusted("the connectives", ("spec/logic.py",), "They give the claims their meaning when executed."),
    Trusted(
        "the symbolic reading",
        ("model/prove/terms.py", "model/prove/encoder.py"),
        "They turn the claims into queries. A mistake there proves something else; explored states are substituted "
        "into the queries and compared with the executed reading.",
    ),
    Trusted(
        "the obligations",
        (*(f"model/prove/{name}.py" for name in ("machines", "obligations", "solvers")), "model/commands/prove.py"),
        "They say which queries make up a proof, and how the solvers are asked. What is left out is not proved.",
    ),
    Trusted(
        "the checkers of the code",
        ("model/conform/*.py",),
        "They compare each step of the shipped code with the specification. Planted bugs show that they can say no.",
    ),
    Trusted(
        "the explorers",
        ("model/commands/explore*.py", "model/explore/*.py"),
        "They say which histories there are. Their counts are pinned, and agree with those of other explorers.",
    ),
    Trusted(
        "the random histories and the replays",
        ("model/commands/fuzz.py", "model/fuzz/*.py", "model/commands/simulate.py", "model/simulate/*.py"),
        "They say what was tested. A mistake there makes nothing true, and finds less than this page says.",
    ),
    Trusted(
        "the symbolic execution of decide",
        ("model/commands/table.py", "model/symbolic/*.py"),
        "They follow the shipped function on all integers. Each of its rules is tried on the function itself.",
    ),
    Trusted(
        "evidence and report",
        (
            *(f"model/{name}.py" for name in ("__main__", "evidence", "exits", "steps")),
            *("model/commands/verify.py", "model/commands/report.py", "model/report/*.py", "model/report/templates/*"),
            "model/draw/*.py",
        ),
        "They carry what was found to this page. Everything on it is in evidence.json, for other eyes to count.",
    ),
)
TOOLS = {
    "python": "It runs all of this. Its integers have no bound, and its sorting is stable.",
    "z3-solver": "The first solver. A wrong proof needs the same mistake in both.",
    "cvc5": "The second solver, asked with the same text.",
    "hypothesis": "It draws the random histories. A mistake there finds less; it makes nothing true.",
    "pytest": "It runs the tests. What it does not run is counted as missing.",
    "pytest-xdist": "It runs the tests two at a time. What it does not run is counted as missing.",
    "rich": "It draws bars of progress. Nothing depends on it.",
    "jinja2": "It makes this page from evidence.json, where the same stands without it.",
}


def trusted_base(tools: Mapping[str, str]) -> dict[str, Any]:
    """Files with their `lines`, tools with their versions, totals."""
    files = [_counted(each) for each in FILES]
    return {
        "files": files,
        "lines": sum(each["lines"] for each in files),
        "tools": [{"name": name, "version": of, "why": TOOLS.get(name, "")} for name, of in tools.items()],
    }


def _counted(of: Trusted) -> dict[str, Any]:
    paths = sorted({path for pattern in of.files for path in HOUSE.glob(pattern)})
    files = [
        {"file": path.relative_to(HOUSE).as_posix(), "lines": _lines(path.read_text()), "sha256": digest(path)}
        for path in paths
    ]
    return {"what": of.what, "why": of.why, "files": files, "lines": sum(each["lines"] for each in files)}


def _lines(text: str) -> int:
    return len(text.splitlines())


def unmatched(patterns: Iterable[Trusted] = FILES) -> list[str]:
    """Patterns that name no file."""
    return [pattern for each in patterns for pattern in each.files if not any(HOUSE.glob(pattern))]
