"""What spec/README.md says in its tables, for the report, so that nothing is written twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from model.evidence import HOUSE

README = HOUSE / "spec" / "README.md"
Row: TypeAlias = dict[str, str]
MACHINES = {"The scheduler": "scheduler", "The autoscale policy": "autoscale", "The closed loop": "worker"}
"""The chapter of each machine."""


class Unreadable(Exception):
    """spec/README.md does not have what the report takes from it."""


def sections(text: str) -> Iterator[tuple[str, str]]:
    """What stands in each section, with the title of the chapter that it is in."""
    chapter = ""
    lines: list[str] = []
    for line in [*text.splitlines(), "## "]:
        if not line.startswith(("## ", "### ")):
            lines.append(line)
            continue
        yield chapter, "\n".join(lines)
        lines = []
        chapter = line[3:] if line.startswith("## ") else chapter


def table(text: str) -> list[Row]:
    """The rows of the first table in the text, each by the names of its columns."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    if len(lines) < 3:
        return []
    names, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    if wrong := next((row for row in rows if len(row) != len(names)), None):
        raise Unreadable(f"{README.name}: the row {' | '.join(wrong)} has {len(wrong)} cells, expected {len(names)}")
    return [dict(zip(names, row, strict=True)) for row in rows]


def stated(path: Path = README) -> dict[str, Any]:
    """`properties` by machine and name (origin, what each rests on), `assumptions`, `deviations`,
    `liveness` (name and text of each claim) and `not_claimed`. Raises Unreadable if one of them is missing."""
    found: dict[str, Any] = {"properties": {}, "assumptions": [], "deviations": [], "liveness": [], "not_claimed": []}
    for chapter, text in sections(path.read_text(encoding="utf-8")):
        rows = table(text)
        if chapter in MACHINES:
            for row in rows:
                found["properties"][MACHINES[chapter], row["property"].strip("`")] = row
        elif chapter == "Assumptions by name":
            found["assumptions"] = rows
        elif chapter == "Deviations from the originals":
            found["deviations"] = rows
        elif chapter == "Liveness":
            found["not_claimed"] = [told for each in text.split("\n\n") if (told := _denied(each))]
            found["liveness"] = [claim for each in text.split("\n\n") if (claim := _claimed(each))]
    if missing := sorted(name for name, value in found.items() if not value):
        raise Unreadable(f"{path.name} has no {', '.join(missing)}; its chapters were renamed, or the report must be")
    return found


def _denied(paragraph: str) -> str | None:
    """What the paragraph says is not claimed."""
    words = " ".join(paragraph.split())
    said = re.match(r"What is \*not\* claimed: (.*)", words)
    return said[1][:1].upper() + said[1][1:] if said else None


def _claimed(paragraph: str) -> Row | None:
    """What the paragraph says will be sooner or later."""
    said = re.match(r"`(\w+)`: (.*)", " ".join(paragraph.split()))
    return {"name": said[1], "text": said[2][:1].upper() + said[2][1:]} if said else None
