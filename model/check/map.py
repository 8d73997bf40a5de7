"""Logs of other systems: a TOML file says which of their lines mean which events of ours.

    machine = "scheduler"                    # or "worker"
    sampled = false                          # true: events may be missing anywhere
    where = { model = "chat-8b" }            # only lines with these fields

    [open]                                   # what the log begins with, as in the open line of a journal; without it
    slots = 2                                # the state at the start is not known

    [[line]]
    when = { event = "added" }               # lines with these fields ...
    means = "admit"                          # ... are these events of ours
    request_id = "request.id"                # a field of ours is one of theirs: a dot goes into an object,
    priority = "-request.priority"           # and a minus turns a number around

Of a scheduler a line means `admit`, `complete`, `progress` or `cancel`, with the fields of a journal; or what became of
the event before it: `started` (request_id, slot), `preempted` (request_id) or `refused`. An arrival of which nothing is
told waits, and a slot of which nothing is told stays free.

Of a worker a line has `now`, in seconds or in ISO 8601 (UTC, unless it says otherwise), and means `wanted` or
`unwanted` (one job more or less), `spawned`, `ready`, `reaped`, `stopped` (for a failure), `exited` (its process) or
`gone`. Each is a tick as well, at which the worker stays as it is unless the next line of the same instant says
otherwise.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from msgspec import ValidationError, convert

from model.check import lines

Found: TypeAlias = Iterator[tuple[int, list[Any]]]

EVENTS = {"admit": lines.Admit, "complete": lines.Complete, "progress": lines.Progress, "cancel": lines.Cancel}
USUAL = {"admit": "queued", "complete": "ended", "progress": "progressed", "cancel": "cancelled"}
"""The outcome of an event of which the log tells nothing more."""
CONSEQUENCES = {"started": {"request_id", "slot"}, "preempted": {"request_id"}, "refused": set[str]()}
MOVES = ("wanted", "unwanted", "spawned", "ready", "reaped", "stopped", "exited", "gone")
SINCE = {"spawned": "spawn", "reaped": "reap", "stopped": "stop"}
"""What was commanded at the tick of such a line."""


class MapError(Exception):
    """The map is wrong: where, how, and what was expected. A usage error."""


@dataclass(frozen=True)
class Rule:
    """Lines with the fields `when` mean this; `fields` says where ours are found."""

    when: Mapping[str, Any]
    means: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class Map:
    """What a map file says."""

    machine: str
    rules: tuple[Rule, ...]
    where: Mapping[str, Any]
    open: lines.Open | None
    sampled: bool
    path: str = "the map"

    @classmethod
    def load(cls, path: str) -> Map:
        """The map in this file. Raises MapError."""
        try:
            with open(path, "rb") as file:
                said = tomllib.load(file)
        except OSError as error:
            raise MapError(f"{path}: {error.strerror}, expected a readable TOML file; check the path") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise MapError(f"{path}: {error}, expected TOML; correct the file") from error
        try:
            return replace(cls.of(said), path=path)
        except ValueError as error:
            raise MapError(f"{path}: {error}; correct the file") from error

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Map:
        """The map of these values. Raises ValueError."""
        _only(said, "the map", {"machine", "sampled", "where", "open", "line"})
        machine = said.get("machine")
        if machine not in ("scheduler", "worker"):
            raise ValueError(f"machine is {machine!r}, expected scheduler or worker")
        told = said.get("line")
        if not told or not isinstance(told, list):
            raise ValueError("there is no [[line]], expected one for each kind of line")
        rules = tuple(_rule(machine, each, f"line {place}") for place, each in enumerate(told, 1))
        where, sampled, opened = said.get("where", {}), said.get("sampled", False), said.get("open")
        if not isinstance(where, dict):
            raise ValueError(f"where is {where!r}, expected a table of fields and values")
        if not isinstance(sampled, bool):
            raise ValueError(f"sampled is {sampled!r}, expected true or false")
        return cls(machine, rules, where, None if opened is None else _open(machine, opened), sampled)

    @property
    def missing(self) -> set[str]:
        """What no line of such a log can tell."""
        told = {rule.means for rule in self.rules}
        return {"work"} if self.machine == "scheduler" and "progress" not in told else set()

    def translator(self) -> Translator:
        """One for a log from its first line on."""
        return (OfScheduler if self.machine == "scheduler" else OfWorker)(self)


def _open(machine: str, said: Any) -> lines.Open:
    if not isinstance(said, dict):
        raise ValueError(f"open is {said!r}, expected a table of the fields of an open line")
    _only(said, "[open]", set(lines.Open.__struct_fields__) - {"seq", "digest", "machine"})
    try:
        return convert({"event": "open", "machine": machine, **said}, lines.Open)
    except ValidationError as error:
        raise ValueError(f"[open]: {error}, expected the fields of an open line") from error


def _rule(machine: str, said: Any, name: str) -> Rule:
    if not isinstance(said, dict) or not isinstance(said.get("when"), dict):
        raise ValueError(f"{name} has no `when`, expected a table of fields and values")
    fields = {each: path for each, path in said.items() if each not in ("when", "means")}
    means = said.get("means")
    if machine == "worker":
        known = {each: {"now"} for each in MOVES}
    else:
        known = {each: set(kind.__struct_fields__) - {"seq", "digest"} for each, kind in EVENTS.items()} | CONSEQUENCES
    if not isinstance(means, str) or means not in known:
        raise ValueError(f"{name} means {means!r}, expected one of {', '.join(known)}")
    _only(fields, name, known[means])
    if not all(isinstance(path, str) and path.strip("-") for path in fields.values()):
        raise ValueError(f"{name} has {fields}, expected the name of a field of the log for each")
    needed = "now" if machine == "worker" else "request_id"
    if needed not in fields and means != "refused":
        raise ValueError(f"{name} has no {needed}, expected where it is found")
    return Rule(said["when"], means, fields)


def _only(said: Mapping[str, Any], name: str, known: set[str]) -> None:
    if not set(said) <= known:
        raise ValueError(f"{name} has {', '.join(sorted(set(said) - known))}, expected only {', '.join(sorted(known))}")


def field(line: Any, path: str) -> Any:
    """What the line has there; None if it has nothing. Raises ValueError for what cannot be turned around."""
    value = line
    for name in path.removeprefix("-").split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if path.startswith("-") and value is not None:
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"{path[1:]} is {value!r}, expected a whole number")
        return -value
    return value


class Translator:
    """Turns lines of another system into ours. An event is held back until it is clear what became of it."""

    def __init__(self, said: Map) -> None:
        self.map = said
        self.number = 0
        self.pending: Any = None
        self._begun = said.open is None

    def take(self, number: int, line: Any) -> Found:
        """What this line completes, each with the number of its line. Raises ValueError for fields of a wrong kind."""
        if not self._begun:
            self._begun = True
            yield from self._begin(convert(self.map.open, lines.Open))
        if not isinstance(line, dict):
            raise ValueError("the line is no object")
        if not _matches(line, self.map.where):
            return
        for rule in self.map.rules:
            if _matches(line, rule.when):
                fields = {name: field(line, path) for name, path in rule.fields.items()}
                yield from self._meet(
                    number, rule.means, {name: each for name, each in fields.items() if each is not None}
                )
                return

    def rest(self) -> Found:
        """The last event, of which nothing more is told."""
        if self.pending is not None:
            yield self.number, [self.pending]
            self.pending = None

    def _begin(self, opened: lines.Open) -> Found:
        yield 0, [opened]

    def _hold(self, number: int, event: Any) -> Found:
        yield from self.rest()
        self.number, self.pending = number, event

    def _meet(self, number: int, means: str, fields: dict[str, Any]) -> Found:
        raise NotImplementedError


class OfScheduler(Translator):
    """A log of jobs."""

    def _meet(self, number: int, means: str, fields: dict[str, Any]) -> Found:
        if means in EVENTS:
            event = convert({"event": means, "outcome": USUAL[means], **fields}, EVENTS[means])
            yield from self._hold(number, event)
            return
        pending, who = self.pending, fields.get("request_id")
        if isinstance(pending, lines.Admit) and pending.outcome == "queued":
            if means == "started" and who == pending.request_id:
                pending.outcome, pending.slot = "placed", fields.get("slot")
                return
            if means == "preempted" and pending.preempted is None:
                pending.preempted = who
                return
            if means == "refused":
                pending.outcome = "refused"
                return
        elif isinstance(pending, lines.Complete | lines.Cancel) and means == "started" and pending.heir is None:
            pending.heir, pending.heir_slot = who, fields.get("slot")
            return
        raise ValueError(f"{who!r} was {means}, though no event before explains it")


class OfWorker(Translator):
    """A log of one model's process and of the requests to it."""

    def __init__(self, said: Map) -> None:
        super().__init__(said)
        self.demand = 0
        self.generation = 0
        self.stopping = False

    def _begin(self, opened: lines.Open) -> Found:
        self.generation = opened.generation
        yield 0, [opened]
        if not opened.living:
            yield 0, [lines.Probed(verdict="cold", generation=self.generation, do="stay")]

    def _meet(self, number: int, means: str, fields: dict[str, Any]) -> Found:
        now = _seconds(fields.get("now"))
        do = SINCE.get(means, "stay")
        if (
            do != "stay"
            and isinstance(self.pending, lines.Tick)
            and self.pending.now == now
            and self.pending.do == "stay"
        ):
            self.number, self.pending.do = number, do
        else:
            yield from self.rest()
            yield from self._told(number, means)
            yield from self._hold(number, lines.Tick(now=now, demand=self.demand, do=do, alarm=lines.UNTOLD))
        self.generation += do == "spawn"
        self.stopping = means in ("reaped", "stopped", "exited", "gone") or (self.stopping and means != "spawned")

    def _told(self, number: int, means: str) -> Found:
        """What is told before the tick."""
        mine: dict[str, Any] = {"generation": self.generation, "do": "stay"}
        match means:
            case "wanted":
                self.demand += 1
            case "unwanted":
                self.demand = max(0, self.demand - 1)
                yield number, [lines.JobEnded(**mine)]
            case "ready":
                yield number, [lines.Probed(verdict="warm", **mine)]
            case "exited":
                yield number, [lines.Exited(generation=self.generation, do="stay" if self.stopping else "stop")]
            case "gone":
                yield number, [lines.Gone(**mine)]


def _matches(line: Mapping[str, Any], when: Mapping[str, Any]) -> bool:
    return all(field(line, path) == value for path, value in when.items())


def _seconds(value: Any) -> int:
    if isinstance(value, str):
        time = datetime.fromisoformat(value)
        return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value)
    raise ValueError(f"the time is {value!r}, expected seconds, or a text in ISO 8601")
