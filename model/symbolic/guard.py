"""Runs a function that was read, and sees to it that nothing else runs, and nothing for ever."""

from __future__ import annotations

import enum
import gc
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from model.policy.deadline import Overdue, within
from model.symbolic.subset import Unfollowable, place, start_of

STEPS, SECONDS = 10_000, 10.0
"""The most lines and seconds of one run."""


def run(
    function: Callable[..., Any], arguments: tuple[Any, ...], codes: frozenset[CodeType]
) -> tuple[Any, BaseException | None]:
    """What the function returns, or what it raises."""
    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()  # or some finalizer may run in the middle, which no one has read
    sys.settrace(_guard(codes))
    try:
        with within(SECONDS):
            return function(*arguments), None
    except (Unfollowable, KeyboardInterrupt):
        raise
    except Overdue as overdue:
        raise Unfollowable(start_of(function), f"it does not end: {overdue}") from None
    except BaseException as error:
        return None, error
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()


def _guard(codes: frozenset[CodeType]) -> Callable[..., Any]:
    """A trace function: nothing runs that was not read before, and nothing runs for ever."""
    steps = 0

    def on_line(frame: FrameType, event: str, _: object) -> Any:
        nonlocal steps
        steps += event == "line"
        if steps > STEPS:
            raise Unfollowable(place(frame.f_code.co_filename, frame.f_lineno), f"after {STEPS} lines it has no end")
        return on_line

    def on_call(frame: FrameType, _event: str, _: object) -> Any:
        caller = frame.f_back
        if frame.f_code in codes:
            return on_line(frame, "line", None)
        ours = frame.f_globals.get("__name__", "").startswith(("model.symbolic", "model.policy.deadline", "z3"))
        if caller is not None and caller.f_code in codes and not ours and frame.f_code.co_filename != enum.__file__:
            raise Unfollowable(place(caller.f_code.co_filename, caller.f_lineno), "code is called that was not read")
        return None

    return on_call


def raised(error: BaseException | None, codes: frozenset[CodeType]) -> tuple[type, str]:
    """Kind of the error, and the last line of the function that led to it."""
    where = ""
    trace = error and error.__traceback__
    while trace:
        if trace.tb_frame.f_code in codes:
            where = place(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    return type(error), where
