"""A network that exists in memory alone, on a clock of its own: what the probe meets is scripted, and all that it does
is written down."""

from __future__ import annotations

import errno
import socket as real
from dataclasses import dataclass, field
from threading import Event
from time import sleep
from typing import Any, NamedTuple

from impl.probe import Verdict

NAME = "worker.test"
"""Resolves to every host of the script, in order."""
LATE, SLOW, EMPTY, ODD, CROWDED = "late.test", "slow.test", "empty.test", "odd.test", "crowded.test"
"""Names whose lookup takes a moment, or until `release` is set; finds nothing, fails, or finds no thread to run on."""
START = 1000.0
"""What the clock says when a script begins."""
HERE, AWAY = ("127.0.0.1", "::1"), ("192.0.2.1", "2001:db8::1")
ACCEPTING = ("accepts", "is reset", "hears nothing")
"""Calls that make a connection, whatever becomes of it."""


class Host(NamedTuple):
    """One address: what a call to it meets, and what it answers, each piece after so many seconds. After the last piece
    it `ends`: closes, resets, or is silent for ever."""

    address: str
    call: str = "accepts"
    pieces: tuple[tuple[float, bytes], ...] = ()
    ends: str = "closes"


@dataclass(frozen=True)
class Script:
    """What there is, what is asked of it, and the limits of the probe: None for its own."""

    hosts: tuple[Host, ...]
    name: str
    model: str | None = None
    timeout_means: Verdict | None = None
    connect: float | None = None
    answer: float | None = None
    room: int | None = None


@dataclass
class Net:
    """What stands for the module `socket`, and for the clock."""

    hosts: tuple[Host, ...]
    time: float = START
    called: list[str] = field(default_factory=list)
    limits: list[float | None] = field(default_factory=list)
    answered_from: float = START
    asked: list[tuple[str, bytes]] = field(default_factory=list)
    read: int = 0
    open: int = 0
    lookups: int = 0
    release: Event = field(default_factory=Event)

    SOCK_STREAM = real.SOCK_STREAM
    AF_INET6 = real.AF_INET6
    AI_NUMERICHOST = real.AI_NUMERICHOST
    gaierror = real.gaierror

    def now(self) -> float:
        """The time, in seconds."""
        return self.time

    def getaddrinfo(self, name: str, port: int, *, type: int, flags: int = 0) -> list[Any]:  # noqa: A002
        """Addresses are themselves; NAME is all of them, once it is looked up."""
        if name == CROWDED:
            raise RuntimeError("can't start new thread")
        self.lookups += flags != self.AI_NUMERICHOST
        if flags != self.AI_NUMERICHOST and name in (SLOW, EMPTY, ODD):
            if name == ODD:
                raise ValueError("embedded null character")
            if name == SLOW:
                self.release.wait(10)
            return []
        if flags != self.AI_NUMERICHOST and name == LATE:
            sleep(0.05)
        found = [host for host in self.hosts if name in (host.address, NAME, LATE)]
        if not found or (flags == self.AI_NUMERICHOST and name in (NAME, LATE)):
            raise self.gaierror(real.EAI_NONAME, "Name or service not known")
        return [(family(host.address), type, 6, "", (host.address, port)) for host in found]

    def socket(self, _family: int, _kind: int) -> Socket:
        """A new socket."""
        self.open += 1
        return Socket(self)


def family(address: str) -> int:
    """IPv6 for what holds a colon."""
    return real.AF_INET6 if ":" in address else real.AF_INET


class Socket:
    """One connection."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.limit: float | None = None
        self.host = Host("")
        self.pieces: list[tuple[float, bytes]] = []
        self.is_open = True

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Once is enough."""
        self.net.open -= self.is_open
        self.is_open = False

    def settimeout(self, seconds: float | None) -> None:
        """As the real one, it takes no negative time."""
        if seconds is not None and seconds < 0:
            raise ValueError("Timeout value out of range")
        self.limit = seconds

    def getsockname(self) -> Any:
        """Its own end."""
        if self.host.call == "is reset":
            raise OSError(errno.ENOTCONN, "Socket not connected")
        return (self.host.address, 7861) if self.host.call == "meets itself" else ("192.0.2.9", 50000)

    def getpeername(self) -> Any:
        """The other end."""
        return (self.host.address, 7861)

    def connect(self, address: Any) -> None:
        """As the script has it."""
        self.host = next(host for host in self.net.hosts if host.address == address[0])
        self.net.called.append(address[0])
        self.net.limits.append(self.limit)
        self.pieces = list(self.host.pieces)
        match self.host.call:
            case "refuses":
                raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
            case "is unreachable":
                raise OSError(errno.EHOSTUNREACH, "No route to host")
            case "has no permission":
                raise PermissionError(errno.EACCES, "Permission denied")
            case "has no address":
                raise OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address")
            case "fails without a word":
                raise OSError
            case "drops":
                self.wait(None)
        self.net.answered_from = self.net.time

    def sendall(self, data: bytes) -> None:
        """The question."""
        self.net.asked.append((self.host.address, data))
        if self.host.call == "hears nothing":
            self.wait(None)
        if self.host.call == "is reset":
            raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")

    def recv(self, size: int) -> bytes:
        """The next piece, or a part of it."""
        if not self.pieces:
            if self.host.ends == "resets":
                raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
            if self.host.ends == "closes":
                return b""
            self.wait(None)
        delay, data = self.pieces.pop(0)
        self.wait(delay)
        if len(data) > size:
            self.pieces.insert(0, (0.0, data[size:]))
        self.net.read += min(size, len(data))
        return data[:size]

    def wait(self, delay: float | None) -> None:
        """For so long, or for ever; TimeoutError when the time of the socket is over first."""
        if self.limit is None and delay is None:
            self.net.time += 1e9
            raise TimeoutError("it would wait for ever")
        if self.limit is not None and (delay is None or delay > self.limit):
            self.net.time += self.limit
            raise TimeoutError("timed out")
        self.net.time += delay or 0.0
