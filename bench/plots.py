"""The plots of a run, as SVG."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench.record import Measurement

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(found: dict[str, Measurement], folder: Path) -> list[Path]:
    """One file for each measurement that can be drawn."""
    return [_draw(name, found[name], folder) for name in DRAWN if found.get(name) and found[name].lines]


def _draw(name: str, measured: Measurement, folder: Path) -> Path:
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    path = folder / f"{name}.svg"
    with mpl.rc_context({"svg.hashsalt": "slotproof", "svg.fonttype": "none"}):
        figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
        DRAWN[name](axes, measured)
        axes.set_title(measured.title, fontsize=10)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
    return path


def over_jobs(axes: Axes, measured: Measurement) -> None:
    """Seconds over jobs: the searches grow, the proof does not."""
    for name, points in measured.lines.items():
        axes.plot(*zip(*points, strict=True), marker="o", linestyle="--" if "proof" in name else "-", label=name)
    axes.set_yscale("log")
    axes.set_xlabel("jobs")
    axes.set_ylabel("seconds to the verdict")
    axes.set_xticks(sorted({jobs for points in measured.lines.values() for jobs, _ in points}))


def cumulative(axes: Axes, measured: Measurement) -> None:
    """How many bugs were caught within so many seconds."""
    for name, points in measured.lines.items():
        seconds, caught = zip(*points, strict=True)
        axes.step(seconds, caught, where="post", linestyle="--" if "first" in name else "-", label=name)
    axes.set_xscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("planted bugs caught")


DRAWN = {"explore": over_jobs, "bugs": cumulative}
