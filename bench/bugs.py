"""The time to the first counterexample of each planted bug: by the explorer, by random histories, by either.

Each trial is a process of its own, with the engines imported, and ends at the first counterexample.
"""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from statistics import median

from bench.record import Bar, Figure, Measurement, digits
from model.engines.engine import Verdict, ask, engines_of
from model.mutants.run import PRELOADED
from model.planted.catalogue import BUGS

ENGINES = ("explore", "fuzz")
BOTH = "whichever is first"
LIMIT = 60.0
"""Seconds that an engine has for one bug."""
AT_ONCE = 2
"""Trials at a time."""
BAR = Bar(10, of="best")
EASY = ("NeverPreempts", "never_reaps")


def measure(quick: bool) -> Measurement:
    """Every planted bug; quick: two easy ones."""
    found = Measurement("Planted bugs: seconds to the first counterexample")
    names = EASY if quick else tuple(BUGS)
    times: dict[str, dict[str, float]] = {engine: {} for engine in ENGINES}
    os.environ["PYTHONHASHSEED"] = "0"  # of the processes that are started now: the same bug ends the same way
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    pairs = [(name, engine) for name in names for engine in ENGINES]
    with ProcessPoolExecutor(AT_ONCE, context, max_tasks_per_child=1) as pool:
        for (name, engine), seconds in zip(pairs, pool.map(first, pairs), strict=True):
            if seconds is not None:
                times[engine][name] = seconds
    times[BOTH] = {
        name: min(caught) for name in names if (caught := [times[of][name] for of in ENGINES if name in times[of]])
    }
    tell(found, {name: sorted(each.values()) for name, each in times.items()}, len(names))
    missed = sorted(set(names) - set(times[BOTH]))
    found.notes.append(
        "`explore` goes through small instances, `fuzz` through random histories, which Hypothesis makes for the "
        f"scheduler. Start-up apart, {AT_ONCE} at a time. Caught by other engines alone: {', '.join(missed) or 'none'}."
    )
    return found


def first(pair: tuple[str, str]) -> float | None:
    """The seconds until the engine has a counterexample to the bug; None if it has none."""
    bug, name = BUGS[pair[0]], pair[1]
    engine = engines_of(bug.target).get(name)
    if engine is None:
        return None
    outcome = ask(lambda code: islice(engine(code), 1), bug.code, LIMIT)
    return outcome.seconds if outcome.verdict is Verdict.KILLED else None


def tell(found: Measurement, times: dict[str, list[float]], many: int) -> None:
    """The median of each beside the other, the slowest of each, and how many were caught in what time."""
    ours, other = (_figure(name, median(times[name]), times[name]) for name in ENGINES)
    found.add("the median", ours, other)
    for name, each in times.items():
        what = f"the slowest of {len(each)} caught, of {many} planted"
        found.add(what, _figure(name, max(each), each), None, BAR if name == BOTH else None, name == BOTH)
        found.lines[name] = [(digits(seconds), count) for count, seconds in enumerate(each, 1)]


def _figure(name: str, value: float, times: list[float]) -> Figure:
    return Figure(name, digits(value), digits(median(times)), "s", len(times))
