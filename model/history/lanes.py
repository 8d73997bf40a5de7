"""A history for people: each event, the slots as lanes and the queue beside them after it, and what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from impl.jobs import RequestId, Running, Snapshot, Waiting
from model.conform.monitor import ACTIONS
from model.history.happenings import Happening, quoted
from model.history.play import Step
from model.prove.explain import explain
from spec import scheduler_claims as claims
from spec.logic import Claim

WIDTH = 120
"""Columns of a line."""
EVENT, QUEUE = 40, 20
"""The most columns for an event in a table, and the fewest for the queue."""
MOST = 8
"""Waiting jobs, or parts of a formula, that are shown of many."""


@dataclass(frozen=True)
class Fault:
    """A claim that a step broke: its sentence, what was seen, and the parts of its formula that are false."""

    claim: str
    sentence: str
    detail: str
    parts: tuple[str, ...]
    waived: bool

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        told = {"property": self.claim, "sentence": self.sentence, "detail": self.detail}
        return {**told, "false": list(self.parts), "waived": self.waived}


def picture(steps: Sequence[Step], *, seed: int | None = None, again: str = "", width: int = WIDTH) -> str:
    """The play as text, with what its last step broke, the seed that led to it, and the command that shows it again."""
    lines = [*lanes(steps, width=width), "", *verdict(steps[-1])]
    if seed is not None:
        lines.append(f"seed   {seed}")
    if again:
        lines.append(f"again  {again}")
    return "\n".join(line.rstrip() for line in lines)


def lanes(steps: Sequence[Step], *, width: int = WIDTH) -> Iterator[str]:
    """A table with a row a step where it fits, else a paragraph a step."""
    yield from wrap(_key(steps), width)
    slots = max((len(step.snapshot.running) for step in steps if step.snapshot), default=0)
    rows = [_row(step, slots) for step in steps]
    head = ["", "event", *(f"slot {slot}" for slot in range(slots)), "queue", "action"]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    widths[1] = min(widths[1], EVENT)
    widths[-2] = min(widths[-2], width - sum(widths) + widths[-2] - 2 * len(widths) + 2)
    if widths[-2] < min(QUEUE, max(len(row[-2]) for row in rows)):
        for step in steps:
            yield from _paragraph(step, width)
        return
    for row in (head, *rows):
        cells = [wrap(cell, max(1, size)) or [""] for cell, size in zip(row, widths, strict=True)]
        for parts in zip_longest(*cells, fillvalue=""):
            yield "  ".join(part.ljust(size) for part, size in zip(parts, widths, strict=True)).replace(JOINT, " ")


def verdict(step: Step) -> Iterator[str]:
    """What the step broke: each claim with its sentence and its false parts. One line if it is right."""
    found = list(faults(step))
    if step.violation is None:
        yield f"No step up to {step.number} breaks a claim." if not found else "No step breaks a claim that counts."
    if found:
        yield f"{_told(step)} breaks:"
    for fault in found:
        yield f"{fault.claim}{' (waived)' if fault.waived else ''}"
        for told in filter(None, (fault.sentence, fault.detail, *_few(fault.parts))):
            yield from wrap(told, WIDTH, initial_indent="  ", subsequent_indent="    ")


def faults(step: Step) -> Iterator[Fault]:
    """The claims that the step broke, those that count first."""
    counted = step.violation.claims if step.violation else ()
    sentences = {wrong.claim: wrong.sentence for wrong in step.wrongs}
    for claim in dict.fromkeys((*counted, *sentences)):
        details = dict.fromkeys(wrong.detail for wrong in step.wrongs if wrong.claim == claim == "conformance")
        parts = tuple(f"{where}, {part}" for where, false in _parts(claim, step) for part in false)
        yield Fault(claim, sentences.get(claim, ""), " ".join(details), parts, claim not in counted)


def _parts(claim: str, step: Step) -> Iterator[tuple[str, Iterable[object]]]:
    """The false parts of the formula, and of which states; of a step that the specification does not know, those of the
    guard."""
    if claim == "conformance" and step.action:
        yield "before it", _explained(ACTIONS[step.action].guard, step.before, *step.about)
    for where, properties, states in (
        ("after it", claims.ALWAYS + step.owed, (step.after,)),
        ("from s to t", claims.STEPS, (step.before, step.after)),
        ("before it", claims.THEOREMS, (step.before,)),
    ):
        for each in properties:
            if each.name == claim:
                yield where, _explained(each.claim, *states, *(step.about[:1] if each.about else ()))


def _explained(claim: Callable[..., Claim], *arguments: object) -> Iterable[object]:
    try:
        return explain(claim, *arguments)
    except Exception:  # its source cannot be read, or its parts mean nothing by themselves: a policy may write anything
        return ()


def _few(items: Sequence[str]) -> list[str]:
    return [*items[:MOST], f"and {len(items) - MOST} more"] if len(items) > MOST + 1 else list(items)


# Cells

JOINT = "\N{NO-BREAK SPACE}"
"""Stands for a space at which no line may be broken."""


def words(happening: Happening) -> str:
    """The event in short."""
    details = dict(happening.details)
    run, steps = details.pop("run", None), details.pop("steps", None)
    lease = "" if run is None else f", {'no run' if run < 0 else f'run {run}'} of it"
    told = f"{happening.name} {called(happening.job)}" if happening.job is not None else happening.name
    facts = ", ".join(f"{name}{JOINT}{value}" for name, value in details.items())
    return told.replace(" ", JOINT) + (f" by {steps}" if steps is not None else "") + lease + (facts and f" ({facts})")


def called(job: RequestId) -> str:
    """The name of a job, in quotes where it would be unclear without."""
    plain = isinstance(job, int) or (job.isprintable() and job.isascii() and job[:1].isalpha() and " " not in job)
    shown = str(job) if plain else quoted(job)
    return shown if len(shown) <= 24 else f"{shown[:20]}...{shown[-1]}"


def _key(steps: Sequence[Step]) -> str:
    entries = [entry for step in steps if step.snapshot for entry in _entries(step.snapshot)]
    differ = any(entry.urgency != entry.job.priority for entry in entries)
    return f"Of each job: name, priority{'/urgency' if differ else ''} and the steps left."


def _entries(snapshot: Snapshot) -> Iterator[Running | Waiting]:
    yield from filter(None, snapshot.running)
    yield from snapshot.queue


def _row(step: Step, slots: int) -> list[str]:
    happening = words(step.happening) if step.happening else "start"
    number = f"{'!' if step.violation else JOINT}{step.number}"
    if step.snapshot is None:
        return [number, happening, *["?"] * (slots + 1), _action(step)]
    running = [_cell(run) for run in step.snapshot.running]
    return [number, happening, *running, *[""] * (slots - len(running)), _queue(step.snapshot), _action(step)]


def _cell(entry: Running | Waiting | None) -> str:
    if entry is None:
        return "-"
    urgency = "" if entry.urgency == entry.job.priority else f"/{entry.urgency}".replace(" ", "")
    return f"{called(entry.job.request_id)} {entry.job.priority}{urgency} ({entry.remaining} left)".replace(" ", JOINT)


def _queue(snapshot: Snapshot) -> str:
    return ", ".join(_few([_cell(entry) for entry in snapshot.queue])) or "-"


def _action(step: Step) -> str:
    return step.action or ("" if step.happening is None else "nothing it allows")


def _told(step: Step) -> str:
    """The step as the specification calls it, with its arguments."""
    if step.happening is None:
        return "The start"
    if not step.action:
        return f"Step {step.number}"
    names = list(signature(ACTIONS[step.action].guard).parameters)[1:]
    arguments = ", ".join(f"{name} = {value!r}" for name, value in zip(names, step.about, strict=True))
    return f"Step {step.number}, {step.action}({arguments}),"


def _paragraph(step: Step, width: int) -> Iterator[str]:
    """A step where there are too many slots for a table."""
    number, event, *_, action = _row(step, 0)
    yield f"{number:>3}  {event}{f'  ->  {action}' if action else ''}".replace(JOINT, " ")
    running, queue = "?", "?"
    if step.snapshot is not None:
        busy = [f"{slot}:{JOINT}{_cell(run)}" for slot, run in enumerate(step.snapshot.running) if run]
        free = len(step.snapshot.running) - len(busy)
        running = ", ".join([*busy, *([f"{free}{JOINT}free"] if free else [])])
        queue = _queue(step.snapshot)
    for name, told in (("slots", running), ("queue", queue)):
        for line in wrap(f"{name}  {told}", width, initial_indent=" " * 5, subsequent_indent=" " * 12):
            yield line.replace(JOINT, " ")
