"""Exploration of the controller, alone and with the scheduler: counts, faults, and what happens sooner or later."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest

from impl.core import Core
from impl.jobs import Job, Restarted
from impl.probe import Verdict
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Command, Do, Phase, Settings, Snapshot, Why
from model.__main__ import main
from model.conform.monitor import Violation
from model.conform.worker_events import Adopted, Event, Exited, Gone, JobEnded, Probed, Progressed, Tick, apply
from model.conform.worker_monitor import CROWD
from model.conform.worker_watch import Watch
from model.explore import loops
from model.explore.components import components
from model.explore.joined import Driver, Joined
from model.explore.loops import Loop, retold
from model.explore.moments import Moment, framed, moment_of
from model.explore.pairs import Joint, Pair, Pairs
from model.explore.pairs import retold as retold_joined
from model.explore.reach import Reached, reach
from model.explore.shapes import Entry, Setting, Shape
from model.explore.worker_liveness import stranded, unreaped, unserved
from model.history.spoken import spoken
from model.planted.catalogue import BUGS
from spec.worker import ACTIONS

SMALL = Settings(ttl=1, start_budget=1, patience=1, alarm_after=1, longest_back_off=1)
TWICE = replace(SMALL, patience=2)
KINDS = (Job("", 1, 2), Job("", 10, 2))
BESIDE = ("admit", "complete", "cancel", "progress", "restart", "stale")


@cache
def small() -> tuple[Loop, Reached[Moment, Event]]:
    loop = Loop(SMALL)
    return loop, reach(loop.first, loop.follow)


# Counts


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main(["explore", "--json", *arguments])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of the small instance are judged already."""
    loop, _ = small()
    monkeypatch.setattr("model.commands.explore_loop.Loop", lambda settings: loop if settings == SMALL else None)


@pytest.mark.usefixtures("judged")
def test_the_counts_of_the_controller(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--machine", "worker"]
    for name, value in ("start-budget", 1), ("patience", 1), ("alarm-after", 1), ("hang-budget", 0):
        arguments += [f"--{name}", str(value)]
    arguments += ["--longest-back-off", "1"]
    code, record = told(capsys, *arguments, "--liveness")
    assert (code, record["verdict"], record["exhaustive"]) == (0, "explored", True)
    assert (record["distinct_states"], record["transitions"], record["depth"]) == (354, 9_528, 11)
    assert record["judged_steps"] == record["transitions"]
    assert {action.name for action in ACTIONS} - set(record["actions_seen"]) == {"renew", "count_a_refusal"}
    assert set(record["liveness"].values()) == {"explored", 0, None}
    assert main(["explore", *arguments]) == 0
    assert "354 states, 9528 transitions, depth 11; all of them" in capsys.readouterr().out


@pytest.mark.usefixtures("judged")
def test_the_counts_of_both(capsys: pytest.CaptureFixture[str]) -> None:
    code, record = told(capsys, "--machine", "joined")
    assert (code, record["verdict"], record["exhaustive"]) == (0, "explored", True)
    assert (record["distinct_states"], record["transitions"], record["depth"]) == (9_419, 260_055, 19)
    assert (record["moments"], record["shapes"]) == (354, 22)


World = tuple[Snapshot, bool, bool, int, int]
"""A snapshot whose clocks reach back 2 s, whether group and process live, how many jobs wait and are in flight."""


def test_the_moments_are_those_of_a_search_that_knows_of_no_frame() -> None:
    """Every clock of every phase is kept, every start told from the last but one, and time passes in other steps;
    nothing is judged."""
    first: World = (Controller(SMALL, 0).snapshot(), False, False, 0, 0)
    known, waiting = {first}, [first]
    while waiting:
        world = waiting.pop()
        for event in happenings(world):
            after = step(world, event)
            if after not in known:
                known.add(after)
                waiting.append(after)
    _, seen = small()
    assert {Moment(framed(world[0]), *world[1:]) for world in known} == set(seen.parents)
    assert len(known) > 3 * len(seen.parents)


def happenings(world: World) -> Iterator[Event]:
    snapshot, alive, *_ = world
    yield from (Tick(gap, demand) for gap in (0, 2) for demand in (0, 1, 2, None))
    for generation in {snapshot.generation, max(0, snapshot.generation - 1)}:
        yield from (Probed(verdict, generation) for verdict in Verdict)
        yield from (Gone(generation, port) for port in Verdict)
        yield from (kind(generation) for kind in (Exited, Progressed, JobEnded))
    for living in {alive, False}:
        yield Adopted(snapshot.generation, living, snapshot.phase is Phase.STOPPING)


def step(world: World, event: Event) -> World:
    """What happens, with as many jobs as a checker would have to think of."""
    snapshot, alive, runs, waiting, flying = world
    if isinstance(event, Adopted):
        found = {"living": event.living, "stopping": event.stopping}
        controller = Controller.adopt(SMALL, snapshot.now, event.generation, **found)
        command = None
    else:
        controller = Controller(SMALL, 0)
        controller._s = snapshot
        command = apply(controller, event)
    last = not isinstance(event, Tick) and event.generation == snapshot.generation
    gone = last and isinstance(event, Gone)
    dead = (isinstance(event, Adopted) and not event.living) or gone
    do, why = (command.do, command.why) if command else (None, None)
    alive = do is Do.SPAWN or (alive and not dead)
    runs = do is Do.SPAWN or (runs and not dead and not (last and isinstance(event, Exited)))
    if isinstance(event, Tick) and event.demand is not None:
        over = max(0, waiting + flying - event.demand)
        waiting += max(0, min(CROWD, event.demand) - waiting - flying)
        waiting, flying = waiting - min(over, waiting), flying - max(0, over - waiting)
    if isinstance(event, Progressed | JobEnded) and why is Why.NOTED:
        waiting, flying = (waiting, flying) if flying else (max(0, waiting - 1), 1)
        flying -= isinstance(event, JobEnded)
    if do is Do.SERVE:
        waiting, flying = 0, waiting + flying
    elif do in (Do.STOP, Do.REAP, None):
        waiting, flying = waiting + flying, 0
    return rebased(controller.snapshot()), alive, runs, waiting, flying


def rebased(snapshot: Snapshot) -> Snapshot:
    """The same at instant 0."""
    since, quiet = (max(-2, clock - snapshot.now) for clock in (snapshot.since, snapshot.quiet))
    generation, blind = min(snapshot.generation, 2), min(snapshot.blind, 2)
    return replace(snapshot, now=0, since=since, quiet=quiet, generation=generation, blind=blind)


def test_a_second_trial_elsewhere_notices_what_looks_at_more_than_it_may() -> None:
    for make in (LooksAtTheClock, CountsItsStarts, RemembersTheIdle):
        loop = Loop(SMALL, make)
        found = reach(loop.first, loop.follow, until="conformance").found["conformance"]
        assert "nothing differs that may matter" in found.violation.detail, make


class LooksAtTheClock(Controller):
    """Rests after the first hundred seconds of its clock."""

    def tick(self, now: int, demand: int | None) -> Command:
        return self._hold(Why.UNWANTED) if now > 100 and demand else super().tick(now, demand)


class CountsItsStarts(Controller):
    """Gives up after five starts."""

    def _doubt(self, demand: int | None) -> Why | None:
        return super()._doubt(demand) or (Why.BACKING_OFF if self._s.generation >= 5 else None)


class RemembersTheIdle(Controller):
    """Takes a touched clock for one that runs, once it is long enough."""

    def _pass_time(self, now: int, demand: int | None) -> None:
        since, touched = self._s.since, self._s.touched
        super()._pass_time(now, demand)
        if touched and self._s.phase is Phase.WARM and now - since >= 7:
            self._set(since=since)


# Planted bugs

SHORTEST = {
    "SpawnsWhileStarting": 3,
    "ColdAtTheExit": 3,
    "AsksForADemandOfOne": 5,
    "TakesUnknownForNone": 5,
    "DropsTheRunningJob": 5,
    "CountsTimeOuts": 4,
    "Revives": 4,
    "AdoptsAStranger": 1,
    "NeverBacksOff": 5,
    "ForgivesTheLost": 4,
    "StartsOver": 4,
    "TakesLateReports": 1,
    "BelievesEarlyReports": 3,
    "Silent": 1,
}
"""The events of a shortest history to each."""


@pytest.mark.parametrize("name", SHORTEST)
def test_a_planted_bug_is_found_by_name_and_by_a_shortest_history(name: str) -> None:
    make, claim = BUGS[name].code.controller, BUGS[name].property
    loop = Loop(TWICE if name in ("CountsTimeOuts", "StartsOver") else SMALL, make)
    seen = reach(loop.first, loop.follow, until=claim)
    history = retold(loop, seen.found[claim].history)
    assert (seen.verdict, len(history)) == ("refuted", SHORTEST[name])
    assert breaks(make, loop.settings, history, claim)
    for place in range(len(history) - 1):
        assert not breaks(make, loop.settings, history[:place] + history[place + 1 :], claim)


def breaks(make: type[Controller], settings: Settings, history: list[Event], claim: str) -> bool:
    watch = Watch(settings, make=make)
    try:
        for event in history:
            watch.meet(event)
    except Violation as violation:
        return claim in violation.claims
    except ValueError:  # of a generation that is not there any more
        return False
    return False


def test_a_controller_that_raises_is_found() -> None:
    class Raises(Controller):
        def exited(self, generation: int) -> Command:
            raise KeyError(generation)

    loop = Loop(SMALL, Raises)
    found = reach(loop.first, loop.follow, until="conformance").found["conformance"]
    assert "KeyError" in found.violation.detail
    assert retold(loop, found.history) == [Exited(0)]


def test_a_controller_that_begins_wrongly_is_found() -> None:
    class BacksOffAtOnce(Controller):
        def __init__(self, settings: Settings, now: int) -> None:
            super().__init__(settings, now)
            self._set(back_off=99)

    loop = Loop(SMALL, BacksOffAtOnce)
    seen = reach(loop.first, loop.follow, until="the_back_off_stays_within_its_bounds")
    assert seen.found["the_back_off_stays_within_its_bounds"].violation.detail == "Broken at the start."
    assert retold(loop, seen.found["the_back_off_stays_within_its_bounds"].history) == []


# Sooner or later


class Unjudged(loops._Monitor):
    """Lets everything pass, so that what is seen is seen by the search alone."""

    def judge(self, event: Event, command: Command | None, after: Snapshot) -> str:
        self._make_true(event, command)
        self.state = self._found(event, command, after)
        return "anything"


class NeverLeavesStopping(Controller):
    """What is confirmed is not believed."""

    def gone(self, generation: int, port: Verdict = Verdict.COLD) -> Command:
        before = self._s
        command = super().gone(generation, port)
        if before.phase is Phase.STOPPING:
            self._s = before
        return command


class BacksOffAndStaysOff(Controller):
    """A back-off has no end."""

    def _doubt(self, demand: int | None) -> Why | None:
        return super()._doubt(demand) or (Why.BACKING_OFF if self._s.phase is Phase.COLD and self._s.back_off else None)


class StartsForEver(Controller):
    """The second worker is never taken for ready."""

    def probed(self, verdict: Verdict, generation: int) -> Command:
        late = verdict is Verdict.WARM and self._s.phase is Phase.STARTING and self._s.back_off
        return self._hold(Why.NOTED) if late else super().probed(verdict, generation)


class KeepsTheUseful(Controller):
    """Whoever did a job stays."""

    def _doubt(self, demand: int | None) -> Why | None:
        return super()._doubt(demand) or (Why.UNWANTED if self._s.proven and demand == 0 else None)


@pytest.mark.parametrize(
    ("make", "never_serves", "waits", "never_reaps"),
    [
        (NeverLeavesStopping, True, True, False),
        (BacksOffAndStaysOff, True, True, False),
        (StartsForEver, True, False, False),  # each start fails, so that none waits for ever
        (KeepsTheUseful, False, False, True),
    ],
)
def test_what_never_happens_is_seen(
    make: type[Controller], never_serves: bool, waits: bool, never_reaps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "_Monitor", Unjudged)
    loop = Loop(SMALL, make)
    seen = reach(loop.first, loop.follow)
    lasso = unserved(loop, seen)
    assert (bool(stranded(loop, seen)), bool(unreaped(loop, seen))) == (never_serves, never_reaps)
    assert (lasso is not None) is waits
    if lasso is not None:
        assert any(isinstance(event, Tick) and event.now > 0 for event in lasso.cycle)
        assert goes_round(loop, seen, lasso.way, lasso.cycle)


def goes_round(loop: Loop, seen: Reached[Moment, Event], way: tuple[Event, ...], cycle: tuple[Event, ...]) -> bool:
    """The way leads to a moment, and the cycle from there to it again."""
    places = []
    here = loop.first
    for event in (*way, *cycle):
        places.append(here)
        after = next(turn.after for turn in loop.turns(here) if turn.event == event)
        assert isinstance(after, Moment)
        here = after
    return here == places[len(way)]


def test_the_components_of_a_graph() -> None:
    graph = {1: [2], 2: [3, 4], 3: [1], 4: [5], 5: [4, 6], 6: [], 7: [7, 1]}
    found = {frozenset(each) for each in components(graph, graph.__getitem__)}
    assert found == {frozenset(each) for each in ((1, 2, 3), (4, 5), (6,), (7,))}


# Joined with the scheduler


def pairs(driver: Driver | None = None, make: type[Controller] = Controller, core: type[Core] = Core) -> Pairs:
    scheduler = type("Planted", (Scheduler,), {"core": core})
    setting = Setting(1, KINDS, actions=BESIDE, scheduler=scheduler)
    return Pairs(Loop(SMALL, make), setting, 2, driver or Driver())


def test_a_pair_is_what_the_two_are_together() -> None:
    """Walks at random: at each step both, live and judged as they are, are at the moment and the shape."""
    instance, random = pairs(), Random(0)
    for _ in range(25):
        pair: Pair = instance.first
        walk: list[Joint] = []
        for _ in range(12):
            joint, after = random.choice(list(instance.follow(pair)))
            assert not isinstance(after, Violation)
            pair = after
            walk.append(joint)
        joined = retold_joined(instance, walk)
        assert (moment_of(joined.loop.controller.snapshot(), joined.loop.state), *shape_of(joined)) == (
            instance.moments[pair[0]],
            instance.shapes[pair[1]],
            pair[2],
        )


def shape_of(joined: Joined) -> tuple[Shape, tuple[bool, ...]]:
    """The shape of the scheduler, and which of its running jobs are in flight."""
    snapshot = joined.scheduler.snapshot()
    kinds = {job.priority: kind for kind, job in enumerate(KINDS)}
    slots = tuple(run and Entry(kinds[run.job.priority], run.remaining) for run in snapshot.running)
    queue = tuple(Entry(kinds[entry.job.priority], entry.remaining) for entry in snapshot.queue)
    return Shape(slots, queue), tuple(run.lease in joined.in_flight for run in snapshot.running if run)


class KeepsItsLeases(Core):
    """A restart leaves the runs as they were."""

    def restart(self) -> Restarted:
        return Restarted(tuple(run.lease for run in self._slots if run is not None))


BUSY = "work_is_in_flight_only_on_a_warm_worker"
WRONG = {
    "forgets to restart the jobs of a worker that is lost": (Driver(restarts=frozenset((None,))), BUSY, 6),
    "forgets to restart the jobs that a former controller had": (Driver(restarts=frozenset((Do.STOP,))), BUSY, 6),
    "dispatches when the worker is spawned": (Driver(dispatches=frozenset((Do.SERVE, Do.SPAWN))), BUSY, 3),
    "counts only what waits": (Driver(counts=lambda _, waiting: waiting), "never_reap_while_busy", 8),
}
"""What is wrong with whoever drives both, which claim it breaks, and by how many events."""


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_driver_is_found_by_name(wrong: str) -> None:
    driver, claim, events = WRONG[wrong]
    instance = pairs(driver)
    seen = reach(instance.first, instance.follow, until=claim)
    history = retold_joined(instance, seen.found[claim].history).history
    assert len(history) == events, list(map(spoken, history))


@pytest.mark.parametrize(
    ("make", "core", "claim"),
    [
        (BUGS["StopsInSilence"].code.controller, Core, BUSY),
        (BUGS["AsksForADemandOfOne"].code.controller, Core, "never_reap_while_busy"),
        (Controller, KeepsItsLeases, "conformance"),
    ],
)
def test_a_wrong_half_is_found_in_the_whole(make: type[Controller], core: type[Core], claim: str) -> None:
    instance = pairs(make=make, core=core)
    assert reach(instance.first, instance.follow, until=claim).verdict == "refuted"


# The command


@pytest.mark.parametrize("machine", ["worker", "joined"])
def test_a_budget_that_ends_it_is_no_pass(machine: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, record = told(capsys, "--machine", machine, "--max-states", "20")
    assert (code, record["verdict"], record["exhaustive"], record["distinct_states"]) == (3, "undetermined", False, 20)
    assert main(["explore", "--machine", machine, "--max-states", "20", "--patience", "1"]) == 3
    assert "ended early by --max-states" in capsys.readouterr().out


def test_a_fault_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    make = BUGS["AsksForADemandOfOne"].code.controller
    monkeypatch.setattr("model.commands.explore_loop.Loop", lambda settings: Loop(settings, make))
    arguments = ("--machine", "worker", "--patience", "1", "--longest-back-off", "1", "--max-states", "120")
    code, record = told(capsys, *arguments)
    assert (code, record["verdict"]) == (1, "refuted")
    fault = record["violations"]["never_reap_while_busy"]
    assert fault["sentence"] == "No worker is reaped while anything is queued or in flight."
    assert fault["history"][-1] == "tick now=1 demand=2"
    assert main(["explore", *arguments[:-1], "20"]) == 1
    assert "violated: conformance: Every step of the code" in capsys.readouterr().out


def test_a_policy_steers_both(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    policy = tmp_path / "wrong.py"
    policy.write_text("def urgency(job):\n    return -job.priority\n")
    arguments = ("--machine", "joined", "--policy", str(policy), "--max-states", "100")
    code, record = told(capsys, *arguments)
    assert code == 1
    assert "chat_never_waits_behind_an_image" in record["violations"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--machine", "worker", "--slots", "2"],
        ["--machine", "worker", "--policy", "any.py"],
        ["--machine", "worker", "--ttl", "-1"],
        ["--machine", "worker", "--max-states", "0"],
        ["--machine", "joined", "--actions", "admit"],
        ["--machine", "joined", "--patience", "0"],
        ["--machine", "joined", "--liveness"],
        ["--ttl", "3"],
    ],
)
def test_bad_options_are_usage_errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", *arguments]) == 2
    assert capsys.readouterr().err
