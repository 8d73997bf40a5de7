"""From a violation to the shortest run that shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from impl.scheduler import Scheduler
from model.conform.events import Admit, Cancel, Complete, Event, Progress
from model.conform.monitor import Violation
from model.conform.watch import Decision, Watch

BUDGET = 20_000
"""Events that the search for a shorter run may replay: some seconds of it."""

Step: TypeAlias = Event | Decision


@dataclass(frozen=True, slots=True)
class Counterexample:
    """`events` were judged, the last one wrong. `steps` is the shortest run found that breaks the same claim, which it
    breaks as `violation` says; it is `minimal` when none of its steps can be left out."""

    violation: Violation
    events: int
    steps: Sequence[Step]
    minimal: bool

    @classmethod
    def of(
        cls,
        violation: Violation,
        history: Sequence[Step],
        make: Callable[[], Scheduler],
        observe: Callable[[Scheduler], Watch] = Watch,
    ) -> Counterexample:
        """The counterexample for the claim that the last step of `history` broke; `make` gives fresh schedulers, and
        `observe` watches one."""
        last = history[-1]
        if isinstance(last, Decision) and violation.claim != "the_system_drains":
            # the policy is asked anew each time, so no earlier step matters
            return cls(violation, len(history), [last], minimal=True)
        whole = cls(
            violation, len(history), [step for step in history if not isinstance(step, Decision)], minimal=False
        )
        return _Search(whole, make, observe).shortest()

    def record(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "event": self.events,
            "property": self.violation.claim,
            "sentence": self.violation.sentence,
            "detail": self.violation.detail,
            "steps": [words(step) for step in self.steps],
            "minimal": self.minimal,
        }


class _Search:
    def __init__(
        self, whole: Counterexample, make: Callable[[], Scheduler], observe: Callable[[Scheduler], Watch]
    ) -> None:
        self.whole = whole
        self.make = make
        self.observe = observe
        self.budget = BUDGET

    def shortest(self) -> Counterexample:
        """The last events that are enough by themselves, less whatever they can do without (delta debugging)."""
        length = 1
        while (found := self.replay(self.whole.steps[-length:])) is None:
            if length >= len(self.whole.steps):
                return self.whole
            length *= 2
        size = max(1, len(found.steps) // 2)
        while True:
            before = len(found.steps)
            start = 0
            while start < len(found.steps):
                shorter = self.replay([*found.steps[:start], *found.steps[start + size :]])
                if shorter is None:
                    start += size
                else:
                    found = shorter
            if size == 1 and len(found.steps) == before:
                return replace(found, minimal=self.budget > 0)
            size = max(1, size // 2)

    def replay(self, steps: Sequence[Step]) -> Counterexample | None:
        """The same claim broken by these events, those after the violation left out; None if it is not, or if the
        budget is spent. An event of a job that does not run is left out, and leases are those of this run."""
        if self.budget < len(steps):
            self.budget = 0
            return None
        scheduler = self.make()
        watch = self.observe(scheduler)
        try:
            for step in steps:
                event = _renewed(step, scheduler)
                if event is not None:
                    self.budget -= 1
                    watch.meet(event)
        except Violation as violation:
            if violation.claim == self.whole.violation.claim:
                return replace(self.whole, violation=violation, steps=watch.history)
        except Exception:  # a broken scheduler may do anything, but this is not the fault that is looked for
            return None
        return None


def _renewed(step: Step, scheduler: Scheduler) -> Event | None:
    """The event for the present run of its job; None if it does not run."""
    if isinstance(step, Complete | Progress):
        lease = scheduler.lease_of(step.lease.request_id)
        return None if lease is None else replace(step, lease=lease)
    return None if isinstance(step, Decision) else step


def words(step: Step) -> str:
    """The step as a line of text."""
    match step:
        case Admit(job):
            return f"admit {job.request_id} (priority {job.priority}, work {job.work})"
        case Complete(lease):
            return f"complete {lease.request_id} (slot {lease.slot}, run {lease.run})"
        case Progress(lease, steps):
            return f"progress {lease.request_id} (slot {lease.slot}, run {lease.run}) by {steps}"
        case Cancel(request_id):
            return f"cancel {request_id}"
        case Decision(warm, demand, idle, ttl, action):
            return f"decide warm={warm} demand={demand} idle={idle}s ttl={ttl}s -> {action.name}"
        case _:
            return "restart"
