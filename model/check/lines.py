"""The lines of a journal as values: the schema of `impl.journal`, with whatever other logs may lack optional."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.json import Decoder

from impl.jobs import RequestId

BLOCK = 1 << 18
"""Read at once, in bytes."""


class Line(Struct, tag_field="event", gc=False):
    """What every line may have."""

    seq: int | None = None
    digest: str | None = None


class Admit(Line, tag="admit", gc=False, kw_only=True):
    """A job that came. While the job is live this is also where it is kept: then `slot` and `run` say that it runs,
    `ticket` that it waits, and `remaining` what is left."""

    request_id: RequestId
    priority: int | None = None
    work: int | None = None
    modality: str = ""
    arrived: int = 0
    deadline: int | None = None
    urgency: Any = None
    outcome: str | None = None
    slot: int | None = None
    run: int | None = None
    preempted: RequestId | None = None
    ticket: int | None = None
    reason: str | None = None
    remaining: int | None = None


class Complete(Line, tag="complete", gc=False, kw_only=True):
    request_id: RequestId
    slot: int | None = None
    run: int | None = None
    outcome: str | None = None
    heir: RequestId | None = None
    heir_slot: int | None = None
    heir_run: int | None = None


class Progress(Line, tag="progress", gc=False, kw_only=True):
    request_id: RequestId
    slot: int | None = None
    run: int | None = None
    steps: int
    outcome: str | None = None
    remaining: int | None = None
    reason: str | None = None


class Cancel(Line, tag="cancel", gc=False, kw_only=True):
    request_id: RequestId
    outcome: str | None = None
    heir: RequestId | None = None
    heir_slot: int | None = None
    heir_run: int | None = None


class Restart(Line, tag="restart", gc=False):
    outcome: str | None = None
    leases: list[tuple[int, RequestId, int]] | None = None


UNTOLD = "?"
"""For an alarm: another system's log would not tell of one."""


class Told(Line, gc=False):
    """What the controller of a worker was told, and what it answered. Of other systems `do` is also stay: HOLD or
    SERVE, which does not show."""

    do: str | None = None
    why: str | None = None
    of: int | None = None
    alarm: str | None = None


class Tick(Told, tag="tick", gc=False, kw_only=True):
    now: int
    demand: int | None = None


class Probed(Told, tag="probed", gc=False, kw_only=True):
    verdict: str
    generation: int


class Exited(Told, tag="exited", gc=False, kw_only=True):
    generation: int


class Gone(Told, tag="gone", gc=False, kw_only=True):
    generation: int
    port: str = "cold"


class Progressed(Told, tag="progressed", gc=False, kw_only=True):
    generation: int


class JobEnded(Told, tag="job_ended", gc=False, kw_only=True):
    generation: int


class Open(Line, tag="open", gc=False):
    """A recorder begins, with what it found."""

    schema: int = 1
    machine: str = ""
    slots: int | None = None
    capacity: int | None = None
    reserve: int | None = None
    running: list[Admit] | None = None
    queue: list[Admit] | None = None
    next_run: int = 0
    next_ticket: int = 0
    now: int = 0
    ttl: int | None = None
    start_budget: int = 300
    patience: int = 3
    alarm_after: int = 30
    hang_budget: int = 0
    shortest_back_off: int = 1
    longest_back_off: int = 60
    generation: int = 0
    living: bool = False
    stopping: bool = False
    phase: str | None = None
    since: int = 0
    quiet: int = 0
    seen: str = "unknown"
    refusals: int = 0
    touched: bool = True
    back_off: int = 0
    proven: bool = False
    blind: int = 0


class Reopened(Line, tag="reopened", gc=False):
    cut: int = 0


class Lost(Line, tag="lost", gc=False):
    events: int = 0


class Close(Line, tag="close", gc=False):
    pass


AnyLine: TypeAlias = (
    Admit
    | Complete
    | Progress
    | Cancel
    | Restart
    | Tick
    | Probed
    | Exited
    | Gone
    | Progressed
    | JobEnded
    | Open
    | Reopened
    | Lost
    | Close
)

DECODER: Decoder[AnyLine] = Decoder(AnyLine)


def blocks(path: str | Path) -> Iterator[bytes]:
    """The file in pieces of whole lines; a torn last line is the last piece."""
    with open(path, "rb") as file:
        rest = b""
        while piece := file.read(BLOCK):
            whole, newline, rest = (rest + piece).rpartition(b"\n")
            if newline:
                yield whole + newline
        if rest:
            yield rest


def decode_only(path: str | Path) -> int:
    """Read and decode every line, as the check does, and do nothing with it: what its speed is measured against. The
    number of lines."""
    return sum(len(DECODER.decode_lines(block)) for block in blocks(path))
