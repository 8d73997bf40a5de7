"""What `explore` explores unless it is told otherwise: an instance for each machine, and which options say something of
it."""

from __future__ import annotations

import argparse
from typing import Any

from model.explore.shapes import ACTIONS

SCHEDULER: dict[str, Any] = {
    "slots": 2,
    "jobs": 4,
    "levels": "2",
    "capacity": 64,
    "reserve": None,
    "work": 2,
    "actions": ",".join(ACTIONS),
    "policy": None,
    "all": False,
    "save": None,
    "liveness": False,
}
WORKER: dict[str, Any] = {
    "ttl": 1,
    "start_budget": 2,
    "patience": 2,
    "alarm_after": 2,
    "hang_budget": 1,
    "longest_back_off": 2,
    "liveness": False,
}
JOINED: dict[str, Any] = {
    "actions": "admit,complete,cancel,progress,restart,stale",
    **{name: SCHEDULER[name] for name in ("levels", "capacity", "reserve", "work", "policy")},
    "slots": 1,
    "jobs": 2,
    "ttl": 1,
    "start_budget": 1,
    "patience": 1,
    "alarm_after": 1,
    "hang_budget": 0,
    "longest_back_off": 1,
}
OF_A_POLICY = 3
"""Jobs that come to a scheduler under a policy file: of more kinds, to tell apart whatever it may."""
FIXED = {"joined": {"actions"}}
"""What cannot be chosen."""
DEFAULTS = {"scheduler": SCHEDULER, "worker": WORKER, "joined": JOINED}
EVERYWHERE = {"machine", "max_states", "json", "evidence", "answers"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options that speak of a worker, in seconds but for the patience."""
    for name in ("ttl", "start_budget", "patience", "alarm_after", "hang_budget", "longest_back_off"):
        told = f"worker, joined: a setting of the controller (default {WORKER[name]}, {JOINED[name]})"
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, metavar="N", help=told)


def completed(options: argparse.Namespace) -> argparse.Namespace:
    """The options with the defaults of their machine. Raises ValueError for one that says nothing of it."""
    of = dict(DEFAULTS[options.machine])
    if options.machine == "scheduler" and options.policy:
        of["jobs"] = OF_A_POLICY
    given = {name: value for name, value in vars(options).items() if value is not None}
    if foreign := sorted(given.keys() - (of.keys() - FIXED.get(options.machine, set())) - EVERYWHERE):
        named = ", ".join(f"--{name.replace('_', '-')}" for name in foreign)
        raise ValueError(f"{named} says nothing of the machine {options.machine}; drop it")
    return argparse.Namespace(**{**vars(options), **of, **given})
