"""What a policy defines, asked with care: whatever it does, there is an answer of the right kind, or PolicyError,
UNDETERMINED, where it raises, does not come to an end, or answers with anything else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import replace
from functools import wraps
from typing import Any, NoReturn

from impl.autoscale import Action, decide
from impl.checks import ordinal
from impl.jobs import Job, Urgency, by_priority
from impl.jobs import Policy as Urgent
from model.exits import UNDETERMINED
from model.policy.deadline import Overdue, within
from model.policy.file import Policy, PolicyError
from spec.logic import Claim, Property

SECONDS = 1.0
"""What one answer may take."""


def consult(policy: Policy | None, *, seconds: float = SECONDS) -> Urgent:
    """The urgency of the policy; the shipped one where there is none. It answers always with an int or always with a
    tuple of ints."""
    if policy is None or policy.urgency is None:
        return by_priority
    function, path = policy.urgency, policy.path
    kinds: set[type] = set()

    def urgency(job: Job) -> Urgency:
        answer = _answer(path, lambda: f"urgency({job})", seconds, function, job)
        try:
            kinds.add(type(ordinal(answer)))
        except ValueError:
            _undetermined(path, f"urgency({job})", f"returns {answer!r:.200}, expected an int or a tuple of ints")
        if len(kinds) > 1:
            expected = "expected always an int or always a tuple of ints"
            _undetermined(path, f"urgency({job})", f"returns {answer!r:.200}, {expected}")
        return answer  # type: ignore[no-any-return]

    return urgency


def owed(policy: Policy | None, *, seconds: float = SECONDS) -> tuple[Property, ...]:
    """The policy's own claims. They answer with True or False."""
    if policy is None:
        return ()
    return tuple(replace(each, claim=_asked(each, policy.path, seconds)) for each in policy.claims)


def _asked(each: Property, path: str, seconds: float) -> Callable[..., Claim]:
    @wraps(each.claim)
    def claim(s: object) -> Claim:
        answer = _answer(path, lambda: f"the claim {each.name}", seconds, each.claim, s)
        if type(answer) is not bool:
            _undetermined(path, f"the claim {each.name}", f"returns {answer!r:.200}, expected True or False")
        return answer

    return claim


def deciding(policy: Policy | None, *, seconds: float = SECONDS) -> Callable[[int, int, int, int], Action]:
    """The `decide` of the policy; the shipped one where there is none. It answers with an action."""
    if policy is None or policy.decide is None:
        return decide
    function, path = policy.decide, policy.path

    def decided(*view: int) -> Action:
        called = f"decide({', '.join(map(str, view))})"
        answer = _answer(path, lambda: called, seconds, function, *view)
        try:
            if isinstance(answer, int) and not isinstance(answer, bool):
                return Action(answer)
        except ValueError:
            pass
        _undetermined(path, called, f"returns {answer!r:.200}, expected an action, 0 to 3")

    return decided


def _answer(path: str, called: Callable[[], str], seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        with redirect_stdout(sys.stderr), within(seconds):
            return function(*arguments)
    except KeyboardInterrupt:
        raise
    except Overdue as overdue:
        _undetermined(path, called(), f"does not end: {overdue}")
    except BaseException as error:
        _undetermined(path, called(), f"raises {error!r}")


def _undetermined(path: str, called: str, what: str) -> NoReturn:
    raise PolicyError(f"{path}: {called} {what}", UNDETERMINED)
