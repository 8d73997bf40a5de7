"""`python -m model report`: what is known of both policies, from evidence, as a page for people and files for programs.

Proofs and the table of the shipped functions are run here where there is no fresh evidence of them; the rest is shown
from the evidence of the main job, and as `not run here` where that is missing or stale.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from model import evidence
from model.exits import USAGE, VIOLATED
from model.machines import MACHINES
from model.obligations import obligations
from model.report_compare import Unusable, compare, is_loss, lines, load
from model.report_page import page
from model.report_parts import FORMAT, gather
from model.sarif import sarif
from model.steps import STEPS

FOLDER = Path("build/report")
"""Where the report goes unless told otherwise."""
ALONE = {"prove": ("--seeds", "1"), "table": ()}
"""What is run here, with the options that make it quick."""
SCHEMA = Path(__file__).parent / "schema" / "evidence.schema.json"


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
    alone = [] if options.complete else start_alone(options.folder)
    files = put_beside(options.out, options.folder)
    for process in alone:
        process.wait()
    told = gather(options.folder, complete=options.complete) | {"files": files}
    told = told if old is None else told | {"compared": compare(old, told)}
    store(options.out, told)
    print(json.dumps(told, indent=1) if options.json else "\n".join(summary(told, options.out)))
    return code_of(told)


def write(out: Path, folder: Path, *, complete: bool = False) -> int:
    """Write the report of what lies in the evidence folder, and print what it comes to; the exit code."""
    files = put_beside(out, folder)
    told = gather(folder, complete=complete) | {"files": files}
    store(out, told)
    print("\n".join(summary(told, out)))
    return code_of(told)


def start_alone(folder: Path) -> list[subprocess.Popen[bytes]]:
    """Start proofs and table where their evidence is missing or stale."""
    started = []
    for step in STEPS:
        told = evidence.read(step.file(folder))
        if step.name in ALONE and (told is None or evidence.stale(told)):
            print(f"report: no fresh evidence of {step.name}, so it is run here", file=sys.stderr, flush=True)
            words = [*step.argv, *ALONE[step.name], "--evidence", str(step.file(folder).resolve())]
            line = [sys.executable, "-m", *words]
            started.append(subprocess.Popen(line, cwd=evidence.HOUSE, stdout=subprocess.DEVNULL))
    return started


def put_beside(out: Path, folder: Path) -> dict[str, Any]:
    """The queries of the proofs and the log of the tests, beside the report; how many and whether there is one."""
    out.mkdir(parents=True, exist_ok=True)
    return {"obligations": write_obligations(out / "obligations"), "junit": copy(folder / "junit.xml", out)}


def code_of(told: dict[str, Any]) -> int:
    """Its exit code, or that of a loss."""
    return VIOLATED if told["compared"] and is_loss(told["compared"]) else int(told["exit"])


def store(out: Path, told: dict[str, Any]) -> None:
    """Write page, evidence, its schema, and the log for code scanners."""
    (out / "evidence.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    (out / "results.sarif").write_text(json.dumps(sarif(told), indent=1) + "\n", encoding="utf-8")
    (out / "index.html").write_text(page(told), encoding="utf-8")
    shutil.copyfile(SCHEMA, out / SCHEMA.name)


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


def copy(file: Path, out: Path) -> bool:
    """Put the file beside the report, if there is one; an older copy goes."""
    target = out / file.name
    target.unlink(missing_ok=True)
    if file.exists():
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
    return [*said, f"verdict: {told['verdict']}", str(out / "index.html")]
