"""The shipped controller in the scenarios of public fault reports, each of its steps held to the specification."""

from __future__ import annotations

from typing import Any

import pytest

from impl.autoscale import Action, decide
from impl.probe import Verdict
from impl.worker import Controller
from impl.worker_state import Command, Do, Phase, Settings, Snapshot, Why
from model.conform.worker_events import Adopted, Event, Exited, Gone, JobEnded, Probed, Progressed, Tick, apply
from model.conform.worker_watch import Watch

WARM, COLD, UNKNOWN = Verdict.WARM, Verdict.COLD, Verdict.UNKNOWN
BAD_NUMBERS: tuple[Any, ...] = (-1, True, 1.0, float("nan"), float("inf"), "1", 2**63)


class Loop:
    """A controller under observation, ticking once a second."""

    def __init__(self, ttl: int, now: int = -1, **settings: int) -> None:
        self.watch = Watch(Settings(ttl, **settings), now)
        self.now = now

    @property
    def state(self) -> Snapshot:
        return self.watch.controller.snapshot()

    def meet(self, event: Event) -> Command:
        command = self.watch.meet(event)
        assert command is not None
        return command

    def probe(self, verdict: Verdict) -> Command:
        return self.meet(Probed(verdict, self.state.generation))

    def tick(self, demand: int | None, *, probe: Verdict | None = None, after: int = 1) -> Command:
        if probe is not None:
            self.probe(probe)
        self.now += after
        return self.meet(Tick(self.now, demand))

    def exit(self) -> Command:
        return self.meet(Exited(self.state.generation))

    def gone(self, port: Verdict = COLD) -> Command:
        return self.meet(Gone(self.state.generation, port))

    def ended(self) -> Command:
        return self.meet(JobEnded(self.state.generation))

    def start(self) -> Command:
        """One cold tick with demand."""
        command = self.tick(1, probe=COLD)
        assert command.do is Do.SPAWN
        return command

    def warm(self) -> Loop:
        """Started and ready at the next tick."""
        self.start()
        assert self.probe(WARM).why is Why.READY
        return self

    def until(self, do: Do, demand: int | None, most: int = 1000) -> int:
        """Tick on; the instant at which the command comes. Nothing but HOLD and SERVE may come before."""
        for _ in range(most):
            command = self.tick(demand)
            if command.do is do:
                return self.now
            assert command.do in (Do.HOLD, Do.SERVE), command
        raise AssertionError(f"no {do} within {most} ticks")

    def restart(self, *, living: bool) -> Loop:
        stopping = self.state.phase is Phase.STOPPING
        assert self.watch.meet(Adopted(self.state.generation, living, stopping)) is None
        return self


# Idle time


def test_y01_a_worker_is_not_reaped_before_its_long_request_ends_and_the_ttl_after_it() -> None:
    loop = Loop(60).warm()
    for _ in range(600):
        assert loop.tick(1).do is Do.SERVE
    last = loop.now
    loop.ended()
    assert loop.until(Do.REAP, 0) == last + 1 + 60


def test_y02_serve_hold_and_reap_at_their_instants() -> None:
    loop = Loop(10, now=-2).warm()
    said = [loop.tick(demand).do for demand in [1] * 13 + [0] * 10]
    assert loop.now == 22
    assert said == [Do.SERVE] * 13 + [Do.HOLD] * 9 + [Do.REAP]


def test_y03_a_start_is_neither_reaped_nor_repeated() -> None:
    loop = Loop(60, start_budget=300)
    loop.start()
    for _ in range(179):
        assert loop.tick(1, probe=UNKNOWN) == Command(Do.HOLD, Why.STARTING, 1)
    loop.probe(WARM)
    assert loop.tick(1) == Command(Do.SERVE, Why.WANTED, 1)


def test_y03b_the_ttl_counts_from_ready_though_the_client_left() -> None:
    loop = Loop(60)
    loop.start()
    for second in range(179):
        assert loop.tick(int(second < 20), probe=COLD).why is Why.STARTING
    loop.probe(WARM)
    ready = loop.now + 1
    assert loop.until(Do.REAP, 0) == ready + 60


def test_y04_many_demands_during_a_start_start_one_worker() -> None:
    loop = Loop(60)
    loop.start()
    assert {loop.tick(demand % 5 + 1).do for demand in range(50)} == {Do.HOLD}
    loop.probe(WARM)
    assert loop.tick(5).do is Do.SERVE
    assert loop.watch.actions["spawn"] == 1


def test_y04b_the_same_demand_again_is_served_without_a_reload() -> None:
    loop = Loop(60).warm()
    assert [loop.tick(1).do for _ in range(3)] == [Do.SERVE] * 3
    assert loop.state.generation == 1


def test_y05b_whoever_comes_in_time_is_not_reaped_and_whoever_comes_late_gets_a_new_worker() -> None:
    loop = Loop(3).warm()
    for _ in range(5):
        assert [loop.tick(0).do, loop.tick(0).do, loop.tick(1).do] == [Do.HOLD, Do.HOLD, Do.SERVE]
    loop.until(Do.REAP, 0)
    assert loop.tick(1, probe=WARM) == Command(Do.HOLD, Why.STOPPING, 1)
    assert loop.exit().why is Why.LATE
    assert loop.gone().why is Why.COLD
    assert loop.tick(1) == Command(Do.SPAWN, Why.WANTED, 2)


def test_y06_demand_waits_for_a_slow_start_or_sees_it_fail() -> None:
    loop = Loop(60, start_budget=50)
    loop.start()
    assert {loop.tick(1, probe=COLD).do for _ in range(44)} == {Do.HOLD}
    assert loop.tick(1, probe=WARM).do is Do.SERVE
    loop = Loop(60, start_budget=45)
    loop.start()
    assert loop.until(Do.STOP, 1) == 45
    assert loop.state.phase is Phase.STOPPING


@pytest.mark.parametrize("phase", [Phase.COLD, Phase.WARM])
def test_y07_what_is_unknown_decides_nothing_and_is_told_after_a_while(phase: Phase) -> None:
    loop = Loop(2) if phase is Phase.COLD else Loop(2).warm()
    if phase is Phase.COLD:
        loop.probe(COLD)
    commands = [loop.tick(None) for _ in range(5)]
    assert {(command.do, command.why) for command in commands} == {(Do.HOLD, Why.UNKNOWN_DEMAND)}
    assert [command.alarm is not None for command in commands] == [False, False, True, True, True]
    commands = [loop.tick(0, probe=UNKNOWN) for _ in range(5)]
    assert {(command.do, command.why) for command in commands} == {(Do.HOLD, Why.UNKNOWN_PROBE)}
    assert commands[-1].alarm is not None
    assert loop.state.phase is phase
    assert loop.tick(1, probe=COLD if phase is Phase.COLD else WARM).alarm is None


@pytest.mark.parametrize("ttl", BAD_NUMBERS)
def test_y08_a_ttl_is_a_whole_number_of_seconds(ttl: Any) -> None:
    with pytest.raises(ValueError, match="ttl is"):
        Settings(ttl)


def test_y08_a_ttl_of_zero_reaps_at_the_first_idle_tick_and_never_a_busy_worker() -> None:
    loop = Loop(0).warm()
    assert [loop.tick(2).do for _ in range(5)] == [Do.SERVE] * 5
    assert loop.tick(0).do is Do.REAP


def test_y10_probes_are_no_use() -> None:
    loop = Loop(60).warm()
    loop.tick(0)
    ready = loop.now
    for second in range(1, 60):
        assert loop.tick(0, probe=WARM if second % 5 == 0 else None).do is Do.HOLD
    assert (loop.tick(0, probe=WARM).do, loop.now) == (Do.REAP, ready + 60)
    loop.gone()
    assert {loop.tick(0, probe=COLD).why for _ in range(100)} == {Why.UNWANTED}


def test_y11_requests_just_beyond_the_ttl_each_pay_a_start() -> None:
    loop = Loop(5)
    for _ in range(10):
        loop.warm()
        loop.ended()
        loop.until(Do.REAP, 0)
        loop.gone()
    assert loop.watch.actions["spawn"] == 10


def test_y14_a_worker_is_reaped_once_all_is_finished_or_cancelled() -> None:
    loop = Loop(10).warm()
    loop.tick(3)
    loop.ended()
    loop.tick(2)
    assert loop.until(Do.REAP, 0) <= 2 + 10 + 1


def test_y17_nothing_wanted_starts_nothing() -> None:
    loop = Loop(0)
    assert {loop.tick(0, probe=COLD, after=1000).do for _ in range(100)} == {Do.HOLD}


# Failures


def test_y12_failed_starts_back_off_and_never_give_up_for_good() -> None:
    loop = Loop(60)
    loop.start()
    waits = []
    for _ in range(8):
        assert loop.exit() == Command(Do.STOP, Why.CRASHED, loop.state.generation)
        assert loop.tick(1).why is Why.STOPPING
        loop.gone()
        assert loop.tick(1).why is Why.BACKING_OFF
        cold = loop.now
        waits.append(loop.until(Do.SPAWN, 1) - cold)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_job_that_ends_clears_the_back_off() -> None:
    loop = Loop(60)
    loop.start()
    loop.exit()
    loop.gone()
    loop.until(Do.SPAWN, 1)
    loop.probe(WARM)
    assert loop.state.back_off == 1
    loop.ended()
    assert loop.state.back_off == 0
    assert loop.exit().do is Do.STOP
    loop.gone()
    assert loop.tick(1).do is Do.SPAWN, "a worker that was of use is started again at once"


def test_a_start_beyond_its_budget_is_stopped_even_if_nobody_knows_the_demand() -> None:
    loop = Loop(60, start_budget=3)
    loop.start()
    assert [loop.tick(None).why for _ in range(3)] == [Why.STARTING, Why.STARTING, Why.SLOW]


def test_refusals_in_a_row_are_a_crash_and_time_outs_are_not() -> None:
    loop = Loop(60).warm()
    for verdict in (COLD, COLD, UNKNOWN, COLD, COLD, WARM, COLD, COLD, *[UNKNOWN] * 20, COLD, COLD):
        assert loop.probe(verdict) == Command(Do.HOLD, Why.NOTED, 1)
    assert loop.tick(1) == Command(Do.HOLD, Why.REFUSED, 1)
    assert loop.probe(COLD) == Command(Do.STOP, Why.LOST, 1)
    assert loop.state.back_off == 1


def test_a_crash_is_cold_only_when_group_and_port_are_gone() -> None:
    loop = Loop(60).warm()
    assert loop.exit().do is Do.STOP
    assert [loop.tick(1, probe=COLD).why for _ in range(5)] == [Why.STOPPING] * 5
    assert loop.gone(UNKNOWN).why is Why.STOPPING
    assert loop.state.phase is Phase.STOPPING
    assert loop.gone().why is Why.COLD


def test_a_group_found_gone_before_its_exit_is_told_is_a_crash_and_asked_for_again() -> None:
    loop = Loop(60).warm()
    assert loop.gone() == Command(Do.STOP, Why.CRASHED, 1)
    assert loop.gone() == Command(Do.HOLD, Why.COLD, 1)
    assert loop.gone() == Command(Do.HOLD, Why.LATE, 1)


def test_z05_work_that_hangs_is_told_and_replaced_if_a_budget_says_so() -> None:
    loop = Loop(60).warm()
    commands = [loop.tick(1) for _ in range(100)]
    assert [command.alarm is not None for command in commands] == [False] * 30 + [True] * 70
    loop.meet(Progressed(1))
    assert loop.tick(1).alarm is None
    loop = Loop(60, hang_budget=40).warm()
    assert loop.until(Do.STOP, 1) == 41
    loop.gone()
    assert loop.until(Do.SPAWN, 1) == 43


def test_a_worker_that_freezes_is_replaced_too() -> None:
    loop = Loop(60, hang_budget=5).warm()
    loop.tick(1)
    said = [loop.tick(1, probe=UNKNOWN) for _ in range(5)]
    assert [command.why for command in said] == [*[Why.UNKNOWN_PROBE] * 4, Why.HUNG]


def test_a_stop_that_does_not_end_is_told() -> None:
    loop = Loop(0, alarm_after=5).warm()
    assert loop.tick(0).do is Do.REAP
    alarms = [loop.tick(1).alarm for _ in range(8)]
    assert [alarm is not None for alarm in alarms] == [False] * 5 + [True] * 3


def test_a_stranger_on_the_port_is_told_and_left_alone() -> None:
    loop = Loop(60)
    assert loop.tick(1, probe=WARM).why is Why.STRANGER
    assert loop.tick(1, probe=COLD).do is Do.SPAWN
    loop.exit()
    assert loop.gone(WARM).why is Why.STRANGER
    commands = [loop.tick(1) for _ in range(50)]
    assert {(command.do, command.why, bool(command.alarm)) for command in commands} == {(Do.HOLD, Why.STRANGER, True)}
    assert loop.tick(1, probe=COLD).do is Do.SPAWN


# Events of the past


def test_an_event_of_an_old_worker_changes_nothing() -> None:
    loop = Loop(60).warm()
    loop.exit()
    loop.gone()
    loop.until(Do.SPAWN, 1)
    loop.probe(WARM)
    before = loop.state
    for event in (Exited(1), Gone(1), Probed(COLD, 1), Probed(WARM, 0), Progressed(1), JobEnded(1), JobEnded(0)):
        assert loop.meet(event) == Command(Do.HOLD, Why.LATE, 2)
        assert loop.state == before


def test_a_report_to_a_worker_that_is_not_ready_changes_nothing() -> None:
    loop = Loop(60).warm().restart(living=True)
    before = loop.state
    assert loop.meet(JobEnded(1)).why is Why.EARLY
    assert loop.state == before


# A new controller


def test_a_living_worker_is_adopted_as_starting_with_its_budget_anew() -> None:
    loop = Loop(10, start_budget=20).warm()
    for _ in range(15):
        loop.tick(0 if loop.now > 5 else 1)
    loop.restart(living=True)
    assert [loop.tick(0).why for _ in range(20)] == [Why.STARTING] * 20
    loop.probe(WARM)
    adopted = loop.now + 1
    assert loop.until(Do.REAP, 0) == adopted + 10


def test_a_stop_that_had_begun_is_not_called_off_by_a_new_controller() -> None:
    loop = Loop(0).warm()
    assert loop.tick(0).do is Do.REAP
    loop.restart(living=True)
    assert loop.tick(1, probe=WARM).why is Why.STOPPING
    loop.gone()
    assert loop.until(Do.SPAWN, 1) == loop.now
    assert loop.state.generation == 2


def test_a_new_controller_without_a_worker_waits_for_a_probe() -> None:
    loop = Loop(5).warm().restart(living=False)
    assert loop.tick(1).why is Why.UNKNOWN_PROBE
    assert loop.tick(1, probe=COLD) == Command(Do.SPAWN, Why.WANTED, 2)


# Bad input


@pytest.mark.parametrize("bad", BAD_NUMBERS)
def test_bad_numbers_change_nothing(bad: Any) -> None:
    controller = Controller(Settings(5), 0)
    before = controller.snapshot()
    for event in (
        Tick(bad, 0),
        Tick(0, bad),
        Probed(COLD, bad),
        Exited(bad),
        Gone(bad),
        Progressed(bad),
        JobEnded(bad),
    ):
        with pytest.raises(ValueError, match="nothing was changed"):
            apply(controller, event)
    assert controller.snapshot() == before


def test_other_bad_input_changes_nothing() -> None:
    controller = Controller(Settings(5), 10)
    controller.tick(10, 0)
    before = controller.snapshot()
    verdict: Any = "warm"
    events: list[tuple[Event, str]] = [
        (Tick(9, 0), "now is 9, expected a whole number from 10"),
        (Exited(1), "generation is 1, expected at most 0"),
        (Probed(verdict, 0), "verdict is 'warm'"),
        (Gone(0, verdict), "port is 'warm'"),
    ]
    for event, match in events:
        with pytest.raises(ValueError, match=match):
            apply(controller, event)
    assert controller.snapshot() == before
    with pytest.raises(ValueError, match="generation is 0"):
        Controller.adopt(Settings(5), 0, 0, living=True, stopping=False)


@pytest.mark.parametrize(
    "settings",
    [{"start_budget": 0}, {"patience": 0}, {"alarm_after": 0}, {"hang_budget": -1}, {"longest_back_off": 0}],
)
def test_settings_have_their_ranges(settings: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        Settings(60, **settings)


# The policy


def test_the_policy_is_asked_only_when_cold_or_warm_and_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []

    def listening(*view: int) -> Action:
        asked.append(view)
        return decide(*view)

    monkeypatch.setattr("impl.worker.decide", listening)
    loop = Loop(5)
    loop.tick(7)
    loop.tick(None, probe=COLD)
    assert asked == []
    loop.tick(7)
    loop.tick(7)
    loop.tick(7, probe=WARM)
    loop.tick(7, probe=COLD)
    loop.tick(7, probe=UNKNOWN)
    loop.tick(0, probe=WARM)
    loop.exit()
    loop.tick(7)
    loop.gone()
    loop.tick(7)
    assert [view[:2] for view in asked] == [(0, 1), (1, 1), (1, 0)], "cold, warm and wanted, warm and idle"
    loop.tick(7)
    assert asked[3:] == [(0, 1, 1, 5)], "cold again, the back-off over"
