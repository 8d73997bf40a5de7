"""The findings about the originals, as spec/README.md lists them, each history played again on the original itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from impl.autoscale import decide
from impl.jobs import Placed
from model.draw.rows import Row, rows
from model.history.happenings import Happening, History, from_json
from model.history.play import play
from model.originals.adapter import QosByName, QosScheduler
from model.originals.mesh_autoscale import am_action_name, am_decide

README = Path(__file__).resolve().parents[2] / "spec" / "README.md"
HEADING = "## Findings about the originals"
HOSTS = (
    ("one slot, 64 queue places", QosScheduler, 64),
    ("one slot, one queue place", QosScheduler, 1),
    ("one slot, 64 queue places, completed by name", QosByName, 64),
)
"""Where a history is played, and the fewest places first that show it at all."""


def findings(text: str | None = None) -> list[dict[str, Any]]:
    """Each row of the tables as plain values: `original`, `fault`, `place` (file:line, or empty), `trace`, `claim`,
    `test`, `host` and `rows` (see `model.draw.rows`). Of the scheduler the rows are the history played on the original
    until it breaks the claim, of the autoscale policy what it decides of a worker; they are null, and so is the host,
    where the trace is neither. Raises ValueError if a history no longer breaks its claim, or a decision is another."""
    return list(_findings(README.read_text(encoding="utf-8") if text is None else text))


def _findings(text: str) -> Iterator[dict[str, Any]]:
    part = text.partition(f"{HEADING}\n")[2].partition("\n## ")[0]
    original = ""
    for line in part.splitlines():
        if line.startswith("### "):
            original = line[4:]
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) != 4 or cells[0] == "fault" or set(cells[0]) <= {"-", "|"}:
            continue
        fault, trace, claim, test = cells
        named = re.fullmatch(r"(.*) \((\w+\.nx:\d+)\)", fault)
        told: dict[str, Any] = {"original": original, "fault": named[1] if named else fault}
        told |= {"place": named[2] if named else "", "trace": trace.strip("`"), "claim": claim.strip("`")}
        told |= {"test": test.strip("`"), "host": None, "rows": None}
        if original == "nx_sched_qos":
            told |= played(told["trace"], told["claim"])
        elif original == "nx_mesh_autoscale":
            told |= decided(told["trace"], told["claim"])
        yield told


def played(trace: str, claim: str) -> dict[str, Any]:
    """On which host the history breaks the claim, and how. Raises ValueError if on none."""
    for host, make, capacity in HOSTS:
        steps = play(history(trace), make(1, capacity=capacity))
        broken = steps[-1].violation.claims if steps[-1].violation else ()
        if not broken and isinstance(steps[-1].outcome, Placed) and not _is_a_job(steps[-1].happening):
            broken = (claim,)  # it took what is no job
        if claim in broken:
            found = rows(steps)
            found[-1]["breaks"] = list(broken)
            return {"host": host, "rows": found}
    raise ValueError(f"{trace} breaks {claim} on no host, expected it to on one of {[host for host, *_ in HOSTS]}")


DECISION = re.compile(r"am_decide\((\d+), (\d+), (\d+), (\d+)\) = (\w+)")
PROBE = re.compile(r"(.+): SPAWN")
NEXT = {"REAP": "stopping", "SPAWN": "starting"}


def decided(trace: str, claim: str) -> dict[str, Any]:
    """What the original decides of a worker, as an instant of its life; nothing if the trace tells of something else.
    Raises ValueError if it decides otherwise."""
    if found := DECISION.fullmatch(trace):
        warm, demand, idle, ttl = map(int, found.groups()[:4])
        begun = [_instant(0, "start", "warm" if warm else "cold", warm)]
        return {"host": "one tick", "rows": [*begun, _decided(begun[0], (warm, demand, idle, ttl), found[5], claim)]}
    if (found := PROBE.fullmatch(trace)) and not trace.startswith("am_"):
        begun = [_instant(0, "start", "warm", 1), _instant(1, f"probe: {found[1]}", "warm", 1)]
        begun[1] |= {"command": "warm 0", "why": "no 200 in what the first read brings"}
        tick = _decided(begun[1], (0, 1, 0, 60), "SPAWN", claim)
        return {"host": "a worker that is up and wanted", "rows": [*begun, tick]}
    return {}


def _decided(before: Row, view: tuple[int, int, int, int], expected: str, claim: str) -> Row:
    """The tick after that, at which the original has this view."""
    warm, demand, idle, ttl = view
    action = am_action_name(am_decide(*view))
    if action != expected:
        raise ValueError(f"am_decide{view} is {action}, expected {expected}")
    generation = before["generation"] + (action == "SPAWN")
    event = f"tick, warm {warm}, demand {demand}, idle {idle} s, ttl {ttl} s"
    row = _instant(before["number"] + 1, event, NEXT.get(action, str(before["phase"])), generation)
    ours = decide(int(before["phase"] == "warm"), min(demand, 1), idle, ttl).name
    return row | {"command": action.lower(), "why": f"the shipped code: {ours}", "breaks": [claim]}


def _instant(number: int, event: str, phase: str, generation: int) -> Row:
    return {"number": number, "event": event, "now": 0, "phase": phase, "generation": generation, "breaks": []}


def history(trace: str) -> History:
    """The events, of jobs that no scheduler should take among them. Raises ValueError if it is told wrongly."""
    try:
        calls = [ast.parse(part, mode="eval").body for part in trace.split("; ")]
        return tuple(_happening(call) for call in calls)
    except (SyntaxError, AttributeError) as error:
        raise ValueError(f"{trace!r} is no history: {error}") from None


def _is_a_job(happening: Happening | None) -> bool:
    """Whether a scheduler should take what arrives."""
    try:
        return happening is not None and bool(from_json(happening.as_json()))
    except ValueError:
        return False


def _happening(call: Any) -> Happening:
    job = ast.literal_eval(call.args[0]) if call.args else None
    return Happening(call.func.id, job, tuple((each.arg, ast.literal_eval(each.value)) for each in call.keywords))
