"""What the shipped functions, or those of a policy, do on every input: as a decision table, and judged by what they
owe."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

from model import evidence
from model.exits import HOLDS, VIOLATED
from model.policy.file import PolicyError, load
from model.prove.solvers import SOLVERS
from model.symbolic.findings import Finding, Judgement, exit_code
from model.symbolic.judge import judge


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `table`."""
    parser.add_argument("--policy", metavar="FILE.py", help="judge `decide` and `urgency` of this file instead")
    evidence.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Judge, print the tables and what was found; the exit code."""
    try:
        policy = load(options.policy) if options.policy else None
    except PolicyError as error:
        print(f"table: {error}", file=sys.stderr)
        return error.code
    start = time.perf_counter()
    found = judge(policy)
    seconds = time.perf_counter() - start
    code = exit_code(finding for judgement in found for finding in judgement.findings)
    verdict = "holds" if code == HOLDS else "violated" if code == VIOLATED else "undetermined"
    waives = sorted(policy.waives) if policy else []
    functions = [judgement.as_json() for judgement in found]
    result = {"policy": options.policy, "waives": waives, "verdict": verdict, "seconds": round(seconds, 3)}
    lines = [f"WAIVED: {name}" for name in waives]
    lines += [line for judgement in found for line in (*text(judgement), "")]
    solvers = ", ".join(f"{name} {version}" for name, (version, _) in SOLVERS.items())
    lines.append(f"{verdict}: {_counts(found)} ({solvers}); {seconds:.2f} s")
    evidence.answer(options, {**result, "functions": functions}, lines)
    return code


def text(judgement: Judgement) -> Iterator[str]:
    """The table, and a line for each property."""
    yield f"{judgement.function}  {judgement.place}"
    if judgement.why:
        yield f"  undetermined: it cannot be followed. {judgement.why}"
    if judgement.note:
        yield f"  further parameters have their defaults: {judgement.note}"
    rules = [(rule.condition, rule.then, rule.sample) for rule in judgement.rules]
    widths = [max((len(each) for each in column), default=0) for column in (zip(*rules, strict=True) if rules else ())]
    for condition, then, sample in rules:
        given = ", ".join(f"{name} = {value!r}" for name, value in sample.items())
        yield f"  {condition:<{widths[0]}} -> {then:<{widths[1]}}  e.g. {given}"
    yield ""
    by_name: dict[str, list[Finding]] = {}
    for finding in judgement.findings:
        by_name.setdefault(finding.about, []).append(finding)
    for findings in by_name.values():
        yield from _lines(findings)


def _lines(findings: list[Finding]) -> Iterator[str]:
    """What the solvers found of one property."""
    first = findings[0]
    verdicts = list(dict.fromkeys(finding.verdict for finding in findings))
    verdict = verdicts[0] if len(verdicts) == 1 else "undetermined"
    standing = "waived" if first.waived else "" if first.owed else "only reported"
    spent = ", ".join(f"{finding.solver} {finding.seconds * 1000:.0f} ms" for finding in findings if finding.answers)
    yield f"  {verdict:<12} {first.about}{f' [{standing}]' if standing else ''}: {first.obligation.sentence}  {spent}"
    if verdict != "proved" or first.detail:
        for detail in dict.fromkeys(finding.detail for finding in findings if finding.detail):
            yield f"{'':15}{detail}"


def _counts(found: list[Judgement]) -> str:
    owed = {(each.function, finding.about) for each in found for finding in each.findings if finding.counts}
    open_ = {
        (each.function, finding.about)
        for each in found
        for finding in each.findings
        if finding.counts and finding.verdict != "proved"
    }
    return f"{len(owed) - len(open_)} of {len(owed)} properties proved by each solver"
