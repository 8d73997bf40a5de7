"""The drawings of a report: histories as lanes, workers over time, and how a replay of arrivals went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from model.draw.html import Html
from model.draw.lanes import lanes
from model.draw.plots import stretch, vram, waits


def of_violation(violation: Mapping[str, Any], number: int) -> Iterator[Html]:
    """Its history, where it can be drawn."""
    title = violation["property"] or violation["step"]
    if violation["rows"]:
        yield lanes(violation["rows"], name=f"violation-{number}", title=title)


def of_finding(finding: Mapping[str, Any], number: int) -> Iterator[Html]:
    """The shortest trace to a fault of an original, where it is a history."""
    if finding["rows"]:
        yield lanes(finding["rows"], name=f"finding-{number}", title=finding["fault"])


def of_simulation(simulation: Mapping[str, Any]) -> Iterator[Html]:
    """How long chats waited, when the worker was up, and a stretch with preemptions."""
    result = simulation["result"]
    if result and result.get("drawn"):
        for draw in (waits, vram, stretch):
            drawn = draw(result, name=f"{simulation['step']}-{draw.__name__}")
            yield from [drawn] if drawn else []
