"""Exploration: its counts, what it finds, and what it must not call a pass."""

from __future__ import annotations

import json
from collections import deque
from heapq import heappush
from pathlib import Path
from typing import Any

import pytest

from impl.core import Core
from impl.jobs import Job, Lease, Running
from impl.scheduler import Scheduler
from model.__main__ import main
from model.explore.breadth import Exploration, explore
from model.explore.liveness import starvation, undrained
from model.explore.shapes import Entry, Setting, Shape

LEVELS = tuple(Job("", priority, 1) for priority in (1, 2, 3))
TWO = tuple(Job("", priority, 2) for priority in (1, 2))


@pytest.mark.parametrize(
    ("jobs", "states", "transitions"),
    [(5, 1_933, 5_117), (6, 8_493, 22_655), (7, 37_752, 100_810)],
)
def test_the_counts_of_admissions_and_completions(jobs: int, states: int, transitions: int) -> None:
    seen = explore(Setting(2, LEVELS, actions=("admit", "complete")), jobs)
    assert (seen.states, seen.transitions, seen.verdict) == (states, transitions, "explored")
    assert seen.depth == 2 * jobs


@pytest.mark.parametrize("jobs", [3, 4, 5])
def test_the_counts_are_those_of_a_search_that_knows_nothing_of_shapes(jobs: int) -> None:
    """Named jobs through one live scheduler a state, which has its own history, lazy heaps included."""
    first = Scheduler(2)
    known, waiting, transitions = {named(first)}, deque([(first, 0)]), 0
    while waiting:
        scheduler, admitted = waiting.popleft()
        followers = []
        for run in filter(None, scheduler.snapshot().running):
            other = Scheduler.restore(scheduler.snapshot())
            other.complete(run.lease)
            followers.append((other, admitted))
        for level in (1, 2, 3) if admitted < jobs else ():
            other = Scheduler.restore(scheduler.snapshot())
            other.admit(Job(admitted, level, 1))
            followers.append((other, admitted + 1))
        transitions += len(followers)
        for follower in followers:
            state = (*named(follower[0]), follower[1])
            if state not in known:
                known.add(state)
                waiting.append(follower)
    seen = explore(Setting(2, LEVELS, actions=("admit", "complete")), jobs)
    assert (seen.states, seen.transitions) == (len(known), transitions)


def named(scheduler: Scheduler) -> tuple[Any, ...]:
    after = scheduler.snapshot()
    slots = tuple(run and (run.job.request_id, run.job.priority) for run in after.running)
    return slots, tuple((entry.job.request_id, entry.job.priority) for entry in after.queue)


def test_every_event_in_a_full_little_world() -> None:
    seen = explore(Setting(2, TWO, capacity=1), 4)
    assert seen.verdict == "explored"
    expected = "place preempt enqueue refuse_the_full_queue refuse_the_live_id work refuse_the_steps stale restart"
    assert set(expected.split()) <= set(seen.actions)
    assert {"finish_with_an_heir", "finish_to_idle", "cancel_queued", "cancel_with_an_heir"} <= set(seen.actions)
    assert {"cancel_to_idle", "cancel_nothing"} <= set(seen.actions)


def test_every_order_of_urgencies_covers_any_levels() -> None:
    """Whatever three levels show of a fault, every order shows too, and as soon."""
    setting = Setting(1, (Job("", 0, 1),), actions=("admit", "complete"), every_order=True)
    assert explore(setting, 5).verdict == "explored"
    assert found(explore(planted(setting, PreemptsEquals), 4)) == found(
        explore(planted(Setting(1, LEVELS, actions=("admit", "complete")), PreemptsEquals), 4)
    )


class PreemptsEquals(Core):
    """A newcomer takes the slot of an equal."""

    def _least_urgent_running(self) -> Running:
        victim = super()._least_urgent_running()
        return victim._replace(urgency=victim.urgency - 1)


class LooksAtNames(Core):
    """The victim is the running job with the greatest name."""

    def _least_urgent_running(self) -> Running:
        first = super()._least_urgent_running()
        runs = [run for run in self._slots if run is not None and run.urgency == first.urgency]
        return max(runs, key=lambda run: str(run.job.request_id))


class Raises(Core):
    """A cancel of a queued job fails."""

    def cancel(self, request_id: Any) -> Any:
        if request_id in self._queue:
            raise KeyError(request_id)
        return super().cancel(request_id)


def planted(setting: Setting, core: type[Core]) -> Setting:
    scheduler = type(core.__name__, (Scheduler,), {"core": core})
    return Setting(**{**vars(setting), "scheduler": scheduler})


def found(seen: Exploration) -> dict[str, int]:
    """The length of the history to each violated claim."""
    return {claim: len(each.history) for claim, each in seen.found.items()}


def test_a_peer_that_is_preempted_is_found_after_two_arrivals() -> None:
    lengths = found(explore(planted(Setting(1, TWO), PreemptsEquals), 3))
    assert lengths["only_strictly_less_urgent_work_is_preempted"] == 2


def test_a_scheduler_that_looks_at_names_is_found() -> None:
    seen = explore(planted(Setting(2, TWO), LooksAtNames), 3)
    assert seen.verdict == "refuted"


def test_a_scheduler_that_raises_is_found() -> None:
    seen = explore(planted(Setting(1, TWO), Raises), 3)
    assert "KeyError" in seen.found["conformance"].violation.detail
    assert len(seen.found["conformance"].history) == 3


class ForgetsWhoIsLeastUrgent(Core):
    """Right whenever it was restored, for then it sorts its victims anew."""

    def _start(self, slot: int, job: Job, urgency: Any, remaining: int) -> Lease:
        lease = super()._start(slot, job, urgency, remaining)
        self._victims.remove((urgency, slot, lease.run))
        heappush(self._victims, (-urgency, slot, lease.run))
        return lease


def test_what_a_scheduler_remembers_is_tried_too() -> None:
    seen = explore(planted(Setting(2, TWO), ForgetsWhoIsLeastUrgent), 3)
    assert set(seen.found) == {"conformance"}
    assert "after its history" in seen.found["conformance"].violation.detail


def test_a_fault_ends_it_unless_all_is_asked_for() -> None:
    wrong = planted(Setting(1, TWO), PreemptsEquals)
    short, whole = explore(wrong, 3, to_the_end=False), explore(wrong, 3)
    assert short.states < whole.states
    assert short.depth < whole.depth
    assert set(short.found) <= set(whole.found)
    assert (short.verdict, whole.verdict) == ("refuted", "refuted")
    assert not short.exhaustive


def test_a_budget_that_ends_it_is_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["explore", "--jobs", "4", "--max-states", "30", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (code, told["verdict"], told["exhaustive"]) == (3, "undetermined", False)
    assert told["distinct_states"] <= 30


def test_the_command_says_what_it_saw(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--slots", "2", "--jobs", "5", "--levels", "3", "--actions", "admit,complete"]
    assert main(["explore", *arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["distinct_states"] == 1_933
    assert told["transitions"] == 5_117
    assert told["depth"] == 10
    assert told["exhaustive"] is True
    assert told["verdict"] == "explored"
    assert main(["explore", *arguments]) == 0
    assert "1933 states, 5117 transitions, depth 10" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--slots", "0"],
        ["--jobs", "0"],
        ["--levels", "0"],
        ["--levels", "many"],
        ["--capacity", "-1"],
        ["--actions", "admit,explode"],
        ["--policy", "no-such-file.py"],
        ["--max-states", "0"],
        ["--machine", "toaster"],
    ],
)
def test_bad_options_are_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", *arguments]) == 2
    assert capsys.readouterr().err


def test_a_policy_that_turns_priority_around_is_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = tmp_path / "wrong.py"
    policy.write_text("def urgency(job):\n    return -job.priority\n")
    assert main(["explore", "--policy", str(policy), "--slots", "1", "--jobs", "3", "--json"]) == 1
    assert "chat_never_waits_behind_an_image" in json.loads(capsys.readouterr().out)["violations"]


def test_a_waived_claim_is_judged_and_shown_and_fails_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "waived.py"
    text = 'WAIVES = ("chat_never_waits_behind_an_image",)\n\ndef urgency(job):\n    return -job.priority\n'
    policy.write_text(text)
    assert main(["explore", "--policy", str(policy), "--slots", "1", "--jobs", "3"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "waived: chat_never_waits_behind_an_image (broken here)"


@pytest.mark.parametrize("slots", [1, 2])
def test_images_starve_by_design_and_chat_does_not(slots: int) -> None:
    setting = Setting(slots, (Job("", 1, 1), Job("", 10, 1)))
    lasso = starvation(setting, kind=0)
    assert lasso is not None
    assert [label.action for label in lasso.way] == ["admit"] * (slots + 1)
    assert [label.action for label in lasso.cycle] == ["admit", "complete"] * slots
    assert starvation(setting, kind=1) is None


def test_the_lasso_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--slots", "1", "--jobs", "2", "--levels", "2", "--liveness"]
    assert main(["explore", *arguments]) == 0
    told = capsys.readouterr().out
    assert "first:    admit a job of kind 0, admit a job of kind 1" in told
    assert "for ever: admit a job of kind 1, complete in slot 0" in told
    assert main(["explore", *arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["liveness"]["the_system_drains"] == "explored"


def test_the_system_drains_from_every_reachable_state() -> None:
    assert undrained(Setting(2, TWO)) == []


class NeverDrains(Core):
    """A freed slot stays free."""

    def _vacate(self, run: Running) -> None:
        self._leave(run)
        heappush(self._free, run.slot)


class Blind:
    """A monitor that lets everything pass, so that what is seen is seen by the search alone."""

    waived: tuple[str, ...] = ()
    before = state = None

    def copy(self) -> Blind:
        return self

    def judge(self, *_: object) -> str:
        return "anything"


def test_a_system_that_does_not_drain_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Setting, "monitor", lambda *_: Blind())
    monkeypatch.setattr("model.explore.shapes.look", lambda *_: None)
    monkeypatch.setattr("impl.scheduler.check_snapshot", lambda snapshot: snapshot)
    wrong = undrained(planted(Setting(1, TWO), NeverDrains))
    assert Shape((None,), (Entry(0, 2),)) in wrong
