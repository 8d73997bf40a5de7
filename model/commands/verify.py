"""`python -m model verify`: the main job. Every step leaves its evidence, and the report at the end says what holds.

A step that fails ends nothing: the report shows it. `--only` runs some steps and no report.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree

from model import evidence
from model.commands import report
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED, worst
from model.steps import STEPS, Step

Runner = Callable[[Sequence[str]], int]
"""Runs `python -m` with these words; the exit code."""
LEAVE_OUT = ("PYTEST_", "PYTHONOPTIMIZE")
"""How the names of variables begin that could make a step do less."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `verify`."""
    parser.add_argument("--list", action="store_true", help="name the steps and end")
    names = [step.name for step in STEPS]
    parser.add_argument("--only", metavar="STEP", action="append", choices=names, help="this step (may be given again)")
    folder = f"where the evidence goes (default {evidence.FOLDER})"
    parser.add_argument("--evidence", dest="folder", type=Path, metavar="DIR", default=evidence.FOLDER, help=folder)
    parser.add_argument("--out", type=Path, metavar="DIR", default=report.FOLDER, help="where the report goes")


def run(options: argparse.Namespace) -> int:
    """Run the steps; the exit code."""
    if options.list:
        print("\n".join(f"{step.name:<20} python -m {' '.join(step.argv)}" for step in STEPS))
        return HOLDS
    if not (evidence.HOUSE / "tests").is_dir():
        print(
            f"verify: there is no folder tests in {evidence.HOUSE}; expected a checkout, run it in one", file=sys.stderr
        )
        return USAGE
    steps = [step for step in STEPS if not options.only or step.name in options.only]
    if not options.only:
        report.remove(options.out)
    evidence.sources()
    code = verify(steps, options.folder)
    return code if options.only else worst(code, report.write(options.out, options.folder, complete=True))


def verify(steps: Iterable[Step], folder: Path, start: Runner | None = None) -> int:
    """Run each step and say what its evidence lacks; 0 only if nothing does."""
    codes = []
    for step in steps:
        print(f"\n== {step.name}: python -m {' '.join(step.argv)}", flush=True)
        code = attempt(step, folder, start or python)
        complaints = step.complaints(folder)
        print("".join(f"-- {step.name}: {each}\n" for each in complaints), end="", flush=True)
        codes.append(judged(code, complaints))
    return worst(*codes)


def judged(code: int, complaints: Sequence[str]) -> int:
    """A code that is no verdict, such as that of a crash, says nothing: undetermined."""
    if code:
        return VIOLATED if code == VIOLATED else UNDETERMINED
    return VIOLATED if complaints else HOLDS


def attempt(step: Step, folder: Path, start: Runner) -> int:
    """Run one step, which leaves its evidence in the folder, or none."""
    path = step.file(folder)
    path.unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    if step.answers:
        return start([*step.argv, "--evidence", str(path)])
    began = time.monotonic()
    if step.argv[0] == "pytest":
        junit = folder / "junit.xml"
        junit.unlink(missing_ok=True)
        code = start([*step.argv, f"--junitxml={junit}"])
        result = counted(junit)
    else:
        line = [sys.executable, "-m", *step.argv]
        done = subprocess.run(line, check=False, stdout=subprocess.PIPE, text=True, env=environment())
        print(done.stdout, end="", flush=True)
        code, result = done.returncode, {"said": done.stdout}
    if result is not None:
        words = ("python", "-m", *step.argv)
        evidence.write(path, evidence.record(words, code, time.monotonic() - began, result))
    return code


def python(words: Sequence[str]) -> int:
    """In a process of its own, which prints what it prints."""
    return subprocess.run([sys.executable, "-m", *words], check=False, env=environment()).returncode


def environment() -> dict[str, str]:
    """That of this process, without what would leave out tests or assertions."""
    return {name: value for name, value in os.environ.items() if not name.startswith(LEAVE_OUT)}


def counted(junit: Path) -> dict[str, object] | None:
    """How many tests ran, in all and in each file, failed and could not run, and which were skipped; None if the log is
    not whole."""
    try:
        cases = list(ElementTree.parse(junit).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return None
    files = Counter(f"{str(case.get('classname')).rpartition('.')[2]}.py" for case in cases)
    return {
        "tests": len(cases),
        "files": dict(sorted(files.items())),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
        "skipped": [str(case.get("name")) for case in cases if case.find("skipped") is not None],
    }
