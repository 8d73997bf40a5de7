"""What is asked of the controller of a worker: the gate, its small histories, and random ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, NamedTuple

from impl.autoscale import Action
from impl.gate import autoscale_rows
from impl.probe import Verdict
from impl.worker import Controller
from impl.worker_state import Do, Phase, Settings, Snapshot, Why
from model.conform.monitor import Violation
from model.conform.worker_events import Adopted, Event, Exited, Gone, JobEnded, Probed, Progressed, Tick, apply
from model.conform.worker_monitor import Monitor
from model.conform.worker_watch import Watch
from model.engines.engine import ENDS, Engine, WrongKind
from model.engines.scenarios import scenario_engine
from model.engines.watch import raised_by_the_code
from model.planted.bugs import Code
from model.scenarios.worker_scenarios import WorkerCase

SEEDS, LENGTH = 20, 120
MOST = 20
"""Histories of the explorer that are followed from each of its beginnings."""
DECISIONS = {Do.HOLD: Action.HOLD, Do.SPAWN: Action.SPAWN, Do.SERVE: Action.SERVE, Do.REAP: Action.REAP}
QUICK = Settings(ttl=2, start_budget=3, patience=2, alarm_after=2, hang_budget=1, longest_back_off=2)
STARTED: tuple[Event, ...] = (Probed(Verdict.COLD, 0), Tick(0, 1))
READY: tuple[Event, ...] = (*STARTED, Probed(Verdict.WARM, 1), Tick(0, 1))
USED: tuple[Event, ...] = (*READY, JobEnded(1), Tick(1, 0))
STOPPED: tuple[Event, ...] = (*READY, Exited(1), Tick(1, 1))
AGAIN: tuple[Event, ...] = (*STOPPED, Gone(1), Tick(2, 1), Tick(3, 1), Probed(Verdict.WARM, 2), Tick(3, 2))
LOST: tuple[Event, ...] = (*AGAIN, Exited(2), Gone(2), Tick(4, 1), Tick(5, 1))
BEGINNINGS: tuple[tuple[Event, ...], ...] = ((), STARTED, READY, USED, STOPPED, AGAIN, LOST)

REASONS: tuple[tuple[tuple[Event, ...], Why], ...] = (
    (STARTED, Why.WANTED),
    ((*STARTED, Probed(Verdict.WARM, 1)), Why.READY),
    ((*STARTED, Probed(Verdict.COLD, 1)), Why.NOTED),
    ((*STARTED, Probed(Verdict.WARM, 0)), Why.LATE),
    ((*STARTED, Progressed(1)), Why.EARLY),
    ((*STOPPED, Gone(1)), Why.COLD),
    ((*STOPPED, Gone(1, Verdict.WARM)), Why.STRANGER),
    ((*STOPPED, Gone(1, Verdict.UNKNOWN)), Why.STOPPING),
    (USED, Why.UNWANTED),
)
"""What is told, and the reason of the last answer."""
NO_NUMBERS: tuple[Any, ...] = (-1, True, 1.5, "1", float("nan"))


# The gate


def golden(code: Code) -> Iterator[str]:
    """The self-tests of nx_mesh_autoscale.nx, put to a controller that is brought into the state they speak of."""
    rows = autoscale_rows(lambda *view: decided(code.controller, *view), code.savings)
    yield from (f"autoscale_{row.name}" for row in rows if not row.holds)
    for told, why in REASONS:
        controller = code.controller(QUICK, 0)
        commands = [apply(controller, event) for event in told]
        if commands[-1] is None or commands[-1].why is not why:
            yield "the_reason_is_told"
        snapshot = state_of(controller)
        if state_of(code.controller.restore(snapshot)) != snapshot:
            yield "a_restored_controller_goes_on"


def decided(make: type[Controller], warm: int, demand: int, idle: int, ttl: int) -> int:
    """The decision of a controller that has been cold, or warm and idle, for so long; -1 for none of the four."""
    controller = make(Settings(ttl, start_budget=10_000, longest_back_off=10_000), 0)
    controller.probed(Verdict.COLD, 0)
    if warm:
        generation = controller.tick(0, 1).generation
        controller.probed(Verdict.WARM, generation)
        controller.tick(0, 0)
    else:
        controller.tick(0, 0)
    return DECISIONS.get(controller.tick(idle, demand).do, -1)


# Small histories


class Node(NamedTuple):
    """A controller, and its checker, which has judged all that led here."""

    controller: Controller
    monitor: Monitor


def explored(code: Code) -> Iterator[str]:
    """Every history from each of some beginnings, the shortest first, until so many states were met. States that differ
    by the time of day alone are one."""
    yield from of_bad_input(code.controller)
    for beginning in BEGINNINGS:
        yield from histories(code.controller, beginning)


def histories(make: type[Controller], beginning: tuple[Event, ...]) -> Iterator[str]:
    """The claims that are broken on the way, or after it."""
    controller = make(QUICK, 0)
    node: Node | None = Node(controller, Monitor(state_of(controller)))
    for event in beginning:
        if node is None:
            return
        node, broken = step(make, node, event)
        yield from broken
    if node is None:
        return
    known, waiting = {key(node)}, deque([node])
    while waiting:
        present = waiting.popleft()
        for event in events(present):
            following, broken = step(make, present, event)
            yield from broken
            if following is not None and len(known) < MOST and key(following) not in known:
                known.add(key(following))
                waiting.append(following)


def step(make: type[Controller], node: Node, event: Event) -> tuple[Node | None, tuple[str, ...]]:
    """What follows, or else the claims that the step breaks."""
    controller, monitor = copy(node.controller), copy(node.monitor)
    monitor.taken = monitor.taken.copy()
    try:
        if isinstance(event, Adopted):
            s = controller.snapshot()
            controller = make.adopt(s.settings, s.now, event.generation, living=event.living, stopping=event.stopping)
        monitor.judge(event, apply(controller, event), state_of(controller))
    except Violation as violation:
        return None, violation.claims
    except WrongKind:
        return None, (ENDS,)
    except Exception as error:
        if not raised_by_the_code(error.__traceback__):
            raise
        return None, (ENDS,)
    return Node(controller, monitor), ()


def state_of(controller: Any) -> Snapshot:
    """The snapshot of what should be a controller; WrongKind if it has none."""
    snapshot = controller.snapshot() if isinstance(controller, Controller) else None
    if not isinstance(snapshot, Snapshot):
        raise WrongKind(f"{controller!r} has the snapshot {snapshot!r}")
    return snapshot


def events(node: Node) -> Iterator[Event]:
    """What may happen next: time passes or not, and anything is told of the present worker or the one before."""
    s = node.controller.snapshot()
    yield from (Tick(s.now + later, demand) for later in (0, 1) for demand in (0, 1, 2, None))
    for generation in {s.generation, max(0, s.generation - 1)}:
        yield from (Probed(verdict, generation) for verdict in Verdict)
        yield from (Gone(generation, port) for port in Verdict)
        yield from (Exited(generation), Progressed(generation), JobEnded(generation))
    living = bool(node.monitor.state.alive[s.generation])
    yield Adopted(s.generation, living, s.phase is Phase.STOPPING)


def key(node: Node) -> Any:
    """What tells two nodes apart."""
    s, state = node.controller.snapshot(), node.monitor.state
    own = {name: value for name, value in vars(node.controller).items() if name != "_s"}
    since, quiet = min(s.now - s.since, 9), min(s.now - s.quiet, 9)
    places = tuple(sorted(state.place[job].value for job in state.jobs))
    current = state.alive[s.generation], state.runs[s.generation]
    plain = replace(s, now=0, since=since, quiet=quiet, generation=min(s.generation, 2), blind=min(s.blind, 3))
    return plain, places, current, repr(own)


def of_bad_input(make: type[Controller]) -> Iterator[str]:
    """The claim that what is no event is refused, and changes nothing."""
    controller = make(QUICK, 5)
    text: Any = "warm"
    calls: list[Callable[[], object]] = [lambda: controller.tick(4, 1)]
    for wrong in NO_NUMBERS:
        calls += [partial(controller.tick, wrong, 1), partial(controller.tick, 5, wrong)]
        calls += [partial(controller.exited, wrong), partial(make, QUICK, text)]
        calls += [partial(make.adopt, QUICK, 0, wrong, living=living, stopping=False) for living in (True, False)]
    calls += [partial(make.adopt, QUICK, 0, 0, living=True, stopping=False)]
    calls += [partial(controller.probed, text, 0), partial(controller.gone, 0, text)]
    calls += [partial(tell, 1) for tell in (controller.exited, controller.gone, controller.progressed)]
    calls += [partial(controller.probed, Verdict.WARM, 1)]
    before = state_of(controller)
    for call in calls:
        try:
            call()
        except ValueError:
            if state_of(controller) == before:
                continue
        except Exception as error:
            if not raised_by_the_code(error.__traceback__):
                raise
        yield "bad_input_changes_nothing"


# Random histories


def fuzzed(code: Code) -> Iterator[str]:
    """Random histories, always the same ones."""
    for seed in range(SEEDS):
        try:
            run(seed, LENGTH, code.controller)
        except Violation as violation:
            yield from violation.claims


def run(seed: int, length: int = 200, make: type[Controller] = Controller) -> Watch:
    """One watched history; Violation if a step is wrong."""
    watch = Watch(settings(seed), make=make)
    for event in history(watch, seed, length):
        watch.meet(event)
    return watch


def settings(seed: int) -> Settings:
    """Short times, so that all of them run out."""
    random = Random(seed)
    return Settings(
        ttl=random.choice((0, 1, 3)),
        start_budget=random.choice((2, 5)),
        patience=random.choice((1, 2, 3)),
        alarm_after=random.choice((1, 3)),
        hang_budget=random.choice((0, 2)),
        longest_back_off=random.choice((1, 2, 5)),
    )


def history(watch: Watch, seed: int, length: int) -> Iterator[Event]:
    """Events at random: late, doubled, out of order, with probes that lie. Each is drawn when the last was met."""
    random = Random(seed)
    now = 0
    for _ in range(length):
        snapshot = watch.controller.snapshot()
        generation = max(0, snapshot.generation - random.choice((0, 0, 0, 0, 0, 1, 2)))
        kind = random.choices(("tick", "probe", "exit", "gone", "progress", "end", "adopt"), (40, 35, 3, 8, 6, 4, 1))[0]
        match kind:
            case "tick":
                now += random.choice((0, 1, 1, 1, 2))
                yield Tick(now, random.choice((0, 0, 1, 1, 2, None)))
            case "probe":
                cold = snapshot.phase is Phase.COLD
                yield Probed(random.choice((*Verdict, Verdict.COLD if cold else Verdict.WARM)), generation)
            case "exit":
                yield Exited(generation)
            case "gone":
                yield Gone(generation, random.choice((Verdict.COLD, *Verdict)))
            case "progress":
                yield Progressed(generation)
            case "end":
                yield JobEnded(generation)
            case "adopt":
                living = bool(watch.state.alive[snapshot.generation]) and random.random() < 0.5
                yield Adopted(snapshot.generation, living, snapshot.phase is Phase.STOPPING)


NAMES = ("the_reason_is_told", "a_restored_controller_goes_on", "bad_input_changes_nothing")
"""The claims beside those of the specification that have to catch something."""
ENGINES: dict[str, Engine] = {
    "golden": golden,
    "explore": explored,
    "fuzz": fuzzed,
    **scenario_engine("loop.txt", WorkerCase.read, lambda code: code.controller),
}
