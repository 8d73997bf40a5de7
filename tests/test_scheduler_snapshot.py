"""A state that is put down and taken up again, and what is no state of a scheduler."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import astuple
from random import Random
from typing import Any

import pytest

from impl.jobs import (
    CHAT,
    IMAGE,
    Ended,
    Job,
    Lease,
    Policy,
    Queued,
    Running,
    Snapshot,
    Urgency,
    Waiting,
    by_priority,
)
from impl.scheduler import Scheduler
from model.conform.events import Admit, Cancel, Complete, Event, Progress, Restart, apply
from tests.stories import chat, image, running, unchanged, waiting, with_jobs


def by_deadline(job: Job) -> Urgency:
    return (job.priority,) if job.deadline is None else (job.priority, -job.deadline)


def through_pickle(snapshot: Snapshot) -> Any:
    return pickle.loads(pickle.dumps(snapshot))


def through_json(snapshot: Snapshot) -> Snapshot:
    capacity, reserve, runs, queue, *counts = json.loads(json.dumps(snapshot, default=astuple))

    def entry(job: list[Any], urgency: Any, *others: int) -> tuple[Any, ...]:
        return Job(*job), tuple(urgency) if isinstance(urgency, list) else urgency, *others

    return Snapshot(
        capacity,
        reserve,
        tuple(run and Running(*entry(*run)) for run in runs),
        tuple(Waiting(*entry(*waits)) for waits in queue),
        *counts,
    )


def events(random: Random, scheduler: Scheduler) -> Iterator[Event]:
    """What may happen next to the scheduler, over and over."""
    leases = [Lease(0, 0, 0)]
    while True:
        leases += [run.lease for run in scheduler.snapshot().running if run][-1:]
        job = Job(random.randrange(8), random.choice((IMAGE, 5, CHAT)), 9, deadline=random.choice((None, 1, 2)))
        may_happen: list[Event] = [
            Admit(job),
            Admit(job),
            Complete(random.choice(leases[-4:])),
            Progress(random.choice(leases[-4:]), random.randrange(4)),
            Cancel(random.randrange(8)),
            Restart(),
        ]
        yield random.choice(may_happen)


@pytest.mark.parametrize("way", [lambda snapshot: snapshot, through_pickle, through_json])
@pytest.mark.parametrize("policy", [by_priority, by_deadline])
@pytest.mark.parametrize("seed", range(5))
def test_a_restored_scheduler_goes_on_as_the_other_does(
    way: Callable[[Snapshot], Snapshot], policy: Policy, seed: int
) -> None:
    scheduler = Scheduler(2, capacity=3, reserve=1, urgency=policy)
    happens = events(Random(seed), scheduler)
    for _ in range(30):
        apply(scheduler, next(happens))
        told = way(scheduler.snapshot())
        assert told == scheduler.snapshot()
        restored = Scheduler.restore(told, urgency=policy)
        assert restored.snapshot() == scheduler.snapshot()
    for _ in range(200):
        event = next(happens)
        assert apply(restored, event) == apply(scheduler, event)
        assert restored.snapshot() == scheduler.snapshot()


def test_a_restored_scheduler_is_another_one() -> None:
    scheduler = with_jobs(image("A"), image("B"))
    restored = Scheduler.restore(scheduler.snapshot())
    with unchanged(restored):
        scheduler.complete(Lease(0, "A", 0))
        scheduler.restart()
    with unchanged(scheduler):
        restored.cancel("B")


def test_a_snapshot_does_not_change() -> None:
    scheduler = with_jobs(image("A"), image("B"))
    before = scheduler.snapshot()
    kept = through_pickle(before)
    scheduler.at_once([Lease(0, "A", 0)], ["B"], [chat("C")])
    assert before == kept
    assert hash(before) == hash(kept)


def test_live_jobs_keep_their_urgency_whatever_the_new_policy() -> None:
    scheduler = with_jobs(image("A"), image("B"))
    restored = Scheduler.restore(scheduler.snapshot(), urgency=lambda job: -job.priority)
    assert restored.admit(chat("C")) == Queued(1)
    assert restored.complete(Lease(0, "A", 0)) == Ended("A", heir=Lease(0, "B", 1))
    with unchanged(restored), pytest.raises(ValueError, match="always an int"):
        Scheduler.restore(restored.snapshot(), urgency=lambda job: (job.priority,)).admit(image("D"))


# What is no state of a scheduler. Here A and B run, C and D wait.


def shared() -> Snapshot:
    scheduler = with_jobs(*map(image, "ABCD"), slots=2, capacity=2, reserve=1)
    scheduler.progress(Lease(1, "B", 1), 10)
    return scheduler.snapshot()


def runs(number: int = 0, **change: Any) -> Callable[[Snapshot], Snapshot]:
    def tamper(it: Snapshot) -> Snapshot:
        entries: list[Any] = list(it.running)
        entries[number] = entries[number]._replace(**change)
        return it._replace(running=tuple(entries))

    return tamper


def waits(number: int = 0, **change: Any) -> Callable[[Snapshot], Snapshot]:
    def tamper(it: Snapshot) -> Snapshot:
        entries = list(it.queue)
        entries[number] = entries[number]._replace(**change)
        return it._replace(queue=tuple(entries))

    return tamper


def fields(**change: Any) -> Callable[[Snapshot], Snapshot]:
    return lambda it: it._replace(**change)


CORRUPT: dict[str, Callable[[Any], Any]] = {
    "no snapshot": lambda _: None,
    "a plain tuple": tuple,
    "no slots": fields(running=()),
    "no list of slots": fields(running=None),
    "no list of the queue": fields(queue=None),
    "a text for the queue": fields(queue="AB"),
    "a capacity below 0": fields(capacity=-1),
    "a capacity that is no number": fields(capacity=None),
    "a capacity of True": fields(capacity=True),
    "a reserve below 0": fields(reserve=-1),
    "a reserve that is no whole number": fields(reserve=1.0),
    "more waiting than counted": fields(waiting=1),
    "fewer waiting than counted": fields(waiting=3),
    "a count that is no whole number": fields(waiting=2.0),
    "more waiting than places": fields(capacity=1, reserve=0),
    "a slot free while a job waits": lambda it: it._replace(running=(None, it.running[1])),
    "a slot more, free": lambda it: it._replace(running=(*it.running, None)),
    "slots exchanged": lambda it: it._replace(running=it.running[::-1]),
    "a job in two slots": lambda it: it._replace(running=(it.running[0], it.running[0]._replace(slot=1))),
    "a plain tuple in a slot": lambda it: it._replace(running=(tuple(it.running[0]), it.running[1])),
    "a waiting job in a slot": lambda it: it._replace(running=(it.queue[0]._replace(job=image("E")), it.running[1])),
    "a lease in a slot": lambda it: it._replace(running=(it.running[0].lease, it.running[1])),
    "a running job in the queue": lambda it: it._replace(queue=(it.running[0]._replace(job=image("E")), it.queue[1])),
    "nothing in the queue": lambda it: it._replace(queue=(None, it.queue[1])),
    "the slot of another": runs(slot=1),
    "a slot beyond the last": runs(slot=2),
    "a slot before the first": runs(slot=-2),
    "a slot that is no whole number": runs(slot=0.0),
    "a slot of False": runs(slot=False),
    "the run of another": runs(run=1),
    "a run still to come": runs(run=2),
    "a run below 0": runs(run=-1),
    "a run of True": runs(1, run=True),
    "a next run that was used": fields(next_run=1),
    "a next run that is no number": fields(next_run=None),
    "the ticket of another": waits(ticket=1),
    "a ticket still to come": waits(1, ticket=2),
    "a ticket below 0": waits(ticket=-1),
    "a ticket that is no whole number": waits(ticket=0.0),
    "a next ticket that was used": fields(next_ticket=1),
    "a next ticket that is no number": fields(next_ticket="2"),
    "a queue out of order": lambda it: it._replace(queue=it.queue[::-1]),
    "a job twice in the queue": waits(job=image("D")),
    "a job that runs and waits": waits(job=image("A")),
    "an entry without a job": runs(job=None),
    "a job without work": runs(job=Job("A", IMAGE, 0)),
    "a job of priority True": waits(job=Job("C", True, 30)),
    "an id of None": waits(job=Job(None, IMAGE, 30)),  # type: ignore[arg-type]
    "more remaining than work": runs(1, remaining=31),
    "less than nothing remaining": waits(remaining=-1),
    "a remaining that is no number": runs(remaining="30"),
    "a remaining of True": runs(remaining=True),
    "an urgency of None": runs(urgency=None),
    "an urgency of True": waits(urgency=True),
    "a broken urgency": waits(urgency=0.5),
    "an empty urgency": waits(urgency=()),
    "urgencies of two kinds": runs(urgency=(1,)),
    "a waiting job more urgent than a running one": waits(1, urgency=2),
}


@pytest.mark.parametrize("name", CORRUPT)
def test_what_is_no_state_is_not_restored(name: str) -> None:
    corrupt = CORRUPT[name](shared())
    with pytest.raises(ValueError, match=r".* is .*, expected .*; nothing was changed$"):
        Scheduler.restore(corrupt)


def test_what_the_corrupt_are_made_of_is_a_state() -> None:
    assert Scheduler.restore(shared()).snapshot() == shared()
    assert (running(Scheduler.restore(shared())), waiting(Scheduler.restore(shared()))) == (["A", "B"], ["C", "D"])
