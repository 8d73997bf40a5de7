"""The machines of the specification, each with its actions and claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spec import autoscale, scheduler, scheduler_claims
from spec.logic import Action, Claim, Property


@dataclass(frozen=True)
class Machine:
    """One transition system. `assumed`, `lemmas` and `always` together are its induction hypothesis."""

    name: str
    state: type
    initial: Callable[..., Claim]
    actions: tuple[Action, ...]
    assumed: tuple[Property, ...]
    lemmas: tuple[Property, ...]
    always: tuple[Property, ...]
    steps: tuple[Property, ...] = ()
    theorems: tuple[Property, ...] = ()

    @property
    def inductive(self) -> tuple[Property, ...]:
        """What each action keeps."""
        return self.assumed + self.lemmas + self.always


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
)
AUTOSCALE = Machine(
    "autoscale",
    autoscale.State,
    autoscale.initial,
    autoscale.ACTIONS,
    autoscale.ASSUMED,
    (),
    autoscale.ALWAYS,
)
MACHINES = {machine.name: machine for machine in (SCHEDULER, AUTOSCALE)}
