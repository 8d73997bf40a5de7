"""Functions made from a text, whose source is at hand as it is for any file."""

from __future__ import annotations

import linecache
from itertools import count
from typing import Any

_numbers = count(1)


def made(source: str, name: str = "f", **names: Any) -> Any:
    """What the text defines under the name; `names` are its other globals."""
    file = f"<source {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    found: dict[str, Any] = {"__name__": file, **names}
    exec(compile(source, file, "exec", dont_inherit=True), found)
    return found[name]
