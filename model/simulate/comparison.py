"""The same arrivals under the shipped policies or others, every step judged, and first come, first served."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from time import monotonic
from typing import Any

from impl.autoscale import decide
from impl.jobs import CAPACITY, Job
from impl.journal import Journal
from impl.recorded import RecordedScheduler
from impl.scheduler import Scheduler
from model.conform.monitor import Violation
from model.conform.watch import Watch
from model.draw.series import series, stretch
from model.policy.consult import consult, deciding, owed
from model.policy.file import Policy
from model.simulate.baseline import FirstComeFirstServed
from model.simulate.counterexample import Counterexample
from model.simulate.figures import figures
from model.simulate.simulation import Simulation
from model.simulate.ticks import SECOND
from model.simulate.workload import RENDER_RATE, Workload


@dataclass(frozen=True, slots=True)
class Settings:
    """`capacity` and `reserve` in places, `ttl` and `cold_start` in seconds, `tokens_per_second` of one slot.

    A preempted job resumes exactly where it was ("exact"), or after its last whole step ("step").
    """

    slots: int = 2
    capacity: int = CAPACITY
    reserve: int = 2
    ttl: int = 60
    cold_start: int = 10
    tokens_per_second: int = 1_200
    resume: str = "exact"


def compare(
    workload: Workload, settings: Settings, policy: Policy | None = None, journal: Journal | None = None
) -> dict[str, Any]:
    """The offered load, the number of steps judged by what the specification calls them, and the figures of both.

    After a violation there are no figures: the counterexample stands in their place. Only `seconds`, which the judged
    replay took, differs from one call to the next. The judged replay is recorded in the `journal`, if one is given.
    Raises PolicyError if the policy cannot be asked.
    """
    urgency, waives = consult(policy), policy.waives if policy else frozenset[str]()
    scheduler = partial(
        Scheduler, settings.slots, capacity=settings.capacity, reserve=settings.reserve, urgency=urgency
    )
    decided = deciding(policy) if policy and policy.decide else None
    observe = partial(Watch, urgency=urgency, policy=decided, owed=owed(policy), waives=waives)
    watched: Any = RecordedScheduler(scheduler(), journal, urgency) if journal else scheduler()
    watch = observe(watched)
    baseline = FirstComeFirstServed(settings.slots, settings.capacity)
    rates = {"chat": settings.tokens_per_second, "image": RENDER_RATE}
    simulation = partial(
        Simulation,
        settings.slots,
        rates,
        ttl=settings.ttl,
        cold_start=settings.cold_start,
        exact=settings.resume == "exact",
    )
    judged = simulation(meet=watch.meet, decide=watch.decide, urgency=urgency)
    plain = simulation(meet=baseline.meet, decide=decide)
    counterexample = None
    begin = monotonic()
    try:
        with _progress(workload.jobs) as jobs:
            judged.run(jobs)
        _expect_that_each_ended_once(judged)
    except Violation as violation:
        seconds = monotonic() - begin
        counterexample = Counterexample.of(violation, watch.history, scheduler, observe)
    else:
        seconds = monotonic() - begin
        plain.run(workload.jobs)
    return {
        "settings": asdict(settings),
        "offered": {
            kind: {"jobs": len(jobs), "load": _load(jobs, rates[kind] * settings.slots * workload.span)}
            for kind, jobs in (("chat", workload.chats), ("image", workload.renders))
        },
        "judged": {
            "events": len(watch.history),
            "as": dict(sorted(watch.actions.items())),
            "witnesses": sorted(watch.witnesses),
            "seconds": round(seconds, 3),
        },
        "waived": {claim: watch.waived[claim] for claim in sorted(waives)},
        "violation": counterexample and counterexample.record(),
        "shipped" if policy is None else "under_policy": None if counterexample else figures(judged),
        "first_come_first_served": None if counterexample else figures(plain),
        "drawn": None if counterexample else _drawn(judged, plain),
    }


def _drawn(judged: Simulation, plain: Simulation) -> dict[str, Any]:
    """What a drawing of both needs."""
    return {"judged": series(judged), "first_come_first_served": series(plain), "stretch": stretch(judged)}


def _expect_that_each_ended_once(simulation: Simulation) -> None:
    wrong = [name for name, story in simulation.stories.items() if story.ends != story.admitted]
    if wrong:
        detail = f"{len(wrong)} did not end exactly once, {wrong[0]!r} the first of them."
        raise Violation("the_system_drains", "Without arrivals every job that was admitted ends.", detail)


def _load(jobs: list[Job], ticks: int) -> float | None:
    """The share of all slots that these jobs would keep busy over the span of the arrivals; None if that is 0."""
    return round(sum(job.work for job in jobs) * SECOND / ticks, 3) if ticks else None


@contextmanager
def _progress(jobs: list[Job]) -> Iterator[Iterable[Job]]:
    """The jobs, with a bar on a terminal that shows how many were taken."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield jobs
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        yield bar.track(jobs, description="judging every step")
