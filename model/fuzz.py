"""`python -m model fuzz`: random histories of the shipped code, late, doubled and same-instant events among them, each
step held to the specification. Hypothesis generates and shrinks them."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from random import SystemRandom
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from rich.console import Console
from rich.status import Status

from model.conform import Violation
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED
from model.fuzz_scheduler import RULES, WITNESSES, SchedulerMachine, fresh
from model.policy import PolicyError, load
from spec.scheduler import ACTIONS

ROUND = 50
"""Histories between two looks at the clock."""
PROFILES: dict[str, dict[str, Any]] = {
    "dev": {"slots": (1, 1, 2, 2, 3, 8)},
    "ci": {"slots": (1, 1, 2, 2, 3, 8), "seed": 0, "histories": 500},
    "soak": {"slots": (1, 2, 3, 8, 16, 64), "seconds": 600.0},
}
"""`dev`: a fresh seed each time. `ci`: always the same histories. `soak`: by time, up to 64 slots."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fuzz`."""
    parser.add_argument("--machine", choices=["scheduler"], default="scheduler")
    parser.add_argument("--policy", metavar="FILE", help="a Python file with urgency(job)")
    parser.add_argument("--profile", choices=PROFILES, default="dev", help="dev (default), ci or soak")
    parser.add_argument("--seconds", type=float, metavar="N", help="end after so long")
    parser.add_argument("--histories", type=int, metavar="N", help="end after so many (default 500, without --seconds)")
    parser.add_argument("--seed", type=int, metavar="N", help="the seed of the first round (printed in any case)")
    parser.add_argument("--json", action="store_true", help="one object")


def run(options: argparse.Namespace) -> int:
    """Fuzz for as long as asked; the exit code."""
    profile = PROFILES[options.profile]
    seconds = options.seconds if options.seconds is not None else profile.get("seconds")
    histories = options.histories if options.histories is not None else profile.get("histories")
    if (seconds is not None and not 0 < seconds < 1e9) or (histories is not None and histories < 1):
        print("fuzz: --seconds and --histories must be positive", file=sys.stderr)
        return USAGE
    if seconds is None and histories is None:
        histories = 500
    try:
        policy = load(options.policy) if options.policy else None
    except PolicyError as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return error.code
    first = options.seed if options.seed is not None else profile.get("seed", SystemRandom().getrandbits(32))
    of: dict[str, Any] = {"slots": profile["slots"]}
    if policy is not None and policy.urgency is not None:
        of |= {"urgencies": (policy.urgency,), "waives": policy.waives}
    machine = fresh(SchedulerMachine, **of)
    began = time.monotonic()
    done, wrong = 0, None
    with Live(machine, began) as live:
        while wrong is None and not over(done, histories, time.monotonic() - began, seconds):
            wrong = one_round(
                machine, first + done // ROUND, ROUND if histories is None else min(ROUND, histories - done)
            )
            done += ROUND
            live.show(done)
    report = told(machine, options, first, done, time.monotonic() - began, wrong)
    print(json.dumps(report) if options.json else "\n".join(text(report)))
    return VIOLATED if wrong is not None else UNDETERMINED if report["never_seen"] else HOLDS


def over(done: int, histories: int | None, elapsed: float, seconds: float | None) -> bool:
    """Whether there were enough histories, or enough time."""
    return (histories is not None and done >= histories) or (seconds is not None and elapsed >= seconds)


def one_round(machine: type[SchedulerMachine], number: int, histories: int) -> Violation | AssertionError | None:
    """So many histories under one seed; the violation at the end of the shortest one found, if there is any."""
    how = settings(
        max_examples=histories,
        stateful_step_count=50,
        deadline=None,
        database=None,
        verbosity=Verbosity.quiet,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(seed(number)(machine), settings=how)
    except (Violation, AssertionError) as violation:
        return violation
    return None


class Live:
    """A line on a terminal that says how far it is; nothing in a pipe."""

    def __init__(self, machine: type[SchedulerMachine], began: float) -> None:
        self._machine, self._began = machine, began
        console = Console(stderr=True)
        self._status: Status | None = console.status("fuzzing") if console.is_terminal else None

    def __enter__(self) -> Live:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, done: int) -> None:
        """Say how many histories there were, and what was seen in them."""
        if self._status is not None:
            steps = self._machine.actions.total()
            rate = steps / (time.monotonic() - self._began)
            seen = f"{len(self._machine.actions)} actions, {len(self._machine.witnesses)} of {len(WITNESSES)} witnesses"
            self._status.update(f"{done} histories, {steps} steps, {rate:.0f} steps/s, {seen}")


def told(
    machine: type[SchedulerMachine], options: argparse.Namespace, first: int, done: int, elapsed: float, wrong: Any
) -> dict[str, Any]:
    """What was done and seen."""
    never = [f"rule {name}" for name in RULES if not machine.rules_fired[name]]
    never += [f"action {each.name}" for each in ACTIONS if each.name != "reuse" and not machine.actions[each.name]]
    never += [f"witness {name}" for name in WITNESSES if name not in machine.witnesses]
    found = {}
    if wrong is not None:
        claims = wrong.claims if isinstance(wrong, Violation) else ("conformance",)
        detail = wrong.detail if isinstance(wrong, Violation) else str(wrong)
        found = {"claims": list(claims), "detail": detail, "history": [str(each) for each in machine.told]}
    return {
        "machine": options.machine,
        "profile": options.profile,
        "policy": options.policy,
        "seed": first,
        "histories": done,
        "steps": machine.actions.total(),
        "seconds": round(elapsed, 1),
        "rules": dict(machine.rules_fired),
        "actions": dict(machine.actions),
        "witnesses": sorted(machine.witnesses),
        "waived": dict(machine.waived),
        "never_seen": [] if found else never,
        "verdict": "refuted" if found else "undetermined" if never else "tested",
        "violation": found,
    }


def text(report: dict[str, Any]) -> Iterator[str]:
    """The same for people."""
    for claim, times in report["waived"].items():
        yield f"waived: {claim} (broken {times} times)"
    if report["violation"]:
        yield f"violated: {', '.join(report['violation']['claims'])}: {report['violation']['detail']}"
        yield from (f"  {line}" for line in report["violation"]["history"])
    yield f"{report['machine']}: {report['histories']} histories, {report['steps']} steps in {report['seconds']} s"
    for kind in ("rules", "actions"):
        yield f"{kind}: " + ", ".join(f"{name} {times}" for name, times in sorted(report[kind].items()))
    yield f"witnesses: {', '.join(report['witnesses'])}"
    yield from (f"never seen: {name}" for name in report["never_seen"])
    yield f"verdict: {report['verdict']}; again by --seed {report['seed']}"
