"""`python -m model report`: what is known of both policies, from evidence, as a page for people and files for programs.

Proofs and the table of the shipped functions are run here where there is no fresh evidence of them; the rest is shown
from the evidence of the main job, and as `not run here` where that is missing or stale.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from model import evidence
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED
from model.prove.machines import MACHINES
from model.prove.obligations import obligations
from model.report.compare import Unusable, compare, is_loss, lines, load
from model.report.page import page
from model.report.parts import FORMAT, gather
from model.report.readme import Unreadable
from model.report.sarif import sarif
from model.report.steps import FRESH, look
from model.steps import STEPS

FOLDER = Path("build/report")
"""Where the report goes unless told otherwise."""
ALONE = {step.name: step.alone for step in STEPS if step.alone is not None}
"""What is run here, with the options that make it quick."""
PAGE, DATA, SCANNED = "index.html", "evidence.json", "results.sarif"
SCHEMA = Path(__file__).parents[1] / "report" / "schema" / "evidence.schema.json"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `report`."""
    parser.add_argument("--out", type=Path, metavar="DIR", default=FOLDER, help=f"its folder (default {FOLDER})")
    folder = f"where the evidence lies (default {evidence.FOLDER})"
    parser.add_argument("--evidence", dest="folder", type=Path, metavar="DIR", default=evidence.FOLDER, help=folder)
    parser.add_argument("--complete", action="store_true", help="a step without fresh and full evidence is a violation")
    compared = "say what became stronger or weaker since that report; a loss is a violation"
    parser.add_argument("--compare", type=Path, metavar="OLD.json", help=compared)
    parser.add_argument("--json", action="store_true", help="print evidence.json instead")


def run(options: argparse.Namespace) -> int:
    """Write the report; the exit code."""
    try:
        old = load(options.compare, FORMAT) if options.compare else None
        options.out.mkdir(parents=True, exist_ok=True)
    except Unusable as error:
        print(f"report: {error}", file=sys.stderr)
        return USAGE
    except OSError as error:
        print(f"report: --out is {options.out}, expected a folder to write to: {error.strerror}", file=sys.stderr)
        return USAGE
    return write(options.out, options.folder, complete=options.complete, alone=True, old=old, as_json=options.json)


def write(
    out: Path,
    folder: Path,
    *,
    complete: bool = False,
    alone: bool = False,
    old: dict[str, Any] | None = None,
    as_json: bool = False,
) -> int:
    """Write the report of what lies in the evidence folder, and print what it comes to; the exit code.

    `alone`: run what can be run here, unless the report must be complete. A loss against an `old` one is a violation.
    """
    remove(out)
    started = start_alone(folder) if alone and not complete else {}
    obligations = write_obligations(out / "obligations")
    failed = [name for name, process in started.items() if process.wait() not in (HOLDS, VIOLATED, UNDETERMINED)]
    try:
        told = gather(folder, complete=complete, failed=failed)
    except Unreadable as error:
        print(f"report: {error}", file=sys.stderr)
        return VIOLATED
    fresh = any((step["name"], step["state"]) == ("tests", FRESH) for step in told["steps"])
    told["files"] = {"obligations": obligations, "junit": copy(folder / "junit.xml", out, wanted=fresh)}
    if old is not None:
        told["compared"] = compare(old, told)
        if is_loss(told["compared"]):
            told |= {"exit": VIOLATED, "verdict": evidence.WORDS[VIOLATED]}
    store(out, told)
    print(json.dumps(told, indent=1) if as_json else "\n".join(summary(told, out)))
    return int(told["exit"])


def start_alone(folder: Path) -> dict[str, subprocess.Popen[bytes]]:
    """Start proofs and table where there is no fresh evidence of them; each process by its step."""
    started = {}
    for name, found in look((step for step in STEPS if step.name in ALONE), folder).items():
        if found.state != FRESH:
            print(f"report: no fresh evidence of {name}, so it is run here", file=sys.stderr, flush=True)
            path = found.step.file(folder).resolve()
            line = [sys.executable, "-m", *found.step.argv, *ALONE[name], "--evidence", str(path)]
            started[name] = subprocess.Popen(line, cwd=evidence.HOUSE, stdout=subprocess.DEVNULL)
    return started


def remove(out: Path) -> None:
    """No page of an earlier report stands while a new one is made, or if none comes of it."""
    out.mkdir(parents=True, exist_ok=True)
    for name in (PAGE, DATA, SCANNED):
        (out / name).unlink(missing_ok=True)


def store(out: Path, told: dict[str, Any]) -> None:
    """Write evidence, its schema, the log for code scanners, and last the page."""
    data, scanned, shown = json.dumps(told, indent=1), json.dumps(sarif(told), indent=1), page(told)
    shutil.copyfile(SCHEMA, out / SCHEMA.name)
    for name, text in ((DATA, data), (SCANNED, scanned), (PAGE, shown)):
        new = out / f".{name}.{os.getpid()}"
        new.write_text(f"{text.rstrip()}\n", encoding="utf-8", errors="backslashreplace")
        new.replace(out / name)


def write_obligations(folder: Path) -> int:
    """Each query of the proofs as a file, and no other of that kind; how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.smt2"):
        path.unlink()
    chosen = [each for machine in MACHINES.values() for each in obligations(machine)]
    for each in chosen:
        name = f"{each.machine}.{each.action}.{each.about}.smt2"
        (folder / name).write_text(each.text, encoding="utf-8")
    return len(chosen)


def copy(file: Path, out: Path, *, wanted: bool) -> bool:
    """Put the file beside the report, if it is wanted and there; an older copy goes."""
    target = out / file.name
    if target.resolve() == file.resolve():
        return wanted and target.exists()
    target.unlink(missing_ok=True)
    if wanted and file.exists():
        shutil.copyfile(file, target)
    return target.exists()


def summary(told: dict[str, Any], out: Path) -> list[str]:
    """For people: waivers and what does not hold first, the path of the page last."""
    counts = told["counts"]
    said = [f"waived: {each['property']} ({each['steps']})" for each in told["waivers"]]
    said += [
        f"{each['verdict']}: {each['property'] or each['machine'] or each['step']}: {each['detail']}"
        for each in told["violations"]
    ]
    said += [f"incomplete: {each}" for each in told["complaints"]] if told["complete"] else []
    said += lines(told["compared"]) if told["compared"] else []
    for of, name in (("spec", "specification"), ("code", "code")):
        words = ", ".join(f"{number} {word}" for word, number in counts[of].items() if number)
        said.append(f"{name}: {words} (of {counts['properties']} properties)")
    missing = [step["name"] for step in told["steps"] if step["state"] != "fresh"]
    said += [f"not run here, or stale: {', '.join(missing)}"] if missing else []
    return [*said, f"verdict: {told['verdict']}", str(out / PAGE)]
