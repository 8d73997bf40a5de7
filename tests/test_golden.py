"""The self-tests of the two originals, written out; and the gate that repeats them, each row of which can go red."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from impl import command
from impl.autoscale import Action, decide, savings_permil
from impl.gate import autoscale_report, autoscale_rows, scheduler_report, scheduler_rows
from impl.jobs import CHAT, IMAGE, Ended, Job, Lease, Placed, Queued, Refused, Stale
from impl.scheduler import Scheduler

SEEDS = Path(__file__).parents[2] / "shared" / "seeds"


# The scheduler's five, one story (nx_sched_qos.nx:127-161).


def contended() -> Scheduler:
    """Two slots, both with a render of 30 steps."""
    scheduler = Scheduler(2)
    assert scheduler.admit(Job(101, IMAGE, 30)) == Placed(Lease(0, 101, 0))
    assert scheduler.admit(Job(102, IMAGE, 30)) == Placed(Lease(1, 102, 1))
    return scheduler


def with_chat() -> tuple[Scheduler, Placed]:
    """And a third render waiting, when chat arrives."""
    scheduler = contended()
    scheduler.admit(Job(103, IMAGE, 30))
    placed = scheduler.admit(Job(200, CHAT, 8))
    assert isinstance(placed, Placed)
    return scheduler, placed


def test_t1_an_equal_priority_is_queued() -> None:
    assert isinstance(contended().admit(Job(103, IMAGE, 30)), Queued)


def test_t2_chat_preempts_the_image_in_the_lowest_slot() -> None:
    _, placed = with_chat()
    assert placed.preempted is not None
    assert placed.preempted.request_id == 101
    assert placed.lease.slot == 0


def test_t3_the_preempted_image_waits_with_its_work_intact() -> None:
    scheduler, _ = with_chat()
    assert [(waits.job.request_id, waits.remaining) for waits in scheduler.snapshot().queue] == [(103, 30), (101, 30)]


def test_t4_the_slot_of_the_chat_goes_to_the_image_that_waited_first() -> None:
    scheduler, placed = with_chat()
    assert scheduler.lease_of(200) == placed.lease
    ended = scheduler.complete(placed.lease)
    assert isinstance(ended, Ended)
    assert ended.heir is not None
    assert (ended.heir.request_id, ended.heir.slot) == (103, 0)


def test_t5_everyone_is_accounted_for() -> None:
    scheduler, placed = with_chat()
    scheduler.complete(placed.lease)
    after = scheduler.snapshot()
    assert [run and run.job.request_id for run in after.running] == [103, 102]
    assert [waits.job.request_id for waits in after.queue] == [101]
    assert after.waiting == 1


# The policy's ten (nx_mesh_autoscale.nx:130-154).


def test_t1_cold_and_demand_spawn() -> None:
    assert decide(0, 1, 0, 60) is Action.SPAWN


def test_t2_warm_and_demand_serve() -> None:
    assert decide(1, 1, 0, 60) is Action.SERVE


def test_t3_warm_and_idle_past_the_ttl_reap() -> None:
    assert decide(1, 0, 90, 60) is Action.REAP


def test_t4_warm_and_idle_within_the_ttl_hold() -> None:
    assert decide(1, 0, 30, 60) is Action.HOLD


def test_t5_cold_and_no_demand_hold() -> None:
    assert decide(0, 0, 999, 60) is Action.HOLD


def test_t6_demand_beats_idle() -> None:
    assert decide(0, 1, 999, 60) is Action.SPAWN


def test_t7_savings() -> None:
    assert savings_permil(30, 100) == 700


def test_neg1_no_reap_while_busy() -> None:
    assert decide(1, 1, 999, 60) is not Action.REAP


def test_neg2_no_reap_while_fresh() -> None:
    assert decide(1, 0, 30, 60) is not Action.REAP


def test_neg3_no_spawn_while_warm() -> None:
    assert decide(1, 1, 0, 60) is not Action.SPAWN


# What the gate prints and records.

AUTOSCALE_LINES = (
    "=== nx_mesh_autoscale: scale-to-zero policy ===",
    "  T1 cold+demand->SPAWN: 1 | T2 warm+demand->SERVE: 1 | T3 warm+idle>ttl->REAP: 1 | T4 warm+idle<ttl->HOLD: 1"
    " | T5 cold+nodemand->HOLD: 1 | T6 demand-beats-idle: 1 | T7 savings 30/100=700permil: 1"
    " | neg1 no-reap-while-busy: 1 | neg2 no-reap-while-fresh: 1 | neg3 no-spawn-while-warm: 1",
    "MESHAUTOSCALEGATE verdict=GREEN",
)
SCHEDULER_LINES = (
    "=== nx_sched_qos: interactive chat preempts background renders on one GPU ===",
    "  slots full with 2 background image renders (#101, #102, priority 1)",
    "PASS T1 equal-priority image #103 QUEUED (no preemption of a peer)",
    "PASS T2 chat #200 PREEMPTED image #101 -> it runs at once",
    "PASS T3 preempted image #101 requeued WITH its 30 steps intact",
    "PASS T4 chat done -> slot recycled to queued image #103 (first come, first served within a priority)",
    "PASS T5 no work lost: 2 running + 1 queued, 30 steps each",
    "nx_sched_qos pass=5/5 GREEN",
)
AUTOSCALE_TABLE = (
    "# nx_mesh_autoscale -- scale-to-zero policy: SPAWN on demand, REAP on idle-TTL, HOLD otherwise\n"
    "decision_table_green\t1\nsavings_permil_30of100\t700\n"
    "T1\t1\nT2\t1\nT3\t1\nT4\t1\nT5\t1\nT6\t1\nT7\t1\nneg1\t1\nneg2\t1\nneg3\t1\n"
)
SCHEDULER_TABLE = (
    "# nx_sched_qos -- priority and preemption on one GPU\n"
    "scheduler_T1\t1\nscheduler_T2\t1\nscheduler_T3\t1\nscheduler_T4\t1\nscheduler_T5\t1\n"
)


def test_the_printed_lines() -> None:
    assert autoscale_report(decide, savings_permil).lines == AUTOSCALE_LINES
    assert scheduler_report(Scheduler).lines == SCHEDULER_LINES


def test_the_status_table() -> None:
    assert autoscale_report(decide, savings_permil).table == AUTOSCALE_TABLE
    assert scheduler_report(Scheduler).table == SCHEDULER_TABLE


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the originals are not at hand")
def test_the_labels_and_keys_are_the_originals() -> None:
    text = (SEEDS / "nx_mesh_autoscale.nx.txt").read_text(encoding="utf-8")
    for row in autoscale_rows(decide, savings_permil):
        assert f" {row.name} {row.claim}: " in text
    for line in AUTOSCALE_TABLE.splitlines()[:3]:
        assert line.split("\t")[0] in text


# Each row can go red.


def planted(state: tuple[int, int, int, int], action: Action) -> Callable[[int, int, int, int], int]:
    """The policy with one wrong entry."""
    return lambda *given: action if given == state else decide(*given)


def never_starts(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    return Action.HOLD if warm == 0 else decide(warm, demand, idle_sec, ttl_sec)


def reaps_first(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    return Action.REAP if idle_sec >= ttl_sec else decide(warm, demand, idle_sec, ttl_sec)


def impatient(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    return decide(warm, demand, idle_sec, ttl_sec // 3)


def doubling(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    return Action.SPAWN if demand else decide(warm, demand, idle_sec, ttl_sec)


AUTOSCALE_BUGS = [
    (planted((0, 1, 0, 60), Action.HOLD), {"T1"}),
    (planted((1, 1, 0, 60), Action.HOLD), {"T2"}),
    (planted((1, 0, 90, 60), Action.HOLD), {"T3"}),
    (planted((1, 0, 30, 60), Action.SERVE), {"T4"}),
    (planted((0, 0, 999, 60), Action.REAP), {"T5"}),
    (planted((0, 1, 999, 60), Action.HOLD), {"T6"}),
    (planted((1, 1, 999, 60), Action.REAP), {"neg1"}),
    (planted((1, 0, 30, 60), Action.REAP), {"T4", "neg2"}),
    (planted((1, 1, 0, 60), Action.SPAWN), {"T2", "neg3"}),
    (never_starts, {"T1", "T6"}),
    (reaps_first, {"T5", "T6", "neg1"}),
    (impatient, {"T4", "neg2"}),
    (doubling, {"T2", "neg3"}),
]


@pytest.mark.parametrize(("bug", "red"), AUTOSCALE_BUGS)
def test_a_wrong_policy_turns_its_rows_red(bug: Callable[[int, int, int, int], int], red: set[str]) -> None:
    report = autoscale_report(bug, savings_permil)
    assert {row.name for row in report.rows if not row.holds} == red
    assert not report.green
    assert report.lines[-1] == "MESHAUTOSCALEGATE verdict=RED"
    assert "decision_table_green\t0\n" in report.table
    for name in red:
        assert f"\n{name}\t0\n" in report.table


@pytest.mark.parametrize("permil", [699, 701, 300, 0, -700])
def test_wrong_savings_turn_t7_red_and_no_other(permil: int) -> None:
    report = autoscale_report(decide, lambda _warm, _window: permil)
    assert [row.name for row in report.rows if not row.holds] == ["T7"]
    assert report.lines[-1] == "MESHAUTOSCALEGATE verdict=RED"
    assert f"decision_table_green\t1\nsavings_permil_30of100\t{permil}\n" in report.table
    assert "\nT7\t0\n" in report.table


def test_every_row_of_the_policy_was_seen_red() -> None:
    rows = {row.name for row in autoscale_rows(decide, savings_permil)}
    assert {name for _, red in AUTOSCALE_BUGS for name in red} | {"T7"} == rows


def test_the_gate_cannot_see_the_faults_that_the_originals_carry() -> None:
    """Which is why it is not the only test: see test_autoscale.py."""

    def counts_reap(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
        return decide(warm, int(demand == 1), idle_sec, ttl_sec)

    assert counts_reap(1, 2, 999, 60) == Action.REAP
    assert autoscale_report(counts_reap, savings_permil).green


def preempting_peers(slots: int) -> Scheduler:
    """Of equals the latest is taken for the most urgent."""
    arrivals = count()
    return Scheduler(slots, urgency=lambda job: (job.priority, next(arrivals)))


def breaking_ties_late(slots: int) -> Scheduler:
    """Of equals the earliest is taken for the most urgent, so the victim is the render in the highest slot."""
    arrivals = count()
    return Scheduler(slots, urgency=lambda job: (job.priority, -next(arrivals)))


def first_come_first_served(slots: int) -> Scheduler:
    """No priorities at all."""
    return Scheduler(slots, urgency=lambda _job: 0)


def without_a_queue(slots: int) -> Scheduler:
    """The third render is turned away."""
    return Scheduler(slots, capacity=0)


class Losing(Scheduler):
    """The preempted job is dropped: what the original does when its queue is full."""

    def admit(self, job: Job) -> Placed | Queued | Refused:
        outcome = super().admit(job)
        if isinstance(outcome, Placed) and outcome.preempted:
            self.cancel(outcome.preempted.request_id)
        return outcome


class Forgetting(Scheduler):
    """The preempted job comes back with other work than it had."""

    def admit(self, job: Job) -> Placed | Queued | Refused:
        outcome = super().admit(job)
        if isinstance(outcome, Placed) and outcome.preempted:
            self.cancel(outcome.preempted.request_id)
            super().admit(outcome.preempted._replace(work=29))
        return outcome


class JumpingTheQueue(Scheduler):
    """The preempted job waits ahead of those that waited before it."""

    def admit(self, job: Job) -> Placed | Queued | Refused:
        outcome = super().admit(job)
        if isinstance(outcome, Placed) and outcome.preempted:
            for waits in self.snapshot().queue[:-1]:
                self.cancel(waits.job.request_id)
                super().admit(waits.job)
        return outcome


class Swallowing(Scheduler):
    """The heir is announced and then ends at once."""

    def complete(self, lease: Lease) -> Ended | Stale:
        ended = super().complete(lease)
        if isinstance(ended, Ended) and ended.heir:
            super().complete(ended.heir)
        return ended


class Idling(Scheduler):
    """A freed slot stays empty: completing does nothing."""

    def complete(self, lease: Lease) -> Ended | Stale:
        return Ended(lease.request_id)


SCHEDULER_BUGS: list[tuple[Callable[[int], Scheduler], set[str]]] = [
    (preempting_peers, {"T1", "T2", "T4"}),
    (breaking_ties_late, {"T2", "T4"}),
    (first_come_first_served, {"T2", "T3", "T4", "T5"}),
    (without_a_queue, {"T1", "T4", "T5"}),
    (Losing, {"T3", "T5"}),
    (Forgetting, {"T3", "T5"}),
    (JumpingTheQueue, {"T4"}),
    (Swallowing, {"T5"}),
    (Idling, {"T4", "T5"}),
]


@pytest.mark.parametrize(("bug", "red"), SCHEDULER_BUGS)
def test_a_wrong_scheduler_turns_its_rows_red(bug: Callable[[int], Scheduler], red: set[str]) -> None:
    report = scheduler_report(bug)
    assert {row.name for row in report.rows if not row.holds} == red
    assert not report.green
    assert report.lines[-1] == f"nx_sched_qos pass={5 - len(red)}/5 RED"
    for name in red:
        assert any(line.startswith(f"FAIL {name} saw ") for line in report.lines)
        assert f"\nscheduler_{name}\t0\n" in report.table


def test_every_row_of_the_scheduler_was_seen_red() -> None:
    assert {name for _, red in SCHEDULER_BUGS for name in red} == {row.name for row in scheduler_rows(Scheduler)}


@pytest.mark.parametrize("gate", ["autoscale", "scheduler", None])
def test_the_command_turns_red_with_its_gate(
    gate: str | None, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "decide", never_starts)
    monkeypatch.setattr("impl.scheduler.Scheduler", Losing)
    status = tmp_path / "status.tsv"
    assert command.main(["gate", *([gate] if gate else []), "--status", str(status)]) == 1
    out = capfd.readouterr().out
    assert ("MESHAUTOSCALEGATE verdict=RED\n" in out) == (gate != "scheduler")
    assert ("nx_sched_qos pass=3/5 RED\n" in out) == (gate != "autoscale")
    assert "GREEN" not in out
    assert ("decision_table_green\t0\n" in status.read_text()) == (gate != "scheduler")
    assert ("scheduler_T3\t0\n" in status.read_text()) == (gate != "autoscale")
