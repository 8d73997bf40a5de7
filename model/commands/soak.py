"""`python -m model soak`: hosts on real processes joined with the shipped scheduler, under random kills, ends, freezes,
slow starts and bursts of demand, several lanes at once. Chance decides what is done and when; how processes interleave,
the system decides. Needs Linux."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import SystemRandom
from subprocess import TimeoutExpired
from typing import Any

from model import evidence
from model.conform.monitor import Violation
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED
from model.soak.lane import FAULTS, Lane

MUST = ("requests", "ended", "preemptions", "starts", "reaps", "restarts", "serves", *dict.fromkeys(FAULTS))
"""What has to have been seen, or nothing was tested."""
NEVER = ("lost", "doubled", "workers forgotten", "orphans", "two workers at once")
CODES = {"tested": HOLDS, "refuted": VIOLATED, "undetermined": UNDETERMINED}


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `soak`."""
    parser.add_argument("--seconds", type=float, default=60.0, metavar="N", help="harm for so long (default 60)")
    parser.add_argument("--lanes", type=int, default=4, metavar="N", help="hosts at once (default 4)")
    parser.add_argument("--seed", type=int, metavar="N", help="the seed of all chance (printed in any case)")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep logs and ledgers in this new folder, not only of a fault"
    )
    evidence.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Soak for as long as asked; the exit code."""
    if not (0 < options.seconds < 1e9 and 1 <= options.lanes <= 64):
        print("soak: --seconds must be positive, --lanes from 1 to 64", file=sys.stderr)
        return USAGE
    if not Path("/proc/self/environ").exists():
        print("soak: what is left of a worker is found by /proc, which this system does not have", file=sys.stderr)
        return USAGE
    if options.keep is not None and options.keep.exists():
        print(f"soak: {options.keep} exists, expected the name of a new folder; choose another", file=sys.stderr)
        return USAGE
    seed = options.seed if options.seed is not None else SystemRandom().getrandbits(32)
    folder = options.keep.resolve() if options.keep else Path(tempfile.mkdtemp(prefix="soak-"))
    report = soak(folder, seed, options.seconds, options.lanes)
    report["kept"] = str(folder) if options.keep or report["wrong"] else None
    if report["kept"] is None:
        shutil.rmtree(folder)
    evidence.answer(options, report, text(report))
    return CODES[report["verdict"]]


def soak(folder: Path, seed: int, seconds: float, lanes: int, make: type[Lane] = Lane) -> dict[str, Any]:
    """What happened in all lanes, and whether anything was wrong."""
    began = time.monotonic()
    with ThreadPoolExecutor(lanes) as pool:
        ran = list(pool.map(partial(_lane, make, folder, seed, seconds), range(lanes)))
    counts: Counter[str] = sum((lane.driver.counts + lane.counts for lane, _ in ran), Counter())
    wrong = [said for each in ran for said in _wrong(*each)]
    never_seen = [name for name in MUST if not counts[name]]
    return {
        "verdict": "refuted" if wrong else "undetermined" if never_seen else "tested",
        "seed": seed,
        "lanes": lanes,
        "seconds": seconds,
        "elapsed_sec": round(time.monotonic() - began, 1),
        "counts": {name: counts[name] for name in (*MUST, *sorted({*counts} - {*MUST, *NEVER}), *NEVER)},
        "never_seen": never_seen,
        "wrong": wrong,
    }


def _lane(make: type[Lane], folder: Path, seed: int, seconds: float, number: int) -> tuple[Lane, str]:
    place = folder / f"lane-{number}"
    place.mkdir(parents=True)
    lane = make(place, seed, number)
    try:
        lane.run(seconds)
    except (AssertionError, Violation, TimeoutExpired) as error:
        return lane, str(error)
    return lane, ""


def _wrong(lane: Lane, error: str) -> Iterator[str]:
    name = lane.hosted.folder.name
    if error:
        yield f"{name}: {error}"
    counts = lane.driver.counts + lane.counts
    yield from (f"{name}: {what}: {counts[what]}" for what in NEVER[2:] if counts[what])
    for what, requests in (("lost", lane.driver.lost), ("doubled", lane.driver.doubled)):
        if requests:
            yield f"{name}: {what}: {', '.join(sorted(requests))}"


def text(report: dict[str, Any]) -> Iterator[str]:
    """The report, for people."""
    yield f"{report['verdict']}: seed {report['seed']}, {report['lanes']} lanes, {report['elapsed_sec']:g} s"
    for name, count in report["counts"].items():
        yield f"{count:>8}  {name}"
    for name in report["never_seen"]:
        yield f"never seen: {name}"
    yield from report["wrong"]
    if report["kept"]:
        yield f"logs and ledgers are in {report['kept']}"
