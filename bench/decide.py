"""The shipped `decide` on all integers: the path table and all properties, beside CrossHair on the same conditions."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

from crosshair.core_and_libs import MessageType, analyze_function, run_checkables
from crosshair.options import AnalysisKind, AnalysisOptionSet

from bench import contracts
from bench.record import Bar, Figure, Measurement
from bench.timing import figure, interleaved
from model.symbolic.judge import judge_decide

PATIENCE = 60.0
"""Seconds that CrossHair has for one condition."""
ASKED = AnalysisOptionSet(report_all=True, analysis_kind=[AnalysisKind.PEP316], per_condition_timeout=PATIENCE)


def measure(quick: bool) -> Measurement:
    """Both in one process that has imported them, and as commands."""
    found = Measurement("decide: every property of the shipped function, on all integers")
    rules, conditions = judged(), confirmed()
    subjects = {"model table": lambda times: [judged() for _ in range(times)]}
    subjects["CrossHair"] = lambda times: [confirmed() for _ in range(times)]
    figures = interleaved(subjects, "s", 1.0, 0.01 if quick else 0.5)
    found.add("without start-up", figures["model table"], figures["CrossHair"], Bar(0.5, of="best"), True)
    if not quick:
        ours, other = commands()
        found.add("as a command, wall clock", ours, other)
    found.notes.append(
        f"`model table` proves every property by two solvers and derives a table of {rules} rules; CrossHair confirms "
        f"{conditions} conditions over all paths, and refutes the wrong `decide` that is planted beside them."
    )
    return found


def judged() -> int:
    """The number of rules in the table; every property is proved."""
    judgement = judge_decide()
    assert all(finding.verdict == "proved" for finding in judgement.findings if finding.counts)
    return len(judgement.rules)


def confirmed() -> int:
    """The number of conditions that CrossHair confirms of the right function, all of them; the wrong one is refuted."""
    messages = run_checkables(analyze_function(contracts.decided, ASKED))
    assert all(message.state == MessageType.CONFIRMED for message in messages), messages
    (refuted,) = run_checkables(analyze_function(contracts.upside_down, ASKED))
    assert refuted.state == MessageType.POST_FAIL
    return len(messages)


def commands() -> list[Figure]:
    """`python -m model table`, which judges two more functions, and `crosshair check`."""
    told = ("--report_all", "--analysis_kind=PEP316", f"--per_condition_timeout={PATIENCE:g}")
    calls = {
        "model table": ("model", "table"),
        "crosshair check": ("crosshair", "check", *told, "bench.contracts.decided"),
    }
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(3):
        for name, call in calls.items():
            began = perf_counter()
            subprocess.run([sys.executable, "-m", *call], check=True, capture_output=True)
            spent[name].append(perf_counter() - began)
    return [figure(name, times, "s") for name, times in spent.items()]
