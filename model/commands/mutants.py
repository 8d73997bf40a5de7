"""`python -m model mutants`: bugs on purpose, planted by name or systematic, and which engine catches each by which
property."""

from __future__ import annotations

import argparse
import subprocess
import sys

from model import evidence
from model.engines.engine import engines_of
from model.exits import USAGE
from model.mutants.child import Task
from model.mutants.matrix import Matrix, properties
from model.mutants.run import trials
from model.mutants.source import Missing, Mutant, mutants
from model.planted.catalogue import BUGS, Bug
from model.planted.equivalent import EQUIVALENT
from model.progress import track

LIMIT = 60.0


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `mutants`."""
    parser.add_argument("--list", action="store_true", help="name the planted bugs and end")
    parser.add_argument("--named", action="store_true", help="only the planted bugs, no systematic mutants")
    parser.add_argument("--only", metavar="NAME", action="append", help="only this mutant (may be given again)")
    parser.add_argument("--changed", metavar="REV", help="only what lies in code that changed since this git revision")
    parser.add_argument("--workers", type=int, metavar="N", help="processes at a time (default: one a core)")
    evidence.arguments(parser, "one value: with --list an array, else an object")


def run(options: argparse.Namespace) -> int:
    """Try the mutants; the exit code."""
    if options.workers is not None and options.workers < 1:
        return wrong(f"--workers is {options.workers}, expected at least 1")
    if options.list and (options.only or options.changed):
        return wrong("--list names every planted bug; drop --only and --changed")
    if options.list:
        evidence.answer(options, [listed(bug) for bug in BUGS.values()], map(line, BUGS.values()))
        return 0
    try:
        tasks = chosen(options)
    except (ValueError, Missing) as error:
        return wrong(str(error))
    whole = not options.only and not options.changed
    done = {}
    for trial in track(trials(tasks, LIMIT, options.workers), len(tasks), "mutants"):
        done[trial.task.name] = trial
    wanted = properties(dict.fromkeys(bug.target for bug in BUGS.values())) if whole else []
    planted = {bug.name: bug.property for bug in BUGS.values()}
    ordered = tuple(done[task.name] for task in tasks)
    matrix = Matrix(ordered, EQUIVALENT, tuple(wanted), planted, whole and not options.named)
    evidence.answer(options, matrix.as_json(), matrix.text())
    return matrix.code


def wrong(why: str) -> int:
    """Say what was wrong with the call."""
    print(f"mutants: {why}", file=sys.stderr)
    return USAGE


def listed(bug: Bug) -> dict[str, str]:
    """A planted bug for programs."""
    return {
        "name": bug.name,
        "target": bug.target,
        "property": bug.property,
        "source": bug.source,
        "sentence": bug.sentence,
    }


def line(bug: Bug) -> str:
    """A planted bug for people."""
    return f"{bug.target}.{bug.name}: {bug.sentence} Breaks {bug.property} ({bug.source})."


def chosen(options: argparse.Namespace) -> list[Task]:
    """The mutants that the options ask for. Raises ValueError."""
    by_name = options.named or (options.only and set(options.only) <= set(BUGS))
    bugs, systematic = list(BUGS.values()), [] if by_name else mutants()
    if options.changed:
        lines = changed(options.changed)
        targets = {module for module, touched in lines.items() if touched}
        bugs = [bug for bug in bugs if bug.target in targets or (bug.target == "scheduler" and "core" in targets)]
        systematic = [each for each in systematic if each.line in lines.get(each.module, ())]
    tasks = [task_of_bug(bug) for bug in bugs] + [task_of_mutant(each) for each in systematic]
    if options.only:
        known = {task.name for task in tasks}
        if unknown := [name for name in options.only if name not in known]:
            raise ValueError(f"--only names {', '.join(unknown)}, expected mutants that --list or a full run names")
        tasks = [task for task in tasks if task.name in options.only]
    return tasks


def task_of_bug(bug: Bug) -> Task:
    """What is to be done about a planted bug."""
    return Task(bug.name, bug.target, tuple(engines_of(bug.target)))


def task_of_mutant(mutant: Mutant) -> Task:
    """What is to be done about a systematic mutant."""
    target = "scheduler" if mutant.module == "core" else mutant.module
    return Task(mutant.name, target, tuple(engines_of(target)), mutant.module, mutant.path, mutant.source)


def changed(revision: str) -> dict[str, set[int]]:
    """The lines of each module of `impl` that differ from the revision. Raises ValueError."""
    command = ["git", "diff", "--no-ext-diff", "--no-color", "-U0", revision, "--", "impl"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", None) or str(error)
        raise ValueError(f"--changed {revision}: git cannot compare with it: {why.strip()}") from None
    found: dict[str, set[int]] = {}
    module = ""
    for each in said.splitlines():
        if each.startswith("+++ "):
            module = each.rpartition("/")[2].removesuffix(".py")
        elif each.startswith("@@"):
            start, _, count = each.split()[2][1:].partition(",")
            found.setdefault(module, set()).update(range(int(start), int(start) + int(count or 1)))
    return found
