"""`python -m model fuzz`: random histories of the shipped code, late, doubled and same-instant events among them, each
step held to the specification. Hypothesis generates and shrinks them."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import SystemRandom
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from rich.console import Console
from rich.status import Status

from model import evidence
from model.commands.table import text as table
from model.conform.monitor import Violation, nonconforming
from model.conform.witnesses import WORKER
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED, worst
from model.fuzz import joined as fuzz_joined
from model.fuzz import worker as fuzz_worker
from model.fuzz.counting import Counting
from model.fuzz.scheduler import RULES, WITNESSES, SchedulerMachine, fresh
from model.history.shown import command, met
from model.policy.consult import consult, owed
from model.policy.file import Policy, PolicyError, load
from model.symbolic.findings import Judgement, beside
from model.symbolic.judge import judge
from spec.scheduler import ACTIONS
from spec.worker import ACTIONS as WORKER_ACTIONS

ROUND = 50
"""Histories between two looks at the clock."""
PROFILES: dict[str, dict[str, Any]] = {
    "dev": {"slots": (1, 1, 2, 2, 3, 8)},
    "ci": {"slots": (1, 1, 2, 2, 3, 8), "seed": 0, "histories": 500},
    "soak": {"slots": (1, 2, 3, 8, 16, 64), "seconds": 600.0},
}
"""`dev`: a fresh seed each time. `ci`: always the same histories. `soak`: by time, up to 64 slots."""

CODES = {"tested": HOLDS, "refuted": VIOLATED, "undetermined": UNDETERMINED}


@dataclass(frozen=True)
class Fuzzed:
    """A state machine, what has to be seen of it, what it raises when the code is wrong, and how many rules a history
    has. `phases` leaves the shrinking out where the machine itself tells the smallest history."""

    machine: type[Counting]
    rules: Collection[str]
    actions: Collection[str]
    witnesses: Collection[str]
    fails: tuple[type[Exception], ...] = (Violation, AssertionError)
    phases: tuple[Phase, ...] = (Phase.generate, Phase.shrink)
    rules_each: int = 50

    def never_seen(self) -> Iterator[str]:
        """What would be no pass."""
        of = self.machine
        yield from (f"rule {name}" for name in self.rules if not of.rules_fired[name])
        yield from (f"action {name}" for name in self.actions if not of.actions[name])
        yield from (f"witness {name}" for name in self.witnesses if name not in of.witnesses)


def fuzzed(name: str) -> Fuzzed:
    """The machine of that name."""
    scheduler = [action.name for action in ACTIONS if action.name != "reuse"]
    worker = [action.name for action in WORKER_ACTIONS]
    both = [*worker, *(f"scheduler {action}" for action in scheduler)]
    loop = (WORKER, (Violation, AssertionError, ValueError), (Phase.generate,), 20)
    return {
        "scheduler": Fuzzed(SchedulerMachine, RULES, scheduler, WITNESSES),
        "worker": Fuzzed(fuzz_worker.WorkerMachine, fuzz_worker.RULES, worker, *loop),
        "joined": Fuzzed(fuzz_joined.JoinedMachine, fuzz_joined.RULES, both, *loop),
    }[name]


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `fuzz`."""
    parser.add_argument("--machine", choices=["scheduler", "worker", "joined"], default="scheduler")
    parser.add_argument("--policy", metavar="FILE", help="a Python file with urgency(job), decide(...) or both")
    parser.add_argument("--profile", choices=PROFILES, default="dev", help="dev (default), ci or soak")
    parser.add_argument("--seconds", type=float, metavar="N", help="end after so long")
    parser.add_argument("--histories", type=int, metavar="N", help="end after so many (default 500, without --seconds)")
    parser.add_argument("--seed", type=int, metavar="N", help="the seed of the first round (printed in any case)")
    parser.add_argument("--save", nargs="?", const="tests/regressions", metavar="DIR", help="save the fault as a test")
    evidence.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Fuzz for as long as asked; the exit code."""
    profile = PROFILES[options.profile]
    seconds = options.seconds if options.seconds is not None else profile.get("seconds")
    histories = options.histories if options.histories is not None else profile.get("histories")
    if (seconds is not None and not 0 < seconds < 1e9) or (histories is not None and histories < 1):
        print("fuzz: --seconds and --histories must be positive", file=sys.stderr)
        return USAGE
    if options.policy and options.machine == "worker":
        print("fuzz: --policy says nothing of the worker alone; drop one of the two", file=sys.stderr)
        return USAGE
    if seconds is None and histories is None:
        histories = 500
    try:
        policy = load(options.policy) if options.policy else None
        return _run(options, policy, seconds, histories)
    except PolicyError as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return error.code


def _run(options: argparse.Namespace, policy: Policy | None, seconds: float | None, histories: int | None) -> int:
    profile = PROFILES[options.profile]
    judged = judge(policy) if policy is not None else []
    first = options.seed if options.seed is not None else profile.get("seed", SystemRandom().getrandbits(32))
    of: dict[str, Any] = {"slots": profile["slots"]}
    if policy is not None:
        of |= {"urgencies": (consult(policy),), "owed": owed(policy), "waives": policy.waives}
        of |= {"arrivals": policy.arrivals or SchedulerMachine.arrivals}
    machine = fuzzed(options.machine)
    machine = replace(machine, machine=fresh(machine.machine, **of))
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
    code = worst(CODES[report["verdict"]], beside(judged))
    report["verdict"] = next(word for word in CODES if CODES[word] == code)
    report["functions"] = [each.as_json() for each in judged]
    evidence.answer(options, report, text(report, judged))
    return code


def over(done: int, histories: int | None, elapsed: float, seconds: float | None) -> bool:
    """Whether there were enough histories, or enough time."""
    return (histories is not None and done >= histories) or (seconds is not None and elapsed >= seconds)


def one_round(of: Fuzzed, number: int, histories: int) -> Exception | None:
    """So many histories under one seed; the violation at the end of the shortest one found, if there is any."""
    how = settings(
        max_examples=histories,
        stateful_step_count=of.rules_each,
        deadline=None,
        database=None,
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
        phases=of.phases,
        suppress_health_check=list(HealthCheck),
    )
    try:
        run_state_machine_as_test(seed(number)(of.machine), settings=how)
    except of.fails as violation:
        return violation
    return None


class Live:
    """A line on a terminal that says how far it is; nothing in a pipe."""

    def __init__(self, of: Fuzzed, began: float) -> None:
        self._of, self._began = of, began
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
            machine = self._of.machine
            steps = machine.actions.total()
            rate = steps / (time.monotonic() - self._began)
            seen = f"{len(machine.actions)} actions, {len(machine.witnesses)} of {len(self._of.witnesses)} witnesses"
            self._status.update(f"{done} histories, {steps} steps, {rate:.0f} steps/s, {seen}")


def told(of: Fuzzed, options: argparse.Namespace, first: int, done: int, elapsed: float, wrong: Any) -> dict[str, Any]:
    """What was done and seen."""
    machine, never = of.machine, list(of.never_seen())
    found: dict[str, Any] = {}
    if wrong is not None:
        history, violation = machine.retold(wrong if isinstance(wrong, Violation) else nonconforming(str(wrong)))
        found = {"claims": list(violation.claims), "detail": violation.detail, "history": history, "drawn": ""}
        if issubclass(machine, SchedulerMachine) and len(machine.told) > 1:
            folder = Path(options.save) if options.save else None
            shown = met(machine, violation, command(), options.policy, folder, first)
            found |= {**shown.as_json(), "drawn": shown.drawn}
        if issubclass(machine, fuzz_worker.WorkerMachine):
            found["rows"] = machine.rows(violation)
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
        "waived": {claim: machine.waived[claim] for claim in sorted(machine.waives)},
        "never_seen": [] if found else never,
        "verdict": "refuted" if found else "undetermined" if never else "tested",
        "violation": found,
    }


def text(report: dict[str, Any], judged: list[Judgement]) -> Iterator[str]:
    """The same for people: waivers first."""
    elsewhere = {finding.about for each in judged for finding in each.findings}
    for claim, times in report["waived"].items():
        yield f"waived: {claim}{'' if claim in elsewhere else f' (broken {times} times)'}"
    for each in judged:
        yield from table(each)
        yield ""
    if judged and not any(each.function == "urgency" for each in judged):
        yield f"{report['policy']} defines no urgency: the shipped one is fuzzed"
    if report["violation"]:
        yield f"violated: {', '.join(report['violation']['claims'])}: {report['violation']['detail']}"
        yield report["violation"]["drawn"] or "\n".join(f"  {line}" for line in report["violation"]["history"])
        yield from (f"saved: {path}" for path in report["violation"].get("files", ()))
    yield f"{report['machine']}: {report['histories']} histories, {report['steps']} steps in {report['seconds']} s"
    for kind in ("rules", "actions"):
        yield f"{kind}: " + ", ".join(f"{name} {times}" for name, times in sorted(report[kind].items()))
    yield f"witnesses: {', '.join(report['witnesses'])}"
    yield from (f"never seen: {name}" for name in report["never_seen"])
    yield f"verdict: {report['verdict']}; again by --seed {report['seed']}"
