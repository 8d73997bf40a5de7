"""Counterexamples as text: what a reader sees, and that it fits."""

from __future__ import annotations

from typing import Any

import pytest

from impl.core import Core
from impl.jobs import Cancelled, Job, Nothing, Urgency
from impl.scheduler import Scheduler
from model.history.happenings import admit, cancel, complete, progress, restart
from model.history.lanes import WIDTH, called, faults, lanes, picture, verdict, words
from model.history.play import play
from model.planted import PLANTED
from spec.logic import Claim, Property, every, sentence
from spec.scheduler import State, queued
from spec.scheduler_claims import ALWAYS, STEPS
from tests.found import BUGS, played

SENTENCES = {each.name: sentence(each.claim) for each in ALWAYS + STEPS}

EVICTS = """\
Of each job: name, priority and the steps left.
    event                          slot 0         slot 1        queue                       action
 0  start                          -              -             -
 1  admit A (priority 1, work 2)   A 1 (2 left)   -             -                           place
 2  admit B (priority 1, work 2)   A 1 (2 left)   B 1 (2 left)  -                           place
!3  admit C (priority 10, work 2)  C 10 (2 left)  -             A 1 (2 left), B 1 (2 left)  preempt

Step 3, preempt(job = 'C', victim = 'A'), breaks:
only_strictly_less_urgent_work_is_preempted
  A preempted job is strictly less urgent than the newcomer that takes its slot.
  from s to t, t.busy[s.slot[v]] is false for v = 'B'
  from s to t, s.urgency[v] < t.urgency[t.holder[s.slot[v]]] is false for v = 'B'
the_least_urgent_running_job_is_the_victim
  No running job is less urgent than a preempted one; among equals the one in the lowest slot is preempted.
  from s to t, yields_first(s, v, r) is false for v = 'B', r = 'A'
no_slot_idles_while_a_job_waits
  While a job is queued, every slot is busy.
  after it, all_slots_are_busy(s) is false
  after it, nobody_waits(s) is false
conformance
  Every step of the code is a step that the specification allows.
  After preempt('C', 'A'): waiting is 2, expected 1; next_ticket is 2, expected 1; 'B' is queued, expected running; busy
    of slot 1 is False, expected True; holder of slot 1 is None, expected B.
seed   7
again  python -m model replay FILE"""


def test_a_picture() -> None:
    assert picture(played("EvictsAllBelow"), seed=7, again="python -m model replay FILE") == EVICTS


def test_a_step_that_may_not_happen_says_why() -> None:
    text = "\n".join(verdict(played("PreemptsEquals")[-1]))
    assert "preempt('B', 'A') may not happen here." in text
    assert "before it, s.urgency[victim] < s.urgency[job] is false" in text


@pytest.mark.parametrize("name", BUGS)
def test_every_broken_claim_is_named_with_its_sentence(name: str) -> None:
    steps = played(name)
    assert steps[-1].violation
    text = picture(steps)
    for claim in steps[-1].violation.claims:
        assert f"\n{claim}\n" in text
        assert SENTENCES.get(claim, "Every step of the code is a step that the specification allows.") in text
    assert all(len(line) <= WIDTH for line in text.splitlines())


@pytest.mark.parametrize("name", [name for name in BUGS if PLANTED[name].claim != "conformance"])
def test_the_false_part_of_each_claim_is_told(name: str) -> None:
    told = {fault.claim: fault for fault in faults(played(name)[-1])}
    assert told[PLANTED[name].claim].parts, told


def test_a_play_without_fault() -> None:
    steps = play([admit("A", priority=1, work=2)], Scheduler(1))
    assert picture(steps).splitlines()[-2:] == ["", "No step up to 1 breaks a claim."]
    assert list(faults(steps[-1])) == []


# Policies


def by_arrival(job: Job) -> Urgency:
    return (job.priority, -job.arrived)


def against(job: Job) -> Urgency:
    return -job.priority


def test_an_urgency_is_shown_where_it_is_not_the_priority() -> None:
    events = [admit("A", priority=1, work=2, arrived=4)]
    text = picture(play(events, Scheduler(1, urgency=by_arrival), by_arrival))
    assert "name, priority/urgency and the steps left" in text
    assert "admit A (priority 1, work 2, arrived 4)" in text
    assert "A 1/(1,-4) (2 left)" in text


EVENTS = [admit("A", priority=1, work=1), admit("B", priority=10, work=1)]


def test_a_waived_claim_is_told_as_such() -> None:
    waives = frozenset(("chat_never_waits_behind_an_image",))
    text = picture(play(EVENTS, Scheduler(1, urgency=against), against, waives=waives))
    assert "No step breaks a claim that counts." in text
    assert "chat_never_waits_behind_an_image (waived)" in text
    assert "s.priority[q] <= s.priority[r] is false for q = 'B', r = 'A'" in text


def nobody_of_priority_ten_waits(s: State) -> Claim:
    """Nobody of priority 10 waits."""
    return every(queued(s), lambda j: s.priority[j] < 10)


def test_a_claim_of_a_policy_is_told_like_ours() -> None:
    owed = (Property(nobody_of_priority_ten_waits),)
    waives = frozenset(("chat_never_waits_behind_an_image",))
    steps = play(EVENTS, Scheduler(1, urgency=against), against, owed=owed, waives=waives)
    (ours, waived) = faults(steps[-1])
    assert ours.sentence == "Nobody of priority 10 waits."
    assert ours.parts == ("after it, s.priority[j] < 10 is false for j = 'B'",)
    assert (ours.waived, waived.waived) == (False, True)


# Whatever comes


def crowd(slots: int, waiting: int) -> list[Any]:
    return [admit(f"J{number}", priority=1, work=5) for number in range(slots + waiting)]


def test_two_slots_and_a_full_queue_fit_a_terminal() -> None:
    lines = list(lanes(play(crowd(2, 64), Scheduler(2))))
    assert max(map(len, lines)) <= WIDTH
    assert "and 56 more" in " ".join(lines)
    assert "slot 1" in lines[1]


@pytest.mark.parametrize(("slots", "width"), [(7, 120), (64, 120), (3, 60)])
def test_many_slots_are_told_in_paragraphs(slots: int, width: int) -> None:
    lines = list(lanes(play([*crowd(slots - 1, 0), cancel("J0")], Scheduler(slots)), width=width))
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    assert "J1 (priority 1, work 5) -> place" in text
    assert f"slots 1: J1 1 (5 left), {'2: J2 1 (5 left), ' * (slots > 3)}" in text
    assert text.endswith("2 free queue -")


class Explodes(Core):
    def cancel(self, request_id: object) -> Cancelled | Nothing:
        raise ZeroDivisionError


class Exploding(Scheduler):
    core = Explodes


@pytest.mark.parametrize("slots", [1, 9])
def test_where_the_code_raised_nothing_is_known(slots: int) -> None:
    text = picture(play([cancel("A")], Exploding(slots)))
    assert "It raised ZeroDivisionError()." in text
    assert " ?" in text


class StartsFull(Core):
    def snapshot(self) -> Any:
        return super().snapshot()._replace(waiting=1)


class Starting(Scheduler):
    core = StartsFull


def test_a_wrong_start() -> None:
    text = picture(play([], Starting(1)))
    assert "The start breaks:\nevery_live_job_has_exactly_one_place\n" in text


@pytest.mark.parametrize(
    ("happening", "text"),
    [
        (complete("A"), "complete A"),
        (complete("A", run=0), "complete A, run 0 of it"),
        (complete("A", run=-1), "complete A, no run of it"),
        (progress("A", 2, run=3), "progress A by 2, run 3 of it"),
        (cancel(7), "cancel 7"),
        (restart(), "restart"),
        (admit("A b", priority=1, work=2, modality="text"), 'admit "A b" (priority 1, work 2, modality text)'),
    ],
)
def test_events_in_words(happening: Any, text: str) -> None:
    assert words(happening).replace("\N{NO-BREAK SPACE}", " ") == text


def test_names_that_could_be_mistaken_are_quoted() -> None:
    names: list[Any] = ["A", 7, "7", "", "a b", "-", "é", "\n", "x" * 99]
    assert [called(name) for name in names] == [
        "A",
        "7",
        '"7"',
        '""',
        '"a b"',
        '"-"',
        '"\\xe9"',
        '"\\n"',
        "xxxxxxxxxxxxxxxxxxxx...x",
    ]
