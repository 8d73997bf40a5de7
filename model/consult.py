"""The urgency of a policy, asked with care: whatever it does, the answer is an urgency or there is none."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import NoReturn

from impl.checks import ordinal
from impl.jobs import Job, Urgency, by_priority
from impl.jobs import Policy as Urgent
from model.deadline import Overdue, within
from model.exits import UNDETERMINED
from model.policy import Policy, PolicyError

SECONDS = 1.0
"""What one answer may take."""


def consult(policy: Policy | None, *, seconds: float = SECONDS) -> Urgent:
    """The urgency of the policy; the shipped one where there is none. It raises PolicyError, UNDETERMINED, where the
    policy raises, does not come to an end, or returns anything but always an int or always a tuple of ints."""
    if policy is None or policy.urgency is None:
        return by_priority
    function, path = policy.urgency, policy.path
    kinds: set[type] = set()

    def urgency(job: Job) -> Urgency:
        try:
            with redirect_stdout(sys.stderr), within(seconds):
                answer = function(job)
        except KeyboardInterrupt:
            raise
        except Overdue as overdue:
            _undetermined(path, job, f"does not end: {overdue}")
        except BaseException as error:
            _undetermined(path, job, f"raises {error!r}")
        try:
            kinds.add(type(ordinal(answer)))
        except ValueError:
            _undetermined(path, job, f"returns {answer!r:.200}, expected an int or a tuple of ints")
        if len(kinds) > 1:
            _undetermined(path, job, f"returns {answer!r:.200}, expected always an int or always a tuple of ints")
        return answer  # type: ignore[no-any-return]

    return urgency


def _undetermined(path: str, job: Job, what: str) -> NoReturn:
    raise PolicyError(f"{path}: urgency({job}) {what}", UNDETERMINED)
