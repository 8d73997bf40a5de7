"""`python -m model explore`: every history of the shipped code on a finite instance, each step held to the
specification, and the shortest history to each fault."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from impl.jobs import Job, by_priority
from model import evidence
from model.commands import explore_loop
from model.commands.table import text as table
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED, worst
from model.explore.breadth import Exploration, Found, explore
from model.explore.defaults import DEFAULTS, completed
from model.explore.defaults import arguments as loop_arguments
from model.explore.kinds import kinds
from model.explore.liveness import liveness
from model.explore.shapes import ACTIONS, Setting
from model.history.shown import Finder, Shown, command
from model.policy.consult import consult, owed
from model.policy.file import Policy, PolicyError, load
from model.prove.machines import SCHEDULER
from model.symbolic.findings import Judgement, beside
from model.symbolic.judge import judge

CODES = {"explored": HOLDS, "refuted": VIOLATED, "undetermined": UNDETERMINED}


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `explore`."""
    parser.add_argument("--machine", choices=list(DEFAULTS), default="scheduler")
    parser.add_argument("--slots", type=int, metavar="N", help="(default 2; joined 1)")
    parser.add_argument(
        "--jobs", type=int, metavar="K", help="arrivals in each history (default 4; with a policy 3; joined 2)"
    )
    levels = "priorities 1 to P, or these, or every weak order of them (default 2)"
    parser.add_argument("--levels", metavar="P|P,Q,...|all", help=levels)
    parser.add_argument("--capacity", type=int, metavar="N", help="places for newcomers (default 64)")
    parser.add_argument("--reserve", type=int, metavar="N", help="places for preempted jobs (default: the slots)")
    parser.add_argument("--work", type=int, metavar="N", help="steps of work of each job (default 2)")
    parser.add_argument("--actions", help=f"what may happen (default {','.join(ACTIONS)})")
    parser.add_argument("--max-states", type=int, metavar="N", help="end undetermined when more are known")
    parser.add_argument(
        "--all", action="store_true", default=None, help="go on after the shortest histories that break a claim"
    )
    parser.add_argument("--policy", metavar="FILE", help="a Python file with urgency(job), decide(...) or both")
    parser.add_argument("--liveness", action="store_true", default=None, help="ask what happens sooner or later, too")
    parser.add_argument("--save", nargs="?", const="tests/regressions", metavar="DIR", help="save each fault as a test")
    evidence.arguments(parser)
    loop_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Explore the instance; the exit code."""
    try:
        options = completed(options)
        if options.machine == "worker":
            return explore_loop.run(options, None)
        policy = load(options.policy) if options.policy else None
        setting = setting_of(options, policy)
        if options.machine == "joined":
            return explore_loop.run(options, setting)
        judged = judge(policy) if policy else []
        seen = explore(setting, options.jobs, options.max_states, to_the_end=options.all)
    except PolicyError as error:
        print(f"explore: {error}", file=sys.stderr)
        return error.code
    except ValueError as error:
        print(f"explore: {error}", file=sys.stderr)
        return USAGE
    finder = Finder(setting, command(), options.policy, Path(options.save) if options.save else None)
    shown = [finder.found(claim, sentence_of(claim, found, setting), found) for claim, found in seen.found.items()]
    live = liveness(setting) if options.liveness else None
    told = as_json(seen, setting, options, judged, shown) | ({"liveness": live.as_json()} if live else {})
    lines = [*text(seen, setting, options, judged, shown), *(live.lines() if live else ())]
    evidence.answer(options, told, lines)
    return CODES["refuted" if live and not live.drains else verdict(seen, judged)]


def verdict(seen: Exploration, judged: list[Judgement]) -> str:
    """That of the exploration, unless what the policy's functions do on every input is worse."""
    code = worst(CODES[seen.verdict], beside(judged))
    return next(word for word in CODES if CODES[word] == code)


def setting_of(options: argparse.Namespace, policy: Policy | None) -> Setting:
    """The instance that the options name. Raises ValueError."""
    actions = tuple(options.actions.split(","))
    if unknown := sorted(set(actions) - set(ACTIONS)):
        raise ValueError(f"--actions names {', '.join(unknown)}, expected some of {', '.join(ACTIONS)}")
    for name, least in (("slots", 1), ("jobs", 1), ("capacity", 0), ("reserve", 0), ("work", 1), ("max_states", 1)):
        number = getattr(options, name)
        if number is not None and number < least:
            raise ValueError(f"--{name.replace('_', '-')} is {number}, expected at least {least}")
    every_order = options.levels == "all"
    if every_order and policy is not None:
        raise ValueError(
            "--levels all explores every order of urgencies, which no policy can add to; drop one of the two"
        )
    levels = [1] if every_order else priorities(options.levels)
    return Setting(
        options.slots,
        kinds([Job("", level, options.work) for level in levels], policy),
        options.capacity,
        options.reserve,
        actions,
        consult(policy),
        every_order=every_order,
        owed=owed(policy),
        waives=policy.waives if policy else frozenset(),
    )


def priorities(levels: str) -> list[int]:
    """Those that `--levels` names. Raises ValueError."""
    numbers = [int(part) for part in levels.split(",") if part.isascii() and part.isdigit()]
    if len(numbers) <= levels.count(",") or min(numbers) < 1:
        raise ValueError(f"--levels is {levels}, expected a number from 1, or several, or all")
    return list(range(1, numbers[0] + 1)) if len(numbers) == 1 else sorted(set(numbers))


def as_json(
    seen: Exploration,
    setting: Setting,
    options: argparse.Namespace,
    judged: list[Judgement],
    shown: list[Shown],
) -> dict[str, object]:
    """The exploration for programs."""
    return {
        "machine": options.machine,
        "slots": setting.slots,
        "jobs": options.jobs,
        "kinds": len(setting.kinds),
        "levels": options.levels,
        "capacity": setting.capacity,
        "reserve": setting.slots if setting.reserve is None else setting.reserve,
        "actions": list(setting.actions),
        "policy": options.policy,
        "distinct_states": seen.states,
        "transitions": seen.transitions,
        "depth": seen.depth,
        "exhaustive": seen.exhaustive,
        "verdict": verdict(seen, judged),
        "shapes": seen.shapes,
        "judged_steps": seen.judged,
        "seconds": round(seen.seconds, 3),
        "actions_seen": seen.actions,
        "witnesses": sorted(setting.witnesses),
        "waived": sorted(broken(seen, judged)),
        "violations": {each.claim: each.as_json() for each in shown},
        "functions": [each.as_json() for each in judged],
    }


def sentence_of(claim: str, found: Found, setting: Setting) -> str:
    """The claim in English; of several that the same step broke, its own."""
    known = {each.name: each.sentence for each in SCHEDULER.properties + setting.owed}
    return known.get(claim, found.violation.sentence)


def broken(seen: Exploration, judged: list[Judgement]) -> set[str]:
    """What is waived, and broken."""
    findings = [finding for each in judged for finding in each.findings]
    return seen.waived | {each.about for each in findings if each.waived and each.verdict == "refuted"}


def text(
    seen: Exploration,
    setting: Setting,
    options: argparse.Namespace,
    judged: list[Judgement],
    shown: list[Shown],
) -> Iterator[str]:
    """The exploration for people: waivers first, then the faults, then what was seen."""
    for claim in sorted(setting.waives):
        yield f"waived: {claim} ({'broken here' if claim in broken(seen, judged) else 'not broken here'})"
    for fault in shown:
        yield f"violated: {fault.claim}: {fault.sentence}"
        yield from fault.drawn.splitlines()
        yield from (f"saved: {path}" for path in fault.files)
        yield ""
    for each in judged:
        yield from table(each)
        yield ""
    if options.policy and setting.urgency is by_priority:
        yield f"{options.policy} defines no urgency: the shipped one is explored"
    what = "every order of urgencies" if setting.every_order else f"{len(setting.kinds)} kinds of jobs"
    yield f"{options.machine}: {setting.slots} slots, {options.jobs} jobs, {what}; {', '.join(setting.actions)}"
    early = "ended at the first fault, --all goes on" if seen.found else "ended early by --max-states"
    ended = "all of them" if seen.exhaustive else early
    yield f"{seen.states} states, {seen.transitions} transitions, depth {seen.depth}; {ended}"
    yield f"{seen.judged} steps of the shipped code judged at {seen.shapes} shapes in {seen.seconds:.2f} s"
    yield f"verdict: {verdict(seen, judged)}"
