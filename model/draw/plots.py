"""What `simulate` found, drawn: how long chats wait, when the worker holds its VRAM, and who has which slot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil, log10
from typing import Any, TypeAlias

from model.draw.html import Html, box, clipped, drawing, element, figure, label, rule

Result: TypeAlias = Mapping[str, Any]
At: TypeAlias = Callable[[float], float]
"""Where on the drawing a value stands."""

WIDTH, LEFT, RIGHT = 340, 44, 12
LEAST = 0.001
"""Seconds at the left end of the axis of waits, shorter ones among them."""
OURS, THEIRS = "slotproof", "first come, first served"


def waits(result: Result, name: str) -> Html:
    """The share of the chats that waited at most so long, here and first come, first served. `result` is that of
    `simulate --json` without a violation, `name` unique on the page. Raises ValueError if there were no chats."""
    sides = [(ours(result), result["drawn"]["judged"]), (THEIRS, result["drawn"]["first_come_first_served"])]
    if any(not side["waits"] for _, side in sides):
        raise ValueError("waits of no chats were given, expected those of at least one")
    top, bottom = 12, 196
    longest = max(side["waits"][-1][1] for _, side in sides)
    decades = max(1, ceil(log10(max(longest, LEAST) / LEAST)))
    span = WIDTH - LEFT - RIGHT

    def at(sec: float) -> float:
        return LEFT + span * log10(max(sec, LEAST) / LEAST) / decades

    def height(permil: float) -> float:
        return bottom - (bottom - top) * permil / 1000

    parts: list[str] = []
    for percent in (0, 25, 50, 75, 100):
        parts += [rule(LEFT, height(10 * percent), WIDTH - RIGHT, height(10 * percent))]
        parts += [label(LEFT - 5, height(10 * percent) + 4, f"{percent} %", "faint end")]
    for decade in range(decades + 1):
        x, least = at(LEAST * 10**decade), "" if decade else "\N{LESS-THAN OR EQUAL TO} "
        parts += [rule(x, top, x, bottom)]
        kind = "faint end" if decade == decades else "faint middle"
        parts += [label(x, bottom + 14, f"{least}{_duration(LEAST * 10**decade)}", kind)]
    for (_, side), kind in zip(sides, ("curve", "curve other"), strict=True):
        parts += [element("polyline", points=" ".join(_steps(side["waits"], at, height)), class_=kind)]
    for place, ((who, _), kind) in enumerate(zip(sides, ("curve", "curve other"), strict=True)):
        y = bottom + 32 + 15 * place
        parts += [element("line", x1=LEFT, y1=y - 4, x2=LEFT + 26, y2=y - 4, class_=kind), label(LEFT + 32, y, who)]
    marks = {who: dict(side["waits"]) for who, side in sides}
    told = "; ".join(f"{who} {waited[950]:.3f} s" for who, waited in marks.items())
    caption = f"Chats by their wait, which ends with the first work. 95 of 100 waited at most: {told}."
    text = [f"{'share of chats':<16}" + "".join(f"{who:>26}" for who in marks)]
    text += [
        f"{f'{permil // 10} %':<16}" + "".join(f"{waited[permil]:>24.3f} s" for waited in marks.values())
        for permil in (250, 500, 750, 900, 950, 990, 1000)
    ]
    svg = drawing(name, WIDTH, bottom + 54, "Chat waits", f"{caption} A table is below.", *parts)
    return figure(svg, caption, "\n".join(text))


def _steps(waited: Sequence[Sequence[float]], at: At, height: At) -> Iterator[str]:
    """A share is reached at its wait, and not before."""
    yield f"{at(waited[0][1]):.1f},{height(0):.1f}"
    for (before, _), (permil, sec) in pairwise([(0, 0.0), *waited]):
        yield f"{at(sec):.1f},{height(before):.1f}"
        yield f"{at(sec):.1f},{height(permil):.1f}"
    yield f"{WIDTH - RIGHT},{height(waited[-1][0]):.1f}"


def vram(result: Result, name: str) -> Html:
    """When the worker held its VRAM, here and first come, first served; as `waits`."""
    sides = [(ours(result), result["drawn"]["judged"]), (THEIRS, result["drawn"]["first_come_first_served"])]
    window = max(1.0, *(side["window"] for _, side in sides))
    left, span = RIGHT, WIDTH - 2 * RIGHT
    parts: list[str] = []
    text: list[str] = []
    for place, (who, side) in enumerate(sides):
        top = 20 + 48 * place
        parts += [label(left, top - 4, who), element("rect", x=left, y=top, width=span, height=20, class_="box")]
        for since, ready, until in side["up"]:
            begin, end = left + span * since / window, left + span * until / window
            warm = end if ready is None else left + span * ready / window
            parts += [_strip(begin, warm, top, "half"), *([_strip(warm, end, top, "up")] if warm < end else [])]
        for part, permil in enumerate(side["held"]):
            begin, wide = left + span * part / len(side["held"]), span / len(side["held"])
            shade = {"x": begin, "y": top, "width": wide, "height": 20, "class_": "up"}
            parts += [element("rect", **shade, fill_opacity=permil / 1000)] if permil else []
        text += [f"{who}, in seconds of {side['window']:g}:", *map(_told_up, side["up"])]
        text += [f"  held for so many permil of each {len(side['held'])}th: {side['held']}"] if side["held"] else []
    bottom = 20 + 48 * len(sides)
    for sec in _ticks(window):
        x = left + span * sec / window
        kind = "faint" if sec == 0 else "faint end" if sec > 0.95 * window else "faint middle"
        parts += [rule(x, bottom - 28, x, bottom - 20), label(x, bottom - 8, _duration(sec), kind)]
    parts += [box(left, bottom + 6, 14, 10, "box half"), label(left + 20, bottom + 15, "starting")]
    parts += [box(left + 90, bottom + 6, 14, 10, "box up"), label(left + 110, bottom + 15, "warm")]
    held = "; ".join(f"{who} {figures['vram_sec']} s of {figures['window_sec']} s" for who, figures in _workers(result))
    caption = f"When the worker held its VRAM: {held}."
    svg = drawing(name, WIDTH, bottom + 24, "VRAM in use over time", f"{caption} Times are below.", *parts)
    return figure(svg, caption, "\n".join(text))


def _strip(begin: float, end: float, top: float, kind: str) -> Html:
    return element("rect", x=begin, y=top, width=max(0.5, end - begin), height=20, class_=kind)


def _told_up(up: Sequence[Any]) -> str:
    since, ready, until = up
    return f"  {since:g} to {until:g}, {'never ready' if ready is None else f'ready at {ready:g}'}"


def _workers(result: Result) -> Iterator[tuple[str, Result]]:
    yield ours(result), result["shipped" if result["policy"] is None else "under_policy"]["worker"]
    yield THEIRS, result["first_come_first_served"]["worker"]


def ours(result: Result) -> str:
    """What the judged side is called."""
    return OURS if result["policy"] is None else str(result["policy"]).replace("\\", "/").rpartition("/")[2]


def _ticks(window: float) -> list[float]:
    """Some four round instants."""
    steps = (1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400)
    step = next((each for each in steps if window / each <= 5), 86400 * ceil(window / 86400 / 5))
    return [float(step * at) for at in range(int(window // step) + 1)]


def _duration(sec: float) -> str:
    """A round time in the unit that it is round in."""
    if 0 < sec < 1:
        return f"{sec * 1000:g} ms"
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if sec and sec % size == 0:
            return f"{sec / size:g} {unit}"
    return f"{sec:g} s"


# A stretch

TALL, TOP = 620, 24
LANES, COLUMNS = 4, 6
"""The most slots and the most places of the queue that are drawn."""
PLACE = 20


def stretch(result: Result, name: str) -> Html | None:
    """Who had which slot, and who waited, in a stretch with many preemptions; None if there was none."""
    found = result["drawn"]["stretch"]
    if found is None:
        return None
    since, until = float(found["since"]), float(found["until"])
    slots = sorted({stay["slot"] for stay in found["stays"] if stay["slot"] is not None})
    queue = [stay for stay in found["stays"] if stay["slot"] is None]
    placed = _columns(queue)
    columns = min(COLUMNS, 1 + max(placed, default=0))
    shown = slots[:LANES]
    lane = min(110.0, (WIDTH - LEFT - PLACE * columns - 8) / max(1, len(shown)))
    beside = LEFT + lane * len(shown) + 8

    def at(sec: float) -> float:
        return TOP + TALL * (min(until, max(since, sec)) - since) / (until - since)

    parts: list[str] = [
        label(LEFT + lane * (place + 0.5), 12, f"slot {slot}", "faint middle") for place, slot in enumerate(shown)
    ]
    parts += [label(beside, 12, "queue", "faint")] if queue else []
    parts += [label(LEFT - 6, 12, "second", "faint end")]
    for tick in _marks(since, until):
        parts += [rule(LEFT - 3, at(tick), WIDTH, at(tick)), label(LEFT - 6, at(tick) + 4, f"{tick}", "faint end")]
    for stay in found["stays"]:
        if stay["slot"] in shown:
            left = LEFT + lane * shown.index(stay["slot"]) + 2
            parts += _stay(stay, left, lane - 4, at)
    for stay, column in zip(queue, placed, strict=True):
        if column < columns:
            parts += [_bar(stay, beside + PLACE * column, PLACE - 3, at)]
    cuts = [stay for stay in found["stays"] if stay["cut"] and since <= stay["until"] < until]
    more = "" if len(slots) <= LANES else f" {len(slots) - LANES} more slots are not drawn."
    more += "" if max(placed, default=0) < columns else f" Of the queue {columns} places are drawn."
    caption = (
        f"From {since:g} s to {until:g} s, {len(cuts)} preemptions, each a thick red end: the render waits beside the "
        f"chat that took its slot, and goes on with the work it had left.{more}"
    )
    svg = drawing(
        name, WIDTH, TOP + TALL + 8, "Slots over a stretch with preemptions", f"{caption} In text below.", *parts
    )
    return figure(svg, caption, "\n".join(map(_told_stay, found["stays"])))


def _marks(since: float, until: float) -> list[float]:
    step = next(each for each in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120) if (until - since) / each <= 12)
    first = ceil(since / step)
    return [round(step * at, 1) if step < 1 else int(step * at) for at in range(first, int(until / step) + 1)]


def _columns(queue: Sequence[Result]) -> list[int]:
    """A place for each of those who wait, free from when the one before has left it."""
    free: list[float] = []
    found = []
    for stay in queue:
        column = next((at for at, end in enumerate(free) if end <= stay["since"]), len(free))
        free[column : column + 1] = [stay["until"]]
        found.append(column)
    return found


def _stay(stay: Result, left: float, width: float, at: At) -> Iterator[Html]:
    yield _bar(stay, left, width, at)
    begin, end = at(stay["since"]), at(stay["until"])
    if stay["cut"] and end < TOP + TALL:
        yield element("rect", x=left, y=end - 3, width=width, height=3, class_="end-cut")
    if end - begin >= 13:
        yield label(left + 4, begin + 11, clipped(stay["job"], int((width - 6) / 6.4)))


def _bar(stay: Result, left: float, width: float, at: At) -> Html:
    begin, end = at(stay["since"]), at(stay["until"])
    kind = "chat" if stay["modality"] == "chat" else "image"
    told = element("title", _told_stay(stay))
    size = {"x": left, "y": begin, "width": width, "height": max(1.0, end - begin - 0.5)}
    return element("rect", told, **size, class_=f"box {kind}")


def _told_stay(stay: Result) -> str:
    where = "waits" if stay["slot"] is None else f"slot {stay['slot']}"
    return (
        f"{stay['since']:>10.4f} to {stay['until']:.4f} s  {where}  {stay['job']}{', preempted' if stay['cut'] else ''}"
    )
