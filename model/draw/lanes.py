"""Histories as lanes: time runs down, a row an event; a lane a slot with the queue beside them, or the life of the
worker with what was answered. Two slots are narrow enough for a phone; more of them scroll in a box."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import wrap
from typing import Any, TypeAlias

from model.draw.html import Html, box, clipped, drawing, element, figure, label, rule
from model.draw.rows import text

Row: TypeAlias = Mapping[str, Any]

TOP, LINE, PAD = 22, 14, 7
EVENT, PHASE, ANSWER = 126, 78, 120
"""Widths of the columns."""
LANE, QUEUE = (52, 80), (94, 136)
"""Those of columns that are as wide as the names of jobs need, within these bounds."""
LETTER = 6.4
CHIP = 18
MOST_SLOTS, MOST_QUEUED, MOST_ROWS = 8, 4, 40
"""So much of many is drawn; the text below has the rest."""
PHASES = {"cold": "", "starting": "half", "warm": "up", "stopping": "half"}


def lanes(rows: Sequence[Row], name: str, title: str = "A history, event by event") -> Html:
    """The figure of a history. `rows` are those of `model.draw.rows`, as evidence keeps them; `name` is unique on the
    page. Raises ValueError if there are none."""
    if not rows:
        raise ValueError("a history of no rows was given, expected at least the start")
    sheet = _Sheet(rows)
    svg = drawing(name, sheet.width, sheet.height, title, f"{_caption(rows)} In text below.", *sheet.parts)
    key = " Of each job: name, priority, steps left." if sheet.queue else ""
    return figure(svg, _caption(rows) + key, "\n".join(text(rows)))


def _caption(rows: Sequence[Row]) -> str:
    events, broken = len(rows) - 1, rows[-1]["breaks"]
    if not broken:
        return f"No event breaks a claim ({events})."
    more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
    return f"{'The only event' if events == 1 else f'The last of {events} events'} breaks {broken[0]}{more}."


@dataclass
class _Band:
    """A row and where it is drawn; None stands for rows that are not."""

    row: Row | None
    top: float
    height: float
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def end(self) -> float:
        """Where what is true of the row ends, and what it breaks is told."""
        return self.top + self.height - (LINE * len(self.notes) + PAD if self.notes else 0)

    @property
    def middle(self) -> float:
        """Where the words of a lane stand."""
        return self.top + PAD + LINE + 1


class _Sheet:
    """The drawing: its size and its parts."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.worker = any("phase" in row for row in rows)
        self.slots = _shown_slots(rows)
        self.queue = any("slots" in row for row in rows)
        cells = [cell for row in rows for cell in _cells(row)]
        priorities = {cell["priority"] for cell in cells}
        self.urgent = max(priorities) if len(priorities) > 1 else None
        self.each = _within(LANE, max((len(_short(cell)) for cell in cells), default=0) + 1.5)
        self.chip = _within(QUEUE, max((len(_chip(cell)) for cell in cells), default=0) + 2.5)
        self.lane = EVENT + (PHASE if self.worker else 0)
        self.beside = self.lane + self.each * len(self.slots)
        self.answer = self.beside + (self.chip if self.queue else 0)
        self.width = float(self.answer + (ANSWER if self.worker else 0))
        self.bands: list[_Band] = []
        top = float(TOP)
        for row in _few(rows):
            self.bands.append(self._band(row, top))
            top += self.bands[-1].height
        self.height = top + 1
        self.parts = [*self._washes(), *self._heads(), *self._bars(), *self._moves()]
        for band in self.bands:
            self.parts += self._words(band)

    def _band(self, row: Row | None, top: float) -> _Band:
        if row is None:
            return _Band(None, top, 22)
        when = f"t{row['now']} " if "now" in row else f"{row['number']}. " if row["number"] else ""
        lines = wrap(when + row["event"], 21)
        action = row.get("action", "")
        lines += wrap(f"\N{RIGHTWARDS ARROW} {action.replace('_', ' ')}", 21) if action else []
        notes = [part for claim in row["breaks"] for part in _wrapped(f"breaks {claim}", int(self.width / 6.2))]
        chips = min(len(row.get("queue", ())), MOST_QUEUED + 1) + len(self._nowhere(row))
        rest = max(len(lines) * LINE, 2 * LINE, chips * CHIP, LINE * len(self._answer(row)))
        return _Band(row, top, rest + 2 * PAD + (len(notes) * LINE + PAD if notes else 0), lines, notes)

    def _washes(self) -> Iterator[Html]:
        for band in self.bands:
            if band.row and band.row["breaks"]:
                yield element("rect", x=0, y=band.top, width=self.width, height=band.height, class_="wash")
            yield rule(0, band.top, self.width, band.top)

    def _heads(self) -> Iterator[Html]:
        yield label(0, TOP - 8, "event", "faint")
        if self.worker:
            yield label(EVENT + PHASE / 2, TOP - 8, "worker", "faint middle")
            yield label(self.answer + 8, TOP - 8, "answer", "faint")
        for place, slot in enumerate(self.slots):
            yield label(self.lane + self.each * (place + 0.5), TOP - 8, f"slot {slot}", "faint middle")
        if self.queue:
            yield label(self.beside + 10, TOP - 8, "queue", "faint")

    def _bars(self) -> Iterator[Html]:
        """Each stay of a job in a slot, and each phase of the worker, as one bar however many rows it lasts."""
        for place, slot in enumerate(self.slots):
            cells = [(band, _slot(band.row, slot)) for band in self.bands]
            for bands, cell in _stays(cells, lambda cell: (cell["job"], cell.get("run"))):
                yield _bar(bands, self.lane + self.each * place, self.each, self._kind(cell))
        if self.worker:
            phases = [(band, band.row if band.row and band.row["phase"] != "cold" else None) for band in self.bands]
            for bands, row in _stays(phases, lambda row: (row["phase"], row["generation"])):
                yield _bar(bands, EVENT, PHASE, PHASES[row["phase"]])

    def _moves(self) -> Iterator[Html]:
        """Who goes from a slot to the queue, or from there to a slot."""
        for before, after in pairwise(self.bands):
            if before.row is None or after.row is None:
                continue
            was, is_ = self._places(before), self._places(after)
            for job in was.keys() & is_.keys():
                (x, y, waited), (to_x, to_y, waits) = was[job], is_[job]
                if waits and not waited:
                    yield from _arrow(x + self.each / 2 + 8, before.end - 2, to_x, to_y)
                elif waited and not waits:
                    yield from _arrow(x, y, to_x + self.each / 2, after.top + 3)

    def _places(self, band: _Band) -> dict[str, tuple[float, float, bool]]:
        """Where each job is drawn, and whether it waits there."""
        found: dict[str, tuple[float, float, bool]] = {}
        for at, cell in enumerate(self._chips(band)):
            found[cell["job"]] = (self.beside + 8.0, band.top + PAD + CHIP * (at + 0.5), True)
        for place, slot in enumerate(self.slots):
            running = _slot(band.row, slot)
            if running:
                found[running["job"]] = (float(self.lane + self.each * place), band.top, False)
        return found

    def _chips(self, band: _Band) -> list[Row]:
        queue = list(band.row.get("queue", ())) if band.row else []
        return queue if len(queue) <= MOST_QUEUED + 1 else queue[:MOST_QUEUED]

    def _words(self, band: _Band) -> Iterator[Html]:
        if band.row is None:
            drawn = sum(other.row is not None for other in self.bands)
            yield label(0, band.top + 15, f"and others; {drawn} rows are drawn", "faint")
            return
        kind = ""
        for at, line in enumerate(band.lines):
            kind = "faint" if line[0] == "\N{RIGHTWARDS ARROW}" else kind
            yield label(0, band.top + PAD + LINE * at + 10, line, kind)
        if self.worker:
            phase, generation = band.row["phase"], band.row["generation"]
            kind = "middle faint" if phase == "cold" else "middle"
            yield label(EVENT + PHASE / 2, band.middle - 4, phase if phase == "cold" else f"{phase} {generation}", kind)
            for at, line in enumerate(self._answer(band.row)):
                kind = ("strong" if line not in ("hold",) else "faint") if at == 0 else "faint"
                yield label(self.answer + 8, band.top + PAD + LINE * at + 10, line, kind)
        for place, slot in enumerate(self.slots):
            middle, cell = self.lane + self.each * (place + 0.5), _slot(band.row, slot)
            most = int((self.each - 8) / LETTER)
            if cell:
                yield label(middle, band.middle - 4, clipped(_short(cell), most), "middle strong")
                yield label(middle, band.middle + 9, f"{cell['left']} left", "middle")
            else:
                yield label(middle, band.middle, "free" if band.row["slots"] else "?", "middle faint")
        if self.queue:
            yield from self._waiting(band, band.row)
        for at, note in enumerate(band.notes):
            yield label(0, band.top + band.height - PAD - LINE * (len(band.notes) - at - 1) - 1, note, "bad strong")

    def _waiting(self, band: _Band, row: Row) -> Iterator[Html]:
        left, top = self.beside + 8, band.top + PAD
        shown = self._chips(band)
        for at, cell in enumerate(shown):
            yield box(left, top + CHIP * at + 1, self.chip - 10, CHIP - 3, f"box {self._kind(cell)}")
            yield label(left + 4, top + CHIP * at + 12, clipped(_chip(cell), int((self.chip - 16) / LETTER * 1.1)))
        at = len(shown)
        if len(row["queue"]) > at:
            yield label(left + 4, top + CHIP * at + 12, f"and {len(row['queue']) - at} more", "faint")
            at += 1
        for job in self._nowhere(row):
            yield box(left, top + CHIP * at + 1, self.chip - 10, CHIP - 3, "box lost")
            yield label(left + 4, top + CHIP * at + 12, f"{clipped(job, 7)} is lost", "bad strong")
            at += 1

    def _nowhere(self, row: Row) -> list[str]:
        return list(row.get("lost", ()))[:MOST_QUEUED]

    def _answer(self, row: Row) -> list[str]:
        if "command" not in row:
            return []
        return [row["command"], *wrap(row["why"], 19), *wrap(f"alarm: {row['alarm']}" if row.get("alarm") else "", 19)]

    def _kind(self, cell: Row) -> str:
        return "chat" if cell["priority"] == self.urgent else "image"


def _few(rows: Sequence[Row]) -> list[Row | None]:
    """The first and the last of many."""
    if len(rows) <= MOST_ROWS:
        return list(rows)
    return [*rows[:5], None, *rows[5 - MOST_ROWS :]]


def _cells(row: Row) -> Iterator[Row]:
    yield from filter(None, row.get("slots", ()))
    yield from row.get("queue", ())


def _shown_slots(rows: Iterable[Row]) -> list[int]:
    """All slots if they are few, else the first that anything happens in."""
    slots = [row.get("slots", ()) for row in rows]
    every = range(max(map(len, slots), default=0))
    used = [slot for slot in every if any(slot < len(each) and each[slot] for each in slots)]
    return list(every) if len(every) <= MOST_SLOTS else used[:MOST_SLOTS]


def _slot(row: Row | None, slot: int) -> Any:
    slots = row.get("slots", ()) if row else ()
    return slots[slot] if slot < len(slots) else None


def _stays(cells: Sequence[tuple[_Band, Any]], same: Any) -> Iterator[tuple[list[_Band], Any]]:
    """Each run of neighbours that are the same."""
    bands: list[_Band] = []
    of: Any = None
    for band, cell in cells:
        if bands and (cell is None or same(cell) != same(of)):
            yield bands, of
            bands = []
        if cell is not None:
            bands, of = [*bands, band], cell
    if bands:
        yield bands, of


def _bar(bands: Sequence[_Band], left: float, width: float, kind: str) -> Html:
    return box(left + 3, bands[0].top + 2, width - 6, bands[-1].end - bands[0].top - 4, f"box {kind}")


def _arrow(x: float, y: float, to_x: float, to_y: float) -> Iterator[Html]:
    down = to_y - y > abs(to_x - x) / 3
    tip = (-3, -6, 3, -6) if down and to_x <= x else (-6, -3, -6, 3)
    yield element("path", d=f"M{x:.0f} {y:.0f}Q{x:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}", class_="move")
    points = f"{to_x:.0f},{to_y:.0f} {to_x + tip[0]:.0f},{to_y + tip[1]:.0f} {to_x + tip[2]:.0f},{to_y + tip[3]:.0f}"
    yield element("polygon", points=points, class_="head")


def _short(cell: Row) -> str:
    urgency = f"/{cell['urgency']}".replace(" ", "") if "urgency" in cell else ""
    return f"{cell['job']} {cell['priority']}{urgency}"


def _chip(cell: Row) -> str:
    return f"{_short(cell)}, {cell['left']} left"


def _within(bounds: tuple[int, int], letters: float) -> int:
    """As wide as so many letters, within the bounds."""
    return max(bounds[0], min(bounds[1], round(letters * LETTER)))


def _wrapped(claim: str, most: int) -> list[str]:
    """A name that is a sentence may be broken behind an underscore."""
    return [part.replace(" _", "_").replace("_ ", "_") for part in wrap(claim.replace("_", "_ "), most)]
