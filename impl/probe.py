"""Is the worker warm? One bounded question over one connection, and one of three verdicts (nx_mesh_autoscale.nx:100).

WARM: it answered 2xx. COLD: nobody listens there. UNKNOWN: all else, such as a worker too busy to answer in time; the
caller then holds, for a busy worker is not a cold one (gonka-ai/gonka#1421). Listed is not ready, and answering is not
serving (gpustack/gpustack#6203, vllm-project/vllm#39863): `model` asks for one model; the rest no probe can see.
"""

from __future__ import annotations

import errno
import json
import re
import socket
import sys
import threading
from collections.abc import Callable
from enum import Enum
from time import monotonic
from typing import Any, NamedTuple

Endpoint = tuple[int, tuple[Any, ...]]  # address family, socket address

STATUS_LINE = re.compile(rb"HTTP/1\.[0-9] ([0-9]{3})( [^\r\n]*)?\r?\n")
CHUNKED = re.compile(rb"^transfer-encoding:.*chunked\s*$", re.IGNORECASE | re.MULTILINE)
LENGTH = re.compile(rb"^content-length:\s*([0-9]+)\s*$", re.IGNORECASE | re.MULTILINE)
UNREACHABLE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN, errno.EAFNOSUPPORT}


class Verdict(Enum):
    """What a probe may conclude."""

    WARM = "warm"
    COLD = "cold"
    UNKNOWN = "unknown"


class Answer(NamedTuple):
    """A verdict and, in one sentence of printable ASCII, why."""

    verdict: Verdict
    reason: str


def probe(
    host: str,
    port: int,
    *,
    model: str | None = None,
    timeout_means: Verdict | None = None,
    connect_s: float = 1.0,
    answer_s: float = 2.0,
    max_bytes: int = 65536,
    now: Callable[[], float] = monotonic,
) -> Answer:
    """Ask `host`, a name or an address, for `/v1/models`: once, with no redirect, no proxy and no second try.

    Resolving and connecting share `connect_s` seconds, each address in turn an even part of what is left. The answer
    has `answer_s` seconds and `max_bytes` bytes as a whole, however it trickles (urllib3/urllib3#1901). It ends with
    its status line, or with its body where `model` must be an id in the list. A connection not made in time means
    `timeout_means`, COLD or UNKNOWN; by default UNKNOWN on loopback, where a full accept backlog looks like that, and
    COLD elsewhere, where firewalls drop what is sent to a host that is down. ValueError before any socket if an
    argument is wrong.
    """
    if not isinstance(host, str) or not host:
        raise ValueError(f"host is {host!r}, expected a name or an address")
    if not isinstance(port, int) or isinstance(port, bool) or not 1 <= port <= 65535:
        raise ValueError(f"port is {port!r}, expected a whole number from 1 to 65535")
    if timeout_means not in (None, Verdict.COLD, Verdict.UNKNOWN):
        raise ValueError(f"timeout_means is {timeout_means!r}, expected Verdict.COLD, Verdict.UNKNOWN or None")
    if not (0 <= connect_s <= 3600 and 0 <= answer_s <= 3600 and max_bytes >= 1):
        raise ValueError(
            f"limits are {connect_s!r} s, {answer_s!r} s, {max_bytes!r} bytes, expected 0-3600, 0-3600, >= 1"
        )

    deadline = now() + connect_s
    try:
        name = host.encode("idna").decode("ascii")
        endpoints = _resolve(name, port, connect_s)
    except (OSError, ValueError, RuntimeError) as error:
        return Answer(Verdict.UNKNOWN, f"cannot resolve {host[:80]!a}: {_words(error)}")
    failures = []
    for tried, endpoint in enumerate(endpoints):
        try:
            sock = _connect(endpoint, (deadline - now()) / (len(endpoints) - tried))
        except OSError as error:
            failures.append(_no_connection(endpoint, error, timeout_means))
        else:
            with sock:
                exchange = _Exchange(sock, now() + answer_s, max_bytes, now)
                return _ask(exchange, _authority(name, port), _authority(*endpoint[1]), model)
    verdicts = {failure.verdict for failure in failures}
    verdict = Verdict.UNKNOWN if Verdict.UNKNOWN in verdicts else Verdict.COLD
    return Answer(verdict, " and ".join(failure.reason for failure in failures))


def judge(line: bytes) -> Verdict:
    """What a first line says, its line feed included: WARM for `HTTP/1.x` with status 200 to 299, else UNKNOWN.

    The original takes "200" anywhere in the line for 2xx, and misses 204 (nx_mesh_autoscale.nx:84).
    """
    status = STATUS_LINE.fullmatch(line)
    return Verdict.WARM if status and status[1].startswith(b"2") else Verdict.UNKNOWN


class _Lookup(threading.Thread):
    """One name lookup that its caller can stop waiting for, as getaddrinfo cannot be told to give up."""

    one_at_a_time = threading.Lock()

    def __init__(self, name: str, port: int) -> None:
        super().__init__(name="name lookup", daemon=True)
        self.key = name, port
        self.found: list[Any] = []
        self.error: Exception = OSError("it has no address")

    def run(self) -> None:
        try:
            self.found = socket.getaddrinfo(*self.key, type=socket.SOCK_STREAM)
        except (OSError, ValueError) as error:
            self.error = error

    @classmethod
    def within(cls, seconds: float, name: str, port: int) -> list[Any]:
        """Wait for the lookup of this name that still runs, or for a new one: slow names pile up no threads."""
        with cls.one_at_a_time:
            running = (each for each in threading.enumerate() if isinstance(each, cls) and each.key == (name, port))
            lookup = next(running, None)
            if lookup is None:
                lookup = cls(name, port)
                lookup.start()
        lookup.join(seconds)
        if lookup.is_alive():
            raise TimeoutError(f"no address within {seconds:g} s")
        if not lookup.found:
            raise lookup.error
        return lookup.found


def _resolve(name: str, port: int, seconds: float) -> list[Endpoint]:
    """The endpoints of a name in the system's order, each once. What is an address already needs no lookup."""
    if not name.isprintable():
        raise ValueError("it holds a control character")
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        found = _Lookup.within(seconds, name, port)
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))


def _connect(endpoint: Endpoint, seconds: float) -> socket.socket:
    """A connected socket, or an OSError and nothing left open."""
    if seconds <= 0:
        raise TimeoutError
    family, address = endpoint
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(seconds)
        sock.connect(address)
        if _met_itself(sock):
            raise ConnectionRefusedError
    except BaseException:
        sock.close()
        raise
    return sock


def _met_itself(sock: socket.socket) -> bool:
    """Nobody listens, yet TCP joined the socket to itself: its own port happened to be the one it called."""
    try:
        return bool(sock.getsockname() == sock.getpeername())
    except OSError:
        return False  # reset already, as the question will find


def _no_connection(endpoint: Endpoint, error: OSError, timeout_means: Verdict | None) -> Answer:
    family, address = endpoint
    where = _authority(*address)
    if isinstance(error, ConnectionRefusedError):
        return Answer(Verdict.COLD, f"connection refused by {where}")
    if isinstance(error, TimeoutError):
        loopback = address[0].startswith(("127.", "::ffff:127.")) or address[0] in ("::1", "::", "0.0.0.0")
        by_rule = Verdict.UNKNOWN if loopback else Verdict.COLD
        return Answer(timeout_means or by_rule, f"connecting to {where} timed out")
    # Without IPv6 there is no address to call from; without IPv4 there always is one, unless its ports have run out.
    no_ipv6 = error.errno == errno.EADDRNOTAVAIL and family == socket.AF_INET6
    if error.errno in UNREACHABLE or no_ipv6:
        return Answer(Verdict.COLD, f"{where} is unreachable: {_words(error)}")
    return Answer(Verdict.UNKNOWN, f"cannot connect to {where}: {_words(error)}")


class _Exchange:
    """One question and what comes back, under one deadline and one limit of bytes."""

    def __init__(self, sock: socket.socket, deadline: float, room: int, now: Callable[[], float]) -> None:
        self._sock, self._deadline, self._room, self._now = sock, deadline, room, now
        self._data = b""

    def send(self, request: bytes) -> None:
        self._sock.settimeout(self._left())
        self._sock.sendall(request)

    def line(self) -> bytes:
        """The next line with its line feed, or all there is before the end."""
        while b"\n" not in self._data and self._more():
            pass
        return self.take(self._data.find(b"\n") + 1 or len(self._data))

    def take(self, size: int) -> bytes:
        """The next `size` bytes, or all there are before the end."""
        while len(self._data) < size and self._more():
            pass
        taken, self._data = self._data[:size], self._data[size:]
        return taken

    def body(self) -> bytes:
        """What follows the headers: in chunks, by its declared length, or up to the end."""
        head = b""
        while (field := self.line()).strip():
            head += field
        if not CHUNKED.search(head):
            length = LENGTH.search(head)
            return self.take(int(length[1]) if length else sys.maxsize)
        body = b""
        while size := int(self.line().partition(b";")[0], 16):
            body += self.take(size)
            self.line()
        return body

    def _left(self) -> float:
        if (left := self._deadline - self._now()) <= 0:
            raise TimeoutError
        return left

    def _more(self) -> bool:
        self._sock.settimeout(self._left())
        piece = self._sock.recv(self._room or 1)
        if len(piece) > self._room:
            raise OSError("it is too long")
        self._room -= len(piece)
        self._data += piece
        return piece != b""


def _ask(exchange: _Exchange, host: str, where: str, model: str | None) -> Answer:
    try:
        exchange.send(f"GET /v1/models HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        line = exchange.line()
        said = f"{where} answered {line[:80].decode('latin-1').strip()!a}" if line else f"{where} closed with no answer"
        if judge(line) is not Verdict.WARM or model is None:
            return Answer(judge(line), said)
        if model in _models(exchange.body()):
            return Answer(Verdict.WARM, f"{said} and lists the model {model[:80]!a}")
        return Answer(Verdict.UNKNOWN, f"{said} but does not list the model {model[:80]!a}")
    except TimeoutError:
        return Answer(Verdict.UNKNOWN, f"{where} gave no complete answer in time")
    except (OSError, ValueError, RecursionError) as error:
        return Answer(Verdict.UNKNOWN, f"the answer of {where} cannot be read: {_words(error)}")


def _models(body: bytes) -> list[Any]:
    """The ids in an OpenAI list, `{"data": [{"id": ...}, ...]}`."""
    content = json.loads(body)
    data = content.get("data") if isinstance(content, dict) else None
    if not isinstance(data, list):
        raise ValueError("its data is not a list")
    return [entry.get("id") for entry in data if isinstance(entry, dict)]


def _words(error: Exception) -> str:
    return ascii(getattr(error, "strerror", None) or str(error) or type(error).__name__)[1:-1]


def _authority(host: str, port: int, *_: int) -> str:
    """Host and port as a URL has them: an IPv6 address in brackets, without its zone."""
    return f"[{host.partition('%')[0]}]:{port}" if ":" in host else f"{host}:{port}"
