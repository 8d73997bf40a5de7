"""What has to be told by a log before a property can be judged of it."""

from __future__ import annotations

from collections.abc import Iterable

from model.check.learn import OF_A_LINE, OF_A_PART
from model.prove.machines import MACHINES

MISSING = {
    "start": "the state that it begins with is not known",
    "every": "not every event is told",
    "outcome": "outcomes are not told",
    "slot": "slots are not told",
    "run": "runs are not told",
    "ticket": "tickets are not told",
    "priority": "priorities are not told",
    "work": "work and progress are not told",
    "capacity": "the capacity of the queue is not known",
    "command": "commands are not told",
    "reason": "reasons are not told",
    "alarm": "alarms are not told",
    "generation": "the generation commanded is not told",
    "jobs": "no log of a controller tells of jobs",
}
"""What may be missing, in words."""

USUAL = frozenset({"start", "every", "outcome"})
SCHEDULER_NEEDS: dict[str, frozenset[str]] = {
    "no_work_is_lost": USUAL | {"work"},
    "no_job_waits_behind_a_less_urgent_one": USUAL | {"priority"},
    "chat_never_waits_behind_an_image": USUAL | {"priority"},
    "only_strictly_less_urgent_work_is_preempted": USUAL | {"priority"},
    "the_earliest_of_the_most_urgent_inherits": USUAL | {"priority"},
    "the_queue_stays_within_its_bound": USUAL | {"capacity"},
    "equals_keep_their_order": USUAL | {"ticket"},
    "runs_are_never_reused": USUAL | {"run"},
    "a_run_that_starts_has_a_new_number": USUAL | {"run"},
    "the_least_urgent_running_job_is_the_victim": USUAL | {"slot", "priority"},
    "a_stale_event_changes_nothing": USUAL | {"run"},
    "chat_is_never_refused_while_an_image_runs": USUAL | {"capacity", "priority"},
    "conformance": USUAL | {"slot", "run", "ticket", "priority", "work", "capacity", "reason"},
}
COMMANDED = frozenset({"start", "every", "command"})
WORKER_NEEDS: dict[str, frozenset[str]] = {
    "what_was_served_and_what_remains_are_the_work": frozenset({"jobs"}),
    "work_is_in_flight_only_on_a_warm_worker": frozenset({"jobs"}),
    "work_progresses_only_on_a_warm_worker": frozenset({"jobs"}),
    "a_crash_loses_no_job": frozenset({"jobs"}),
    "never_two_workers": COMMANDED | {"generation"},
    "trouble_raises_an_alarm": COMMANDED | {"alarm"},
    "conformance": COMMANDED | {"generation", "reason", "alarm"},
}
"""Where they are not the usual ones."""


def names(machine: str) -> list[str]:
    """The properties of the machine that a log is held to."""
    held = MACHINES[machine]
    return [each.name for each in held.always + held.steps + held.theorems] + ["conformance"]


def unjudged(machine: str, missing: Iterable[str]) -> dict[str, str]:
    """Why each property that could not be judged could not."""
    gone = frozenset(missing) | {"jobs"}
    lacking = {name: needs(machine, name, gone) & gone for name in names(machine)}
    return {
        name: "; ".join(words for each, words in MISSING.items() if each in lacks)
        for name, lacks in lacking.items()
        if lacks
    }


def needs(machine: str, name: str, missing: frozenset[str]) -> frozenset[str]:
    """What the property needs. Some can be judged of a part of the state, or of single lines."""
    if machine == "worker":
        return WORKER_NEEDS.get(name, COMMANDED)
    needed = SCHEDULER_NEEDS.get(name, USUAL)
    if name in OF_A_LINE:
        return needed - {"start", "every"}
    if name in OF_A_PART and "every" not in missing:
        return needed - {"start"}
    return needed
