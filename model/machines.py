"""The machines of the specification, each with its actions and claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spec import autoscale, scheduler, scheduler_claims, scheduler_outcomes
from spec.logic import Action, Claim, Property


@dataclass(frozen=True)
class Machine:
    """One transition system. `assumed`, `lemmas` and `always` together are its induction hypothesis; `outcomes`, that
    every event has one and only one, rest on `finite` as well."""

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
)
MACHINES = {machine.name: machine for machine in (SCHEDULER, AUTOSCALE)}
