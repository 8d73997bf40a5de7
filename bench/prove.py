"""Every obligation of the specification: what each solver takes for it, and apart from that, what it takes to begin."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter, process_time

from bench.record import Bar, Figure, Measurement, digits
from bench.timing import figure
from model.commands.prove import Row, choose, discharge
from model.prove.obligations import Obligation
from model.prove.solvers import SOLVERS

SEEDS = 3


def measure(quick: bool) -> Measurement:
    """All of them under three seeds; quick: those of one action under one."""
    found = Measurement("prove: solver time, start-up apart")
    began = process_time()
    chosen = list(choose("autoscale", "reap", None) if quick else choose(None, None, None))
    written = process_time() - began
    rows = list(discharge(chosen, list(SOLVERS), 1 if quick else SEEDS))
    assert all(row.holds for row in rows)
    for expected, what in (("unsat", "proofs"), ("sat", "witnesses")):
        mine = [row for row in rows if row.obligation.expected == expected]
        if mine:
            totals(found, mine, what)
    start(found, chosen, written)
    slowest = sorted(rows, key=_worst, reverse=True)[:3]
    told = "; ".join(f"{row.obligation.name} ({row.solver}, {_worst(row) * 1000:.0f} ms)" for row in slowest)
    found.notes.append(f"Slowest: {told}.")
    return found


def totals(found: Measurement, rows: list[Row], what: str) -> None:
    """Of one solver beside the other, in sum and at worst; and of both together."""
    seeds = len(rows[0].answers)
    by_seed = {
        name: [sum(row.answers[seed].seconds for row in rows if row.solver == name) for seed in range(seeds)]
        for name in SOLVERS
    }
    many = len(rows) // len(SOLVERS)
    first, second = (figure(name, times, "s") for name, times in by_seed.items())
    found.add(f"{many:,} {what}, all, one seed", first, second)
    both = figure("both solvers", [sum(times) for times in zip(*by_seed.values(), strict=True)], "s")
    bar = what == "proofs"
    found.add(f"{many:,} {what}, all, one seed", both, None, Bar(5, of="best") if bar else None, bar)
    slowest = [_most(name, [_worst(row) for row in rows if row.solver == name]) for name in SOLVERS]
    for each in slowest:
        found.add(f"the slowest of the {what}, any seed", each, None, Bar(1, of="best") if bar else None)


def _worst(row: Row) -> float:
    return max(answer.seconds for answer in row.answers)


def _most(name: str, times: list[float]) -> Figure:
    median = sorted(times)[len(times) // 2]
    return Figure(name, digits(max(times)), digits(median), "s", len(times))


def start(found: Measurement, chosen: list[Obligation], written: float) -> None:
    """What it takes to import each solver, and to write the obligations."""
    one, other = (figure(f"import {name}", [imported(name) for _ in range(3)], "s") for name in SOLVERS)
    found.add("start-up, wall clock", one, other)
    found.add(f"writing {len(chosen):,} obligations", figure("spec to SMT-LIB", [written], "s"))


def imported(module: str) -> float:
    """Seconds of a process that imports the module and ends."""
    began = perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    return perf_counter() - began
