"""What a cycle of the scheduler costs, over slots and waiting jobs.

Two cycles are measured. *admit, end*: a render arrives and is queued, a running one ends and the earliest waiting one
inherits. *preempt, end*: a chat takes a slot from a render, ends, and the earliest waiting render inherits. All renders
are equals, so that every subject has one right thing to do.
"""

from __future__ import annotations

import multiprocessing
import tracemalloc
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeAlias

from bench.record import Bar, Figure, Measurement, digits
from bench.timing import Batch, interleaved
from impl.core import Core
from impl.jobs import CHAT, IMAGE, Ended, Job, Lease, Placed
from impl.scheduler import Scheduler
from model.originals.sched_qos import QSLOT_RUNNING, QosSched, qos_admit, qos_complete, qos_new

SIZES = ((2, 64), (64, 64), (4_096, 10_000), (65_536, 1_000_000))
SHIPPED, CORE, PORT = "shipped", "its core, unchecked", "literal O(n) port"
SIMPY, HEAPQ = "SimPy PreemptiveResource", "heapq pop+push"
Cycles: TypeAlias = tuple[Batch, Batch]
"""*admit, end* and *preempt, end*."""
MOST_OF_SIMPY = 10_000
"""Waiting jobs: SimPy sorts its queue at each arrival, so that it takes hours to fill the largest."""


def measure(quick: bool) -> Measurement:
    """Every size; quick: the smallest alone."""
    found = Measurement("Scheduler: one cycle, slots x waiting jobs")
    smallest: dict[str, Figure] = {}
    sizes = SIZES[:1] if quick else SIZES
    most = sizes[-1][1]
    for slots, waiting in sizes:
        subjects = {SHIPPED: shipped, CORE: core, PORT: port, SIMPY: simpy_resource, HEAPQ: bare_heap}
        if waiting > MOST_OF_SIMPY:
            del subjects[SIMPY]
        made = {name: make(slots, waiting) for name, make in subjects.items()}
        for which, cycle in enumerate(("admit, end", "preempt, end")):
            batches = {name: cycles[which] for name, cycles in made.items()}
            figures = interleaved(batches, "us", 1e6, 0.001 if quick else 0.2)
            ours = figures[SHIPPED]
            what = f"{cycle}, {slots:,} x {waiting:,}"
            for name in [name for name in figures if name != SHIPPED]:
                bar = Bar(16) if name == HEAPQ else None
                largest = MOST_OF_SIMPY if name == SIMPY else most
                found.add(what, ours, figures[name], bar, name != CORE and waiting == largest)
            first = smallest.setdefault(cycle, ours)
            if first is not ours:
                at = f"{SHIPPED}, {SIZES[0][0]} x {SIZES[0][1]}"
                beside = Figure(at, first.best, first.median, first.unit, first.rounds)
                found.add(what, ours, beside, Bar(3) if waiting == most else None, waiting == most)
    memory(found, quick)
    return found


def shipped(slots: int, waiting: int) -> Cycles:
    """The shipped scheduler, full, with so many renders in the queue."""
    gpu = Scheduler(slots, capacity=waiting + 1)
    return _cycles(gpu.admit, gpu.complete, slots, waiting)


def core(slots: int, waiting: int) -> Cycles:
    """The same without the check of each argument."""
    gpu = Core(slots, waiting + 1, slots)
    return _cycles(lambda job: gpu.admit(job, job.priority), gpu.complete, slots, waiting)


def _cycles(admit: Callable[[Job], object], complete: Callable[[Lease], object], slots: int, waiting: int) -> Cycles:
    ids = count()
    leases = [_lease(admit(Job(next(ids), IMAGE, 30))) for _ in range(slots)]
    for _ in range(waiting):
        admit(Job(next(ids), IMAGE, 30))
    turns = _turns(slots)

    def admit_end(times: int) -> None:
        for _ in range(times):
            admit(Job(next(ids), IMAGE, 30))
            slot = next(turns)
            leases[slot] = _heir(complete(leases[slot]))

    def preempt(times: int) -> None:
        for _ in range(times):
            lease = _lease(admit(Job(next(ids), CHAT, 8)))
            leases[lease.slot] = _heir(complete(lease))

    return admit_end, preempt


def _lease(outcome: object) -> Lease:
    assert isinstance(outcome, Placed), outcome
    return outcome.lease


def _heir(outcome: object) -> Lease:
    assert isinstance(outcome, Ended)
    assert outcome.heir is not None
    return outcome.heir


def _turns(slots: int) -> Iterator[int]:
    while True:
        yield from range(slots)


def port(slots: int, waiting: int) -> Cycles:
    """The original, statement by statement, filled by hand: it looks at every slot for a free one."""
    c: QosSched = qos_new(slots, waiting + slots)
    c.st, c.rq, c.pr, c.tk = [QSLOT_RUNNING] * slots, list(range(slots)), [IMAGE] * slots, [30] * slots
    for at in range(waiting):
        c.qrq[at], c.qpr[at], c.qtk[at] = slots + at, IMAGE, 30
    c.qn = waiting
    ids = count(slots + waiting)
    turns = _turns(slots)
    preempted = [0]

    def admit_end(times: int) -> None:
        for _ in range(times):
            qos_admit(c, next(ids), IMAGE, 30, 1, preempted)
            qos_complete(c, next(turns))

    def preempt(times: int) -> None:
        for _ in range(times):
            slot = qos_admit(c, next(ids), CHAT, 8, 0, preempted)
            assert preempted[0] >= 0
            qos_complete(c, slot)

    return admit_end, preempt


def simpy_resource(slots: int, waiting: int) -> Cycles:
    """SimPy, in which every job is a process: it waits for a slot until it is told to end, and again if interrupted."""
    import simpy

    env = simpy.Environment()
    resource = simpy.PreemptiveResource(env, slots)
    running: dict[Any, None] = {}

    def life(priority: int, end: Any) -> Generator[Any, Any, None]:
        while not end.triggered:
            with resource.request(priority) as request:
                yield request
                running[end] = None
                with suppress(simpy.Interrupt):
                    yield end
                del running[end]

    def arrive(priority: int) -> Any:
        end = env.event()
        env.process(life(priority, end))
        env.run()
        return end

    def leave(end: Any) -> None:
        end.succeed()
        env.run()

    for _ in range(slots + waiting):
        arrive(1)
    assert len(running) == slots

    def admit_end(times: int) -> None:
        for _ in range(times):
            arrive(1)
            leave(next(iter(running)))

    def preempt(times: int) -> None:
        for _ in range(times):
            chat = arrive(0)
            assert chat in running
            leave(chat)

    return admit_end, preempt


def bare_heap(_slots: int, waiting: int) -> Cycles:
    """What no queue of that length can do without: one entry in, the least out."""
    heap = [(-IMAGE, ticket, ticket) for ticket in range(waiting)]
    tickets = count(waiting)

    def push_pop(times: int) -> None:
        for _ in range(times):
            ticket = next(tickets)
            heappush(heap, (-IMAGE, ticket, ticket))
            heappop(heap)

    return push_pop, push_pop


def memory(found: Measurement, quick: bool) -> None:
    """What is allocated after a million cycles, beside a thousand; and of each live job of the largest size."""
    many = 10_000 if quick else 1_000_000
    slots, waiting = SIZES[0] if quick else SIZES[1]
    few, after = _apart(grown, slots, waiting, many)
    found.add(
        f"memory after {many:,} cycles of each kind, {slots} x {waiting}",
        Figure(f"after {many:,}", digits(after), digits(after), "KiB"),
        Figure("after 1,000", digits(few), digits(few), "KiB"),
    )
    slots, waiting = SIZES[0] if quick else SIZES[-1]
    bytes_each = digits(_apart(per_job, slots, waiting))
    found.add(f"memory of a live job, {slots:,} x {waiting:,}", Figure(SHIPPED, bytes_each, bytes_each, "bytes"))
    found.notes.append(
        "Memory is what `tracemalloc` counts in a process of its own. SimPy sorts its queue at each arrival, so it is "
        f"not tried with more than {MOST_OF_SIMPY:,} waiting jobs."
    )


def _apart(function: Callable[..., Any], *arguments: int) -> Any:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def grown(slots: int, waiting: int, many: int) -> tuple[float, float]:
    """KiB allocated after a thousand cycles of each kind, and after many more."""
    tracemalloc.start()
    cycles = shipped(slots, waiting)
    sizes = []
    for times in (1_000, many - 1_000):
        for cycle in cycles:
            cycle(times)
        sizes.append(tracemalloc.get_traced_memory()[0] / 1024)
    return sizes[0], sizes[1]


def per_job(slots: int, waiting: int) -> float:
    """Bytes allocated for each live job of a full scheduler."""
    tracemalloc.start()
    kept = shipped(slots, waiting)
    size = tracemalloc.get_traced_memory()[0]
    del kept
    return size / (slots + waiting)
