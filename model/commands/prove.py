"""`python -m model prove`: every obligation of the specification, discharged by Z3 and by cvc5."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from model import evidence
from model.commands.table import text
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED
from model.policy.file import PolicyError, load
from model.progress import track
from model.prove.induction import Counterexample, counterexample
from model.prove.machines import MACHINES
from model.prove.obligations import Obligation, obligations
from model.prove.solvers import SOLVERS, Answer
from model.symbolic.findings import exit_code
from model.symbolic.judge import judge


@dataclass(frozen=True)
class Row:
    """What one solver said of one obligation, under all seeds."""

    obligation: Obligation
    solver: str
    answers: tuple[Answer, ...]
    refutation: Counterexample | None = None

    @property
    def words(self) -> set[str]:
        """What the solver said, under whatever seed; more than one word is unstable."""
        return {answer.word for answer in self.answers}

    @property
    def verdict(self) -> str:
        """`proved` or `reachable` if every seed says what is expected; `refuted` by a counterexample that was found and
        tried again, or if every seed denies a witness. A model over unbounded sorts is no counterexample yet."""
        if self.words == {self.obligation.expected}:
            return "proved" if self.obligation.expected == "unsat" else "reachable"
        if self.refutation is not None or self.words == {"unsat"}:
            return "refuted"
        return "undetermined"

    @property
    def holds(self) -> bool:
        """Whether a green run may contain this row."""
        return self.verdict in ("proved", "reachable")

    def as_json(self) -> dict[str, object]:
        """The row for programs."""
        obligation = self.obligation
        return {
            "machine": obligation.machine,
            "action": obligation.action,
            "property": obligation.about,
            "verdict": self.verdict,
            "answers": [answer.word for answer in self.answers],
            "solver": self.solver,
            "version": SOLVERS[self.solver][0],
            "seconds": round(max(answer.seconds for answer in self.answers), 4),
            "seeds": len(self.answers),
            "assumptions": list(obligation.assumptions),
            "digest": obligation.digest,
            **({"counterexample": list(self.refutation.lines())} if self.refutation else {}),
        }


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `prove`."""
    parser.add_argument("--machine", choices=MACHINES, help="this machine alone")
    parser.add_argument("--property", help="this property alone")
    parser.add_argument(
        "--action", help="this action alone; `initially` and `always` are the first state and all states"
    )
    parser.add_argument("--solver", choices=[*SOLVERS, "both"], default="both")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="solver seeds, 1 to N (default 3)")
    parser.add_argument("--policy", metavar="FILE.py", help="prove what this file owes, instead of the specification")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write each obligation as a .smt2 file")
    evidence.arguments(parser, "one array of rows, one a solver and obligation")


def run(options: argparse.Namespace) -> int:
    """Prove what was asked for; the exit code."""
    if options.seeds < 1:
        print(f"prove: --seeds is {options.seeds}, expected at least 1", file=sys.stderr)
        return USAGE
    solvers = list(SOLVERS) if options.solver == "both" else [options.solver]
    if options.policy:
        return prove_policy(options, solvers)
    chosen = list(choose(options.machine, options.action, options.property))
    if not chosen:
        names = sorted({each.name for machine in MACHINES.values() for each in machine.properties})
        print(f"prove: no such obligation; the properties are {', '.join(names)}", file=sys.stderr)
        return USAGE
    if options.out:
        write(chosen, options.out)
    rows = [refuted(row) for row in discharge(chosen, solvers, options.seeds)]
    everything = options.machine is options.action is options.property is None
    found = judge(solvers=solvers, seeds=options.seeds) if everything else []
    findings = [finding for judgement in found for finding in judgement.findings]
    told = [*(row.as_json() for row in rows), *(finding.as_json() for finding in findings)]
    evidence.answer(options, told, [*(line for judgement in found for line in text(judgement)), *table(rows)])
    verdicts = {row.verdict for row in rows} | {finding.verdict for finding in findings if finding.counts}
    return VIOLATED if "refuted" in verdicts else UNDETERMINED if "undetermined" in verdicts else HOLDS


def prove_policy(options: argparse.Namespace, solvers: list[str]) -> int:
    """Prove what a policy owes; what it waives is judged too, comes first, and does not change the exit code."""
    try:
        policy = load(options.policy)
    except PolicyError as error:
        print(f"prove: {error}", file=sys.stderr)
        return error.code
    found = judge(policy, solvers=solvers, seeds=options.seeds)
    asked = [each for judgement in found for each in judgement.findings if options.property in (None, each.about)]
    if not asked:
        print(f"prove: {options.policy} owes no property {options.property}", file=sys.stderr)
        return USAGE
    told = [each.as_json() for each in sorted(asked, key=lambda each: not each.waived)]
    waived = [f"WAIVED: {name}" for name in sorted(policy.waives)]
    evidence.answer(options, told, [*waived, *(line for judgement in found for line in text(judgement))])
    return exit_code(asked)


def choose(machine: str | None, action: str | None, about: str | None) -> Iterator[Obligation]:
    """The obligations of these names; None stands for all."""
    for each in MACHINES.values():
        if machine in (None, each.name):
            yield from obligations(each, action, about)


def discharge(chosen: list[Obligation], solvers: list[str], seeds: int) -> Iterator[Row]:
    """One row for each obligation and solver, in order, from as many processes as there are cores."""
    pairs = [(obligation, solver) for obligation in chosen for solver in solvers]
    with ProcessPoolExecutor() as pool:
        tasks = [(obligation.text, solver, seeds) for obligation, solver in pairs]
        answers = pool.map(ask, tasks, chunksize=8)
        for (obligation, solver), found in zip(pairs, track(answers, len(pairs), "proving"), strict=True):
            yield Row(obligation, solver, found)


def ask(task: tuple[str, str, int]) -> tuple[Answer, ...]:
    """The answers of the solver under each seed."""
    text, solver, seeds = task
    return tuple(SOLVERS[solver][1](text, seed) for seed in range(1, seeds + 1))


def refuted(row: Row) -> Row:
    """The row, with a counterexample to the proof that its solver did not find, if a closed world has one."""
    if row.holds or row.obligation.expected != "unsat":
        return row
    obligation = row.obligation
    return replace(row, refutation=counterexample(MACHINES[obligation.machine], obligation.action, obligation.about))


def write(chosen: Iterable[Obligation], folder: Path) -> None:
    """One file for each obligation, `machine.action.property.smt2`."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in chosen:
        (folder / f"{each.machine}.{each.action}.{each.about}.smt2").write_text(each.text)


def table(rows: list[Row]) -> Iterator[str]:
    """For people: a table property x action for each machine, in milliseconds of both solvers, and a last line."""
    for name in dict.fromkeys(row.obligation.machine for row in rows):
        mine = [row for row in rows if row.obligation.machine == name]
        actions = list(dict.fromkeys(row.obligation.action for row in mine))
        yield f"{name}: milliseconds of {' + '.join(dict.fromkeys(row.solver for row in mine))}, slowest seed"
        yield from (f"  {number:2} {action}" for number, action in enumerate(actions, 1))
        yield f"  {'':48}" + "".join(f"{number:6}" for number in range(1, len(actions) + 1))
        for about in dict.fromkeys(row.obligation.about for row in mine):
            cells = (
                [row for row in mine if (row.obligation.about, row.obligation.action) == (about, a)] for a in actions
            )
            yield f"  {about:48}" + "".join(map(cell, cells))
    for row in rows:
        if not row.holds:
            unstable = ", unstable" if len(row.words) > 1 else ""
            said = ", ".join(answer.word for answer in row.answers)
            yield f"{row.verdict}{unstable}: {row.obligation.name} ({row.solver} says {said})"
            yield f"  {row.obligation.sentence}"
            yield from row.refutation.lines() if row.refutation else ()
    proved = sum(row.verdict == "proved" for row in rows)
    seconds = sum(max(answer.seconds for answer in row.answers) for row in rows)
    solvers = ", ".join(f"{name} {SOLVERS[name][0]}" for name in dict.fromkeys(row.solver for row in rows))
    reached = sum(row.verdict == "reachable" for row in rows)
    counts = f"{proved} proved, {reached} reachable, {len(rows) - proved - reached} not"
    yield f"{counts} ({solvers}; seeds 1 to {len(rows[0].answers)}); {seconds:.2f} s of solver time a seed"


def cell(rows: list[Row]) -> str:
    """One cell of the table: the milliseconds, `-` for no obligation, `?` for one that is undetermined."""
    if not rows:
        return f"{'-':>6}"
    if not all(row.holds for row in rows):
        return f"{'?':>6}"
    return f"{sum(max(answer.seconds for answer in row.answers) for row in rows) * 1000:6.0f}"
