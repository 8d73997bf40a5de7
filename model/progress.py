"""Progress of long work: a bar on a terminal, nothing in a pipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import track as rich_track

T = TypeVar("T")


def track(work: Iterable[T], total: int, label: str) -> Iterator[T]:
    """The same items; on a terminal, a bar on standard error says how many of `total` are done."""
    console = Console(stderr=True)
    yield from rich_track(work, label, total, console=console, transient=True, disable=not console.is_terminal)
