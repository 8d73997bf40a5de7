"""What the controller of a worker knows, what it is set to, and what it answers: plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from impl.checks import check_int
from impl.probe import Verdict


class Phase(Enum):
    """Where the worker is in its life. STARTING and STOPPING count as resident: nothing is started beside them."""

    COLD = "cold"
    STARTING = "starting"
    WARM = "warm"
    STOPPING = "stopping"


class Do(Enum):
    """What is to be done. REAP stops a worker that nobody wants, STOP one that is lost."""

    HOLD = "hold"
    SPAWN = "spawn"
    SERVE = "serve"
    REAP = "reap"
    STOP = "stop"


class Why(Enum):
    """The reason, as a log may print it."""

    WANTED = "work is queued or in flight"
    UNWANTED = "nothing is queued or in flight"
    IDLE = "nothing was queued or in flight for the ttl"
    STARTING = "the worker is starting"
    STOPPING = "the worker is stopping"
    BACKING_OFF = "the back-off after a failure is not over"
    UNKNOWN_DEMAND = "the demand is unknown"
    UNKNOWN_PROBE = "the last probe found out nothing"
    REFUSED = "the worker refused the last connection"
    STRANGER = "the port answers, though no worker of ours is left"
    NOTED = "noted"
    READY = "the worker is ready"
    COLD = "the worker is gone and its port is free"
    LATE = "this worker is over"
    EARLY = "the worker is not ready yet"
    CRASHED = "the process of the worker ended"
    LOST = "the worker refused too many connections in a row"
    SLOW = "the start used up its budget"
    HUNG = "no work progressed for the hang budget"


@dataclass(frozen=True, slots=True)
class Settings:
    """Times in whole seconds. A `hang_budget` of 0 is none.

    `patience` is how many refused connections in a row make a worker lost, and how many ticks in a row without
    knowledge raise an alarm.
    """

    ttl: int
    start_budget: int = 300
    patience: int = 3
    alarm_after: int = 30
    hang_budget: int = 0
    shortest_back_off: int = 1
    longest_back_off: int = 60

    def __post_init__(self) -> None:
        for name in ("ttl", "hang_budget"):
            check_int(name, getattr(self, name), 0)
        for name in ("start_budget", "patience", "alarm_after", "shortest_back_off"):
            check_int(name, getattr(self, name), 1)
        check_int("longest_back_off", self.longest_back_off, self.shortest_back_off)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that the controller knows.

    `since` is when the present phase began, for a warm worker when it was last wanted; `quiet` when wanted work last
    progressed. `touched`: both begin at the next tick. `blind` counts ticks in a row that knew too little to decide.
    """

    settings: Settings
    now: int
    since: int
    quiet: int
    phase: Phase = Phase.COLD
    generation: int = 0
    seen: Verdict = Verdict.UNKNOWN
    refusals: int = 0
    touched: bool = True
    back_off: int = 0
    proven: bool = False
    blind: int = 0


@dataclass(frozen=True, slots=True)
class Command:
    """What is to be done, to which generation, and why; `alarm` says what a person should look at."""

    do: Do
    why: Why
    generation: int
    alarm: str | None = None
