"""`python -m model diff OLD NEW`: what a policy does otherwise than another, exactly: on all inputs of `decide`, and on
all pairs of jobs that `urgency` may order. A function that a policy does not define is the shipped one.

NEW is stricter than OLD if it does otherwise only by doing less: its `decide` says HOLD instead, and its `urgency`
changes nothing but ties. It is laxer if OLD is stricter than NEW. Only equivalence, or allowed changes alone, hold.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from impl.autoscale import Action, decide
from impl.jobs import Job, by_priority
from model.exits import HOLDS
from model.explore.shapes import Setting
from model.history.regression import DEFAULT
from model.policy.consult import consult
from model.policy.diff_decide import diff_decide
from model.policy.diff_urgency import diff_urgency
from model.policy.difference import Difference, joined
from model.policy.divergence import divergence, told
from model.policy.divergence import text as history_text
from model.policy.file import Policy, PolicyError, load
from model.progress import track
from model.prove.solvers import SOLVERS
from model.symbolic.findings import exit_code
from model.symbolic.promises import SHIPPED

JOBS = 4
"""The most arrivals in the history that is looked for."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `diff`."""
    parser.add_argument("old", metavar="OLD", help=f"a policy file, or {DEFAULT} for what is shipped")
    parser.add_argument("new", metavar="NEW", help="another one")
    allow = "changes of decisions that are no reason to fail, such as 'HOLD->REAP,SERVE->HOLD' (quote the >)"
    parser.add_argument("--allow", type=_changes, default=(), metavar="OLD->NEW,...", help=allow)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def run(options: argparse.Namespace) -> int:
    """Compare, print what was found; the exit code: 0 only if they are equivalent or every change is allowed."""
    try:
        old, new = (None if path == DEFAULT else load(path) for path in (options.old, options.new))
        start = time.perf_counter()
        found = [
            compare(function, old, new, options.allow) for function in track(("decide", "urgency"), 2, "comparing")
        ]
    except PolicyError as error:
        print(f"diff: {error}", file=sys.stderr)
        return error.code
    code = exit_code(finding for each in found for finding in each.findings)
    result = {
        "old": options.old,
        "new": options.new,
        "waived": {who: sorted(policy.waives) if policy else [] for who, policy in (("old", old), ("new", new))},
        "allowed": [f"{before.name}->{after.name}" for before, after in options.allow],
        "verdict": joined(each.relation for each in found),
        "seconds": round(time.perf_counter() - start, 3),
    }
    if options.json:
        print(json.dumps({**result, "functions": [each.as_json() for each in found]}, indent=1))
    else:
        print("\n".join(line.rstrip() for line in text(result, found, code)))
    return code


def compare(function: str, old: Policy | None, new: Policy | None, allowed: Any = ()) -> Difference:
    """What NEW does otherwise in the one function, `decide` or `urgency`. Raises PolicyError if an urgency, when it is
    run, does what none may."""
    mine, others = (getattr(policy, function, None) for policy in (old, new))
    if mine is None and others is None:
        return Difference(function)
    by = replace(SHIPPED, shipped=False)
    if function == "decide":
        return diff_decide(mine or decide, others or decide, allowed, by)
    found = diff_urgency(mine or by_priority, others or by_priority, by)
    kinds = tuple(Job("", **facts) for change in found.changes for facts in change.sample.values())
    if not kinds:
        return found
    setting, urgency = Setting(1, tuple(dict.fromkeys(kinds)), urgency=consult(old)), consult(new)
    history = divergence(setting, urgency, JOBS)
    return replace(found, history=None if history is None else told(setting, urgency, history))


def _changes(text: str) -> tuple[tuple[Action, Action], ...]:
    try:
        pairs = [[Action[name] for name in change.strip().split("->")] for change in text.split(",")]
        return tuple((old, new) for old, new in pairs)
    except (KeyError, ValueError):
        names = ", ".join(action.name for action in Action)
        raise argparse.ArgumentTypeError(f"{text!a} was given, expected OLD->NEW,... of {names}") from None


def text(result: dict[str, Any], found: list[Difference], code: int) -> Iterator[str]:
    """The comparison for people: waivers first, then each function, then what it comes to."""
    yield from (f"{who.upper()} {result[who]}" for who in ("old", "new"))
    for who, names in result["waived"].items():
        yield from (f"WAIVED by {who.upper()}: {name}" for name in names)
    for each in found:
        yield f"{each.function}: {each.relation}{'' if each.findings else ', both are the shipped one'}"
        if each.why:
            yield f"  it cannot be followed. {each.why}"
        for change in each.changes:
            yield f"  {change.words}{' (allowed)' if change.allowed else ''}: {change.where}"
            yield f"    {change.example}"
        if each.history is not None:
            yield from (f"  {line}" for line in history_text(each.history))
        for finding in each.findings:
            if finding.verdict == "undetermined":
                yield f"  undetermined by {finding.solver}: {finding.obligation.sentence} {finding.detail}"
    solvers = ", ".join(f"{name} {version}" for name, (version, _) in SOLVERS.items())
    allowed = ", by allowed changes alone" if result["verdict"] != "equivalent" and code == HOLDS else ""
    yield f"verdict: {result['verdict']}{allowed} ({solvers}; {result['seconds']:.2f} s)"
