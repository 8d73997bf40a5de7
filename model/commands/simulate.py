"""Replay arrivals of chats and renders through the shipped scheduler and autoscale policy on a virtual clock, each step
held to the specification; and, for comparison, first come, first served."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from textwrap import fill, indent
from typing import Any

from impl.checks import I64_MAX
from impl.journal import Journal
from model import evidence
from model.exits import HOLDS, USAGE, VIOLATED
from model.policy import file as policies
from model.simulate.arrivals import TraceError
from model.simulate.comparison import Settings, compare
from model.simulate.figures import table
from model.simulate.workload import MOST_DAYS, RENDER_EVERY, RENDER_RATE, RENDER_STEPS, load

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.csv"
MOST_LINES = 100
"""Printed of a counterexample that could not be made short."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    usual = Settings()
    longest = MOST_DAYS * 86_400

    def number(option: str, unit: str, default: int | None, domain: tuple[int, int], what: str) -> None:
        shown = "as many as slots" if default is None else default
        parser.add_argument(
            option, metavar=unit, type=_whole(*domain), default=default, help=f"{what} (default: {shown})"
        )

    columns = "TIMESTAMP, ContextTokens, GeneratedTokens"
    renders = f"{RENDER_STEPS} steps each, at random, every {RENDER_EVERY} s on average"
    parser.add_argument("--chat", metavar="FILE.csv", help=f"chats, with the columns {columns} (default: a sample)")
    parser.add_argument("--image", metavar="FILE.csv", help=f"renders, GeneratedTokens in steps (default: {renders})")
    number("--slots", "N", usual.slots, (1, 65_536), "jobs that run at once")
    number("--capacity", "N", usual.capacity, (0, 10**6), "places in the queue")
    number("--reserve", "N", None, (0, 10**6), "further places for preempted jobs")
    number("--ttl", "SEC", usual.ttl, (0, longest), "idle time after which the worker is stopped")
    number("--cold-start", "SEC", usual.cold_start, (0, longest), "time the worker takes to start")
    number("--tokens-per-second", "R", usual.tokens_per_second, (1, 10**9), "chat speed of one slot")
    number("--seed", "N", 0, (0, I64_MAX), "of the random renders")
    modes = ("exact", "step")
    resume = "a preempted job goes on where it was, or does the step it was in again (default: exact)"
    parser.add_argument("--resume", choices=modes, default=usual.resume, help=resume)
    policy = "take urgency, decide, or both from this file (default: the shipped ones)"
    parser.add_argument("--policy", metavar="FILE.py", help=policy)
    recorded = "record every event and its outcome in a new file, as `check` reads it"
    parser.add_argument("--journal", metavar="FILE.jsonl", help=recorded)
    evidence.arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Replay, print what came of it, and return the exit code."""
    try:
        workload = load(str(SAMPLE) if options.chat is None else options.chat, options.image, options.seed)
    except TraceError as error:
        print(error, file=sys.stderr)
        return USAGE
    settings = Settings(
        slots=options.slots,
        capacity=options.capacity,
        reserve=options.slots if options.reserve is None else options.reserve,
        ttl=options.ttl,
        cold_start=options.cold_start,
        tokens_per_second=options.tokens_per_second,
        resume=options.resume,
    )
    source = {"chat": options.chat or "bundled sample", "image": options.image or "random", "seed": options.seed}
    try:
        policy = policies.load(options.policy) if options.policy else None
        with _journal(options.journal) as journal:
            compared = compare(workload, settings, policy, journal)
        result = {"source": source, "policy": options.policy, **compared}
    except policies.PolicyError as error:
        print(f"simulate: {error}", file=sys.stderr)
        return error.code
    except JournalError as error:
        print(f"simulate: {error}", file=sys.stderr)
        return USAGE
    evidence.answer(options, result, [_text(result)])
    return VIOLATED if result["violation"] else HOLDS


class JournalError(Exception):
    """The journal cannot be written: which, why, and what to do."""


@contextmanager
def _journal(path: str | None) -> Iterator[Journal | None]:
    """A new journal at `path`, if one is given. Raises JournalError, also if not every line could be written."""
    if path is None:
        yield None
        return
    if Path(path).exists():
        raise JournalError(f"{path} is there already, expected a new file; name another one or remove it")
    try:
        journal = Journal(path)
    except OSError as error:
        raise JournalError(f"{path}: {error.strerror}, expected a file that can be written; check the path") from error
    with closing(journal):
        yield journal
    if journal.lost:
        raise JournalError(f"{path}: {journal.trouble}, so that lines are missing; make room and run again")


def _whole(least: int, most: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        digits = text.lstrip("0") or text[:1]
        if text.isascii() and text.isdigit() and len(digits) <= len(str(most)) and least <= int(digits) <= most:
            return int(digits)
        shown = ascii(text if len(text) <= 40 else f"{text[:40]}...")
        raise argparse.ArgumentTypeError(f"{shown} was given, expected a whole number from {least} to {most}")

    return whole


def _text(result: dict[str, Any]) -> str:
    source, settings, offered, judged = (result[key] for key in ("source", "settings", "offered", "judged"))
    policy = result["policy"]
    mine = {Path(policy).name: result["under_policy"]} if policy else {"slotproof": result["shipped"]}
    only = "" if policy else ", and only renders can be preempted"
    loads = {kind: "-" if each["load"] is None else f"{each['load']:.1%}" for kind, each in offered.items()}
    lines = [f"waived: {claim} (broken {times} times)" for claim, times in result["waived"].items()]
    lines += [f"policy   {policy}"] if policy else []
    lines += [
        f"chats    {source['chat']}: {offered['chat']['jobs']}, offered load {loads['chat']} of the slots",
        f"renders  {source['image']}: {offered['image']['jobs']}, offered load {loads['image']}; seed {source['seed']}",
        f"slots    {settings['slots']}, each {settings['tokens_per_second']} tokens/s or {RENDER_RATE} render steps/s; "
        f"queue {settings['capacity']}, and {settings['reserve']} for preempted jobs; resume: {settings['resume']}",
        f"worker   cold start {settings['cold_start']} s, stopped when idle for {settings['ttl']} s",
        "",
    ]
    if result["violation"]:
        lines += _counterexample(result["violation"])
    else:
        lines += [
            table({**mine, "first come, first served": result["first_come_first_served"]}),
            "",
            "A wait is from arrival to first work on a warm worker, a turnaround from arrival to end, refused jobs",
            f"apart. Prefill is ignored, a chat of no tokens takes one step{only}.",
            "",
            f"{judged['events']} steps judged in {judged['seconds']} s, no violation:",
            indent(fill(", ".join(f"{count} {name}" for name, count in judged["as"].items()), 100), "  "),
        ]
    return "\n".join(lines)


def _counterexample(violation: dict[str, Any]) -> list[str]:
    steps = violation["steps"]
    reduced = "no step can be left out" if violation["minimal"] else "perhaps not the shortest: the search was cut off"
    return [
        f"VIOLATION at event {violation['event']}: {violation['property']}",
        f"  {violation['sentence']}",
        f"  {violation['detail']}",
        f"shown by {len(steps)} steps from an empty scheduler ({reduced}):",
        *(["  ..."] if len(steps) > MOST_LINES else []),
        *(f"  {number}. {step}" for number, step in list(enumerate(steps, 1))[-MOST_LINES:]),
    ]
