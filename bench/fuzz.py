"""The state machine of the scheduler beside an empty one with the same rules: what holding each step costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import count
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, MultipleResults, RuleBasedStateMachine, initialize, multiple, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run

from bench.record import Bar, Figure, Measurement, digits
from bench.timing import timed
from impl.jobs import Job, Lease, RequestId
from model.fuzz.scheduler import CHOICES, IDS, JOBS, NO_JOBS, STEPS_DONE, SchedulerMachine, fresh

STEPS, ROUNDS = 50, 3
SEEDS = range(8)
"""Hypothesis leaves some rules out of each history, so that the mix under one seed is not that under another."""


class Empty(RuleBasedStateMachine):
    """The rules of `SchedulerMachine` with the same draws. It keeps who is live and no more, so that each rule can fire
    about as often."""

    fired: ClassVar[Counter[str]] = Counter()
    leases = Bundle[Lease]("leases")

    @initialize(
        slots=CHOICES,
        capacity=st.sampled_from((0, 1, 2, 64)),
        reserve=st.sampled_from((None, None, 0, 1)),
        urgency=CHOICES,
    )
    def begin(self, **drawn: int) -> None:
        sizes = SchedulerMachine.slots
        self.slots = sizes[drawn["slots"] % len(sizes)]
        self.places = self.slots + drawn["capacity"]
        self.live: dict[RequestId, None] = {}
        self.runs = count()

    @rule(target=leases, jobs=st.lists(JOBS, min_size=1, max_size=4))
    def admit(self, **drawn: Any) -> MultipleResults[Lease]:
        self.fired["admit"] += 1
        return self.start(drawn["jobs"])

    @rule(job=NO_JOBS)
    def admit_what_is_no_job(self, **_: Any) -> None:
        self.fired["admit_what_is_no_job"] += 1

    def somebody_runs(self) -> bool:
        return bool(self.live)

    @precondition(somebody_runs)
    @rule(target=leases, late=st.none() | leases, choice=CHOICES)
    def complete(self, **drawn: Any) -> MultipleResults[Lease]:
        self.fired["complete"] += 1
        return self.end(drawn["late"].request_id if drawn["late"] else next(iter(self.live)))

    @rule(lease=leases, steps=STEPS_DONE)
    def progress(self, **_: Any) -> None:
        self.fired["progress"] += 1

    @precondition(somebody_runs)
    @rule(steps=st.integers(1, 2))
    def work(self, **_: Any) -> None:
        self.fired["work"] += 1

    @precondition(somebody_runs)
    @rule(target=leases, choice=CHOICES)
    def cancel(self, **_: Any) -> MultipleResults[Lease]:
        self.fired["cancel"] += 1
        return self.end(next(iter(self.live)))

    @rule(target=leases)
    def restart(self) -> MultipleResults[Lease]:
        self.fired["restart"] += 1
        return multiple(*map(self.lease, list(self.live)[: self.slots]))

    def somebody_ran(self) -> bool:
        return bool(self.bundle("leases"))

    @precondition(somebody_ran)
    @rule(
        target=leases,
        completions=st.lists(leases, max_size=2),
        cancels=st.lists(IDS, max_size=2),
        arrivals=st.lists(JOBS, max_size=3),
    )
    def at_once(self, **drawn: Any) -> MultipleResults[Lease]:
        self.fired["at_once"] += 1
        for lease in drawn["completions"]:
            self.end(lease.request_id)
        return self.start(drawn["arrivals"])

    @rule()
    def snapshot_and_restore(self) -> None:
        self.fired["snapshot_and_restore"] += 1

    def start(self, jobs: list[Job]) -> MultipleResults[Lease]:
        """The new ones find a slot, or a place, or none."""
        placed = []
        for job in jobs:
            if job.request_id not in self.live and len(self.live) < self.places:
                self.live[job.request_id] = None
                if len(self.live) <= self.slots:
                    placed.append(self.lease(job.request_id))
        return multiple(*placed)

    def end(self, request_id: RequestId) -> MultipleResults[Lease]:
        """The job is live no more, and another inherits."""
        self.live.pop(request_id, None)
        return multiple(*map(self.lease, list(self.live)[self.slots - 1 : self.slots]))

    def lease(self, request_id: RequestId) -> Lease:
        """One that never was."""
        return Lease(0, request_id, next(self.runs))


def measure(quick: bool) -> Measurement:
    """The same seeds for both, in turn, again and again; the machine has seen its witnesses after the first time."""
    found = Measurement("fuzz: rules a second, up to 8 live jobs")
    ours = fresh(SchedulerMachine)
    machines: dict[str, tuple[type[RuleBasedStateMachine], Counter[str]]] = {
        "fuzz": (ours, ours.rules_fired),
        "empty machine, same rules": (Empty, Empty.fired),
    }
    rates: dict[str, list[float]] = {name: [] for name in machines}
    for _ in range(1 if quick else ROUNDS):
        for name, (machine, fired) in machines.items():
            rates[name].append(rate(machine, fired, range(1) if quick else SEEDS, 10 if quick else 50))
    figures = [
        Figure(name, digits(max(each)), digits(sorted(each)[len(each) // 2]), "rules/s", len(each))
        for name, each in rates.items()
    ]
    found.add("Hypothesis, generating alone", figures[0], figures[1], Bar(0.6, least=True), True)
    return found


def rate(machine: type[RuleBasedStateMachine], fired: Counter[str], seeds: Iterable[int], histories: int) -> float:
    """Rules a second of the processor, in so many histories under each seed."""
    how = settings(
        max_examples=histories,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        verbosity=Verbosity.quiet,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    fired.clear()

    def batch(_: int) -> None:
        for number in seeds:
            run(seed(number)(machine), settings=how)

    seconds = timed(batch, 1)
    return fired.total() / seconds
