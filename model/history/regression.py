"""A saved history as a test: what such a file says, how it is read without being run, and what it does when it is."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import fill
from typing import Any

from impl.scheduler import Scheduler
from model.history.happenings import KINDS, Happening, Trace, quoted, told
from model.history.lanes import WIDTH, picture
from model.history.play import Step, play
from model.policy.consult import consult, owed
from model.policy.file import Policy, load

VARIABLE = "SLOTPROOF_POLICY"
"""The environment variable that names another policy file than the one a history was found with."""
DEFAULT = "default"
"""The name of the shipped urgency, where a policy file is asked for."""
SIZES = ("SLOTS", "CAPACITY", "RESERVE")


def hold(
    history: Iterable[Happening], *, slots: int, capacity: int, reserve: int, policy: str | Path | None = None
) -> None:
    """Play the history on the shipped scheduler, under the urgency of the policy file or, rather, of the one that the
    environment variable SLOTPROOF_POLICY names (`default`: the shipped urgency). Raises AssertionError, with the whole
    play, if a step breaks a claim, and PolicyError if the policy cannot be judged."""
    __tracebackhide__ = True
    trace = Trace(tuple(history), slots, capacity, reserve, None if policy is None else str(policy))
    steps = perform(trace, choose(trace.policy))
    if steps[-1].violation is not None:
        raise AssertionError(f"{', '.join(steps[-1].violation.claims)}\n{picture(steps)}")


def choose(recorded: str | Path | None, instead: str | None = None) -> Policy | None:
    """The policy to play under: `instead`, else that of the environment, else the recorded one; None is the shipped
    urgency. Raises PolicyError."""
    path = instead or os.environ.get(VARIABLE) or recorded
    return None if path is None or path == DEFAULT else load(path)


def perform(trace: Trace, policy: Policy | None) -> list[Step]:
    """The play of the trace on the shipped scheduler. Raises PolicyError."""
    urgency = consult(policy)
    scheduler = Scheduler(trace.slots, capacity=trace.capacity, reserve=trace.reserve, urgency=urgency)
    waives = policy.waives if policy else frozenset()
    return play(trace.history, scheduler, urgency, owed=owed(policy), waives=waives)


def text(trace: Trace, name: str, sentence: str, found: str) -> str:
    """The test of that name: the trace, the sentence of the claim that it broke, and the command that found it."""
    kinds = sorted({happening.name for happening in trace.history})
    policy = "" if trace.policy is None else ", policy=Path(__file__).parent / POLICY"
    head = ["from pathlib import Path", ""] if trace.policy is not None else []
    lines = [
        f'"""{_prose(sentence)}',
        "",
        _prose(f"Found by `{found}`."),
        '"""',
        "",
        *head,
        *([f"from model.history.happenings import {', '.join(kinds)}"] if kinds else []),
        "from model.history.regression import hold",
        "",
        f"SLOTS, CAPACITY, RESERVE = {trace.slots}, {trace.capacity}, {trace.reserve}",
        *([f"POLICY = {quoted(trace.policy)}"] if trace.policy is not None else []),
        "EVENTS = (",
        *(f"    {happening}," for happening in trace.history),
        ")",
        "",
        "",
        f"def test_{name}() -> None:",
        f"    hold(EVENTS, slots=SLOTS, capacity=CAPACITY, reserve=RESERVE{policy})",
        "",
    ]
    return "\n".join(lines)


def _prose(words: str) -> str:
    """A paragraph that can stand in a docstring."""
    shown = "".join(letter if letter.isprintable() else " " for letter in words)
    escaped = shown.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return fill(escaped, WIDTH - 3, break_long_words=False, break_on_hyphens=False)


def read(source: str) -> Trace:
    """The trace that such a test holds; nothing of it is run. Raises ValueError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = ast.parse(source)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"it does not parse as Python: {error}") from None
    values = dict(_assigned(module))
    if missing := [name for name in (*SIZES, "EVENTS") if name not in values]:
        raise ValueError(f"it is no saved history: it assigns no {', no '.join(missing)}")
    events = values["EVENTS"]
    if not isinstance(events, ast.Tuple | ast.List):
        raise ValueError("EVENTS is no tuple, expected one of events")
    policy = _literal(values["POLICY"]) if "POLICY" in values else None
    if policy is not None and not isinstance(policy, str):
        raise ValueError(f"POLICY is {policy!r:.100}, expected the path of a file")
    slots, capacity, reserve = (_literal(values[name]) for name in SIZES)
    return Trace(tuple(map(_event, events.elts)), slots, capacity, reserve, policy)


def _assigned(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names that the module assigns, and what."""
    for statement in module.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for target, value in zip(names, values, strict=False):
                    if isinstance(target, ast.Name):
                        yield target.id, value


def _event(node: ast.expr) -> Happening:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        raise ValueError(f"line {node.lineno} is no event, expected a call of {', '.join(KINDS)}")
    named = {keyword.arg or "**": _literal(keyword.value) for keyword in node.keywords}
    return told(node.func.id, tuple(map(_literal, node.args)), named)


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise ValueError(f"line {node.lineno} has something else than a number or text, expected one") from None
