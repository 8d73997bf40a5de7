"""The simulation: its clock, its baseline, its timing against an independent count, and the faults it must not miss."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappush
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from impl.autoscale import Action, decide
from impl.core import Core
from impl.jobs import CHAT, IMAGE, Ended, Job, Lease, Outcome, Placed, Queued, Reason, Refused, Running
from impl.scheduler import Scheduler
from model.__main__ import main
from model.conform.events import Admit, Cancel, Complete, Event, apply
from model.conform.monitor import Monitor
from model.simulate import sample
from model.simulate.baseline import FirstComeFirstServed
from model.simulate.figures import percentile
from model.simulate.simulation import Simulation
from model.simulate.ticks import SECOND, steps_in, ticks_for

ROOT = Path(__file__).parents[1]
CONVERSATIONS = ROOT.parent / "shared" / "traces" / "azure-llm-2023" / "conv.csv"
FULL = Path("/dev/full")


def chat(number: int, arrived: int, work: int) -> Job:
    return Job(f"chat-{number}", CHAT, work, "chat", arrived)


def image(number: int, arrived: int, work: int = 30) -> Job:
    return Job(f"image-{number}", IMAGE, work, "image", arrived)


def simulated(jobs: Sequence[Job], meet: Callable[[Event], Outcome], slots: int = 1, **settings: Any) -> Simulation:
    """The jobs replayed at 1,200 tokens/s or 3 steps/s; the worker starts at once and stays, unless said otherwise."""
    usual: dict[str, Any] = {"rates": {"chat": 1_200, "image": 3}, "ttl": 100, "cold_start": 0, "decide": decide}
    simulation = Simulation(slots, meet=meet, **usual | settings)
    simulation.run(jobs)
    return simulation


def shipped(slots: int = 1, **size: Any) -> Callable[[Event], Outcome]:
    return partial(apply, Scheduler(slots, **size))


def seconds(simulation: Simulation) -> dict[object, tuple[float | None, float | None]]:
    """When each job did its first work, and when it ended."""

    def of(at: int | None) -> float | None:
        return None if at is None else at / SECOND

    return {name: (of(story.started), of(story.ended)) for name, story in simulation.stories.items()}


# The clock


def test_work_takes_whole_ticks_rounded_up() -> None:
    assert ticks_for(30, 3) == 10 * SECOND
    assert ticks_for(1, 3) == 333_333_334
    assert ticks_for(1, 1_200) == 833_334
    assert ticks_for(1, 7 * SECOND) == 1


def test_a_run_never_has_all_its_steps_before_its_end() -> None:
    random = Random(1)
    for _ in range(2_000):
        steps, rate = random.randint(1, 10**4), random.choice([1, 3, 7, 1_200, 10**9, random.randint(1, 2 * 10**9)])
        end = ticks_for(steps, rate)
        assert steps_in(end - 1, rate) < steps <= steps_in(end, rate)


def test_percentiles_are_by_nearest_rank() -> None:
    ticks = [SECOND * second for second in (15, 20, 35, 40, 50)]
    assert [percentile(ticks[::-1], q) for q in (5, 30, 40, 50, 95, 100)] == [15, 20, 20, 35, 50, 50]
    assert percentile([], 50) is None


# The worker and the slots, by hand


def test_a_preempted_render_resumes_with_the_steps_left_and_does_the_cut_one_again() -> None:
    jobs = [image(1, 0), chat(1, 4_100_000_000, 1_200)]
    simulation = simulated(jobs, shipped())
    assert seconds(simulation) == {"image-1": (0, 11.1), "chat-1": (4.1, 5.1)}
    assert simulation.redone == SECOND // 10
    assert simulation.stories["image-1"].preemptions == 1


def test_an_exact_resume_does_nothing_again() -> None:
    jobs = [image(1, 0), chat(1, 4_100_000_000, 1_200), chat(2, 7_150_000_000, 1_200)]
    simulation = simulated(jobs, shipped(), exact=True)
    assert seconds(simulation) == {"image-1": (0, 12), "chat-1": (4.1, 5.1), "chat-2": (7.15, 8.15)}
    assert simulation.redone == 0


def test_no_work_is_done_before_the_worker_is_warm() -> None:
    jobs = [image(1, SECOND // 2), chat(1, SECOND, 600)]
    simulation = simulated(jobs, shipped(), cold_start=5, ttl=2)
    assert seconds(simulation) == {"image-1": (6, 16), "chat-1": (5.5, 6)}
    assert (simulation.redone, simulation.starts, simulation.reaps) == (0, 1, 1)
    assert simulation.now == 18 * SECOND
    assert simulation.resident == 17_500_000_000


def test_the_policy_is_asked_each_second_and_when_demand_begins_but_never_during_a_start() -> None:
    asked = []

    def asking(warm: int, demand: int, idle: int, ttl: int) -> Action:
        asked.append((simulation.now / SECOND, warm, demand, idle, decide(warm, demand, idle, ttl).name))
        return decide(warm, demand, idle, ttl)

    simulation = Simulation(1, {"chat": 1}, ttl=2, cold_start=3, meet=shipped(), decide=asking)
    simulation.run([chat(1, 1_500_000_000, 1)])
    assert asked == [
        (0, 0, 0, 0, "HOLD"),
        (1, 0, 0, 1, "HOLD"),
        (1.5, 0, 1, 0, "SPAWN"),
        (5, 1, 1, 0, "SERVE"),
        (6, 1, 0, 0, "HOLD"),
        (7, 1, 0, 1, "HOLD"),
        (8, 1, 0, 2, "REAP"),
    ]
    assert simulation.resident == 6_500_000_000


def test_at_one_instant_completions_come_before_arrivals() -> None:
    simulation = simulated([image(1, 0), chat(1, 10 * SECOND, 1_200)], shipped())
    assert seconds(simulation) == {"image-1": (0, 10), "chat-1": (10, 11)}
    assert simulation.stories["image-1"].preemptions == 0


def test_a_scheduler_that_loses_a_job_leaves_it_unfinished() -> None:
    lost = image(2, 0)
    baseline = FirstComeFirstServed(2, 0)
    simulation = simulated(
        [image(1, 0), lost], lambda event: Queued(0) if event == Admit(lost) else baseline.meet(event)
    )
    assert simulation.live == 1
    assert (simulation.stories["image-1"].ends, simulation.stories["image-2"].ends) == (1, 0)


# First come, first served, by hand


def test_the_baseline_makes_chat_wait_behind_the_render() -> None:
    jobs = [image(1, 0), chat(1, SECOND, 600), chat(2, 2 * SECOND, 600), image(2, 11 * SECOND), chat(3, 12 * SECOND, 6)]
    simulation = simulated(jobs, FirstComeFirstServed(1, 1).meet, cold_start=5, ttl=3)
    assert seconds(simulation) == {
        "image-1": (5, 15),
        "chat-1": (15, 15.5),
        "chat-2": (None, None),
        "image-2": (None, None),
        "chat-3": (None, None),
    }
    assert [story.admitted for story in simulation.stories.values()] == [True, True, False, False, False]
    assert simulation.now == 19 * SECOND


def test_the_baseline_fills_the_lowest_free_slot_and_keeps_the_order() -> None:
    jobs = [image(1, 0, 9), image(2, 0, 3), chat(1, 0, 1_200), image(3, 0, 3), chat(2, 6 * SECOND, 1_200)]
    simulation = simulated(jobs, FirstComeFirstServed(2, 9).meet, slots=2)
    assert seconds(simulation) == {
        "image-1": (0, 3),
        "image-2": (0, 1),
        "chat-1": (1, 2),
        "image-3": (2, 3),
        "chat-2": (6, 7),
    }


def test_the_baseline_answers_as_a_scheduler_does() -> None:
    baseline = FirstComeFirstServed(1, 1)
    first, second, third = image(1, 0), chat(1, 0, 1), chat(2, 0, 1)
    assert [baseline.meet(Admit(job)) for job in (first, second, third)] == [
        Placed(Lease(0, "image-1", 0)),
        Queued(0),
        Refused(Reason.FULL),
    ]
    assert baseline.meet(Complete(Lease(0, "image-1", 0))) == Ended("image-1", Lease(0, "chat-1", 1))
    assert baseline.meet(Complete(Lease(0, "chat-1", 1))) == Ended("chat-1")
    with pytest.raises(TypeError, match="not among the events of the baseline"):
        baseline.meet(Cancel("chat-1"))


@pytest.mark.parametrize("seed", range(20))
def test_the_baseline_is_the_shipped_scheduler_when_all_are_equally_urgent(seed: int) -> None:
    jobs, slots, capacity, settings = arrivals(Random(seed), gaps=SECOND)
    equal = partial(apply, Scheduler(slots, capacity=capacity, urgency=lambda _: 0))
    expected = simulated(jobs, equal, slots, **settings)
    found = simulated(jobs, FirstComeFirstServed(slots, capacity).meet, slots, **settings)
    assert found.stories == expected.stories
    assert (found.now, found.resident) == (expected.now, expected.resident)


# Against an independent count, second by second


def arrivals(random: Random, gaps: int = 1) -> tuple[list[Job], int, int, dict[str, Any]]:
    """Jobs at whole seconds (or between them, with larger `gaps`), slots, capacity and the worker's settings."""
    at = 0
    jobs = []
    for number in range(random.randint(1, 14)):
        at += random.choice([0, 0, 1, 2, random.randint(0, 9)]) * SECOND + random.randrange(gaps)
        jobs.append(random.choice([chat, image])(number, at, random.randint(1, 6)))
    settings = {"rates": {"chat": 1, "image": 1}, "ttl": random.randint(0, 4), "cold_start": random.randint(0, 3)}
    return jobs, random.randint(1, 3), random.randint(0, 4), settings


class Seat:
    """One job of the count: what it has left, and when it began and ended."""

    def __init__(self, job: Job) -> None:
        self.job, self.left = job, job.work
        self.began: int | None = None
        self.ended: int | None = None
        self.refused = False
        self.preemptions = 0


def counted(
    jobs: Sequence[Job], seats: list[Seat | None], capacity: int, reserve: int | None, settings: dict[str, Any]
) -> tuple[list[Seat], int, int]:
    """What should become of the jobs in the empty `seats`, all at whole seconds and one step a second; how long the
    worker was up, and when it was cold for good. Nobody is preempted when `reserve` is None."""
    preempts = reserve is not None
    pending = [Seat(job) for job in jobs]
    everyone = list(pending)
    queue: list[Seat] = []
    ready: int | None = None  # the second from which the worker is warm; None while it is cold
    up = idle_since = 0
    for now in count():
        was_live = any(seats)
        if ready == now:
            idle_since = now
        for slot, seat in enumerate(seats):
            if seat is not None and seat.left == 0:
                seat.ended = now
                best = max((q.job.priority if preempts else 0 for q in queue), default=0)
                heir = next((q for q in queue if not preempts or q.job.priority == best), None)
                seats[slot] = heir
                if heir is not None:
                    queue.remove(heir)
        while pending and pending[0].job.arrived == now * SECOND:
            new = pending.pop(0)
            lowest = min((s.job.priority for s in seats if s is not None), default=0)
            if None in seats:
                seats[seats.index(None)] = new
            elif preempts and lowest < new.job.priority and len(queue) < capacity + (reserve or 0):
                slot, victim = next((i, s) for i, s in enumerate(seats) if s is not None and s.job.priority == lowest)
                victim.preemptions += 1
                queue.append(victim)
                seats[slot] = new
            elif not (preempts and lowest < new.job.priority) and len(queue) < capacity:
                queue.append(new)
            else:
                new.refused = True
        live = any(seats)
        if was_live or live:
            idle_since = now
        if ready is None and live:
            ready = now + settings["cold_start"]
        elif ready is not None and ready <= now and not live and now - idle_since >= settings["ttl"]:
            ready = None
        if not (pending or live) and ready is None:
            return everyone, up, now
        up += ready is not None
        for seat in seats:
            if seat is not None and ready is not None and ready <= now:
                seat.began = now if seat.began is None else seat.began
                seat.left -= 1
    raise AssertionError


@pytest.mark.parametrize("preempts", [True, False])
@pytest.mark.parametrize("seeds", [range(start, start + 100) for start in range(0, 400, 100)], ids=str)
def test_the_timing_agrees_with_a_count_second_by_second(seeds: range, preempts: bool) -> None:
    preemptions = refusals = 0
    for seed in seeds:
        random = Random(seed)
        jobs, slots, capacity, settings = arrivals(random)
        reserve = random.randint(0, 3)
        meet = shipped(slots, capacity=capacity, reserve=reserve)
        simulation = simulated(
            jobs, meet if preempts else FirstComeFirstServed(slots, capacity).meet, slots, **settings
        )
        seats, up, end = counted(jobs, [None] * slots, capacity, reserve if preempts else None, settings)
        for seat in seats:
            story = simulation.stories[seat.job.request_id]
            assert story.admitted is not seat.refused, seed
            assert story.preemptions == seat.preemptions, seed
            assert story.ended == (None if seat.ended is None else seat.ended * SECOND), seed
            if seat.job.modality == "chat":
                assert story.started == (None if seat.began is None else seat.began * SECOND), seed
            preemptions += seat.preemptions
            refusals += seat.refused
        assert (simulation.resident, simulation.now) == (up * SECOND, end * SECOND), seed
        assert simulation.live == 0
    assert refusals > 0
    assert (preemptions > 0) is preempts


# The command


def command(*words: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    """`python -m model WORDS`, as a process."""
    environment = {**os.environ, "PYTHONWARNINGS": "error", "PYTHONUNBUFFERED": "", **settings.pop("env", {})}
    line = [sys.executable, "-m", "model", *words]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | settings
    return subprocess.run(line, cwd=ROOT, env=environment, text=True, timeout=120, check=False, **streams)


def answer(*words: str, **settings: Any) -> dict[str, Any]:
    """What `simulate --json` found, but for the seconds it took."""
    ended = command("simulate", "--json", *words, **settings)
    assert (ended.returncode, ended.stderr) == (0, "")
    found: dict[str, Any] = json.loads(ended.stdout)
    assert found["judged"].pop("seconds") >= 0
    return found


def test_the_bundled_sample_is_what_its_generator_makes() -> None:
    assert (ROOT / "examples" / "sample.csv").read_bytes() == sample.text().encode()


def test_the_bundled_sample_shows_what_the_policies_do() -> None:
    found = answer()
    ours, theirs = found["shipped"], found["first_come_first_served"]
    assert found["violation"] is None
    assert found["source"] == {"chat": "bundled sample", "image": "random", "seed": 0}
    assert ours["chat"]["wait_sec"]["p95"] * 3 < theirs["chat"]["wait_sec"]["p95"]
    assert ours["chat"]["refused"] > 0
    assert ours["preemptions"] > 0
    assert theirs["preemptions"] == 0
    for figures in (ours, theirs):
        assert figures["unfinished"] == 0
        assert figures["worker"]["starts"] == figures["worker"]["reaps"] >= 1
        assert figures["chat"]["arrived"] == found["offered"]["chat"]["jobs"] == 500
    actions = found["judged"]["as"]
    assert {"place", "preempt", "enqueue", "refuse_the_full_queue", "work", "finish_to_idle"} <= set(actions)
    assert {"finish_with_an_heir", "hold", "spawn", "serve", "reap"} <= set(actions)
    assert sum(actions.values()) == found["judged"]["events"]


def test_a_short_ttl_saves_vram_and_costs_starts() -> None:
    worker = answer("--ttl", "3")["shipped"]["worker"]
    assert worker["starts"] > 1
    assert worker["saved_permil"] == (worker["window_sec"] - worker["vram_sec"]) * 1000 // worker["window_sec"] > 0


def test_steps_done_again_are_counted() -> None:
    exact, step = (answer("--resume", mode)["shipped"] for mode in ("exact", "step"))
    assert exact["redone_sec"] == 0 < step["redone_sec"]
    assert exact["image"]["turnaround_sec"]["max"] < step["image"]["turnaround_sec"]["max"]


def test_the_same_seed_gives_the_same_figures_and_another_gives_others() -> None:
    one, again = (answer("--seed", "5", env={"PYTHONHASHSEED": seed}) for seed in ("1", "2"))
    other = answer("--seed", "6")
    assert one == again
    assert one["source"].pop("seed") != other["source"].pop("seed")
    assert one != other


def test_a_render_trace_gives_the_renders(tmp_path: Path) -> None:
    trace = tmp_path / "renders.csv"
    trace.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2025-01-01 09:00:00,0,6\n2025-01-01 09:00:30,0,60\n")
    image = answer("--image", str(trace))
    assert image["source"]["image"] == str(trace)
    assert image["offered"]["image"]["jobs"] == image["shipped"]["image"]["arrived"] == 2


def test_the_text_shows_refusals_beside_waits_and_goes_to_one_stream() -> None:
    ended = command("simulate", "--seed", "7")
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = ended.stdout.splitlines()
    assert max(map(len, lines)) <= 120
    rows = [line.partition("  ")[0] for line in lines]
    place = rows.index("chat wait p50")
    assert rows[place : place + 5] == [*(f"chat wait {name}" for name in ("p50", "p95", "p99", "max")), "chat refused"]
    assert "seed 7" in ended.stdout
    assert "offered load" in ended.stdout


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_sees_a_progress_bar_and_a_pipe_only_the_result(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2025-01-01 09:00:00,0,6\n")
    ours, theirs = os.openpty()
    try:
        ended = command("simulate", "--json", "--chat", str(tmp_path / "one.csv"), stderr=theirs, env={"TERM": "xterm"})
        assert b"judging" in os.read(ours, 4_096)
    finally:
        os.close(ours)
        os.close(theirs)
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["violation"] is None


@pytest.mark.skipif(not CONVERSATIONS.exists(), reason="the public conversation trace is not beside the checkout")
def test_the_public_conversation_trace_shows_no_violation(tmp_path: Path) -> None:
    with CONVERSATIONS.open(encoding="utf-8") as whole:
        (tmp_path / "start.csv").write_text("".join(islice(whole, 2_001)), encoding="utf-8")
    found = answer("--chat", str(tmp_path / "start.csv"))
    ours, theirs = found["shipped"], found["first_come_first_served"]
    assert found["violation"] is None
    assert found["offered"]["chat"]["jobs"] == 2_000
    assert ours["chat"]["wait_sec"]["p95"] * 3 < theirs["chat"]["wait_sec"]["p95"]
    assert ours["unfinished"] == theirs["unfinished"] == 0


USAGE = [
    *(("--slots", value) for value in ("0", "-1", "1.5", "nan", "x", "", "65537", "1" * 5000, "٢")),
    *(("--capacity", value) for value in ("-1", "inf", "1e3")),
    *(("--reserve", value) for value in ("-1", "None")),
    *(("--ttl", value) for value in ("-1", "nan", "0.5", "2678401")),
    *(("--cold-start", value) for value in ("-1", "nan", "True")),
    *(("--tokens-per-second", value) for value in ("0", "-1200", "nan", "1e3")),
    *(("--seed", value) for value in ("-1", "1.0", str(2**63))),
    *(("--resume", "never"), ("--slots",), ("--slot", "2"), ("--colour", "red"), ("surplus",)),
]


@pytest.mark.parametrize("words", USAGE, ids=lambda words: " ".join(words)[:30])
def test_a_bad_option_is_a_usage_error(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", *words]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert words[0] in said.err
    assert len(said.err) < 1_500


@pytest.mark.parametrize("words", [(), ("simulat",), ("--json",), ("simulate", "--ttl", "-1"), ("Simulate",)], ids=str)
def test_a_wrong_command_line_exits_with_2(words: tuple[str, ...]) -> None:
    ended = command(*words)
    assert ended.returncode == 2
    assert not ended.stdout
    assert ended.stderr.startswith("usage: python -m model")


@pytest.mark.parametrize("words", [("--help",), ("simulate", "--help")])
def test_help_exits_with_0(words: tuple[str, ...]) -> None:
    ended = command(*words)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "70 internal" in " ".join(ended.stdout.split())


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [("simulate",), ("simulate", "--json"), ("simulate", "--help"), ("--help",)], ids=str)
def test_a_full_output_exits_with_70(words: tuple[str, ...], unbuffered: str) -> None:
    with FULL.open("w") as full:
        ended = command(*words, stdout=full, env={"PYTHONUNBUFFERED": unbuffered})
    assert ended.returncode == 70
    assert "no verdict" in ended.stderr


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
def test_a_full_error_stream_changes_no_exit_code() -> None:
    with FULL.open("w") as full:
        assert command("simulate", "--slots", "0", stderr=full).returncode == 2
        assert command("simulate", stdout=full, stderr=full).returncode == 70


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("words", ["simulate", "simulate --json", "--help"])
def test_a_closed_output_exits_with_70(words: str) -> None:
    line = ["sh", "-c", f'exec "$0" -m model {words} >&-', sys.executable]
    ended = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 70
    assert "standard output is closed" in ended.stderr


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (RuntimeError, 70), (MemoryError, 70)])
def test_what_no_command_expects_is_no_verdict(
    error: type[BaseException], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("model.commands.simulate.load", fail)
    assert main(["simulate"]) == code
    assert not capsys.readouterr().out


# Planted faults


class LosesTheVictim(Core):
    """As the original does when its queue is full."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        if isinstance(outcome, Placed) and outcome.preempted:
            del self._queue[outcome.preempted.request_id]
        return outcome


class LosesTheProgress(Core):
    """A preempted job starts all over."""

    def _enqueue(self, job: Job, urgency: Any, remaining: int) -> int:
        return super()._enqueue(job, urgency, job.work)


class PreemptsEquals(Core):
    """The test is `<=` where it should be `<`."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        if self._free or self._least_urgent_running().urgency != urgency:
            return super().admit(job, urgency)
        victim = self._least_urgent_running()
        self._leave(victim)
        self._enqueue(victim.job, victim.urgency, victim.remaining)
        return Placed(self._start(victim.slot, job, urgency, job.work), victim.job)


class TakesTheLatestHeir(Core):
    """Equals come out last in, first out."""

    def _vacate(self, run: Running) -> Lease | None:
        self._leave(run)
        if not self._queue:
            heappush(self._free, run.slot)
            return None
        heir = max(self._queue.values(), key=lambda entry: (entry.urgency, entry.ticket))
        del self._queue[heir.job.request_id]
        return self._start(run.slot, heir.job, heir.urgency, heir.remaining)


class HasNoBound(Core):
    """Every newcomer finds a place in the queue."""

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = super().admit(job, urgency)
        return Queued(self._enqueue(job, urgency, job.work)) if isinstance(outcome, Refused) else outcome


class IdlesWithAQueue(Core):
    """A freed slot waits for the next arrival."""

    def _vacate(self, run: Running) -> None:
        self._leave(run)
        heappush(self._free, run.slot)


PLANTED = [
    (LosesTheVictim, 3, ""),
    (LosesTheProgress, 4, "no_work_is_lost"),
    (PreemptsEquals, 3, "only_strictly_less_urgent_work_is_preempted"),
    (TakesTheLatestHeir, 5, "the_earliest_of_the_most_urgent_inherits"),
    (IdlesWithAQueue, 4, "no_slot_idles_while_a_job_waits"),
]
"""The fault, the steps of the shortest run that shows it, and the claim it breaks; the first breaks several."""


def violation_of(
    core: type[Core], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> Any:
    """What `simulate` says of a scheduler with this core, as JSON and in words."""
    monkeypatch.setattr(Scheduler, "core", core)
    assert main(["simulate", "--json", *words]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["shipped"] is found["first_come_first_served"] is None
    assert main(["simulate", *words]) == 1
    text = capsys.readouterr().out
    violation = found["violation"]
    assert f"VIOLATION at event {violation['event']}: {violation['property']}" in text
    assert violation["sentence"] in text
    assert text.endswith(f"{len(violation['steps'])}. {violation['steps'][-1]}\n")
    return violation


@pytest.mark.parametrize(("core", "length", "claim"), PLANTED)
def test_a_planted_fault_is_found_and_shown_by_the_shortest_run(
    core: type[Core], length: int, claim: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    violation = violation_of(core, monkeypatch, capsys)
    assert violation["minimal"]
    assert violation["property"] == (claim or violation["property"])
    assert len(violation["steps"]) == length
    assert violation["event"] >= length
    assert all(step.split()[0] in ("admit", "complete", "progress") for step in violation["steps"])


def test_a_queue_without_a_bound_is_shown_by_no_more_jobs_than_it_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    violation = violation_of(HasNoBound, monkeypatch, capsys, "--capacity", "9")
    assert violation["minimal"]
    assert len(violation["steps"]) == 2 + 9 + 1


@pytest.mark.parametrize(
    ("fault", "claim"),
    [
        (lambda warm, demand, idle, ttl: decide(warm, demand * (1 - warm), idle + ttl, ttl), "never_reap_with_demand"),
        (lambda warm, demand, idle, ttl: decide(warm, demand, idle + 1, ttl), "never_reap_before_the_ttl"),
        (lambda warm, demand, idle, ttl: decide(warm * 0, demand, idle, ttl), "never_spawn_while_warm"),
    ],
)
def test_a_planted_fault_of_the_policy_is_shown_by_one_decision(
    fault: Callable[[int, int, int, int], Action],
    claim: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("model.conform.watch.decide", fault)
    assert main(["simulate", "--json", "--ttl", "3"]) == 1
    violation = json.loads(capsys.readouterr().out)["violation"]
    assert violation["property"] == claim
    assert violation["minimal"]
    assert [step.split()[0] for step in violation["steps"]] == ["decide"]


def test_a_job_that_never_ends_is_found_even_by_a_blind_monitor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Monitor, "judge", lambda *_: "unseen")
    violation = violation_of(LosesTheVictim, monkeypatch, capsys)
    assert violation["property"] == "the_system_drains"
    assert not violation["minimal"]
