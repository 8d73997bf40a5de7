"""Events as people read them."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum

from model.conform import events, worker_events


def spoken(event: worker_events.Event | events.Event) -> str:
    """What happens, and what is told of it: `probed verdict=warm generation=1`."""
    told = ((field.name, getattr(event, field.name)) for field in fields(event))
    parts = (f"{name}={value.value if isinstance(value, Enum) else value}" for name, value in told)
    return " ".join((type(event).__name__.lower(), *parts))
