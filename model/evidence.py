"""Evidence: what a command answered, bound to the sources, tools and revision that it was found with.

A record is one JSON object: `command` (its words), `exit` and `verdict`, `result` (what `--json` prints), `sources`
(SHA-256 of each room), `tools` (versions), `revision` (of git, with whether anything was changed since) and `seconds`.
Its file has a digest of the rest beside it, so that a record which was cut off or edited is none. That keeps accidents
out; nothing keeps out who is able to change the files of the house.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from model.exits import HOLDS, UNDETERMINED, VIOLATED

HOUSE = Path(__file__).resolve().parent.parent
IMPORTED = ("spec", "impl", "model")
ROOMS = (*IMPORTED, "tests", "examples", "constraints.txt", "pyproject.toml")
PACKAGES = ("z3-solver", "cvc5", "hypothesis", "pytest", "pytest-xdist", "rich", "jinja2")
WORDS = {HOLDS: "holds", VIOLATED: "violated", UNDETERMINED: "undetermined"}
FOLDER = Path("build/evidence")
"""Where evidence is kept unless told otherwise."""
SEAL = "sha256"
"""The name of the digest of a record."""


def arguments(parser: argparse.ArgumentParser, json_help: str = "print one JSON object instead") -> None:
    """The options of every command that answers with evidence. What it runs with are the sources as they are now."""
    sources()
    parser.add_argument("--json", action="store_true", help=json_help)
    parser.add_argument("--evidence", type=Path, metavar="FILE", help="keep the answer in this file as well")
    parser.set_defaults(answers=[])


def answer(options: argparse.Namespace, result: Any, lines: Iterable[str]) -> None:
    """Print the result, for programs or for people, and have it kept when the command ends."""
    options.answers.append(result)
    print(json.dumps(result, indent=1) if options.json else "\n".join(lines))


def forget(options: argparse.Namespace) -> None:
    """Remove what an earlier command has kept in the same file, whether this one comes to an answer or not."""
    path = getattr(options, "evidence", None)
    if path is not None:
        path.unlink(missing_ok=True)


def keep(options: argparse.Namespace, argv: Sequence[str], code: int, seconds: float) -> None:
    """Write the evidence that was asked for; none if the command gave no answer."""
    path = getattr(options, "evidence", None)
    if path is not None and options.answers:
        words = [word for word, before in zip(argv, ("", *argv), strict=False) if "--evidence" not in (word, before)]
        words = [word for word in words if not word.startswith("--evidence=")]
        write(path, record(("python", "-m", "model", *words), code, seconds, options.answers[-1]))


def record(argv: Sequence[str], code: int, seconds: float, result: Any) -> dict[str, Any]:
    """The evidence that a command which ended with this code has given. Where the file is kept is no part of it."""
    return {
        "command": list(argv),
        "exit": code,
        "verdict": WORDS.get(code, "failed"),
        "seconds": round(seconds, 3),
        "sources": met(sources(), digests()),
        "tools": tools(),
        "revision": revision(),
        "result": result,
    }


def write(path: Path, told: Mapping[str, Any]) -> None:
    """The file holds the whole record with its digest, or what it held before."""
    told = {name: value for name, value in told.items() if name != SEAL}
    told[SEAL] = seal(told)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def read(path: Path) -> dict[str, Any] | None:
    """The record in the file; None if there is no such file, or it holds anything else than what was written."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    wanted = {"command", "exit", "verdict", "seconds", "sources", "tools", "revision", "result", SEAL}
    if not isinstance(told, dict) or told.keys() != wanted or told.pop(SEAL) != seal(told):
        return None
    return told


def seal(told: Mapping[str, Any]) -> str:
    """SHA-256 of a record."""
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def stale(told: Mapping[str, Any]) -> list[str]:
    """The rooms and tools that are not those of the evidence."""
    now: dict[str, str] = {**sources(), **tools()}
    then: dict[str, str] = {**told["sources"], **told["tools"]}
    return sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))


def met(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """The digests of both times where they are the same; elsewhere one that no room has."""
    changed = hashlib.sha256(b"changed while the command ran").hexdigest()
    names = sorted({*before, *after}, key=ROOMS.index)
    return {name: before[name] if before.get(name) == after.get(name) else changed for name in names}


@cache
def sources() -> dict[str, str]:
    """The digests when they were first asked for."""
    return digests()


def digests() -> dict[str, str]:
    """SHA-256 of each room: of the names and contents of its files, in order; what is imported, wherever it lies."""
    rooms = {room: Path(import_module(room).__path__[0]) if room in IMPORTED else HOUSE / room for room in ROOMS}
    return {room: digest(path) for room, path in rooms.items() if path.exists()}


def digest(path: Path) -> str:
    """SHA-256 of a file, or of a folder's files with their names; what Python compiles there does not count."""
    if path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest()
    found = hashlib.sha256()
    for each in sorted(each for each in path.rglob("*") if each.is_file() and "__pycache__" not in each.parts):
        found.update(f"{each.relative_to(path).as_posix()}\0{digest(each)}\n".encode())
    return found.hexdigest()


@cache
def tools() -> dict[str, str]:
    """The versions of whatever an answer depends on."""
    found = {"python": platform.python_version() + ("" if __debug__ else ", assertions off")}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


@cache
def revision() -> dict[str, Any] | None:
    """The git revision of the house, and whether it is that and nothing else; None outside a checkout."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(HOUSE), *words]
        ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20, env=ours)
        return done.stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")).resolve() != HOUSE:
            return None
        return {"commit": git("rev-parse", "HEAD"), "clean": not git("status", "--porcelain")}
    except (OSError, subprocess.SubprocessError):
        return None
