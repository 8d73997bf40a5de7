"""The steps of the main job as the report finds them: with evidence that is fresh, stale, of other options, or not
there."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model import evidence
from model.exits import HOLDS, UNDETERMINED, VIOLATED
from model.steps import Step

FRESH, STALE, OTHER, MISSING = "fresh", "stale", "other options", "not run here"
TIMES = ("seconds",)
"""The keys that differ from one run of a revision to the next."""


@dataclass(frozen=True)
class Found:
    """A step, and the record of its evidence, if there is one. `complaints` are those of the main job."""

    step: Step
    record: dict[str, Any] | None
    complaints: tuple[str, ...]

    @property
    def state(self) -> str:
        """Only fresh evidence of the command itself counts."""
        if self.record is None:
            return MISSING
        if evidence.stale(self.record):
            return STALE
        return FRESH if self.step.is_of(self.record["command"]) else OTHER

    @property
    def result(self) -> Any:
        """What counts: the result of fresh evidence, else None."""
        return self.record["result"] if self.record is not None and self.state == FRESH else None

    @property
    def exit(self) -> int | None:
        """The exit code that the command ended with, whatever it is worth now."""
        return None if self.record is None else int(self.record["exit"])

    @property
    def code(self) -> int:
        """What the evidence makes of the exit code of the report: nothing unless it is fresh. A code that is no verdict
        is undetermined, and so is a pass that lacks something."""
        if self.exit is None or self.state != FRESH:
            return HOLDS
        if self.exit in (VIOLATED, UNDETERMINED):
            return self.exit
        return UNDETERMINED if self.exit or any(self.step.lacks(self.result)) else HOLDS

    def as_json(self) -> dict[str, Any]:
        """The step for programs, bound to what its evidence was found with."""
        told = {"name": self.step.name, "state": self.state, "complaints": list(self.complaints)}
        if self.record is None:
            return told | {"command": command(("python", "-m", *self.step.argv)), "verdict": MISSING, "exit": None}
        return {
            **told,
            "command": command(self.record["command"]),
            "verdict": self.record["verdict"] if self.state == FRESH else self.state,
            "exit": self.record["exit"],
            "changed_since": evidence.stale(self.record),
            "seeds": seeds(self.result),
            "sha256": digest(self.record["result"]),
            "sources": self.record["sources"],
            "tools": self.record["tools"],
            "revision": self.record["revision"],
            "seconds": self.record["seconds"],
        }


def look(steps: Iterable[Step], folder: Path) -> dict[str, Found]:
    """Each step by its name."""
    return {step.name: _found(step, evidence.read(step.file(folder)), folder) for step in steps}


def _found(step: Step, record: dict[str, Any] | None, folder: Path) -> Found:
    return Found(step, record, ("no evidence",) if record is None else tuple(step.complaints(folder)))


def command(words: Iterable[str]) -> str:
    """The command as it is typed."""
    return shlex.join(words)


def seeds(result: Any) -> str | None:
    """Under which seeds it was found, in words; None where nothing is drawn."""
    if isinstance(result, list):
        most = max((row.get("seeds", 0) for row in result), default=0)
        return f"1 to {most}, of the solvers" if most else None
    if not isinstance(result, dict):
        return None
    seed = result.get("seed", result.get("source", {}).get("seed") if isinstance(result.get("source"), dict) else None)
    return None if seed is None else str(seed)


def digest(result: Any) -> str:
    """SHA-256 of the result, times apart."""
    return hashlib.sha256(json.dumps(timeless(result), sort_keys=True).encode()).hexdigest()


def timeless(value: Any) -> Any:
    """The same without what differs from one run to the next."""
    if isinstance(value, dict):
        return {key: timeless(each) for key, each in value.items() if key not in TIMES}
    return [timeless(each) for each in value] if isinstance(value, list) else value
