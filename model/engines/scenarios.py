"""The scenarios of the tables, each a claim under its ID. They are kept with the tests; without them no engine reads
them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from model.engines.engine import Engine
from model.planted.bugs import Code
from model.scenarios.notation import Failed, Line, read

TABLES = Path(__file__).parents[2] / "tests" / "scenarios"


def scenario_engine(table: str, case: Callable[[Line], Any], part: Callable[[Code], Any]) -> dict[str, Engine]:
    """The engine `scenario`: what the cases of the table come to, by their own lines, on a part of the code."""
    path = TABLES / table
    if not path.is_file():
        return {}

    @cache
    def cases() -> list[Any]:
        return [each for scenario in read(path, case).values() for each in scenario]

    def played(code: Code) -> Iterator[str]:
        """Every case of the table."""
        for each in cases():
            try:
                each.check(part(code), judged=False)
            except Failed:
                yield each.line.name

    return {"scenario": played}
