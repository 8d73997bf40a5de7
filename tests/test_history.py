"""Histories as values: written and read, played, told from what engines found, and made small."""

from __future__ import annotations

import json
from typing import Any

import pytest

from impl.core import Core
from impl.jobs import Cancelled, Ended, Job, Lease, Nothing, Placed, Progressed, Queued, Reason, Refused, Stale
from impl.scheduler import Scheduler
from model.conform.events import Admit, Cancel, Complete, Event, Progress, Restart
from model.conform.monitor import nonconforming
from model.conform.watch import Watch
from model.exits import UNDETERMINED
from model.explore.breadth import Found, explore
from model.explore.shapes import Label, Setting
from model.history.happenings import (
    KINDS,
    NEVER,
    Happening,
    History,
    Trace,
    admit,
    cancel,
    complete,
    from_json,
    letter,
    progress,
    restart,
)
from model.history.play import Step, play
from model.history.retell import from_events, from_found
from model.history.shrink import shrink
from model.planted import PLANTED
from model.policy.file import PolicyError
from tests.found import BUGS, broken, history, played
from tests.stories import image

EVERYTHING: dict[str, Happening] = {
    'admit("A", priority=1, work=2)': admit("A", priority=1, work=2),
    'admit(7, priority=-3, work=1, modality="text", arrived=4, deadline=0)': admit(
        7, priority=-3, work=1, modality="text", arrived=4, deadline=0
    ),
    'complete("A")': complete("A"),
    'complete("A", run=0)': complete("A", run=0),
    'complete("A", run=-1)': complete("A", run=NEVER),
    'progress("A", steps=3)': progress("A", 3),
    'progress("A", steps=0, run=2)': progress("A", 0, run=2),
    'cancel("it\'s")': cancel("it's"),
    "cancel('\"\\n')": cancel('"\n'),
    "restart()": restart(),
}


@pytest.mark.parametrize("written", EVERYTHING)
def test_an_event_is_written_as_python_and_as_json(written: str) -> None:
    happening = EVERYTHING[written]
    assert str(happening) == written
    assert eval(written, dict(KINDS)) == happening
    assert from_json(json.loads(json.dumps(happening.as_json()))) == happening


def test_what_is_as_usual_is_not_told() -> None:
    assert admit("A", priority=1, work=2, arrived=0, modality="", deadline=None) == admit("A", priority=1, work=2)
    assert complete("A", run=None) == complete("A")


@pytest.mark.parametrize(
    "record",
    [
        None,
        [],
        {},
        {"event": "explode"},
        {"event": ["admit"]},
        {"event": "admit", "job": "A"},
        {"event": "admit", "job": "A", "priority": 1, "work": 0},
        {"event": "admit", "job": "A", "priority": True, "work": 1},
        {"event": "admit", "job": None, "priority": 1, "work": 1},
        {"event": "admit", "job": "A", "priority": 1, "work": 1, "colour": "red"},
        {"event": "admit", "job": "A", "priority": 1, "work": 1, "deadline": 0.5},
        {"event": "complete"},
        {"event": "complete", "job": "A", "run": -2},
        {"event": "complete", "job": "A", "run": "0"},
        {"event": "progress", "job": "A"},
        {"event": "progress", "job": "A", "steps": 2**63},
        {"event": "cancel", "job": 1.5},
        {"event": "restart", "job": "A"},
    ],
)
def test_what_is_no_event_is_refused(record: object) -> None:
    with pytest.raises(ValueError, match=r"expected|told wrongly"):
        from_json(record)


@pytest.mark.parametrize("sizes", [(0, 1, 1), (1, -1, 1), (1, 1, -1), (True, 1, 1), (1, "1", 1), (10**9, 1, 1)])
def test_a_size_that_no_scheduler_has_is_refused(sizes: tuple[Any, Any, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        Trace((), *sizes)


def test_names() -> None:
    assert [letter(number) for number in (0, 25, 26, 99)] == ["A", "Z", "J27", "J100"]


# Played


def outcomes(*events: Happening, slots: int = 1) -> list[Any]:
    steps = play(events, Scheduler(slots))
    assert [step.violation for step in steps] == [None] * (len(events) + 1)
    return [step.outcome for step in steps[1:]]


A, B = admit("A", priority=1, work=9), admit("B", priority=10, work=9)


def test_a_report_is_of_the_last_run_or_of_the_one_named() -> None:
    first, second = Lease(0, "A", 0), Lease(0, "A", 2)
    happened = outcomes(
        A, B, complete("B"), complete("A", run=0), progress("A", 4, run=1), complete("A"), complete("A")
    )
    preempted = Placed(Lease(0, "B", 1), image("A", 9))
    assert happened == [Placed(first), preempted, Ended("B", second), Stale(), Progressed(5), Ended("A"), Stale()]


def test_a_restart_begins_a_run() -> None:
    assert outcomes(A, restart(), progress("A", 1, run=0), progress("A", 1, run=1), progress("A", 1))[2:] == [
        Stale(),
        Progressed(8),
        Progressed(7),
    ]


def test_runs_are_counted_through_all_jobs_of_a_name() -> None:
    happened = outcomes(A, complete("A"), A, complete("A", run=0), complete("A", run=1))
    assert happened[3:] == [Stale(), Ended("A")]


@pytest.mark.parametrize("run", [None, NEVER, 0, 5])
def test_a_run_that_was_never_given_is_stale(run: int | None) -> None:
    assert outcomes(A, B, A, complete("C", run=run), progress("C", 1, run=run))[2:] == [
        Refused(Reason.LIVE),
        Stale(),
        Stale(),
    ]
    assert outcomes(B, A, complete("A", run=run))[1:] == [Queued(0), Stale()]


def test_a_made_up_run_is_told_apart_only_by_its_number() -> None:
    steps = play([A, B, complete("B", run=NEVER)], Scheduler(2))
    assert steps[-1].event == Complete(Lease(1, "B", NEVER))


def test_steps_tell_what_happened() -> None:
    steps = play([A, cancel("B"), cancel("A")], Scheduler(2))
    assert [(step.number, step.action, step.about) for step in steps] == [
        (0, "", ()),
        (1, "place", ("A", 0)),
        (2, "cancel_nothing", ("B",)),
        (3, "cancel_to_idle", ("A",)),
    ]
    assert [step.outcome for step in steps[2:]] == [Nothing(), Cancelled("A")]
    assert steps[0].happening is None
    assert steps[0].snapshot == Scheduler(2).snapshot()
    for step in steps[1:]:
        assert step.before is not None
        assert step.after is not None
        assert step.wrongs == ()
    assert steps[1].before != steps[1].after


class Explodes(Core):
    """The first cancel is the last."""

    def cancel(self, request_id: object) -> Cancelled | Nothing:
        raise ZeroDivisionError(request_id)


class Exploding(Scheduler):
    core = Explodes


def test_code_that_raises_is_a_finding() -> None:
    steps = play([A, cancel("A"), B], Exploding(1))
    assert broken(steps) == ("conformance",)
    assert "ZeroDivisionError('A')" in str(steps[-1].violation)
    assert (steps[-1].number, steps[-1].snapshot, steps[-1].action) == (2, None, "")


class StartsFull(Core):
    """It counts a job before any has come."""

    def snapshot(self) -> Any:
        return super().snapshot()._replace(waiting=1)


class Starting(Scheduler):
    core = StartsFull


def test_a_wrong_start_is_a_finding() -> None:
    (start,) = play([A], Starting(1))
    assert broken([start]) == ("every_live_job_has_exactly_one_place",)
    assert start.happening is None
    assert shrink([A, B], broken([start])[0], lambda events: play(events, Starting(1))) == ((), True)


def test_a_policy_that_fails_is_none() -> None:
    def urgency(job: Job) -> int:
        raise PolicyError("no answer", UNDETERMINED)

    with pytest.raises(PolicyError):
        play([A], Scheduler(1, urgency=urgency), urgency)


def test_a_waived_claim_is_noted_and_no_violation() -> None:
    def against(job: Job) -> int:
        return -job.priority

    waives = frozenset(("chat_never_waits_behind_an_image",))
    steps = play([A, B, complete("A")], Scheduler(1, urgency=against), against, waives=waives)
    assert [len(step.wrongs) for step in steps] == [0, 0, 1, 0]
    assert broken(steps) == ()
    assert broken(play([A, B, complete("A")], Scheduler(1, urgency=against), against)) == tuple(waives)


# Found


def test_all_planted_bugs_but_those_with_a_hidden_memory_are_here() -> None:
    memory = {"RemembersTheEnded", "RevivesTheEnded", "NumbersNoRuns", "NumbersRunsAnew"}
    assert set(BUGS) == set(PLANTED) - memory


@pytest.mark.parametrize("name", BUGS)
def test_no_event_of_a_history_can_be_dropped(name: str) -> None:
    claim, events = PLANTED[name].claim, history(name)
    if name == "CompletesWhateverRuns":  # a report of a job that never came is shorter, and no event of the explorer
        events = (events[0], events[2])
    assert claim in broken(played(name, events))
    assert len(played(name, events)) == len(events) + 1
    for dropped in range(len(events)):
        assert claim not in broken(played(name, events[:dropped] + events[dropped + 1 :]))


@pytest.mark.parametrize("name", BUGS)
def test_the_shipped_scheduler_holds_where_the_planted_does_not(name: str) -> None:
    slots, capacity, reserve, *_ = BUGS[name]
    steps = play(history(name), Scheduler(slots, capacity=capacity, reserve=reserve))
    assert broken(steps) == ()
    assert len(steps) == len(history(name)) + 1


def told(*labels: tuple[Label, int], every_order: bool = False) -> tuple[str, ...]:
    kinds = (Job("", 3, 2),) if every_order else (Job("", 3, 2, "text", 1, 9), Job("", 5, 1))
    found = Found(nonconforming("?"), labels)
    return tuple(map(str, from_found(Setting(1, kinds, every_order=every_order), found)))


def test_every_label_is_told() -> None:
    assert told(
        (Label("admit", 0, 1), 0),
        (Label("admit", 1, 0), 1),
        (Label("duplicate", 0), 1),
        (Label("progress", 0, 2), 0),
        (Label("stale", 0, 0), 1),
        (Label("stale", 0, 1), 0),
        (Label("nothing"), -1),
        (Label("restart"), -1),
        (Label("cancel", 1), 1),
        (Label("complete", 0), 0),
    ) == (
        'admit("A", priority=5, work=1)',
        'admit("B", priority=3, work=2, modality="text", arrived=1, deadline=9)',
        'admit("B", priority=3, work=2, modality="text", arrived=1, deadline=9)',
        'progress("A", steps=2)',
        'complete("B", run=-1)',
        'progress("A", steps=1, run=-1)',
        'cancel("C")',
        "restart()",
        'cancel("B")',
        'complete("A")',
    )


def test_levels_become_the_smallest_priorities_of_their_order() -> None:
    history = told(
        (Label("admit", 0, 0), 0),  # alone
        (Label("admit", 1, 2), 1),  # above A, which it preempts
        (Label("admit", 2, 2), 2),  # between them
        (Label("admit", 3, 0), 3),  # below all
        (Label("admit", 4, 3), 4),  # as A
        every_order=True,
    )
    priorities = {"A": 2, "B": 4, "C": 3, "D": 1, "E": 2}
    assert history == tuple(f'admit("{name}", priority={level}, work=2)' for name, level in priorities.items())


def test_a_bug_is_shown_by_the_levels_of_every_order() -> None:
    claim = PLANTED["TakesTheFirstBelow"].claim
    scheduler = PLANTED["TakesTheFirstBelow"].scheduler
    instance = Setting(2, (Job("", 1, 1),), actions=("admit",), scheduler=scheduler, every_order=True)
    events = from_found(instance, explore(instance, 3).found[claim])
    assert claim in broken(play(events, instance.fresh()))
    assert {dict(event.details)["priority"] for event in events} == {1, 2, 3}


def test_events_with_leases_are_told() -> None:
    watch = Watch(scheduler := Scheduler(1))
    watch.decide(0, 1, 0, 60)
    events: list[Event] = [Admit(image("A")), Restart(), Admit(Job("B", 5, 3))]
    late, present = Lease(0, "A", 0), Lease(0, "B", 2)
    events += [Progress(present, 2), Complete(late), Complete(Lease(0, "A", 1)), Progress(Lease(0, "X", 7), 1)]
    events += [Cancel("A"), Complete(present)]
    for event in events:
        watch.meet(event)
    retold = from_events(watch.history, Scheduler(1))
    assert list(map(str, retold)) == [
        'admit("A", priority=1, work=30)',
        "restart()",
        'admit("B", priority=5, work=3)',
        'progress("B", steps=2)',
        'complete("A", run=0)',
        'complete("A")',
        'progress("X", steps=1, run=-1)',
        'cancel("A")',
        'complete("B")',
    ]
    steps = play(retold, Scheduler(1))
    assert [step.event for step in steps[1:-3]] == events[:-3]  # but for the lease that nobody had
    assert steps[-1].snapshot == scheduler.snapshot()


def test_events_are_told_until_the_code_raises() -> None:
    events: list[Event] = [Admit(image("A")), Cancel("A"), Restart()]
    assert from_events(events, Exploding(1)) == (admit("A", priority=1, work=30), cancel("A"))


# Made small


def on(name: str) -> Any:
    return lambda events: played(name, events)


def test_the_smallest_history_is_found_among_noise() -> None:
    noise: History = (
        admit("A", priority=4, work=30, modality="image", arrived=17, deadline=99),
        restart(),
        progress("A", 7),
        admit("B", priority=4, work=12),
        progress("A", 1, run=0),
        cancel("B"),
        cancel("Z"),
        progress("A", 3, run=1),
        admit("C", priority=10, work=5, deadline=40),
        complete("C"),
    )
    small, smallest = shrink(noise, "no_work_is_lost", on("StartsTheVictimAllOver"))
    assert smallest
    assert list(map(str, small)) == [
        'admit("A", priority=1, work=1)',
        'progress("A", steps=1)',
        'admit("B", priority=2, work=1)',
    ]


@pytest.mark.parametrize("name", BUGS)
def test_no_number_of_the_smallest_can_be_lowered(name: str) -> None:
    claim = PLANTED[name].claim
    small, smallest = shrink(history(name), claim, on(name))
    assert smallest
    assert len(small) <= len(history(name))
    assert claim in broken(played(name, small))
    for place, happening in enumerate(small):
        for at, (detail, value) in enumerate(happening.details):
            if value > 1:
                details = (*happening.details[:at], (detail, value - 1), *happening.details[at + 1 :])
                lower = Happening(happening.name, happening.job, details)
                assert claim not in broken(played(name, (*small[:place], lower, *small[place + 1 :])))


def test_a_far_number_is_lowered_to_the_least_that_will_do() -> None:
    def urgency(job: Job) -> int:
        return 5 if job.arrived >= 1000 else job.priority

    def on_late(events: History) -> list[Step]:
        return play(events, Scheduler(1, urgency=urgency), urgency)

    events = (admit("A", priority=1, work=1, arrived=10**6), admit("B", priority=4, work=1))
    small, smallest = shrink(events, "chat_never_waits_behind_an_image", on_late)
    assert smallest
    assert small == (admit("A", priority=1, work=1, arrived=1000), admit("B", priority=2, work=1))


def test_a_history_that_breaks_nothing_is_no_counterexample() -> None:
    with pytest.raises(ValueError, match="does not break no_work_is_lost"):
        shrink(history("StartsTheVictimAllOver"), "no_work_is_lost", lambda events: play(events, Scheduler(1)))


def test_a_search_that_is_cut_off_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = (*(admit(place, priority=1, work=1) for place in range(6)), *history("ForgetsProgress")[:1], progress(0, 1))
    small, smallest = shrink(noise, "no_work_is_lost", on("ForgetsProgress"))
    assert (len(small), smallest) == (2, True)
    for budget in (1, len(noise) + 3, 2 * len(noise)):
        monkeypatch.setattr("model.history.shrink.BUDGET", budget)
        assert shrink(noise, "no_work_is_lost", on("ForgetsProgress")) == (noise, False)


def test_the_end_of_a_long_history_is_enough() -> None:
    lengths: list[int] = []

    def counted(events: History) -> list[Step]:
        lengths.append(len(events))
        return played("ForgetsProgress", events)

    long = (*(admit(place, priority=1, work=1) for place in range(50_000)), *history("ForgetsProgress"))
    small, smallest = shrink(long, "no_work_is_lost", counted)
    assert (len(small), smallest) == (2, True)
    assert max(lengths) == 2


def test_the_jobs_of_others_keep_their_names() -> None:
    events = (admit("chat-7", priority=1, work=1), progress("chat-7", 1))
    assert shrink(events, "no_work_is_lost", on("ForgetsProgress")) == (events, True)
