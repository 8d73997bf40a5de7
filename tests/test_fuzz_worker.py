"""Random events for the controller, alone and with the scheduler: all is seen, and planted bugs are found and made
small."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import reject

from impl.worker import Controller
from impl.worker_state import Command, Do, Settings
from model.__main__ import main
from model.commands import fuzz
from model.conform.monitor import Violation
from model.conform.worker_events import Event
from model.explore.joined import Driver
from model.explore.smallest import smallest
from model.fuzz.counting import Counting, fresh
from model.fuzz.joined import JoinedMachine
from model.fuzz.worker import WorkerMachine
from model.planted.catalogue import BUGS


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["fuzz", "--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", ["worker", "joined"])
def test_all_is_seen_in_the_histories_of_the_ci_profile_and_nothing_is_wrong(name: str) -> None:
    profile, of = fuzz.PROFILES["ci"], fuzz.fuzzed(name)
    of = replace(of, machine=fresh(of.machine))
    for number in range(profile["histories"] // fuzz.ROUND):
        assert fuzz.one_round(of, profile["seed"] + number, fuzz.ROUND) is None
        if not list(of.never_seen()):
            break
    assert list(of.never_seen()) == []
    assert {"controller_restart", "give_up", "renew", "lose", "late", "early"} <= set(of.actions)
    assert ("scheduler preempt" in of.actions) is (name == "joined")


def test_what_was_seen_and_not_wrong_is_tested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of = replace(fuzz.fuzzed("joined"), rules=("tick",), actions=("hold",), witnesses=())
    monkeypatch.setattr(fuzz, "fuzzed", lambda _: of)
    code, told = report(capsys, "--machine", "joined", "--profile", "ci", "--histories", "20")
    assert (code, told["verdict"], told["never_seen"], told["seed"]) == (0, "tested", [], 0)


@pytest.mark.parametrize("machine", ["worker", "joined"])
def test_what_was_never_seen_is_no_pass(machine: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = report(capsys, "--machine", machine, "--seed", "1", "--histories", "1")
    assert (code, told["verdict"]) == (3, "undetermined")
    assert {each.split()[0] for each in told["never_seen"]} == {"rule", "action", "witness"}


def found(machine: type[Counting], name: str) -> tuple[list[str], Violation] | None:
    """The smallest history that some of the histories is shrunk to, and how it ends."""
    of = replace(fuzz.fuzzed(name), machine=machine)
    for number in range(8):
        wrong = fuzz.one_round(of, number, fuzz.ROUND)
        if isinstance(wrong, Violation):
            return machine.retold(wrong)
        assert wrong is None
    return None


LENGTHS = {
    "ColdAtTheExit": 3,
    "AsksForADemandOfOne": 5,
    "DropsTheRunningJob": 5,
    "SpawnsBesideAStranger": 2,
    "Revives": 4,
    "AdoptsAStranger": 1,
    "CountsIdleFromTheRequest": 5,
    "NeverBacksOff": 5,
    "ForgivesTheLost": 4,
    "Silent": 2,
}
"""The events of a shortest history to each, by exploration."""


@pytest.mark.parametrize("name", LENGTHS)
def test_a_planted_bug_is_found_by_name_and_made_small(name: str) -> None:
    make, claim = BUGS[name].code.controller, BUGS[name].property

    class Seeking(WorkerMachine):
        """Passes over what breaks other claims alone, or is refused as nonsense is."""

        def drive(self, event: Event) -> Command | None:
            try:
                return super().drive(event)
            except Violation as violation:
                if claim not in violation.claims:
                    reject()
                violation.claim = claim
                raise

    result = found(fresh(Seeking, controller_type=make), "worker")
    assert result is not None
    (_, *events), violation = result
    assert claim in violation.claims
    assert len(events) <= LENGTHS[name] + 6, "no event can be dropped, though another way may be shorter"


BUSY = "work_is_in_flight_only_on_a_warm_worker"


@pytest.mark.parametrize(
    ("driver", "claim", "events"),
    [
        (Driver(restarts=frozenset((None,))), BUSY, 6),
        (Driver(restarts=frozenset((Do.STOP,))), BUSY, 6),
        (Driver(dispatches=frozenset((Do.SERVE, Do.SPAWN))), BUSY, 3),
        (Driver(counts=lambda _, waiting: waiting), "never_reap_while_busy", 8),
    ],
    ids=[
        "no restart at a stop",
        "no restart under a new controller",
        "dispatches at a spawn",
        "counts the queue alone",
    ],
)
def test_a_wrong_driver_is_found_by_name(driver: Driver, claim: str, events: int) -> None:
    result = found(fresh(JoinedMachine, driver=driver), "joined")
    assert result is not None
    (_, _, *history), violation = result
    assert claim in violation.claims
    assert len(history) <= events + 10


def test_a_planted_bug_is_refuted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    make = BUGS["AdoptsAStranger"].code.controller
    monkeypatch.setattr("model.fuzz.worker.WorkerMachine", fresh(WorkerMachine, controller_type=make))
    code, told = report(capsys, "--machine", "worker", "--seed", "0")
    assert (code, told["verdict"]) == (1, "refuted")
    assert told["violation"]["claims"] == ["nothing_is_adopted_in_cold", "conformance"]
    assert told["violation"]["history"][1:] == ["probed verdict=warm generation=0"]


def test_a_controller_that_begins_wrongly_is_refuted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class BacksOffAtOnce(Controller):
        def __init__(self, settings: Settings, now: int) -> None:
            super().__init__(settings, now)
            self._set(back_off=99)

    monkeypatch.setattr("model.fuzz.worker.WorkerMachine", fresh(WorkerMachine, controller_type=BacksOffAtOnce))
    code, told = report(capsys, "--machine", "worker", "--seed", "0")
    assert (code, told["violation"]["claims"]) == (1, ["the_back_off_stays_within_its_bounds"])
    assert len(told["violation"]["history"]) == 1


def test_nonsense_that_is_taken_is_refuted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class TakesAnyTime(Controller):
        """The clock may go back."""

        def tick(self, now: int, demand: int | None) -> Command:
            return super().tick(max(now, self._s.now), demand)

    monkeypatch.setattr("model.fuzz.worker.WorkerMachine", fresh(WorkerMachine, controller_type=TakesAnyTime))
    code, told = report(capsys, "--machine", "worker", "--seed", "0")
    assert (code, told["verdict"], told["violation"]["detail"]) == (1, "refuted", "nonsense was taken")


def test_a_policy_says_nothing_of_a_controller(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--machine", "worker", "--policy", "any.py"]) == 2
    assert "--policy" in capsys.readouterr().err


def test_the_smallest_history() -> None:
    """None can be dropped and none lowered; what does not show it is left as it is."""
    assert smallest([5, 1, 9, 2, 7, 7], lambda part: sum(part) >= 12, range) == [5, 7]
    assert smallest([1, 2], lambda part: sum(part) > 3, range) == [1, 2]
    assert smallest([9], lambda part: bool(part) and part[-1] >= 4, range) == [4]
