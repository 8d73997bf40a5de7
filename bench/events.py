"""Events a second: `simulate`, which holds each step to the specification, and `check`, beside reading alone."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from time import process_time

from bench.record import Bar, Figure, Measurement, digits
from bench.timing import ROUNDS
from impl.autoscale import decide
from impl.jobs import CHAT, IMAGE, Ended, Job, Lease, Placed
from impl.journal import Journal
from impl.recorded import RecordedScheduler
from impl.scheduler import Scheduler
from model.commands.check import check, decode_only
from model.commands.simulate import SAMPLE
from model.conform.events import apply
from model.conform.watch import Watch
from model.simulate.arrivals import read
from model.simulate.simulation import Simulation
from model.simulate.workload import RENDER_RATE, Workload, load

SEED = 0


def measure(quick: bool) -> Measurement:
    """The bundled arrivals, and a long journal of random events."""
    found = Measurement("simulate and check: events a second")
    workload = load(str(SAMPLE), None, SEED)
    subjects = {
        "simulate": partial(judged, workload),
        "the same, not judged": partial(unjudged, workload),
        "reading arrivals alone": partial(_rows, str(SAMPLE)),
    }
    ours, *others = rates(subjects, 1 if quick else ROUNDS)
    for other in others:
        found.add(f"bundled arrivals, {len(workload.jobs)} jobs", ours, other, None, True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        events = journal(path, 300 if quick else 200_000)
        ours, other = rates(
            {"check": partial(checked, path), "decoding alone": partial(decode_only, path)}, 1 if quick else ROUNDS
        )
    found.add(f"journal of a scheduler, {events:,} events", ours, other, Bar(0.25, least=True), True)
    return found


def rates(subjects: Mapping[str, Callable[[], int]], rounds: int) -> list[Figure]:
    """Events a second of the processor, each subject in turn."""
    found: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, run in subjects.items():
            began = process_time()
            events = run()
            found[name].append(events / (process_time() - began))
    return [
        Figure(name, digits(max(each)), digits(sorted(each)[len(each) // 2]), "events/s", len(each))
        for name, each in found.items()
    ]


def judged(workload: Workload) -> int:
    """Replay, each step held to the specification; the number of steps."""
    watch = Watch(Scheduler(2))
    simulation(watch.meet, watch.decide).run(workload.jobs)
    return len(watch.history)


def unjudged(workload: Workload) -> int:
    """The same steps of the same code."""
    scheduler, steps = Scheduler(2), count()

    def meet(event: object) -> object:
        next(steps)
        return apply(scheduler, event)  # type: ignore[arg-type]

    def ask(*view: int) -> object:
        next(steps)
        return decide(*view)

    simulation(meet, ask).run(workload.jobs)
    return next(steps)


def simulation(meet: Callable[..., object], ask: Callable[..., object]) -> Simulation:
    """As `python -m model simulate` has it by default."""
    rates_ = {"chat": 1_200, "image": RENDER_RATE}
    return Simulation(2, rates_, ttl=60, cold_start=10, exact=True, meet=meet, decide=ask)  # type: ignore[arg-type]


def _rows(path: str) -> int:
    return len(read(path))


def checked(path: Path) -> int:
    """`python -m model check`; the number of events."""
    result = check(path)
    assert result["verdict"] == "tested", result
    return sum(result["events"].values())


def journal(path: Path, events: int) -> int:
    """Write a journal of random arrivals, progress and ends on 8 slots; how many events it tells."""
    random = Random(SEED)
    written = Journal(path)
    scheduler = RecordedScheduler(Scheduler(8), written)
    running: dict[int, Lease] = {}
    for number in range(events):
        lease = random.choice(list(running.values())) if running else None
        what = random.random()
        if lease is None or what < 0.4:
            placed = scheduler.admit(Job(number, random.choice((IMAGE, IMAGE, CHAT)), 30))
            if isinstance(placed, Placed):
                running[placed.lease.slot] = placed.lease
        elif what < 0.6:
            scheduler.progress(lease, 1)
        else:
            ended = scheduler.complete(lease)
            assert isinstance(ended, Ended)
            del running[lease.slot]
            if ended.heir:
                running[ended.heir.slot] = ended.heir
    written.close()
    return events
