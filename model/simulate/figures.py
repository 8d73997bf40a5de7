"""What a replay came to, for a program and for a reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from impl.autoscale import savings_permil
from model.simulate.simulation import Simulation
from model.simulate.ticks import SECOND

Figures = dict[str, Any]
"""Durations in seconds, of the jobs that were not refused. A wait lasts from arrival to first work on a warm worker, a
turnaround from arrival to end."""


def figures(simulation: Simulation) -> Figures:
    """The figures of a finished replay."""
    of = {kind: [s for s in simulation.stories.values() if s.job.modality == kind] for kind in ("chat", "image")}
    waits = [s.started - s.job.arrived for s in of["chat"] if s.started is not None]
    turnarounds = [s.ended - s.job.arrived for s in of["image"] if s.ended is not None]
    resident, window = (-(-ticks // SECOND) for ticks in (simulation.resident, simulation.now))
    return {
        "chat": {
            "arrived": len(of["chat"]),
            "refused": sum(not s.admitted for s in of["chat"]),
            "wait_sec": {p: percentile(waits, q) for p, q in (("p50", 50), ("p95", 95), ("p99", 99), ("max", 100))},
        },
        "image": {
            "arrived": len(of["image"]),
            "refused": sum(not s.admitted for s in of["image"]),
            "turnaround_sec": {p: percentile(turnarounds, q) for p, q in (("p50", 50), ("p95", 95), ("max", 100))},
        },
        "preemptions": sum(s.preemptions for s in simulation.stories.values()),
        "redone_sec": simulation.redone / SECOND,
        "worker": {
            "starts": simulation.starts,
            "reaps": simulation.reaps,
            "vram_sec": resident,
            "window_sec": window,
            "saved_permil": savings_permil(resident, window),
        },
        "unfinished": sum(s.admitted and s.ends != 1 for s in simulation.stories.values()),
    }


def percentile(ticks: Sequence[int], percent: int) -> float | None:
    """The least value that `percent` % of all do not exceed, in seconds; None where there is none."""
    return sorted(ticks)[-(-len(ticks) * percent // 100) - 1] / SECOND if ticks else None


def table(columns: Mapping[str, Figures]) -> str:
    """The figures side by side, a column each under its name."""
    cells = [_cells(each) for each in columns.values()]
    rows = [("", *columns)] + [(label, *(column[label] for column in cells)) for label in cells[0]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        f"{row[0]:<{widths[0]}}"
        + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    )


def _cells(each: Figures) -> dict[str, str]:
    chat, render, worker = each["chat"], each["image"], each["worker"]
    return {
        **{f"chat wait {name}": _seconds(value) for name, value in chat["wait_sec"].items()},
        "chat refused": _share(chat),
        **{f"render turnaround {name}": _seconds(value) for name, value in render["turnaround_sec"].items()},
        "render refused": _share(render),
        "preemptions": str(each["preemptions"]),
        "slot time lost to them": f"{each['redone_sec']:.1f} s",
        "worker starts": str(worker["starts"]),
        "VRAM held": f"{worker['vram_sec']} s",
        "of a window of": f"{worker['window_sec']} s",
        "VRAM-seconds saved": f"{worker['saved_permil']} permil",
        "unfinished": str(each["unfinished"]),
    }


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f} s"


def _share(kind: Figures) -> str:
    return f"{kind['refused']} of {kind['arrived']} ({100 * kind['refused'] / max(1, kind['arrived']):.1f} %)"
