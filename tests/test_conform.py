"""The checker finds each planted bug and each untrue report, at the event that shows it and under its right name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from impl.jobs import (
    CHAT,
    IMAGE,
    Cancelled,
    Ended,
    Job,
    Lease,
    Nothing,
    Outcome,
    Placed,
    Progressed,
    Queued,
    Reason,
    Refused,
    Restarted,
    Snapshot,
    Stale,
)
from impl.scheduler import Scheduler
from model.conform.events import Admit, Cancel, Complete, Event, Progress, Restart, apply
from model.conform.monitor import Monitor, Violation
from model.planted import PLANTED
from spec import scheduler_claims as claims


def job(name: str, priority: int = IMAGE, work: int = 30) -> Admit:
    return Admit(Job(name, priority, work))


def chat(name: str) -> Admit:
    return job(name, CHAT, 5)


def done(name: str, run: int, slot: int = 0) -> Complete:
    return Complete(Lease(slot, name, run))


def steps(name: str, run: int, number: int = 10) -> Progress:
    return Progress(Lease(0, name, run), number)


class Story(NamedTuple):
    """What happens, on how many slots."""

    events: tuple[Event, ...]
    slots: int
    size: dict[str, Any]


def story(*events: Event, slots: int = 1, **size: int) -> Story:
    return Story(events, slots, size)


def judge(scheduler: Scheduler, events: tuple[Event, ...]) -> None:
    """Judge each step. A Violation notes how many steps were right before it."""
    monitor = Monitor(scheduler.snapshot())
    for number, event in enumerate(events):
        try:
            monitor.judge(event, apply(scheduler, event), scheduler.snapshot())
        except Violation as violation:
            violation.add_note(str(number))
            raise


# Planted bugs. The last event of each story is the one that goes wrong.

STORIES = {
    "DropsTheVictim": story(job("A"), job("B"), chat("C"), capacity=1),
    "StartsTheVictimAllOver": story(job("A"), steps("A", 0), chat("C")),
    "RequeuesAtTheHead": story(job("A"), job("B"), chat("C")),
    "NeverPreempts": story(job("A"), chat("C")),
    "ClampsThePriority": story(job("A", 9), chat("C")),
    "PreemptsEquals": story(job("A"), job("B")),
    "BreaksTiesBackwards": story(job("A"), job("B"), chat("C"), slots=2),
    "TakesTheFirstBelow": story(job("A", 5), job("B"), chat("C"), slots=2),
    "PreemptsBesideAFreeSlot": story(job("A"), chat("C"), slots=2),
    "EvictsAllBelow": story(job("A"), job("B"), chat("C"), slots=2),
    "TakesTheLatest": story(job("A"), job("B"), job("D"), done("A", 0)),
    "TakesTheLeastUrgent": story(chat("A"), job("B"), chat("C"), done("A", 0)),
    "CountsNoTickets": story(job("A"), job("B")),
    "RunsAndWaits": story(job("A"), job("B"), done("A", 0)),
    "HoldsOffAfterACancel": story(job("A"), job("B"), Cancel("A")),
    "AgesTheWaiting": story(chat("A"), job("B"), chat("C"), job("D", 5), done("A", 0)),
    "LosesThePriority": story(job("A"), job("B"), done("A", 0)),
    "QueuesOneTooMany": story(job("A"), job("B"), job("D"), capacity=1, reserve=0),
    "QueuesOneTooFew": story(job("A"), job("B"), capacity=1),
    "IgnoresTheReserve": story(job("A"), chat("C"), capacity=0),
    "DropsTheArrival": story(job("A"), job("B"), capacity=0),
    "TakesATicketFirst": story(job("A"), job("B"), capacity=0),
    "RemembersTheEnded": story(job("A"), done("A", 0), job("A")),
    "CompletesWhateverRuns": story(job("A"), chat("C"), done("A", 0)),
    "BooksLateProgress": story(job("A"), Restart(), steps("A", 0)),
    "ForgetsProgress": story(job("A"), steps("A", 0)),
    "WorksBelowZero": story(job("A"), steps("A", 0, 31)),
    "CancelsWhateverRuns": story(chat("C"), job("B"), Cancel("B")),
    "OnlyLogsTheCancel": story(job("A"), Cancel("A")),
    "NumbersNoRuns": story(job("A"), job("B"), slots=2),
    "NumbersRunsAnew": story(job("A"), done("A", 0), job("B"), Restart()),
    "KeepsTheLeases": story(job("A"), Restart()),
    "RestartsFromTheBeginning": story(job("A"), steps("A", 0), Restart()),
    "LosesTheJobsOfTheWorker": story(job("A"), Restart()),
    "RevivesTheEnded": story(job("A"), done("A", 0), Restart()),
    "MiscountsTheWaiting": story(job("A")),
    "LeasesTheNextRun": story(job("A")),
    "LeasesAnotherJob": story(job("A"), chat("B"), chat("C"), slots=2),
    "HidesTheHeir": story(job("A"), job("B"), done("A", 0)),
    "MisreportsWhatRemains": story(job("A"), steps("A", 0)),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(name: str) -> None:
    planted, (events, slots, size) = PLANTED[name], STORIES[name]
    with pytest.raises(Violation) as caught:
        judge(planted.scheduler(slots, **size), events)
    assert planted.claim in caught.value.claims, caught.value
    assert caught.value.__notes__ == [str(len(events) - 1)]


@pytest.mark.parametrize("name", STORIES)
def test_the_shipped_scheduler_passes_where_the_planted_fails(name: str) -> None:
    events, slots, size = STORIES[name]
    judge(Scheduler(slots, **size), events)


def test_every_claim_was_seen_broken() -> None:
    named = {each.name for each in claims.ALWAYS + claims.STEPS}
    assert {planted.claim for planted in PLANTED.values()} == named | {"conformance"}


def test_a_policy_against_the_priority_is_refuted() -> None:
    scheduler = Scheduler(1, urgency=lambda job: -job.priority)
    monitor = Monitor(scheduler.snapshot(), urgency=lambda job: -job.priority)
    monitor.judge(job("A"), scheduler.admit(job("A").job), scheduler.snapshot())
    with pytest.raises(Violation, match="No job is queued while one of lower priority runs") as caught:
        monitor.judge(chat("C"), scheduler.admit(chat("C").job), scheduler.snapshot())
    assert caught.value.claims == ("chat_never_waits_behind_an_image",)


# Untrue outcomes of true steps.

A, B, C = (Lease(0, name, run) for run, name in enumerate("ABC"))

LIES: list[tuple[Story, Outcome]] = [
    (story(job("A")), Queued(0)),
    (story(job("A")), Refused(Reason.LIVE)),
    (story(job("A")), Refused(Reason.FULL)),
    (story(job("A")), Refused(Reason.STEPS)),
    (story(job("A")), Stale()),
    (story(job("A")), Placed(Lease(0, "A", 1))),
    (story(job("A")), Placed(Lease(0, "B", 0))),
    (story(job("A"), slots=2), Placed(Lease(1, "A", 0))),
    (story(job("A")), Placed(A, Job("B", IMAGE, 30))),
    (story(job("A"), job("A")), Placed(A)),
    (story(job("A"), job("A")), Refused(Reason.FULL)),
    (story(job("A"), job("B")), Queued(1)),
    (story(job("A"), job("B"), capacity=0), Refused(Reason.LIVE)),
    (story(job("A"), chat("B")), Placed(B)),
    (story(job("A"), chat("B")), Placed(B, Job("A", IMAGE, 29))),
    (story(job("A"), chat("B")), Placed(B, Job("A", 2, 30))),
    (story(job("A"), chat("B")), Placed(B, Job("B", CHAT, 5))),
    (story(job("A"), job("D"), chat("B")), Placed(B, Job("D", IMAGE, 30))),
    (story(job("A"), done("A", 0)), Stale()),
    (story(job("A"), done("A", 0)), Ended("B")),
    (story(job("A"), done("A", 0)), Ended("A", A)),
    (story(job("A"), done("A", 0)), Cancelled("A")),
    (story(job("A"), done("A", 1)), Ended("A")),
    (story(job("A"), job("B"), done("A", 0)), Ended("A")),
    (story(job("A"), job("B"), done("A", 0)), Ended("A", Lease(0, "B", 0))),
    (story(job("A"), job("B"), job("C"), done("A", 0)), Ended("A", Lease(0, "C", 1))),
    (story(job("A"), steps("A", 0)), Progressed(21)),
    (story(job("A"), steps("A", 0)), Refused(Reason.STEPS)),
    (story(job("A"), steps("A", 0)), Stale()),
    (story(job("A"), steps("A", 0, 31)), Stale()),
    (story(job("A"), steps("A", 1)), Refused(Reason.STEPS)),
    (story(job("A"), steps("A", 1, 31)), Refused(Reason.STEPS)),
    (story(job("A"), steps("A", 1)), Progressed(30)),
    (story(job("A"), Cancel("A")), Nothing()),
    (story(job("A"), Cancel("A")), Cancelled("B")),
    (story(job("A"), Cancel("A")), Ended("A")),
    (story(job("A"), Cancel("B")), Cancelled("B")),
    (story(job("A"), job("B"), Cancel("A")), Cancelled("A")),
    (story(job("A"), job("B"), Cancel("B")), Cancelled("B", A)),
    (story(job("A"), job("B"), Cancel("B")), Nothing()),
    (story(job("A"), Restart()), Restarted(())),
    (story(job("A"), Restart()), Restarted((A,))),
    (story(job("A"), Restart()), Nothing()),
    (story(job("A"), job("B"), Restart(), slots=2), Restarted((Lease(1, "B", 3), Lease(0, "A", 2)))),
    (story(job("A"), job("B"), Restart(), slots=2), Restarted((Lease(0, "A", 2), Lease(0, "A", 2)))),
]


@pytest.mark.parametrize(("happens", "lie"), LIES)
def test_an_untrue_outcome_is_found(happens: Story, lie: Outcome) -> None:
    scheduler, monitor = begun(happens)
    assert apply(scheduler, happens.events[-1]) != lie
    with pytest.raises(Violation):
        monitor.judge(happens.events[-1], lie, scheduler.snapshot())


def begun(happens: Story) -> tuple[Scheduler, Monitor]:
    """The story up to its last event."""
    scheduler = Scheduler(happens.slots, **happens.size)
    monitor = Monitor(scheduler.snapshot())
    for event in happens.events[:-1]:
        monitor.judge(event, apply(scheduler, event), scheduler.snapshot())
    return scheduler, monitor


# Untrue snapshots after a true step: A of 20 steps and B run, C and D wait.

SHARED = story(job("A"), job("B"), job("C"), job("D"), steps("A", 0), slots=2)


def running(**change: Any) -> Callable[[Snapshot], Snapshot]:
    def change_the_first(snapshot: Snapshot) -> Snapshot:
        first, *others = snapshot.running
        assert first
        return snapshot._replace(running=(first._replace(**change), *others))

    return change_the_first


def waiting(**change: Any) -> Callable[[Snapshot], Snapshot]:
    def change_the_first(snapshot: Snapshot) -> Snapshot:
        first, *others = snapshot.queue
        return snapshot._replace(queue=(first._replace(**change), *others))

    return change_the_first


TAMPERINGS: dict[str, Callable[[Snapshot], Snapshot]] = {
    "capacity": lambda it: it._replace(capacity=it.capacity + 1),
    "reserve": lambda it: it._replace(reserve=it.reserve + 1),
    "next run": lambda it: it._replace(next_run=it.next_run + 1),
    "next run, back": lambda it: it._replace(next_run=it.next_run - 1),
    "next ticket": lambda it: it._replace(next_ticket=it.next_ticket + 1),
    "waiting, more": lambda it: it._replace(waiting=it.waiting + 1),
    "waiting, fewer": lambda it: it._replace(waiting=it.waiting - 1),
    "a slot more": lambda it: it._replace(running=(*it.running, None)),
    "a slot fewer": lambda it: it._replace(running=it.running[:1]),
    "a slot free": lambda it: it._replace(running=(None, *it.running[1:])),
    "slots exchanged": lambda it: it._replace(running=it.running[::-1]),
    "one job in two slots": lambda it: it._replace(running=it.running[:1] * 2),
    "queue emptied": lambda it: it._replace(queue=(), waiting=0),
    "queue shortened": lambda it: it._replace(queue=it.queue[:1], waiting=1),
    "queue doubled": lambda it: it._replace(queue=it.queue * 2, waiting=4),
    "queue reversed": lambda it: it._replace(queue=it.queue[::-1]),
    "a running job": running(job=Job("E", IMAGE, 30)),
    "a running job that waits": running(job=Job("C", IMAGE, 30)),
    "a priority": running(job=Job("A", CHAT, 30)),
    "a work": running(job=Job("A", IMAGE, 31)),
    "a deadline": running(job=Job("A", IMAGE, 30, deadline=1)),
    "an urgency": running(urgency=2),
    "a remaining": running(remaining=21),
    "a slot": running(slot=1),
    "a run": running(run=7),
    "a waiting job": waiting(job=Job("E", IMAGE, 30)),
    "a waiting job that runs": waiting(job=Job("A", IMAGE, 30)),
    "a waiting priority": waiting(job=Job("C", CHAT, 30)),
    "a waiting deadline": waiting(job=Job("C", IMAGE, 30, deadline=1)),
    "a waiting urgency": waiting(urgency=0),
    "a waiting remaining": waiting(remaining=29),
    "a ticket": waiting(ticket=-1),
    "a ticket of another": waiting(ticket=1),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_an_untrue_snapshot_is_found(name: str) -> None:
    scheduler, monitor = begun(SHARED)
    outcome = apply(scheduler, SHARED.events[-1])
    true = scheduler.snapshot()
    assert TAMPERINGS[name](true) != true
    with pytest.raises(Violation):
        monitor.judge(SHARED.events[-1], outcome, TAMPERINGS[name](true))
    assert begun(SHARED)[1].judge(SHARED.events[-1], outcome, true) == "work"


def test_a_wrong_start_is_found() -> None:
    scheduler, _ = begun(SHARED)
    idle = scheduler.snapshot()._replace(running=(None, None))
    with pytest.raises(Violation, match="Broken at the start") as caught:
        Monitor(idle)
    assert caught.value.claims == ("no_slot_idles_while_a_job_waits",)


def test_what_was_served_is_not_read_from_the_scheduler() -> None:
    scheduler, monitor = begun(SHARED)
    outcome = scheduler.progress(Lease(0, "A", 0), 10)
    told = running(job=Job("A", IMAGE, 30), remaining=15)(scheduler.snapshot())
    with pytest.raises(Violation) as caught:
        monitor.judge(SHARED.events[-1], outcome, told)
    assert "no_work_is_lost" in caught.value.claims


def test_a_violation_says_all() -> None:
    with pytest.raises(Violation) as caught:
        judge(PLANTED["StartsTheVictimAllOver"].scheduler(1), STORIES["StartsTheVictimAllOver"].events)
    assert caught.value.claims == ("no_work_is_lost", "conformance")
    assert str(caught.value) == (
        "no_work_is_lost: What a live job was served and what remains of it add up to its work; "
        "a completed job was served all of it. Broken by preempt('C', 'A')."
    )
    assert caught.value.sentence.startswith("What a live job was served")
    assert caught.value.detail == "Broken by preempt('C', 'A')."
