"""Scenarios of the probe: how a server behaves, and what the shipped probe makes of it.

Steps say whom the probe meets and how it is asked; `others` counts the calls to a server that it has no business with:
where a redirect leads, and the proxy that the environment names.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from impl.probe import Answer, Verdict, probe
from model.scenarios.notation import Line, Notation, Said, hold, noting, parts
from tests.servers import Behaviour, Server, refusing, reset, says, silence, trickles

PROXIES = ("http_proxy", "https_proxy", "all_proxy")


class Meeting:
    """A probe of one server, with another beside it."""

    behave: Behaviour | None = None
    model: str | None = None
    proxies = False
    answer: Answer
    seconds: float

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.requests: list[bytes] = []
        self.other = Server(says(b"HTTP/1.1 200 OK\r\n\r\n"))

    def take_place(self) -> None:
        """The probe asks, and everybody goes home."""
        place = f"http://127.0.0.1:{self.other.port}"
        variables = {name: place for proxy in PROXIES for name in (proxy, proxy.upper())}
        with ExitStack() as stack:
            stack.enter_context(self.other)
            stack.enter_context(patch.dict(os.environ, variables if self.proxies else {}))
            stack.enter_context(patch.object(socket.socket, "connect", self._counting(socket.socket.connect)))
            if self.behave is None:
                port = stack.enter_context(refusing())
            else:
                server = stack.enter_context(Server(self.behave))
                port, self.requests = server.port, server.requests
            begin = time.monotonic()
            self.answer = probe("127.0.0.1", port, model=self.model)
            self.seconds = time.monotonic() - begin

    def _counting(self, connect: Callable[..., None]) -> Callable[..., None]:
        def counted(sock: socket.socket, address: Any) -> None:
            self.calls.append(address)
            connect(sock, address)

        return counted


@dataclass(frozen=True)
class ProbeCase:
    """One line."""

    line: Line
    steps: tuple[Said, ...]
    statements: tuple[Said, ...]

    @classmethod
    def read(cls, line: Line) -> ProbeCase:
        """What the line says. Raises ValueError."""
        return cls(line, tuple(map(STEPS.read, parts(line.happens))), tuple(map(STATEMENTS.read, parts(line.expected))))

    def check(self) -> None:
        """Raises Failed if it is not as the line says."""
        with noting(str(self.line)):
            meeting = Meeting()
            for step in self.steps:
                step.meaning(meeting)
            meeting.take_place()
            for statement in self.statements:
                hold(statement, meeting)


def _answers(meeting: Meeting, status: int, body: bytes = b"", *fields: bytes) -> None:
    head = b"\r\n".join((b"HTTP/1.1 %d Whatever 200" % status, *fields, b"Content-Length: %d" % len(body)))
    meeting.behave = says(head + b"\r\n\r\n" + body)


def _lists(meeting: Meeting, status: int, models: list[str]) -> None:
    _answers(meeting, status, json.dumps({"data": [{"id": model} for model in models]}).encode())


def _redirects(meeting: Meeting, status: int) -> None:
    _answers(meeting, status, b"", b"Location: http://127.0.0.1:%d/v1/models" % meeting.other.port)


def _be(name: str, *value: Any) -> Callable[..., None]:
    return lambda meeting, *told: setattr(meeting, name, *value, *told)


STEPS = Notation(
    "step",
    {
        "answers NUMBER": _answers,
        "answers NUMBER, lists nothing": lambda meeting, status: _lists(meeting, status, []),
        "answers NUMBER, lists NAMES": _lists,
        "answers NUMBER, leads elsewhere": _redirects,
        "accepts and says nothing": _be("behave", silence),
        "says a byte a while": _be("behave", trickles(b"HTTP/1.1 200 OK\r\n", gap=0.3)),
        "resets": _be("behave", reset),
        "refuses": _be("behave", None),
        "asked for WORD": _be("model"),
        "proxies are set": _be("proxies", True),
    },
)
STATEMENTS = Notation(
    "statement",
    {verdict.value: lambda meeting, verdict=verdict: (meeting.answer.verdict, verdict) for verdict in Verdict}
    | {
        "calls NUMBER": lambda meeting, number: (len(meeting.calls), number),
        "others NUMBER": lambda meeting, number: (meeting.other.connections, number),
        "within NUMBER s": lambda meeting, seconds: (meeting.seconds < seconds or meeting.seconds, True),
        "asks for the list alone": lambda meeting: (
            [request.split(b" ")[:2] for request in meeting.requests],
            [[b"GET", b"/v1/models"]],
        ),
    },
)
