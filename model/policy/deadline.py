"""A time limit for code that may never end."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Overdue(BaseException):
    """The block took longer than it was given. No `except Exception` inside it may swallow this."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise Overdue in the block once so many seconds have passed.

    Rests on an alarm signal: off the main thread, or where the system has none, there is no limit. A timer that was
    already set goes on afterwards.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Overdue(f"not done within {seconds:g} s")

    handler = signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    start = time.monotonic()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        if left:
            signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (time.monotonic() - start)), interval)
