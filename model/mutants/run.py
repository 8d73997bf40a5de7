"""Runs mutants, one process each, on as many cores as there are."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess

from model.engines.engine import TARGETS, Outcome, Verdict
from model.mutants.child import Task, attempt

PRELOADED = ["model.planted.catalogue", *(f"model.engines.{target}" for target in TARGETS)]
GRACE = 20.0
"""Seconds that a process has beyond the limits of its engines."""


@dataclass
class Trial:
    """A mutant, and what each engine said of it."""

    task: Task
    outcomes: dict[str, Outcome] = field(default_factory=dict)


@dataclass
class _Running:
    trial: Trial
    process: ForkServerProcess
    deadline: float


def trials(tasks: Iterable[Task], limit: float, workers: int | None = None) -> Iterator[Trial]:
    """Each mutant as it ends. Every engine has `limit` seconds."""
    os.environ["PYTHONHASHSEED"] = "0"  # of the processes that are started now: the same mutant ends the same way
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    waiting = iter(tasks)
    running: dict[Connection, _Running] = {}
    workers = workers or os.cpu_count() or 1
    try:
        while True:
            while len(running) < workers and (task := next(waiting, None)) is not None:
                here, there = context.Pipe(duplex=False)
                process = context.Process(target=attempt, args=(task, limit, there), daemon=True)
                process.start()
                there.close()
                running[here] = _Running(Trial(task), process, time.monotonic() + limit * len(task.engines) + GRACE)
            if not running:
                return
            yield from _ended(running)
    finally:
        for each in running.values():
            each.process.kill()


def _ended(running: dict[Connection, _Running]) -> Iterator[Trial]:
    """Take what the processes have sent; the trials that are over leave."""
    for connection in wait(list(running), timeout=1.0):
        assert isinstance(connection, Connection)
        each = running[connection]
        try:
            name, verdict, killers, seconds, detail = connection.recv()
            each.trial.outcomes[name] = Outcome(Verdict(verdict), tuple(killers), seconds, detail)
        except EOFError:
            yield _closed(running, connection, Verdict.CRASHED, "its process ended without an answer")
    for connection, each in list(running.items()):
        if time.monotonic() > each.deadline:
            each.process.kill()
            yield _closed(running, connection, Verdict.TIMEOUT, "its process did not end")


def _closed(running: dict[Connection, _Running], connection: Connection, verdict: Verdict, why: str) -> Trial:
    each = running.pop(connection)
    each.process.join()
    connection.close()
    for name in each.trial.task.engines:
        each.trial.outcomes.setdefault(name, Outcome(verdict, detail=why))
    return each.trial
