"""The engines that are asked whether code is right, and what each may answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TypeAlias

from model.engines.watch import OutOfTime, Stuck, raised_by_the_code, watchdog
from model.planted.bugs import Code

Engine: TypeAlias = Callable[[Code], Iterable[str]]
"""Yields each claim that the code breaks, as soon as it is seen; raises Undetermined where it cannot tell."""

NAMES = ("golden", "proof", "explore", "fuzz", "scenario")
TARGETS = ("scheduler", "autoscale", "worker", "probe", "command")
ENDS = "it_ends_without_error"
"""The claim that is broken by code that raises what it should not, or that does not return."""


class Undetermined(Exception):
    """The engine has no verdict: an unknown is no kill."""


class WrongKind(Exception):
    """The code answered with something that is no answer."""


class Verdict(StrEnum):
    """What became of a mutant under one engine. KILLED alone is a kill."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Outcome:
    """The verdict, the claims that were seen broken, and the seconds until the first of them, or until the end."""

    verdict: Verdict
    killers: tuple[str, ...] = ()
    seconds: float = 0.0
    detail: str = ""


def engines_of(target: str) -> dict[str, Engine]:
    """The engines that read a module of `impl`, by name."""
    found: dict[str, Engine] = import_module(f"model.engines.{target}").ENGINES
    return {name: found[name] for name in NAMES if name in found}


def ask(engine: Engine, code: Code, limit: float) -> Outcome:
    """What the engine says of the code within `limit` seconds."""
    began = time.monotonic()
    first, detail = 0.0, ""
    killers: dict[str, None] = {}
    verdict = Verdict.SURVIVED
    try:
        with watchdog(limit), code.in_place():
            for claim in engine(code):
                first = first or time.monotonic() - began
                killers[claim] = None
    except OutOfTime:
        verdict, detail = Verdict.TIMEOUT, f"no answer within {limit:g} s"
    except Stuck as stuck:
        killers[ENDS], detail = None, str(stuck)
    except Undetermined as open_question:
        verdict, detail = Verdict.UNDETERMINED, str(open_question)
    except Exception as error:
        detail = f"{type(error).__name__}: {error}"
        if isinstance(error, WrongKind) or raised_by_the_code(error.__traceback__):
            killers[ENDS] = None
        else:
            verdict = Verdict.CRASHED
    if verdict is Verdict.SURVIVED and killers:
        verdict = Verdict.KILLED
    return Outcome(verdict, tuple(killers), first or time.monotonic() - began, detail)
