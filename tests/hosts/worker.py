"""A worker for the host to run: `python worker.py MODE PORT FOLDER [SECONDS]`. MODE is a function below.

Each start appends its pid to FOLDER/starts. The file FOLDER/gpu stands for the memory of the one GPU: whoever finds it
in use appends its pid to FOLDER/two. It stays in use for as long as any process of the worker lives.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
import time

OK, LOADING = b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 503 Loading\r\n\r\n"


def listening(port: int, backlog: int = 64) -> socket.socket:
    return socket.create_server(("127.0.0.1", port), backlog=backlog)


def serve(listener: socket.socket, reply: bytes = OK, until: float = float("inf")) -> None:
    """Answer every request with the reply, until that time of the monotonic clock."""
    while (left := until - time.monotonic()) > 0:
        listener.settimeout(min(left, 60))
        try:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(2)
                connection.recv(4096)
                connection.sendall(reply)
        except OSError:
            continue  # nobody called, or the caller has gone


def ready(port: int, seconds: float) -> None:
    """Is ready at once."""
    serve(listening(port))


def late(port: int, seconds: float) -> None:
    """Binds its port late."""
    time.sleep(seconds)
    serve(listening(port))


def loading(port: int, seconds: float) -> None:
    """Answers 503 while it loads."""
    listener = listening(port)
    serve(listener, LOADING, time.monotonic() + seconds)
    serve(listener)


def exits(port: int, seconds: float) -> None:
    """Exits at once."""
    sys.exit(3)


def hangs(port: int, seconds: float) -> None:
    """Hangs in its start."""
    signal.pause()


def stubborn(port: int, seconds: float) -> None:
    """Ignores SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(listening(port))


def lingers(port: int, seconds: float) -> None:
    """Frees its port when it is told to end, and takes a while to free the memory."""

    def leave(*_: object) -> None:
        listener.close()
        time.sleep(seconds)
        os._exit(0)

    signal.signal(signal.SIGTERM, leave)
    listener = listening(port)
    serve(listener)


def leaves(port: int, seconds: float) -> None:
    """Has a descendant that leaves its group, ignores SIGTERM, and holds the port and the memory of the GPU."""
    listener = listening(port)
    if os.fork() == 0:
        os.setsid()
        if os.fork() > 0:
            os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        os.wait()
    serve(listener)


def dies(port: int, seconds: float) -> None:
    """Is of use for a while, then dies of itself."""
    serve(listening(port), OK, time.monotonic() + seconds)
    os._exit(4)


def freezes(port: int, seconds: float) -> None:
    """Is ready for a while, then goes on listening with a full accept backlog."""
    listener = listening(port, backlog=1)
    serve(listener, OK, time.monotonic() + seconds)
    callers = []
    for _ in range(8):
        caller = socket.socket()
        caller.setblocking(False)
        caller.connect_ex(("127.0.0.1", port))
        callers.append(caller)
    hangs(port, seconds)


MODES = {each.__name__: each for each in (ready, late, loading, exits, hangs, stubborn, lingers, leaves, dies, freezes)}


def note(folder: str, name: str) -> None:
    """Append the pid to a file, as one write."""
    with open(os.path.join(folder, name), "a") as file:
        file.write(f"{os.getpid()}\n")


def use_the_gpu(folder: str) -> None:
    """Hold the memory for as long as this process or a descendant lives."""
    gpu = os.open(os.path.join(folder, "gpu"), os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(gpu, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        note(folder, "two")


if __name__ == "__main__":
    mode, port, folder, *seconds = sys.argv[1:]
    use_the_gpu(folder)
    note(folder, "starts")
    MODES[mode](int(port), float(seconds[0]) if seconds else 0.0)
