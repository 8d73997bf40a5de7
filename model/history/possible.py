"""What may happen next, in the words of the specification."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, product
from typing import Any

from impl.jobs import Job, Lease, Policy
from model.conform.observe import Seen, key, with_a_stranger
from model.history.happenings import NEVER
from model.history.lanes import called
from model.prove.search import sorts
from spec.logic import where
from spec.scheduler import ACTIONS, is_running, is_the_heir, is_the_victim

MOST = 6
"""Choices that are told of an action."""
NEW = "newcomer of priority"
"""Begins the name of a job that may come."""


def possible(state: Seen, newcomers: Iterable[Job], urgency: Policy, leases: Iterable[Lease]) -> dict[str, list[str]]:
    """Every action that may happen in the state, and with what. Jobs like the newcomers are tried, and late reports
    under these leases."""
    for job in newcomers:
        wanted = urgency(job)
        name = f"{NEW} {job.priority}" + ("" if wanted == job.priority else f"/{wanted}")
        if key(name) not in state.jobs:
            state = with_a_stranger(state, job._replace(request_id=name), wanted)
    late: list[tuple[Any, ...]] = [(lease.request_id, lease.slot, lease.run) for lease in leases]
    late += [(job, 0, NEVER) for job in state.jobs][:1]
    values = _values(state)
    found = {}
    for action in ACTIONS:
        names = [name for name, _ in sorts(action.guard)]
        tried = late if action.name == "stale" else product(*(values.get(name, ()) for name in names))
        choices = [choice for choice in tried if action.guard(state, *choice)]
        if choices:
            found[action.name] = list(_told(names, choices))
    return found


def _values(state: Seen) -> dict[str, Iterable[Any]]:
    """What each argument of an action may be. There is one victim at most, and one heir."""
    remaining = {state.remaining[job] for job in where(state.jobs, lambda job: is_running(state, job))}
    return {
        "job": state.jobs,
        "slot": state.slots,
        "victim": where(state.jobs, lambda job: is_the_victim(state, job)),
        "heir": where(state.jobs, lambda job: is_the_heir(state, job)),
        "steps": sorted({0, 1, *remaining, *(steps + 1 for steps in remaining)}),
    }


def _told(names: list[str], choices: list[tuple[Any, ...]]) -> Iterator[str]:
    """The choices in words; those that differ in the number of steps alone are one."""
    at = names.index("steps") if "steps" in names else len(names)
    for fixed, alike in groupby(choices, key=lambda choice: choice[:at]):
        steps = [str(choice[at]) for choice in alike] if at < len(names) else []
        parts = [f"{name} {_called(value)}" for name, value in zip(names, fixed, strict=False)]
        yield ", ".join(parts + ([f"steps {' or '.join(steps)}"] if steps else []))


def _called(value: Any) -> str:
    return value if isinstance(value, str) and value.startswith(NEW) else called(value)
