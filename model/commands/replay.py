"""Play a saved counterexample on the code as it is now: a test from tests/regressions, or a trace in ITF JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import wrap
from typing import Any

from impl.jobs import Job, Policy
from model.conform.events import Admit
from model.exits import HOLDS, USAGE, VIOLATED
from model.history.happenings import Trace
from model.history.lanes import WIDTH, faults, lanes, picture, verdict
from model.history.play import Leases, Step
from model.history.possible import MOST, possible
from model.history.regression import DEFAULT, VARIABLE, choose, perform
from model.history.save import read
from model.policy.consult import consult
from model.policy.file import PolicyError


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `replay`."""
    parser.add_argument("file", metavar="FILE", help="what --save wrote: test_CLAIM.py or CLAIM.itf.json")
    parser.add_argument("--step", action="store_true", help="stop after each event and say what may happen next")
    instead = (
        f"a policy file, or {DEFAULT} for the shipped urgency (default: that of {VARIABLE}, else the recorded one)"
    )
    parser.add_argument("--policy", metavar="FILE.py", help=instead)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")


def run(options: argparse.Namespace) -> int:
    """Play it and print what happens; the exit code."""
    try:
        return _replay(options)
    except PolicyError as error:
        print(f"replay: {error}", file=sys.stderr)
        return error.code


def _replay(options: argparse.Namespace) -> int:
    try:
        if options.step and options.json:
            raise ValueError("--step is for people and --json for programs; expected one of them")
        path = Path(options.file)
        trace = read(path)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        print(f"replay: {options.file}: {why}; give a file that --save wrote", file=sys.stderr)
        return USAGE
    policy = choose(trace.policy and (path.parent / trace.policy).resolve(), options.policy)
    steps = perform(trace, policy)
    code = HOLDS if steps[-1].violation is None else VIOLATED
    waives = sorted(policy.waives) if policy else []
    if options.json:
        print(
            json.dumps(
                {"file": options.file, **_as_json(trace, policy.path if policy else None, waives, steps)}, indent=1
            )
        )
        return code
    for name in waives:
        print(f"WAIVED: {name}")
    urgency = f"urgency of {policy.path}" if policy and policy.urgency else "shipped urgency"
    print(f"slots {trace.slots}, capacity {trace.capacity}, reserve {trace.reserve}; {urgency}")
    if options.step:
        _walk(steps, consult(policy))
    else:
        print(picture(steps))
    print("holds" if code == HOLDS else "violated")
    return code


def _as_json(trace: Trace, policy: str | None, waives: list[str], steps: Sequence[Step]) -> dict[str, Any]:
    """The play for programs."""
    violation = steps[-1].violation
    return {
        "slots": trace.slots,
        "capacity": trace.capacity,
        "reserve": trace.reserve,
        "policy": policy,
        "waives": waives,
        "verdict": "holds" if violation is None else "violated",
        "steps": [
            {**(step.happening.as_json() if step.happening else {}), "action": step.action} for step in steps[1:]
        ],
        "broken": [fault.as_json() for fault in faults(steps[-1])],
    }


# Step by step


def _walk(steps: Sequence[Step], urgency: Policy) -> None:
    """Show one step after the other, as whoever sits there wants; without anybody, all of them."""
    newcomers = [step.event.job for step in steps if isinstance(step.event, Admit)]
    at = 0
    while at < len(steps):
        print("\n".join(line.rstrip() for line in _shown(steps, at, newcomers, urgency)))
        at = _wish(at, len(steps) - 1)


def _shown(steps: Sequence[Step], at: int, newcomers: Sequence[Job], urgency: Policy) -> Iterator[str]:
    """The step beside the one before it, what it broke, and else what may happen next."""
    step = steps[at]
    yield from lanes(steps[max(0, at - 1) : at + 1])
    if step.wrongs:
        yield from verdict(step)
    if step.violation is not None or step.after is None:
        return
    leases = Leases()
    for earlier in steps[: at + 1]:
        if earlier.snapshot is not None:
            leases.see(earlier.snapshot)
    yield "May happen next, among other things:"
    for action, choices in possible(step.after, newcomers, urgency, leases).items():
        more = [f"and {len(choices) - MOST} more"] if len(choices) > MOST else []
        told = f"  {action:<22}{'; '.join([*choices[:MOST], *more])}"
        yield from wrap(told, WIDTH, subsequent_indent=" " * 24)


def _wish(at: int, last: int) -> int:
    """The step to show next, which is behind the last at the end. Whoever says nothing more sees the rest."""
    line = ""
    with suppress(OSError, ValueError):
        if sys.stdin is not None and sys.stdin.isatty():
            print(f"step {at} of {last}; Enter: the next, a number: that step, q: the end > ", end="", flush=True)
        line = sys.stdin.readline() if sys.stdin is not None else ""
    said = line.strip().lower()
    if said == "q":
        return last + 1
    if said.isascii() and said.isdigit() and len(said) < 10 and int(said) <= last:
        return int(said)
    if said:
        print(f"{said!r:.40} was said, expected Enter, q or a number from 0 to {last}", file=sys.stderr)
    return at + 1
