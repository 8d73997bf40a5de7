"""What a measurement says: figures, rows of two figures and their ratio, and the bars that they have to reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any


def digits(value: float, many: int = 3) -> float:
    """The number with so many significant digits: what is shown is all that is kept, and ratios are made of it."""
    return float(f"{value:.{many}g}")


@dataclass(frozen=True)
class Figure:
    """Of one subject in `rounds` rounds: the best, which is the least time or the highest rate, and the median."""

    subject: str
    best: float
    median: float
    unit: str
    rounds: int = 1

    def __str__(self) -> str:
        beside = f" (median {self.median:,g})" if self.rounds > 1 else ""
        return f"{self.subject}: {self.best:,g} {self.unit}{beside}"


@dataclass(frozen=True)
class Bar:
    """`ratio` or `best`, as `of` says, is to be at least or at most `limit`."""

    limit: float
    of: str = "ratio"
    least: bool = False

    def met(self, row: Row) -> bool:
        """Whether the row reaches it."""
        value = row.ratio if self.of == "ratio" else row.ours.best
        return value is not None and (value >= self.limit if self.least else value <= self.limit)

    def text(self, row: Row) -> str:
        """In words, with whether it is met."""
        limit = f"{self.limit:g}x" if self.of == "ratio" else f"{self.limit:g} {row.ours.unit}"
        return f"at {'least' if self.least else 'most'} {limit}: {'met' if self.met(row) else 'NOT MET'}"


@dataclass(frozen=True)
class Row:
    """One line of the table: our figure, and perhaps another in the same unit beside it. Some stand in the short table
    too."""

    what: str
    ours: Figure
    beside: Figure | None = None
    bar: Bar | None = None
    in_short: bool = False

    @property
    def ratio(self) -> float | None:
        """Ours divided by the other, of the best of each."""
        return digits(self.ours.best / self.beside.best) if self.beside and self.beside.best else None

    def cells(self) -> Iterator[str]:
        """The line, ratio first."""
        yield self.what
        yield "" if self.ratio is None else times(self.ratio)
        yield str(self.ours)
        yield str(self.beside or "")
        yield self.bar.text(self) if self.bar else ""

    def as_json(self) -> dict[str, Any]:
        """The line for programs."""
        bar = (
            {"limit": self.bar.limit, "of": self.bar.of, "least": self.bar.least, "met": self.bar.met(self)}
            if (self.bar)
            else None
        )
        return {
            "what": self.what,
            "in_short": self.in_short,
            "ratio": self.ratio,
            "ours": vars(self.ours),
            "beside": vars(self.beside) if self.beside else None,
            "bar": bar,
        }


def times(ratio: float) -> str:
    """A ratio as people read it: 2.5x, or 1/40."""
    return f"1/{digits(1 / ratio):,g}" if 0 < ratio < 0.1 else f"{ratio:,g}x"


def table(rows: Iterable[Row]) -> Iterator[str]:
    """The rows in Markdown, and an empty line."""
    yield "| what | ratio | ours | beside it | bar |"
    yield "|---|---:|---|---|---|"
    yield from (f"| {' | '.join(row.cells())} |" for row in rows)
    yield ""


@dataclass
class Measurement:
    """The rows of one question, what has to be said with them, and what is plotted: points by the name of a line."""

    title: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lines: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def add(
        self, what: str, ours: Figure, beside: Figure | None = None, bar: Bar | None = None, in_short: bool = False
    ) -> None:
        """One more row."""
        self.rows.append(Row(what, ours, beside, bar, in_short))

    def markdown(self) -> Iterator[str]:
        """A heading, the table, the notes."""
        yield f"### {self.title}"
        yield ""
        yield from table(self.rows)
        for note in self.notes:
            yield note
            yield ""

    def as_json(self) -> dict[str, Any]:
        """All of it for programs."""
        return {
            "title": self.title,
            "rows": [row.as_json() for row in self.rows],
            "notes": self.notes,
            "lines": self.lines,
        }
