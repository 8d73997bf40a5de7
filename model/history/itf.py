"""Traces in the Informal Trace Format of Apalache (ADR-015), which other tools can show and check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impl.jobs import Running, Snapshot, Waiting
from model.history.happenings import Happening, Trace, told
from model.history.play import Step

FORMAT = "https://apalache-mc.org/docs/adr/015adr-trace.html"
PARAMS = ("slots", "capacity", "reserve")
VARS = ("event", "action", "running", "queue", "waiting", "next_run", "next_ticket", "served")
SAFE = 2**53
"""From here on a JSON number may lose digits."""
UNIT = "U_OF_UNIT"
OPTIONAL = {"admit": ("deadline",), "complete": ("run",), "progress": ("run",)}
"""What may be missing from an event: it is written as a set of one member, or none."""
USUAL = {"admit": {"modality": "", "arrived": 0}}


def to_itf(trace: Trace, steps: Sequence[Step], about: dict[str, Any]) -> dict[str, Any]:
    """The trace and its play as a JSON object: a state for the start and one after each event, which that state names.
    `about` becomes part of `#meta`."""
    meta = {"format": "ITF", "format-description": FORMAT, **about}
    if trace.policy is not None:
        meta["policy"] = trace.policy
    states: list[dict[str, Any]] = []
    for index, step in enumerate(steps):
        state: dict[str, Any] = {"#meta": {"index": index}}
        if index == 0:
            state |= {name: _value(getattr(trace, name)) for name in PARAMS}
        if step.violation is not None:
            state["#meta"]["breaks"] = list(step.violation.claims)
        state |= {"event": _event(step.happening), "action": step.action}
        if step.snapshot is not None:
            state |= _seen(step.snapshot, dict(step.after.served.entries) if step.after else {})
        else:  # the code raised, and what it left behind was not asked for
            state |= {name: states[-1][name] for name in VARS[2:]}
        states.append(state)
    return {"#meta": meta, "params": list(PARAMS), "vars": list(VARS), "states": states}


def _event(happening: Happening | None) -> dict[str, Any]:
    if happening is None:
        return {"tag": "Start", "value": UNIT}
    if happening.job is None:
        return {"tag": happening.name.capitalize(), "value": UNIT}
    record: dict[str, Any] = {"job": happening.job, **dict(happening.details)}
    fields = {name: _value(value) for name, value in (record | USUAL.get(happening.name, {}) | record).items()}
    for name in OPTIONAL.get(happening.name, ()):
        fields[name] = {"#set": [fields[name]] if name in fields else []}
    return {"tag": happening.name.capitalize(), "value": fields}


def _seen(snapshot: Snapshot, served: dict[Any, int]) -> dict[str, Any]:
    busy = [run for run in snapshot.running if run is not None]
    return {
        "running": {"#map": [[_value(run.slot), {**_entry(run), "run": _value(run.run)}] for run in busy]},
        "queue": [{**_entry(entry), "ticket": _value(entry.ticket)} for entry in snapshot.queue],
        "waiting": _value(snapshot.waiting),
        "next_run": _value(snapshot.next_run),
        "next_ticket": _value(snapshot.next_ticket),
        "served": {"#map": [[_value(job), _value(steps)] for job, steps in served.items()]},
    }


def _entry(entry: Running | Waiting) -> dict[str, Any]:
    job = entry.job
    told = {"job": job.request_id, "priority": job.priority, "urgency": entry.urgency, "work": job.work}
    return {name: _value(value) for name, value in {**told, "remaining": entry.remaining}.items()}


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return {"#tup": [_value(part) for part in value]}
    return {"#bigint": str(value)} if isinstance(value, int) and abs(value) >= SAFE else value


# Back again


def from_itf(data: object) -> Trace:
    """The trace that such an object holds, whatever its states say of what happened. Raises ValueError."""
    states = _of(data, "states", list)
    if not states:
        raise ValueError("`states` is empty, expected the start and a state after each event")
    slots, capacity, reserve = (_plain(_of(states[0], name, object)) for name in PARAMS)
    history = tuple(_happening(_of(state, "event", dict)) for state in states[1:])
    meta = _of(data, "#meta", dict)
    policy = meta.get("policy")
    if policy is not None and not isinstance(policy, str):
        raise ValueError(f"`policy` is {policy!r:.100}, expected the path of a file")
    return Trace(history, slots, capacity, reserve, policy)


def _happening(event: dict[str, Any]) -> Happening:
    kind, value = _of(event, "tag", str).lower(), event.get("value")
    if kind == "restart" and value == UNIT:
        return told(kind, (), {})
    if not isinstance(value, dict):
        raise ValueError(f"an event has the value {value!r:.100}, expected a record")
    return told(kind, (), {name: _plain(part) for name, part in value.items()})


def _of(record: object, name: str, kind: type) -> Any:
    if not isinstance(record, dict) or name not in record or not isinstance(record[name], kind):
        raise ValueError(f"it is no trace of the scheduler: `{name}` is missing or of another kind")
    return record[name]


def _plain(value: Any) -> Any:
    """A number or text as Python has it, and what may be missing; anything else as it is, for the checks to refuse."""
    match value:
        case {"#bigint": str(digits)}:
            return int(digits)
        case {"#set": []}:
            return None
        case {"#set": [only]}:
            return _plain(only)
    return value
