"""What a command says. It is written at once and unbuffered, so that nothing is left to fail when the process ends."""

import os
import sys
from contextlib import suppress


class OutputError(Exception):
    """An output does not take what is written: the message says which, why and what to do. Exit code 70."""


def say(text: str) -> None:
    """Write all of `text` to standard output, or raise OutputError."""
    if sys.stdout is None:
        raise OutputError("standard output is closed, expected one to print the answer to; open it")
    try:
        _write(1, text)
    except OSError as error:
        raise OutputError(
            f"standard output does not take the answer: {error.strerror}; make room or redirect it"
        ) from error


def complain(text: str) -> None:
    """Write `text` to standard error, where there is one: a lost message does not change the exit code."""
    if sys.stderr is not None:
        with suppress(OSError):
            _write(2, text)


def replace(path: str, text: str) -> None:
    """Give the file a new content in one step, through a symbolic link too. When that fails, the old one stays."""
    try:
        target = os.path.realpath(path)
        temporary = os.path.join(os.path.dirname(target), f".status-{os.getpid()}.tmp")
        if os.path.exists(target) and not os.path.isfile(target):
            raise OutputError(f"the file {path!a} is no regular file, expected one or a free name; choose another")
        file = open(temporary, "x", encoding="ascii", newline="\n")  # noqa: SIM115
        try:
            with file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise OutputError(
            f"cannot write the file {path!a}: {error.strerror}; choose another or make room; nothing in it was changed"
        ) from error


def _write(descriptor: int, text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(descriptor, data) :]
