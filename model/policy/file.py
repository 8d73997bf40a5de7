"""Policy files: Python files that define `urgency(job)`, `decide(warm, demand, idle_sec, ttl_sec)`, or both.

Such a file is run as it is read, with all that it does; what it prints goes to standard error. `WAIVES` names the
properties, of the machines that it steers, to which it does not hold itself. `CLAIMS` are its own claims of every state
of the scheduler: functions `claim(s)` with a sentence, in the connectives of `spec.logic`, where `s` is a
`model.conform.observe.Seen`.
`ARRIVALS` are ticks worth trying as the arrival of a job, where the usual ones would show nothing of the policy.
"""

from __future__ import annotations

import inspect
import linecache
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from impl.checks import check_int
from model.exits import UNDETERMINED, USAGE
from model.policy.deadline import Overdue, within
from model.prove.machines import AUTOSCALE, MACHINES, SCHEDULER
from spec.logic import Property

SECONDS = 10.0
"""What a policy file may take to load."""
VIEW = ("warm", "demand", "idle_sec", "ttl_sec")
"""The parameters of `decide`."""
RESPECT = "urgency_respects_priority"
"""What an urgency owes: that the assumption `the_urgency_respects_the_priority` of the scheduler is true of it."""
CONSEQUENCES = frozenset((RESPECT, "the_urgency_respects_the_priority", "chat_never_waits_behind_an_image"))
"""Whoever waives one of these does without the first of them."""

RESERVED = frozenset(("conformance", RESPECT, "it_ends_without_error", "equals_the_specification", "the_system_drains"))
"""What is said of policies beside the properties of the machines."""


class PolicyError(Exception):
    """The file cannot be used; `code` is the exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Policy:
    """What a policy file defines. None stands for the shipped function."""

    path: str
    urgency: Callable[..., Any] | None = None
    decide: Callable[..., Any] | None = None
    waives: frozenset[str] = frozenset()
    claims: tuple[Property, ...] = ()
    arrivals: tuple[int, ...] = ()


def load(path: str | Path, *, seconds: float = SECONDS) -> Policy:
    """Run the file, and take from it what a policy may define.

    Raises PolicyError: USAGE if it is missing, does not parse, or holds under one of these names what is not expected;
    UNDETERMINED if it raises as it is run, or does not come to an end.
    """
    module = _run(str(path), _read(str(path)), seconds)
    urgency, decide = (getattr(module, name, None) for name in ("urgency", "decide"))
    if urgency is None and decide is None:
        _unusable(path, "it defines neither urgency(job) nor decide(warm, demand, idle_sec, ttl_sec); expected one")
    if urgency is not None:
        _check_signature(path, "urgency", urgency, 1, "urgency(job), and defaults for any further parameter")
    if decide is not None:
        expected = "decide(warm, demand, idle_sec, ttl_sec), and defaults for any further parameter"
        if _check_signature(path, "decide", decide, 4, expected)[:4] != list(VIEW):
            _unusable(path, f"decide has other parameters than expected: {expected}")
    known = {each.name for each in SCHEDULER.properties} | {RESPECT} if urgency is not None else set()
    if decide is not None:
        known |= {each.name for each in AUTOSCALE.properties}
    return Policy(
        str(path),
        urgency,
        decide,
        _waives(path, getattr(module, "WAIVES", ()), known),
        tuple(_claims(path, getattr(module, "CLAIMS", ()))),
        _arrivals(path, getattr(module, "ARRIVALS", ())),
    )


def _read(path: str) -> str:
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        _unusable(path, f"it cannot be read ({error.strerror or error})")
    except (UnicodeDecodeError, ValueError):
        _unusable(path, "it cannot be read as UTF-8 text")


def _run(path: str, text: str, seconds: float) -> ModuleType:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(text, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        _unusable(path, f"it does not parse: line {error.lineno}: {error.msg}")
    except (ValueError, RecursionError, MemoryError) as error:
        _unusable(path, f"it does not parse: {error}")
    module = ModuleType(f"policy {path}")
    module.__file__ = path
    sys.modules[module.__name__] = module  # dataclasses look their module up
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    try:
        with redirect_stdout(sys.stderr), within(seconds):
            exec(code, module.__dict__)
    except KeyboardInterrupt:
        raise
    except Overdue as overdue:
        raise PolicyError(f"{path}: it does not end when it is loaded: {overdue}", UNDETERMINED) from None
    except BaseException as error:
        raise PolicyError(f"{path}: it raises {error!r} when it is loaded", UNDETERMINED) from error
    return module


def _check_signature(path: str | Path, name: str, function: object, needed: int, expected: str) -> list[str]:
    """The names of its parameters; so many of them, the first ones, have no default."""
    if not callable(function):
        _unusable(path, f"{name} is {function!r}, expected {expected}")
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        _unusable(path, f"the parameters of {name} are unknown, expected {expected}")
    ordinary = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    lacking = [each for each in parameters if each.default is inspect.Parameter.empty]
    if lacking != parameters[:needed] or len(lacking) != needed or any(each.kind not in ordinary for each in lacking):
        shown = ", ".join(map(str, parameters))
        _unusable(path, f"the signature is {name}({shown}), expected {expected}")
    return [each.name for each in parameters]


def _waives(path: str | Path, names: Any, known: set[str]) -> frozenset[str]:
    if not isinstance(names, tuple | list) or not all(isinstance(name, str) for name in names):
        _unusable(path, f"WAIVES is {names!r}, expected a tuple of names of properties")
    unknown = sorted(set(names) - known)
    if unknown:
        _unusable(path, f"WAIVES names {', '.join(unknown)}; the properties are {', '.join(sorted(known))}")
    return frozenset(names)


def _claims(path: str | Path, claims: Any) -> Iterator[Property]:
    if not isinstance(claims, tuple | list):
        _unusable(path, f"CLAIMS is {claims!r}, expected a tuple of functions")
    taken = {each.name for machine in MACHINES.values() for each in machine.properties} | RESERVED
    for claim in claims:
        name = getattr(claim, "__name__", None)
        if not isinstance(name, str):
            _unusable(path, f"CLAIMS holds {claim!r}, expected a function claim(s)")
        _check_signature(path, name, claim, 1, "claim(s), and defaults for any further parameter")
        if not Property(claim).sentence:
            _unusable(path, f"the claim {name} has no docstring, expected one that says it in a sentence")
        if name in taken:
            _unusable(path, f"CLAIMS holds a second {name}, expected another name than that of any other property")
        taken.add(name)
        yield Property(claim)


def _arrivals(path: str | Path, arrivals: Any) -> tuple[int, ...]:
    try:
        if not isinstance(arrivals, tuple | list):
            raise ValueError
        return tuple(check_int("an arrival", tick) for tick in arrivals)
    except ValueError:
        _unusable(path, f"ARRIVALS is {arrivals!r}, expected a tuple of ticks, whole numbers in i64")


def _unusable(path: str | Path, why: str) -> NoReturn:
    raise PolicyError(f"{path}: {why}", USAGE)
