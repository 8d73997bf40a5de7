"""A claim as it stands in the source, with its file and lines."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model.evidence import HOUSE


def formula(function: Callable[..., Any]) -> dict[str, Any]:
    """`file` (from the house on), first and last `line`, `text` and its SHA-256."""
    lines, first = inspect.getsourcelines(function)
    text = "".join(lines).rstrip()
    return {
        "file": place(inspect.getfile(function)),
        "line": first,
        "last_line": first + len(text.splitlines()) - 1,
        "text": text,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }


def place(file: str) -> str:
    """The path of a file of the house, from there on."""
    return Path(file).resolve().relative_to(HOUSE).as_posix()
