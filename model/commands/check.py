"""Hold a log of the scheduler or of a worker to the specification: a journal, or with --map a log of another system.
Its first violation is told with the lines that show it."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

from model import evidence
from model.check.lines import decode_only
from model.check.log import Log, Wrong
from model.check.map import Map, MapError
from model.check.needs import names, unjudged
from model.check.run import OF_A_WORKER, OF_THE_SCHEDULER, Check
from model.check.scheduler import MOST_SLOTS
from model.check.window import window
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED

__all__ = ["arguments", "check", "decode_only", "run"]

EVENTS = {"scheduler": OF_THE_SCHEDULER, "worker": OF_A_WORKER}
ALWAYS_SO = "no log of a controller tells of jobs"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("log", metavar="LOG.jsonl", help="one JSON object a line, as impl/journal.py describes them")
    for name, least, most, what in (
        ("slots", 1, MOST_SLOTS, "jobs that run at once"),
        ("capacity", 0, 10**18, "places in the queue"),
        ("reserve", 0, 10**18, "further places for preempted jobs (default: as many as slots)"),
    ):
        whole = partial(_whole, least, most)
        parser.add_argument(f"--{name}", metavar="N", type=whole, help=f"{what}, for a log that does not tell them")
    parser.add_argument(
        "--map", metavar="FILE.toml", help="which event and field of another system means which of ours"
    )
    parser.add_argument("--follow", action="store_true", help="wait for further lines, until Ctrl-C or a violation")
    evidence.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Check the log, print what came of it, and return the exit code."""
    try:
        mapped = Map.load(options.map) if options.map else None
        sizes = {name: getattr(options, name) for name in ("slots", "capacity", "reserve")}
        result = check(options.log, mapped, follow=options.follow, **sizes)
    except MapError as error:
        print(f"check: {error}", file=sys.stderr)
        return USAGE
    except OSError as error:
        print(f"check: {options.log}: {error.strerror}, expected a file of JSON lines; check the path", file=sys.stderr)
        return USAGE
    evidence.answer(options, result, text(result))
    return {"refuted": VIOLATED, "undetermined": UNDETERMINED}.get(result["verdict"], HOLDS)


def check(path: str | Path, mapped: Map | None = None, *, follow: bool = False, **sizes: int | None) -> dict[str, Any]:
    """What came of one pass over the log, as plain values. With `follow` it ends with a KeyboardInterrupt, which it
    takes, or with a violation. Raises OSError, and MapError for a map that begins with what cannot be."""
    log = Log(path, mapped)
    judge = Check(**sizes, sampled=mapped.sampled if mapped else False)
    if mapped:
        judge.missing[mapped.machine] = set(mapped.missing)
    wrong = None
    collects = gc.isenabled() and not follow
    if collects:
        gc.disable()  # no line refers to itself, so that there is nothing to collect
    try:
        for first, batch in log.read(follow):
            wrong = judge.feed(first, batch)
            if wrong:
                break
    except KeyboardInterrupt:
        if not follow:
            raise
    finally:
        if collects:
            gc.enable()
    wrong = wrong or log.wrong
    if wrong and mapped and not wrong.line:
        raise MapError(f"{mapped.path}: [open]: {wrong.detail} Correct the file, or give --slots")
    missing = {machine: unjudged(machine, judge.lacking(machine)) for machine in judge.missing}
    told = [machine for machine in missing if any(judge.events[kind] for kind in EVENTS[machine])]
    judged = [name for machine in told for name in names(machine) if name not in missing[machine]]
    weaker = {name: why for gone in missing.values() for name, why in gone.items()}
    in_part = judge.partial or any(why != ALWAYS_SO for why in weaker.values()) or not log.sealed
    more = judge.noted - len(judge.notes)
    return {
        "log": str(path),
        "verdict": "refuted" if wrong else "tested" if judged else "undetermined",
        "partial": in_part,
        "lines": log.lines,
        "events": dict(sorted((kind.__name__.lower(), count) for kind, count in judge.events.items())),
        "judged_by_the_specification_itself": judge.rejudged,
        "sequence": "held" if log.numbered else "absent",
        "digest": log.digest if log.sealed else "absent",
        "closed": judge.closed,
        "torn": log.torn,
        "lost": judge.lost,
        "judged": list(dict.fromkeys(judged)),
        "unjudged": weaker,
        "notes": judge.notes + ([f"and {more} more of the kind"] if more else []) + log.notes,
        "violation": wrong and _violation(log, wrong),
    }


def _violation(log: Log, wrong: Wrong) -> dict[str, Any]:
    return {
        "line": wrong.line,
        "property": wrong.claim,
        "sentence": wrong.sentence,
        "detail": wrong.detail,
        "also": [claim for claim in wrong.claims if claim != wrong.claim],
        "jobs": list(wrong.jobs),
        "window": [{"line": number, "text": line} for number, line in window(log, wrong)],
    }


def text(result: dict[str, Any]) -> Iterator[str]:
    """The same for people: the verdict first, and what weakens it."""
    violation = result["violation"]
    events = sum(result["events"].values())
    if violation:
        yield f"VIOLATION at line {violation['line']} of {result['log']}: {violation['property']}"
        yield f"  {violation['sentence']}"
        yield f"  {violation['detail']}"
        if violation["also"]:
            yield f"  also broken: {', '.join(violation['also'])}"
        if violation["jobs"]:
            yield f"  jobs: {', '.join(map(repr, violation['jobs']))}"
        yield "shown by"
        yield from (f"  {each['line']}: {each['text']}" for each in violation["window"])
        return
    if result["verdict"] == "undetermined":
        yield f"undetermined: no property could be judged of {result['log']} ({events} events)"
    elif result["partial"]:
        yield f"tested IN PART: no violation in what could be judged of {result['log']} ({events} events)"
    else:
        yield f"tested: all {events} lines of {result['log']} are as the specification has them"
    seal = (
        "absent: lines may have been changed" if result["digest"] == "absent" else f"held, the last {result['digest']}"
    )
    gaps = "absent: lines may be missing" if result["sequence"] == "absent" else "held"
    yield f"  sequence {gaps}; digest {seal}"
    if result["torn"]:
        yield "  the last line is torn: the event that was being written is lost"
    elif result["digest"] != "absent" and not result["closed"]:
        yield "  no recorder said that it was done: the log may go on, or lack its end"
    yield from (f"  {note}" for note in result["notes"])
    if result["judged"]:
        yield fill(f"judged: {', '.join(result['judged'])}", 100, subsequent_indent="  ")
    reasons: dict[str, list[str]] = {}
    for name, why in result["unjudged"].items():
        reasons.setdefault(why, []).append(name)
    for why, which in reasons.items():
        yield fill(f"NOT judged, for {why}: {', '.join(which)}", 100, subsequent_indent="  ")


def _whole(least: int, most: int, text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 20 and least <= int(text) <= most:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text[:40]!a} was given, expected a whole number from {least} to {most}")
