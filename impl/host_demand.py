"""How much is queued and in flight: one number from a file or a command, or unknown.

Known is one whole number from 0 in ASCII digits, with nothing but blanks around it. All else is unknown: no file, other
text, a command that fails, says nothing or takes longer than the patience. The source is asked in a thread of its own:
one that hangs stops nothing, and is not asked again before it has ended; a command that takes too long is killed with
all that it started (elsewhere than on Linux: with its group), so that nothing piles up.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic

from impl import host_process
from impl.arguments import I64_MAX, UsageError, number
from impl.host_system import DEMAND_MARK, MARK, Worker

PATIENCE_S = 3.0
LONGEST = 64
"""In bytes: more than a number and the blanks around it take."""

Source = Callable[[], int | str]
"""It gives the number, or why that is unknown."""


class Demand:
    """A source that is asked in the background."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._thread: threading.Thread | None = None
        self._found: int | str = ""

    def ask(self) -> None:
        """Begin to find out, unless the last question is still open."""
        if self.is_open():
            return
        self._found = "the source failed"
        self._thread = threading.Thread(target=self._run, name="demand", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._thread, self._found = None, f"the source cannot be asked: {error}"

    def answer(self, seconds: float) -> int | str:
        """The number, waited for so long, or why it is unknown."""
        if self._thread is not None:
            self._thread.join(max(0.0, seconds))
        return "the source has not answered yet" if self.is_open() else self._found

    def is_open(self) -> bool:
        """Whether the source has not answered yet."""
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        self._found = self._source()


def parse(data: bytes) -> int | str:
    """The number, if it is one."""
    text = data.decode("ascii", "backslashreplace").strip(" \t\r\n")
    try:
        return number("the demand", text, 0, I64_MAX)
    except UsageError as error:
        return str(error)


def from_file(path: str) -> int | str:
    """What the file says now. A pipe is not waited for."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as file:
            return parse(file.read(LONGEST + 1) or b"")
    except OSError as error:
        return f"the file {path!a} cannot be read: {error.strerror}"


def from_command(words: Sequence[str], patience: float = PATIENCE_S) -> int | str:
    """What the command prints, if it ends with 0 in time; else it is killed with all that it started."""
    deadline, mark = monotonic() + patience, os.urandom(8).hex()
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**os.environ, DEMAND_MARK: "1", MARK: mark},
            start_new_session=True,
        )
    except OSError as error:
        return f"the command {words[0]!a} cannot be run: {error.strerror}"
    with process:
        try:
            data = _read(process, deadline)
            code = process.wait(max(0.0, deadline - monotonic()))
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            with suppress(OSError):
                host_process.send(signal.SIGKILL, host_process.members(Worker(mark)))
            return f"the command {words[0]!a} took longer than {patience:g} s, or said too much"
    return parse(data) if code == 0 else f"the command {words[0]!a} ended with {code}"


def _read(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """All that it prints; TimeoutExpired if that is too much or comes too late."""
    assert process.stdout is not None
    data = b""
    while len(data) <= LONGEST and select.select([process.stdout], [], [], max(0.0, deadline - monotonic()))[0]:
        piece = os.read(process.stdout.fileno(), LONGEST + 1)
        if not piece:
            return data
        data += piece
    raise subprocess.TimeoutExpired(process.args, 0)
