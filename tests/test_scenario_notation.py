"""The notation of the scenarios: each statement can be false, each step can fail, and nothing unreadable is skipped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from impl.jobs import Ended, Lease, Placed, Stale
from impl.scheduler import Scheduler
from model.scenarios.notation import Failed, read
from model.scenarios.scheduler_scenarios import RECORDS
from tests.scenario_tables import TABLES, scheduler_case, worker_case

EVENTFUL = "S=2 Q=1: A=1/30; B=5/9; +4; C=10/5; E=1/2; done(C); cancel(B); late(C#0); cancel(Z)"
LONG = "ttl=2 alarm=1 warm: t0 demand=1, hangs; t3 demand=0; t6 end"
COUNTS = {"admitted": 3, "queued": 0, "started": 4} | dict.fromkeys(RECORDS[3:], 1)
TRUE_AND_FALSE = [
    ("run{A}", "run{A B}"),
    ("slots[A -]", "slots[- A]"),
    ("queue[]", "queue[A]"),
    ("free 1", "free 2"),
    ("rem A=26", "rem A=25"),
    ("rem A=26", "rem C=0"),
    ("served C=5", "served C=4"),
    ("ended C at 4", "ended C at 5"),
    ("one place each", "one end each"),
    ("most urgent first", "starves A"),
    *((f"{word} {COUNTS[word]}", f"{word} {COUNTS[word] + 1}") for word in RECORDS),
    ("started A=2", "started A"),
    ("refused E", "refused E=0"),
    ("always admitted A", "always started A"),
]
LOOP_TRUE_AND_FALSE = [
    ("SERVE at t0..t2", "SERVE at t0..t3"),
    ("HOLD at t3 t5 t6", "HOLD at t3"),
    ("REAP at t4", "no REAP"),
    ("no SPAWN", "SPAWN at t0"),
    ("no STOP", "STOP at t4"),
    ("alarm at t1 t2", "no alarm"),
    ("phase cold", "phase warm"),
    ("0 starts an hour", "1 starts an hour"),
]


@pytest.mark.parametrize(("true", "false"), TRUE_AND_FALSE)
def test_a_statement_can_be_false(true: str, false: str) -> None:
    scheduler_case(EVENTFUL, true).check()
    with pytest.raises(Failed, match="found"):
        scheduler_case(EVENTFUL, false).check()


@pytest.mark.parametrize(("true", "false"), LOOP_TRUE_AND_FALSE)
def test_a_statement_of_the_loop_can_be_false(true: str, false: str) -> None:
    worker_case(LONG, true).check()
    with pytest.raises(Failed, match="found"):
        worker_case(LONG, false).check()


@pytest.mark.parametrize(
    ("happens", "expected"),
    [
        ("S=1 Q=0 R=0: A=-1/5; C=10/5", "refused C; run{A}"),
        ("S=1: 2 x {2 x {+1; A=1/1; done(A)}; +1}", "admitted A=4; ended 4"),
        ("S=2: 2 x {Ai=1/5}; +1; A2=9/9", "run{A1 A2}; refused A2"),
        ("S=1: A=1..3/5; C=2/5", "admitted 2"),
    ],
)
def test_what_the_tables_do_not_say_of_the_scheduler(happens: str, expected: str) -> None:
    scheduler_case(happens, expected).check()


@pytest.mark.parametrize(
    ("happens", "expected"),
    [
        ("warm: t0 demand=1; t2 probe=cold; t4 probe=true; t5 end", "SERVE at t0 t1 t4 t5; no STOP"),
        (
            "patience=2 warm: t0 demand=1; t2 probe=cold; t4 probe=true; t6 end",
            "SERVE at t0 t1 t6; STOP at t3; SPAWN at t5",
        ),
        ("warm: t0 demand=1; t2 crash; t5 late exit 1; +1 end", "SERVE at t0 t1 t5 t6; STOP at t2; SPAWN at t4"),
        ("alarm=2 warm: t0 demand=1, hangs; t4 recovers; t8 end", "SERVE at t0..t8; alarm at t2 t3"),
        ("start=2: t0 demand=1, probe=warm; t3 end", "HOLD at t0..t3; alarm at t0..t3; phase cold"),
    ],
)
def test_what_the_tables_do_not_say_of_the_loop(happens: str, expected: str) -> None:
    worker_case(happens, expected).check()


@pytest.mark.parametrize(
    "step", ["done(A)", "late(A#0)", "late(A#0, +1)", "A=1/5; +6", "A=1/0", "A=1/5; bad B=1/5", "A=1/5 & bad B=1/5"]
)
def test_a_step_that_cannot_be_taken_fails(step: str) -> None:
    with pytest.raises(Failed, match=r"expected|should|none of number|raised"):
        scheduler_case(f"S=1: {step}", "free 0").check()


@pytest.mark.parametrize("happening", ["bad ttl=5", "bad demand=1", "bad now=7", "late exit 5"])
def test_a_happening_that_cannot_be_fails(happening: str) -> None:
    with pytest.raises(Failed, match=r"expected|raised"):
        worker_case(f"ttl=5: t1 {happening}", "no REAP").check()


def test_endless_work_fails() -> None:
    with pytest.raises(Failed, match="somebody still runs"):
        scheduler_case("S=1: A=1/5; drain", "free 1").check(NeverEnds, judged=False)


class NeverEnds(Scheduler):
    """Whatever ends is admitted again."""

    def complete(self, lease: Lease) -> Ended | Stale:
        job = next(run.job for run in self.snapshot().running if run)
        super().complete(lease)
        placed = super().admit(job)
        assert isinstance(placed, Placed)
        return Ended(job.request_id, placed.lease)


@pytest.mark.parametrize(
    ("table", "text", "message"),
    [
        ("scheduler.txt", "X01 | S=1: +1", "1: the line has 2 parts, expected 3"),
        ("scheduler.txt", "\n# remark\nx1 | S=1: +1 | free 1", "3: the ID is 'x1', expected such as X01"),
        ("scheduler.txt", "  | S=1: +1 | free 1", "1: the ID is '', expected a new one"),
        ("scheduler.txt", "X01 | S=1: +1 | free 1\nX01 | S=1: +1 | free 1", "2: the ID is 'X01', expected a new one"),
        ("scheduler.txt", "X01 | S=1: +1 | free 1\n | S=1: | free 1", "2: '' is no step"),
        ("scheduler.txt", "X01 | A=1/5 | free 1", "1: 'A=1/5' is no setting, expected some of S Q R"),
        ("scheduler.txt", "X01 | S=1 Z=2: +1 | free 1", "1: 'Z=2' is no setting"),
        ("scheduler.txt", "X01 | S=one: +1 | free 1", "1: 'S=one' is no setting"),
        ("scheduler.txt", "X01 | S=0: +1 | free 1", "1: slots is 0, expected"),
        ("scheduler.txt", "X01 | S=1: +1; | free 1", "1: '' is no step"),
        (
            "scheduler.txt",
            "X01 | S=1: hop(A) | free 1",
            r"1: 'hop\(A\)' is no step, expected one of: NAME=LEVEL/NUMBER;",
        ),
        ("scheduler.txt", "X01 | S=1: 3 x {+1 | free 1", "1: '3 x {.1' is no step"),
        ("scheduler.txt", "X01 | S=1: 1001 x {+1} | free 1", "1: 1001 rounds, expected at most 1000"),
        ("scheduler.txt", "X01 | S=1: A=1/5 & +1 | free 1", "1: '.1' is no event of an instant"),
        ("scheduler.txt", "X01 | S=1: bad A=oops/5 | free 1", "1: 'oops' is no value"),
        ("scheduler.txt", "X01 | S=1: +1 | free", "1: 'free' is no statement"),
        ("scheduler.txt", "X01 | S=1: +1 | always nice", "1: 'nice' is no statement"),
        ("loop.txt", "Y01 | ttl=-1: t0 end | no REAP", "1: 'ttl=-1' is no setting"),
        ("loop.txt", "Y01 | budget=0: t0 end | no REAP", "1: start_budget is 0, expected"),
        ("loop.txt", "Y01 | probe=0: t0 end | no REAP", "1: probe is 0, expected"),
        ("loop.txt", "Y01 | ttl=5: demand=1 | no REAP", "1: 'demand=1' is no step, expected an instant"),
        ("loop.txt", "Y01 | ttl=5: t5 end; t4 end | no REAP", "1: 't4 end' comes after t5"),
        ("loop.txt", "Y01 | ttl=5: t0 nap | no REAP", "1: 'nap' is no happening"),
        ("loop.txt", "Y01 | ttl=5: t0 end | REAP at t5..4", "1: 't5..4' is no instant"),
        ("loop.txt", "Y01 | ttl=5: t0 end | REAP at t5..t4", "1: 't5..t4' is no instant"),
        ("loop.txt", "Y01 | ttl=5: t0 end | NAP at t5", "1: 'NAP at t5' is no statement"),
        ("probe.txt", "Z01 | sings | warm", "1: 'sings' is no step"),
        ("probe.txt", "Z01 | refuses | hot", "1: 'hot' is no statement"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(tmp_path: Path, table: str, text: str, message: str) -> None:
    path = tmp_path / table
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}:{message}"):
        read(path, TABLES[table])
