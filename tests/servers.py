"""Small loopback servers, each with one way to misbehave; they count who calls and keep what was asked."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Any

import pytest

Behaviour = Callable[[socket.socket], None]


def family_of(host: str) -> socket.AddressFamily:
    """IPv6 for what holds a colon."""
    return socket.AF_INET6 if ":" in host else socket.AF_INET


class Server:
    """Accepts one connection after the other, hears its request if it `hears`, and then does as `behave` does.

    Leaving the `with` block waits until nobody is left in the backlog, so that `connections` counts every call.
    """

    def __init__(self, behave: Behaviour, host: str = "127.0.0.1", port: int = 0, hears: bool = True) -> None:
        self._behave = behave
        self._hears = hears
        self._listener = socket.create_server((host, port), family=family_of(host), backlog=64)
        self._listener.settimeout(0.02)
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._serve)
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        self.requests: list[bytes] = []

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._leaving.set()
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                if self._leaving.is_set():
                    return
                continue
            self.connections += 1
            with connection, suppress(OSError):
                connection.settimeout(10)
                if self._hears:
                    self.requests.append(request_on(connection))
                self._behave(connection)


def request_on(connection: socket.socket) -> bytes:
    """All up to the blank line."""
    request = b""
    while b"\r\n\r\n" not in request:
        piece = connection.recv(4096)
        if not piece:
            break
        request += piece
    return request


def says(*pieces: bytes, gap: float = 0.0) -> Behaviour:
    """Sends the pieces, `gap` seconds before each, then closes."""

    def behave(connection: socket.socket) -> None:
        for piece in pieces:
            time.sleep(gap)
            connection.sendall(piece)

    return behave


def says_and_stays(reply: bytes) -> Behaviour:
    """Sends the reply and leaves it to the caller to close."""

    def behave(connection: socket.socket) -> None:
        connection.sendall(reply)
        silence(connection)

    return behave


def trickles(reply: bytes, gap: float) -> Behaviour:
    """One byte every `gap` seconds."""
    return says(*(bytes([byte]) for byte in reply), gap=gap)


def never_ends(start: bytes, rest: bytes) -> Behaviour:
    """Sends `start`, then `rest` for as long as the caller listens."""

    def behave(connection: socket.socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(rest)

    return behave


def silence(connection: socket.socket) -> None:
    """Says nothing until the caller goes."""
    while connection.recv(4096):
        pass


def reset(connection: socket.socket) -> None:
    """Closes so hard that the caller sees a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def half_close(connection: socket.socket) -> None:
    """Ends its own side at once and goes on listening."""
    connection.shutdown(socket.SHUT_WR)
    silence(connection)


@contextmanager
def refusing(host: str = "127.0.0.1", port: int = 0) -> Iterator[int]:
    """A port that refuses, and that nobody else can get meanwhile: bound, not listening."""
    with socket.socket(family_of(host)) as bound:
        bound.bind((host, port))
        yield bound.getsockname()[1]


@contextmanager
def full_backlog(host: str = "127.0.0.1", port: int = 0) -> Iterator[int]:
    """A port whose accept backlog is full, so that connecting times out."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket(family_of(host)))
        listener.bind((host, port))
        listener.listen(0)
        for _ in range(16):
            caller = stack.enter_context(socket.socket(family_of(host)))
            caller.settimeout(0.2)
            try:
                caller.connect(listener.getsockname())
            except TimeoutError:
                break
        else:
            pytest.skip("this kernel accepts more than the backlog it was told")
        yield listener.getsockname()[1]


@contextmanager
def on_one_port(*places: Callable[[int], AbstractContextManager[Any]]) -> Iterator[tuple[int, list[Any]]]:
    """A port that every place could be entered on, and what that gave."""
    for _ in range(50):
        with refusing() as port:
            pass
        with ExitStack() as stack:
            try:
                entered = [stack.enter_context(place(port)) for place in places]
            except OSError:
                continue  # somebody has it on another address
            yield port, entered
            return
    pytest.skip("no port is free on all of these addresses")
