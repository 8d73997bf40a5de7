"""Whose fault an error is, and an end for code that has none. Imports nothing of what it watches."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType

ROOT = Path(__file__).parents[2]
TESTED = (str(ROOT / "impl") + "/", str(ROOT / "model" / "planted") + "/")
OURS = (str(ROOT / "spec") + "/", str(ROOT / "impl") + "/", str(ROOT / "model") + "/")


class Stuck(BaseException):
    """One call into the code has not returned within a second of processor time."""


class OutOfTime(BaseException):
    """The engine has used up its time."""


def raised_by_the_code(trace: TracebackType | None) -> bool:
    """Of our own files, the code under test is the one that the error came out of last."""
    last = ""
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        last = path if path.startswith(OURS) else last
        trace = trace.tb_next
    return last.startswith(TESTED)


@contextmanager
def watchdog(limit: float) -> Iterator[None]:
    """Raises Stuck in a call into the code that lasts for more than a second of processor time, and OutOfTime when
    `limit` seconds are over. For the main thread alone."""
    last: FrameType | None = None

    def look(_signal: int, frame: FrameType | None) -> None:
        nonlocal last
        outermost = None
        while frame is not None:
            if frame.f_code.co_filename.startswith(TESTED):
                outermost = frame
            frame = frame.f_back
        if outermost is not None and outermost is last:
            last = None
            raise Stuck("a call has not returned within a second of processor time")
        last = outermost

    def end(_signal: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGVTALRM, look), signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, 1, 1)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before[0])
        signal.signal(signal.SIGALRM, before[1])
