"""A state of any machine in words."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

from spec.logic import Domain, Table


def words(state: Any, before: Any = None) -> Iterator[str]:
    """Its numbers on one line, then a line for each member of its domains; of `before` and after, what changed."""
    hints = get_type_hints(type(state))
    alone = [name for name, kind in hints.items() if get_origin(kind) not in (Domain, Table)]
    changed = [name for name in alone if before is None or getattr(before, name) != getattr(state, name)]
    yield f"    {', '.join(f'{name} {_word(getattr(state, name))}' for name in changed) or 'no number changed'}"
    for domain, kind in hints.items():
        if get_origin(kind) is not Domain:
            continue
        keyed = get_args(kind)[0]
        tables = [name for name, other in hints.items() if get_origin(other) is Table and get_args(other)[0] is keyed]
        for member in getattr(state, domain):
            told = []
            for table in tables:
                value = getattr(state, table)[member]
                if before is None or getattr(before, table)[member] != value:
                    told.append(f"{table} {_word(value)}")
            if told:
                yield f"    {domain.removesuffix('s')} {member}: {', '.join(told)}"


def _word(value: Any) -> str:
    return str(value.value) if isinstance(value, Enum) else str(value)
