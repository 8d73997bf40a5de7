"""What `check` foretells is what the specification has, on random histories and on logs of them with random changes."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

from impl.jobs import Job, by_priority
from model.check import run as check_run
from model.check.log import Log
from model.check.run import Check
from model.check.scheduler import Fast
from model.check.worker import FastWorker, Meant
from model.commands.check import check
from tests.journals import lines_of, record_controller, record_scheduler, write_lines

SEEDS = range(25)
WORDS: dict[str, tuple[Any, ...]] = {
    "outcome": ("placed", "queued", "refused", "ended", "stale", "cancelled", "nothing", "progressed", "restarted"),
    "reason": ("the queue is full", "this request id is still live", "no reason"),
    "do": ("hold", "spawn", "serve", "reap", "stop", "jump"),
    "why": ("late", "early", "noted", "wanted", "idle", "crashed", "starting", "whim"),
    "verdict": ("warm", "cold", "unknown"),
    "port": ("warm", "cold", "unknown"),
    "alarm": ("fire", None),
}


def by_work(job: Job) -> tuple[int, int]:
    return job.priority, -job.work


def record(kind: str, path: Path, random: Random) -> Any:
    if kind == "worker":
        return record_controller(path, random, 60)
    return record_scheduler(path, random, 50, by_work if kind == "policy" else by_priority)


@pytest.fixture
def each_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every line is judged by the specification itself, so that one that is wrongly foretold is a violation."""
    monkeypatch.setattr(check_run, "SELDOM", 0)
    monkeypatch.setattr(Check, "_due", property(lambda _: 0, lambda _self, _due: None), raising=False)


@pytest.mark.usefixtures("each_is_judged")
@pytest.mark.parametrize("kind", ["scheduler", "policy", "worker"])
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_the_shipped_code_does_is_foretold(seed: int, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    machine = record(kind, path, Random(seed))
    log, judge = Log(path), Check()
    for first, batch in log.read():
        assert judge.feed(first, batch) is None
    assert judge.rejudged == log.lines - 2
    known: Any = judge.worker if kind == "worker" else judge.scheduler
    assert known.snapshot() == machine.snapshot()


@pytest.mark.usefixtures("each_is_judged")
@pytest.mark.parametrize("kind", ["scheduler", "policy", "worker"])
def test_what_is_foretold_otherwise_is_wrong_by_the_specification(kind: str, tmp_path: Path) -> None:
    """A changed line that differs from what was foretold has to break something, or AssertionError ends the check."""
    verdicts: Counter[str] = Counter()
    for seed in SEEDS:
        random = Random(1000 + seed)
        record(kind, tmp_path / f"{seed}.jsonl", random)
        lines = lines_of(tmp_path / f"{seed}.jsonl")
        for _ in range(8):
            changed = write_lines(tmp_path / "b.jsonl", altered(lines, random))
            verdicts[check(changed)["verdict"]] += 1
    assert verdicts["refuted"] > 40, verdicts
    assert verdicts["tested"] > 0


def altered(lines: list[dict[str, Any]], random: Random) -> list[dict[str, Any]]:
    """The log with one line removed, doubled, swapped, or with one field changed, removed or added."""
    new = deepcopy(lines)
    at = random.randrange(1, len(new) - 1)
    line = new[at]
    name = random.choice([name for name in line if name != "event"])
    value = line[name]
    match random.choice(("remove", "double", "swap", "delete", "add", *["change"] * 5)):
        case "remove":
            del new[at]
        case "double":
            new.insert(at, line)
        case "swap":
            new[at], new[at - 1] = new[at - 1], new[at]
        case "delete":
            del line[name]
        case "add":
            extra = random.choice(("heir", "preempted", "slot", "run", "heir_slot", "heir_run", "ticket"))
            line[extra] = random.randrange(8)
        case _ if name in WORDS:
            line[name] = random.choice(WORDS[name])
        case _ if isinstance(value, int):
            line[name] = value + random.choice((-3, -1, 1, 2))
        case _ if name == "leases" and value:
            value[0][random.randrange(3)] += 1
    return new


@pytest.mark.usefixtures("each_is_judged")
@pytest.mark.parametrize("name", ["complete", "cancel", "progress"])
def test_a_step_that_is_taken_wrongly_is_caught(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    """The must-fail of the tests above: an executor that forgets a step."""
    random = Random(5)
    record("scheduler", tmp_path / "a.jsonl", random)
    assert check(tmp_path / "a.jsonl")["verdict"] == "tested"
    monkeypatch.setattr(Fast, name, lambda *_: None)
    assert check(tmp_path / "a.jsonl")["verdict"] == "refuted"


@pytest.mark.usefixtures("each_is_judged")
def test_a_command_that_is_foretold_wrongly_is_caught(tmp_path: Path, monkeypatch: Any) -> None:
    record("worker", tmp_path / "a.jsonl", Random(5))
    assert check(tmp_path / "a.jsonl")["verdict"] == "tested"
    monkeypatch.setattr(FastWorker, "_probed", lambda self, _: (Meant("hold", self.generation, alarm=True), {}))
    with pytest.raises(AssertionError, match="the specification allows"):
        check(tmp_path / "a.jsonl")


@pytest.mark.parametrize("seed", SEEDS)
def test_the_heaps_stay_small(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    record_scheduler(path, Random(seed), 2_000)
    judge = Check()
    for first, batch in Log(path).read():
        assert judge.feed(first, batch) is None
        fast = judge.scheduler
        assert fast is not None
        assert len(fast._victims) <= 2 * len(fast.holders) + 65
        assert len(fast._heirs) <= 2 * fast.waiting + 65
