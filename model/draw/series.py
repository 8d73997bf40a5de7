"""What of a replay is drawn, as plain values of bounded size: kept in evidence, so that each point has its number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from model.simulate.simulation import Simulation
from model.simulate.ticks import SECOND

Series: TypeAlias = dict[str, Any]

PERMIL = (*range(0, 990, 5), *range(990, 1001))
"""The shares, in thousandths, of which the waits are kept."""
MOST_UPS, MOST_STAYS, PARTS = 500, 60, 300
LENGTHS = (600, 300, 120, 60, 30, 20, 10, 5, 2, 1)
"""How long a stretch may be, in seconds."""


def series(simulation: Simulation) -> Series:
    """Of a finished replay, in seconds: `waits`, the least wait that so many permil of the chats did not exceed (empty
    if there were none); `up`, when the worker held its VRAM (since, ready or null, until); `window`, the end of it all.

    Where that is more than MOST_UPS times, `up` is empty, and `held` has the permil of each of PARTS of the window.
    """
    chats = [story for story in simulation.stories.values() if story.job.modality == "chat"]
    waits = sorted(story.started - story.job.arrived for story in chats if story.started is not None)
    ups = simulation.ups if len(simulation.ups) <= MOST_UPS else []
    return {
        "waits": [[permil, _sec(waits[max(0, -(-len(waits) * permil // 1000) - 1)])] for permil in PERMIL if waits],
        "up": [[_sec(up.since), None if up.ready is None else _sec(up.ready), _sec(up.until)] for up in ups],
        "held": _held(simulation) if len(simulation.ups) > len(ups) else [],
        "window": _sec(simulation.now),
    }


def _held(simulation: Simulation) -> list[int]:
    """The permil of each part of the window in which the worker held its VRAM."""
    ticks = [0] * PARTS
    length = -(-simulation.now // PARTS)
    for up in simulation.ups:
        for part in range(up.since // length, -(-up.until // length)):
            ticks[part] += min(up.until, (part + 1) * length) - max(up.since, part * length)
    return [1000 * held // length for held in ticks]


def stretch(simulation: Simulation) -> Series | None:
    """The stretch with the most preemptions, of the greatest of LENGTHS in which no more than MOST_STAYS in a slot are
    to be drawn: `since`, `until`, and `stays` of jobs in a slot or, where that is null, in the queue. The first
    MOST_STAYS in each. None without a preemption."""
    cuts = [stay.until for stay in simulation.stays if stay.cut]
    for length in LENGTHS if cuts else ():
        since = (_densest(cuts, length * SECOND) - length * SECOND // 10) // SECOND * SECOND
        stays = list(_stays(simulation, since, since + length * SECOND))
        placed = [stay for stay in stays if stay["slot"] is not None]
        if len(placed) <= MOST_STAYS or length == LENGTHS[-1]:
            waiting = [stay for stay in stays if stay["slot"] is None]
            kept = [*placed[:MOST_STAYS], *waiting[:MOST_STAYS]]
            return {"since": _sec(since), "until": _sec(since + length * SECOND), "stays": kept}
    return None


def _densest(instants: Sequence[int], length: int) -> int:
    """The first instant from which on so many others follow within the length as from no other."""
    best, most, end = instants[0], 0, 0
    for begin, instant in enumerate(instants):
        while end < len(instants) and instants[end] < instant + length:
            end += 1
        if end - begin > most:
            best, most = instant, end - begin
    return best


def _stays(simulation: Simulation, since: int, until: int) -> Iterator[Series]:
    """Who is where in the stretch, in order of time."""
    told: list[tuple[int, int, str, int | None, bool]] = []
    free = {name: story.job.arrived for name, story in simulation.stories.items()}
    for stay in sorted(simulation.stays, key=lambda stay: stay.since):
        name = stay.lease.request_id
        told.append((free[name], stay.since, str(name), None, False))
        told.append((stay.since, stay.until, str(name), stay.lease.slot, stay.cut))
        free[name] = stay.until
    modality = {str(name): story.job.modality for name, story in simulation.stories.items()}
    for begin, end, name, slot, cut in sorted(told, key=lambda each: each[:2]):
        if begin < end and begin < until and end > since:
            place = {"job": name, "modality": modality[name], "slot": slot}
            yield place | {"since": _sec(begin), "until": _sec(end), "cut": cut}


def _sec(ticks: int) -> float:
    """To the tenth of a millisecond."""
    return round(ticks / SECOND, 4)
