"""Policies under observation: whatever they do is held to the specification at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from impl.autoscale import Action, decide
from impl.jobs import Outcome, Policy, by_priority
from impl.scheduler import Scheduler
from model.conform.events import Event, apply
from model.conform.monitor import Monitor, judge_decision
from model.conform.witnesses import SCHEDULER, look
from spec.logic import Property


class Decision(NamedTuple):
    """What `decide` was asked: warm and demand 0 or 1, idle and ttl in seconds; and what it answered."""

    warm: int
    demand: int
    idle: int
    ttl: int
    action: Action


class Watch:
    """A scheduler and the autoscale policy, each of their steps judged as it is taken: Violation ends the run.

    `history` holds every event and every decision so far, the one that was wrong last; `actions` counts what the
    specification calls them, and `witnesses` names those that the steps of the scheduler have been. `urgency`, `policy`
    (a `decide`, None being the shipped one) and what is `owed` and waived belong together; `waived` counts what was
    broken of the latter.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        *,
        urgency: Policy = by_priority,
        policy: Callable[[int, int, int, int], Action] | None = None,
        owed: tuple[Property, ...] = (),
        waives: frozenset[str] = frozenset(),
    ) -> None:
        self.history: list[Event | Decision] = []
        self.actions: Counter[str] = Counter()
        self.witnesses: set[str] = set()
        self._scheduler = scheduler
        self._decide = decide if policy is None else policy
        self._waives = waives
        self._monitor = Monitor(scheduler.snapshot(), urgency=urgency, owed=owed, waives=waives)
        self.waived = self._monitor.waived

    def meet(self, event: Event) -> Outcome:
        """Let the scheduler meet the event. Raises Violation."""
        self.history.append(event)
        outcome = apply(self._scheduler, event)
        self.actions[self._monitor.judge(event, outcome, self._scheduler.snapshot())] += 1
        look(SCHEDULER, self.witnesses, self._monitor.before, self._monitor.state)
        return outcome

    def decide(self, warm: int, demand: int, idle: int, ttl: int) -> Action:
        """Ask the autoscale policy. Raises Violation."""
        action = self._decide(warm, demand, idle, ttl)
        self.history.append(Decision(warm, demand, idle, ttl, action))
        name, waived = judge_decision(warm, demand, idle, ttl, action, self._waives)
        self.actions[name] += 1
        self.waived.update(waived)
        return action
