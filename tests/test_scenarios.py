"""Every scenario of the tables, on the shipped code and on the specification, and under a bug that it fails with."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from impl.jobs import Job, Outcome, RequestId, Stale
from impl.worker import Controller
from impl.worker_state import Command, Settings
from model.conform.monitor import ACTIONS, Violation
from model.conform.worker_monitor import ACTIONS as LOOP_ACTIONS
from model.planted import PLANTED
from model.planted.catalogue import Code
from model.scenarios.notation import Failed
from model.scenarios.scheduler_scenarios import SchedulerCase
from model.scenarios.specified import Specified
from model.scenarios.worker_specified import SpecifiedController
from spec.logic import Action
from tests.scenario_bugs import PAIRED, TakesArrivalsFirst, wrong_for
from tests.scenario_tables import SCENARIOS, Case, check, scheduler_case, worker_case

SOURCE = Path(__file__).parents[2] / "shared" / "scenarios.md"


def fails(case: Case, code: Code) -> bool:
    """The case does not come out as its line says, whatever the specification has to say of it."""
    try:
        check(case, code, judged=False)
    except Failed:
        return True
    return False


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_comes_out_as_its_line_says(name: str) -> None:
    for case in SCENARIOS[name]:
        check(case)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_planted_bug_fails_it_by_its_outcome_alone(name: str) -> None:
    assert name in PAIRED, f"{name} has no planted bug, expected one in tests/scenario_bugs.py that it fails under"
    wrong = wrong_for(name)
    assert any(fails(case, wrong) for case in SCENARIOS[name])


def test_no_bug_is_paired_with_a_scenario_that_is_gone() -> None:
    assert set(PAIRED) <= set(SCENARIOS)


def test_every_scenario_of_the_source_is_here() -> None:
    if not SOURCE.exists():
        pytest.skip("the list from which the tables were made is not at hand")
    assert set(re.findall(r"^\| ([XYZ]\w+) \|", SOURCE.read_text(), re.MULTILINE)) <= set(SCENARIOS)


# The subjects


def test_the_starvation_is_shown() -> None:
    case = SCENARIOS["X20"][1]
    assert isinstance(case, SchedulerCase)
    [caller] = case.check()
    assert caller.starvation("A") == (
        ["A=1/10", "+4", "C=10/5"],
        ["+4", "D=10/5", "+1", "done(C)", "+4", "C=10/5", "+1", "done(D)"],
    )


def test_each_step_is_held_to_the_specification() -> None:
    case = scheduler_case("S=1: A=1/30; +10", "rem A=20")
    wrong = PLANTED["MisreportsWhatRemains"].scheduler
    case.check(wrong, judged=False)
    with pytest.raises(Violation, match="remain") as caught:
        case.check(wrong)
    assert caught.value.__notes__ == ["at +10", "X99, here:1: S=1: A=1/30; +10 | rem A=20"]
    loop = worker_case("ttl=60 warm: t0 demand=1; t0 end", "SERVE at t0")
    loop.check(NamesTheNext, judged=False)
    with pytest.raises(Violation, match="generation 2"):
        loop.check(NamesTheNext)


class NamesTheNext(Controller):
    """The commands are for the worker that is to come."""

    def tick(self, now: int, demand: int | None) -> Command:
        command = super().tick(now, demand)
        return replace(command, generation=command.generation + (now == 0))


def test_events_of_an_instant_have_to_come_to_the_same_one_by_one() -> None:
    case = scheduler_case("S=1: A=1/9; C=10/5 & done(A)", "admitted 2")
    with pytest.raises(Failed, match="at one instant"):
        case.check(TakesArrivalsFirst)


def test_the_specification_has_to_answer_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    class Deaf(Specified):
        def cancel(self, request_id: RequestId) -> Outcome:
            return Stale()

    class Lazy(SpecifiedController):
        def tick(self, now: int, demand: int | None) -> Command:
            return super().tick(now, 0)

    scheduler = scheduler_case("S=1: cancel(A)", "free 1")
    loop = worker_case("ttl=5: t0 demand=1; t0 end", "no REAP")
    scheduler.check()
    loop.check()
    monkeypatch.setattr("model.scenarios.scheduler_scenarios.Specified", Deaf)
    monkeypatch.setattr("model.scenarios.worker_scenarios.SpecifiedController", Lazy)
    with pytest.raises(Failed, match="by the specification"):
        scheduler.check()
    with pytest.raises(Failed, match="by the specification"):
        loop.check()


def test_the_specification_leaves_exactly_one_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    always = Action(lambda *_: True, ACTIONS["cancel_nothing"].step)
    never = Action(lambda *_: False, LOOP_ACTIONS["hold"].step)
    monkeypatch.setitem(ACTIONS, "cancel_nothing", always)
    monkeypatch.setitem(LOOP_ACTIONS, "hold", never)
    specified = Specified(1)
    specified.admit(Job("A", 1, 5))
    with pytest.raises(Violation, match="expected exactly one"):
        specified.cancel("A")
    with pytest.raises(Violation, match="expected exactly one"):
        SpecifiedController(Settings(5), 0).tick(0, 0)
