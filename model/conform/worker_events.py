"""The events that the controller of a worker can meet, as values: what the engines generate, replay and judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from impl.probe import Verdict
from impl.worker import Controller
from impl.worker_state import Command


@dataclass(frozen=True, slots=True)
class Tick:
    """An instant in whole seconds, and the jobs queued or in flight; None is unknown."""

    now: int
    demand: int | None


@dataclass(frozen=True, slots=True)
class Probed:
    """A probe that began under this generation has ended."""

    verdict: Verdict
    generation: int


@dataclass(frozen=True, slots=True)
class Exited:
    """The process of this generation is no more."""

    generation: int


@dataclass(frozen=True, slots=True)
class Gone:
    """Nothing is left of the group of this generation."""

    generation: int
    port: Verdict = Verdict.COLD


@dataclass(frozen=True, slots=True)
class Progressed:
    """A job that this generation works on reported steps."""

    generation: int


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A job that this generation worked on ended."""

    generation: int


@dataclass(frozen=True, slots=True)
class Adopted:
    """A new controller has taken over what the lock file names."""

    generation: int
    living: bool
    stopping: bool


Event: TypeAlias = Tick | Probed | Exited | Gone | Progressed | JobEnded | Adopted


def apply(controller: Controller, event: Event) -> Command | None:
    """Let the controller meet the event. A new controller has nothing to say yet."""
    match event:
        case Tick(now, demand):
            return controller.tick(now, demand)
        case Probed(verdict, generation):
            return controller.probed(verdict, generation)
        case Exited(generation):
            return controller.exited(generation)
        case Gone(generation, port):
            return controller.gone(generation, port)
        case Progressed(generation):
            return controller.progressed(generation)
        case JobEnded(generation):
            return controller.job_ended(generation)
        case Adopted():
            return None
