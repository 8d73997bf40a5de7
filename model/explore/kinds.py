"""Which kinds of jobs show what a policy does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from impl.jobs import Job
from model.policy.consult import consult
from model.policy.file import Policy

VARIED: dict[str, tuple[Any, ...]] = {
    "work": (1, 2),
    "modality": ("chat", "image"),
    "arrived": (0, 1, 10),
    "deadline": (None, 1, 2),
}
"""What jobs may differ in beside their priority, where a policy looks at it."""


def kinds(plain: Sequence[Job], policy: Policy | None) -> tuple[Job, ...]:
    """The plain jobs in each variation of what the policy's urgency depends on. They arrive when the policy says, if it
    says so. Raises PolicyError, as `consult` does."""
    if policy is None:
        return tuple(plain)
    urgency = consult(policy)
    values: dict[str, tuple[Any, ...]] = {
        **VARIED,
        "work": tuple(sorted({*VARIED["work"], *(job.work for job in plain)})),
        "arrived": policy.arrivals or VARIED["arrived"],
    }
    jobs = [job for each in plain for job in _each(each, values)]
    read = {
        name: of
        for name, of in values.items()
        if (name == "arrived" and policy.arrivals)
        or any(len({urgency(job._replace(**{name: value})) for value in of}) > 1 for job in jobs)
    }
    return tuple(job for each in plain for job in _each(each, read))


def _each(job: Job, values: dict[str, tuple[Any, ...]]) -> list[Job]:
    chosen: list[dict[str, Any]] = [dict(zip(values, each, strict=True)) for each in product(*values.values())]
    return [job._replace(**each) for each in chosen]
