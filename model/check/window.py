"""The few lines of a log that show what is wrong with one of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from model.check import lines
from model.check.log import SENTENCES, Log, Wrong
from model.check.run import involved

MOST = 2_000
"""Bytes of a line that are shown."""


def window(log: Log, wrong: Wrong) -> list[tuple[int, str]]:
    """Number and text: of each job that the line is about the line that admitted it and the last that named it; of a
    worker the last beginning, the last command other than HOLD, and the last tick; of a line that is broken in itself
    the one before. And the line itself. The log is read once more for it."""
    wanted = {wrong.line - 1} if wrong.claim in SENTENCES else set(_before(log, wrong))
    wanted.add(wrong.line)
    shown = []
    with open(log.path, "rb") as file:
        for number, text in enumerate(file, 1):
            if number in wanted:
                shown.append((number, _shown(text)))
            if number >= wrong.line:
                break
    return shown


def _shown(text: bytes) -> str:
    """The line, cut where it is very long, with nothing that a terminal would obey."""
    rest = f" ... {len(text) - MOST} bytes more" if len(text) > MOST else ""
    plain = text[:MOST].decode(errors="backslashreplace").rstrip("\n")
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in plain) + rest


def _before(log: Log, wrong: Wrong) -> Iterator[int]:
    """The numbers of the lines that led to this one."""
    jobs = set(wrong.jobs)
    last: dict[Any, int] = {}
    for first, batch in Log(log.path, log.mapped).read():
        for number, line in enumerate(batch, first):
            if number >= wrong.line:
                yield from last.values()
                return
            if isinstance(line, lines.Told | lines.Open) and not jobs:
                last |= dict.fromkeys(_of_a_worker(line), number)
            elif jobs:
                named = jobs.intersection(involved(line))
                last |= {(job, isinstance(line, lines.Admit) and line.request_id == job): number for job in named}
    yield from last.values()


def _of_a_worker(line: Any) -> Iterator[str]:
    if isinstance(line, lines.Open):
        yield "open"
    elif line.do not in ("hold", "serve", "stay", None):
        yield "command"
    if isinstance(line, lines.Tick):
        yield "tick"
