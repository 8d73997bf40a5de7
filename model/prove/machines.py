"""The machines of the specification, each with its actions and claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from model.prove.instances import autoscale_instances, scheduler_instances
from model.prove.worker_instances import worker_instances
from spec import (
    autoscale,
    scheduler,
    scheduler_claims,
    scheduler_outcomes,
    worker,
    worker_claims,
    worker_outcomes,
    worker_state,
)
from spec.logic import Action, Claim, Property


@dataclass(frozen=True)
class Machine:
    """One transition system. `assumed`, `lemmas` and `always` together are its induction hypothesis; `outcomes`, that
    every event has one and only one, rest on `finite` as well. `instances` are small first states for the executed
    specification, and `numbers` the whole numbers that actions are tried with there."""

    name: str
    state: type
    initial: Callable[..., Claim]
    actions: tuple[Action, ...]
    assumed: tuple[Property, ...]
    lemmas: tuple[Property, ...]
    always: tuple[Property, ...]
    steps: tuple[Property, ...] = ()
    theorems: tuple[Property, ...] = ()
    finite: tuple[Property, ...] = ()
    outcomes: tuple[Property, ...] = ()
    instances: Callable[[], Iterable[Any]] = tuple
    numbers: tuple[int, ...] = (0, 1, 2)

    @property
    def inductive(self) -> tuple[Property, ...]:
        """What each action keeps."""
        return self.assumed + self.lemmas + self.always

    @property
    def witnesses(self) -> tuple[Callable[..., Claim], ...]:
        """What must come true at least once, each once."""
        return tuple(dict.fromkeys(each.witness for each in self.properties if each.witness is not None))

    @property
    def properties(self) -> tuple[Property, ...]:
        """Every claim that is made of the machine."""
        return self.inductive + self.steps + self.theorems + self.outcomes


SCHEDULER = Machine(
    "scheduler",
    scheduler.State,
    scheduler.initial,
    scheduler.ACTIONS,
    scheduler_claims.ASSUMED,
    scheduler_claims.LEMMAS,
    scheduler_claims.ALWAYS,
    scheduler_claims.STEPS,
    scheduler_claims.THEOREMS,
    scheduler_outcomes.FINITE,
    scheduler_outcomes.OUTCOMES,
    scheduler_instances,
)
AUTOSCALE = Machine(
    "autoscale",
    autoscale.State,
    autoscale.initial,
    autoscale.ACTIONS,
    autoscale.ASSUMED,
    (),
    autoscale.ALWAYS,
    outcomes=autoscale.OUTCOMES,
    instances=autoscale_instances,
    numbers=(-1, 0, 1, 2, 500),
)
WORKER = Machine(
    "worker",
    worker_state.State,
    worker_state.initial,
    worker.ACTIONS,
    worker_claims.ASSUMED,
    worker_claims.LEMMAS,
    worker_claims.ALWAYS,
    worker_claims.STEPS,
    worker_claims.THEOREMS,
    outcomes=worker_outcomes.OUTCOMES,
    instances=worker_instances,
)
MACHINES = {machine.name: machine for machine in (SCHEDULER, AUTOSCALE, WORKER)}
