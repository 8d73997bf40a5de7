"""`python -m model explore`: every history of the shipped code on a finite instance, each step held to the
specification, and the shortest history to each fault."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from impl.jobs import Job, by_priority
from model.breadth import Exploration, Found, explore
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED
from model.policy import Policy, PolicyError, load
from model.shapes import ACTIONS, Setting

VARIED = {"work": (1, 2), "arrived": (0, 1, 10), "deadline": (None, 1, 2)}
"""What jobs may differ in beside their priority, where a policy looks at it."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `explore`."""
    parser.add_argument("--machine", choices=["scheduler"], default="scheduler")
    parser.add_argument("--slots", type=int, default=2, metavar="N")
    parser.add_argument("--jobs", type=int, default=4, metavar="K", help="arrivals in each history (default 4)")
    parser.add_argument("--levels", default="2", metavar="P|all", help="priorities 1 to P, or every weak order of them")
    parser.add_argument("--capacity", type=int, default=64, metavar="N", help="places for newcomers (default 64)")
    parser.add_argument("--reserve", type=int, metavar="N", help="places for preempted jobs (default: the slots)")
    parser.add_argument("--work", type=int, default=2, metavar="N", help="steps of work of each job (default 2)")
    parser.add_argument("--actions", default=",".join(ACTIONS), help=f"what may happen (default {','.join(ACTIONS)})")
    parser.add_argument("--max-states", type=int, metavar="N", help="end undetermined when more are known")
    parser.add_argument("--policy", metavar="FILE", help="a Python file with urgency(job)")
    parser.add_argument("--save", nargs="?", const="tests/regressions", metavar="DIR", help="save each fault as a test")
    parser.add_argument("--json", action="store_true", help="one object")


def run(options: argparse.Namespace) -> int:
    """Explore the instance; the exit code."""
    try:
        policy = load(options.policy) if options.policy else None
        setting = setting_of(options, policy)
    except PolicyError as error:
        print(f"explore: {error}", file=sys.stderr)
        return error.code
    except ValueError as error:
        print(f"explore: {error}", file=sys.stderr)
        return USAGE
    seen = explore(setting, options.jobs, options.max_states)
    if options.json:
        print(json.dumps(as_json(seen, setting, options)))
    else:
        print("\n".join(text(seen, setting, options)))
    return {"explored": HOLDS, "refuted": VIOLATED, "undetermined": UNDETERMINED}[seen.verdict]


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
    if not every_order and not (options.levels.isascii() and options.levels.isdigit() and int(options.levels) >= 1):
        raise ValueError(f"--levels is {options.levels}, expected a number from 1, or all")
    if every_order and policy is not None:
        raise ValueError(
            "--levels all explores every order of urgencies, which no policy can add to; drop one of the two"
        )
    urgency = policy.urgency if policy is not None and policy.urgency is not None else by_priority
    plain = [Job("", priority, options.work) for priority in range(1, 2 if every_order else int(options.levels) + 1)]
    return Setting(
        options.slots,
        tuple(varied(plain, urgency)),
        options.capacity,
        options.reserve,
        actions,
        urgency,
        every_order=every_order,
        waives=policy.waives if policy else frozenset(),
    )


def varied(plain: list[Job], urgency: Callable[[Job], object]) -> Iterator[Job]:
    """The plain jobs, in each variation of what the policy looks at beside the priority."""
    read = [
        name
        for name, values in VARIED.items()
        if any(len({urgency(replace(job, **{name: value})) for value in values}) > 1 for job in plain)  # type: ignore[arg-type]
    ]
    for job in plain:
        for values in product(*(VARIED[name] for name in read)):
            yield replace(job, **dict(zip(read, values, strict=True)))  # type: ignore[arg-type]


def as_json(seen: Exploration, setting: Setting, options: argparse.Namespace) -> dict[str, object]:
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
        "verdict": seen.verdict,
        "shapes": seen.shapes,
        "judged_steps": seen.judged,
        "seconds": round(seen.seconds, 3),
        "actions_seen": seen.actions,
        "waived": sorted(seen.waived),
        "violations": {claim: told(found) for claim, found in seen.found.items()},
    }


def told(found: Found) -> list[str]:
    """The history of a violation, an event a line."""
    return [f"{label.action} {name} {label.number}" for label, name in found.history]


def text(seen: Exploration, setting: Setting, options: argparse.Namespace) -> Iterator[str]:
    """The exploration for people: waivers first, then the faults, then what was seen."""
    for claim in sorted(setting.waives):
        yield f"waived: {claim} ({'broken here' if claim in seen.waived else 'not broken here'})"
    for claim, found in seen.found.items():
        yield f"violated: {claim}: {found.violation.sentence}"
        yield from (f"  {place}. {line}" for place, line in enumerate(told(found), 1))
        yield f"  {found.violation.detail}"
    kinds = "every order of urgencies" if setting.every_order else f"{len(setting.kinds)} kinds of jobs"
    yield f"{options.machine}: {setting.slots} slots, {options.jobs} jobs, {kinds}; {', '.join(setting.actions)}"
    ended = "all of them" if seen.exhaustive else "ended early by --max-states"
    yield f"{seen.states} states, {seen.transitions} transitions, depth {seen.depth}; {ended}"
    yield f"{seen.judged} steps of the shipped code judged at {seen.shapes} shapes in {seen.seconds:.2f} s"
    yield f"verdict: {seen.verdict}"
