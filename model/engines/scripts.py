"""What the probe may meet: answers of every kind, addresses that take a call in every way, and pinned words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from math import nan
from random import Random
from typing import Any

from impl.probe import Verdict
from model.engines.net import AWAY, CROWDED, EMPTY, HERE, NAME, ODD, Host, Script

PORT, ROOM, SMALL = 7861, 65536, 400
"""Where the worker is, how much the shipped probe reads, and how much it is told to read where answers are short."""
WANTED = "the-model"
LISTED = json.dumps({"data": [{"id": "another"}, {"id": WANTED}]}).encode()
UNLISTED = json.dumps({"data": [{"id": "another"}]}).encode()


def answer(status: bytes, body: bytes = LISTED, *, length: bool = True) -> bytes:
    """A whole answer."""
    head = b"Content-Type: application/json\r\n" + (b"Content-Length: %d\r\n" % len(body) if length else b"")
    return b"HTTP/1.1 " + status + b"\r\n" + head + b"\r\n" + body


def chunks(body: bytes) -> bytes:
    """A body in pieces of 16 and 17 bytes, one of which says more than its size."""
    first, second, rest = body[:16], body[16:33], body[33:]
    sized = b"10;x=y\r\n%b\r\n11\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n"
    return sized % (first, second, len(rest), rest)


def sized(size: int) -> bytes:
    """An answer of so many bytes, which lists the model."""
    return answer(b"200 OK", LISTED.ljust(size - len(answer(b"200 OK", b"-" * size)) + size))


def one(data: bytes, delay: float = 0.0, ends: str = "closes", address: str = HERE[0]) -> Host:
    """A host that answers in one piece."""
    return Host(address, pieces=((delay, data),), ends=ends)


TRICKLE = Host(HERE[0], pieces=tuple((0.9, b"HTTP/1.1 200 OK\r\n"[i : i + 1]) for i in range(17)), ends="is silent")
LATE_BODY = Host(HERE[0], pieces=((0.5, answer(b"200 OK")[:60]), (1.6, answer(b"200 OK")[60:])), ends="is silent")
ENDLESS = Host(HERE[0], pieces=tuple((0.0, b"x" * 100) for _ in range(50)), ends="is silent")
LONG_HEAD = Host(HERE[0], pieces=((0.0, b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"\r\n" + LISTED),))
STATUSES: tuple[str, ...] = (
    "200 OK",
    "200",
    "204 No Content",
    "299 Odd",
    "199 Early",
    "300 Many",
    "301 Moved",
    "302 Found",
    "401 No",
)
STATUSES += ("404 Not Found", "429 Busy", "500 Error at 200", "503 Busy", "20 OK", "2000 OK", "x200 OK", "-200 OK")
LINES: tuple[bytes, ...] = (
    b"HTTP/1.0 200 OK\n",
    b"HTTP/2 200 OK\r\n",
    b"200 OK\r\n",
    b"HTTP/1.1 200 OK",
    b"HTTP/1.1  200 OK\r\n",
    b"\r\n",
)
LINES += (b"", b"ICY 200 OK\r\n", b"HTTP/1.1 200 OK\r\r\n", b"hello\r\nHTTP/1.1 200 OK\r\n", b"HTTP/1.1 200OK\r\n")
ANSWERING = (
    *(one(answer(status.encode())) for status in STATUSES),
    *(one(line + b"\r\n" if line.endswith(b"\n") else line) for line in LINES),
    one(answer(b"200 OK", UNLISTED)),
    one(answer(b"200 OK", b"[]")),
    one(answer(b"200 OK", b'{"data": []}')),
    one(answer(b"200 OK", b"no json")),
    one(answer(b"200 OK", b'{"data": 1}')),
    one(answer(b"200 OK", length=False)),
    one(answer(b"200 OK", length=False), ends="is silent"),
    one(answer(b"200 OK"), ends="is silent"),
    one(answer(b"200 OK")[:-1]),
    one(answer(b"200 OK"), 1.9, "is silent"),
    one(answer(b"200 OK"), 2.1),
    one(answer(b"503 Busy"), 1.5, "is silent"),
    one(b"", ends="resets"),
    one(b"HTTP/1.1 200", ends="resets"),
    one(answer(b"200 OK", LISTED + b" " * 600)),
    one(answer(b"301 Moved\r\nLocation: /login") + answer(b"200 OK")),
    one(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks(LISTED)),
    one(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks(LISTED)[:-12]),
    one(b"HTTP/1.1 200 OK\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks(UNLISTED), ends="is silent"),
    one(answer(b"200 OK"), 2.0),
    Host(HERE[0], pieces=((2.0, b"HTTP/1.1 "), (0.0, b"200 OK\r\n"))),
    TRICKLE,
    LATE_BODY,
    ENDLESS,
    LONG_HEAD,
)
CALLS: tuple[str, ...] = ("accepts", "refuses", "drops", "is unreachable", "has no permission", "meets itself")
CALLS += ("has no address", "is reset", "hears nothing", "fails without a word")


def scripts() -> Iterator[Script]:
    """Every answer, asked plainly and for a model; and every way that up to three addresses may take a call."""
    for host, model in product(ANSWERING, (None, WANTED)):
        yield Script((host,), host.address, model, room=SMALL)
    good = ((0.0, answer(b"200 OK")),)
    for here, meaning, call in product((*HERE, *AWAY), (None, Verdict.COLD, Verdict.UNKNOWN), CALLS):
        yield Script((Host(here, call, good),), here, None, meaning)
    for addresses in ((HERE[1], HERE[0]), (AWAY[1], AWAY[0]), (HERE[1], HERE[0], AWAY[0])):
        for calls in product(CALLS[:4], repeat=len(addresses)):
            hosts = tuple(Host(address, call, good) for address, call in zip(addresses, calls, strict=True))
            yield Script(hosts, NAME)
    for room in (None, len(answer(b"200 OK")), len(answer(b"200 OK")) - 1):
        yield Script((one(answer(b"200 OK"), ends="is silent"),), HERE[0], WANTED, room=room)
    for size in (ROOM, ROOM + 1):
        yield Script((one(sized(size), ends="is silent"),), HERE[0], WANTED)
    for name in ("nowhere.test", "x" * 70, EMPTY, ODD, CROWDED, "a\x01b"):
        yield Script((), name)
    for call, connect in product(CALLS, (0, 0.5)):
        yield Script((Host(AWAY[0], call, good),), AWAY[0], connect=connect)
    yield Script((Host(HERE[0], "hears nothing"),), HERE[0], connect=3, answer=0.5)


def random_script(random: Random) -> Script:
    """Answers cut into pieces, over any addresses."""

    def pieces() -> Iterator[tuple[float, bytes]]:
        data = random.choice(ANSWERING).pieces
        whole = b"".join(piece for _, piece in data)[: random.choice((20, 500, 500))]
        while whole:
            size = random.choice((1, 5, 40, 500))
            yield random.choice((0.0, 0.0, 0.1, 0.7)), whole[:size]
            whole = whole[size:]

    addresses = random.sample((*HERE, *AWAY), random.choice((1, 1, 2, 3)))
    hosts = tuple(
        Host(
            each, random.choice((*CALLS, "accepts")), tuple(pieces()), random.choice(("closes", "resets", "is silent"))
        )
        for each in addresses
    )
    name = NAME if len(hosts) > 1 or random.random() < 0.2 else addresses[0]
    room = random.choice((None, SMALL))
    return Script(
        hosts,
        name,
        random.choice((None, WANTED)),
        random.choice((None, None, Verdict.COLD, Verdict.UNKNOWN)),
        room=room,
    )


LONG = "m" * 100


def row(name: str, host: Host, wanted: str, model: str | None = None) -> tuple[str, Script, str]:
    """A pinned answer about one address."""
    return f"probe_{name}", Script((host,), host.address, model), wanted


def lookup(name: str, wanted: str) -> tuple[str, Script, str]:
    """A pinned answer about a name that leads nowhere."""
    return f"probe_of_{ascii(name[:20])[1:-1]}", Script((), name), f"UNKNOWN: cannot resolve {wanted}"


OPEN = one(answer(b"200 OK"))
SAID = "127.0.0.1:7861 answered 'HTTP/1.1 200 OK'"
UNREADABLE = "UNKNOWN: the answer of 127.0.0.1:7861 cannot be read"
ROWS = (
    row("200", OPEN, f"WARM: {SAID}"),
    row(
        "200_long",
        one(b"HTTP/1.1 200 " + b"x" * 90 + b"\n"),
        f"WARM: 127.0.0.1:7861 answered 'HTTP/1.1 200 {'x' * 67}'",
    ),
    row("503", one(answer(b"503 Busy")), "UNKNOWN: 127.0.0.1:7861 answered 'HTTP/1.1 503 Busy'"),
    row("empty", one(b""), "UNKNOWN: 127.0.0.1:7861 closed with no answer"),
    row("listed", OPEN, f"WARM: {SAID} and lists the model 'the-model'", WANTED),
    row("unlisted", OPEN, f"UNKNOWN: {SAID} but does not list the model '{LONG[:80]}'", LONG),
    row(
        "long_listed",
        one(answer(b"200 OK", json.dumps({"data": [{"id": LONG}]}).encode())),
        f"WARM: {SAID} and lists the model '{LONG[:80]}'",
        LONG,
    ),
    row("no_list", one(answer(b"200 OK", b"[]")), f"{UNREADABLE}: its data is not a list", WANTED),
    row("reset", Host(HERE[0], ends="resets"), f"{UNREADABLE}: Connection reset by peer"),
    row("endless", Host(HERE[0], pieces=((0.0, b"x" * 99999),)), f"{UNREADABLE}: it is too long"),
    row("silent", Host(HERE[0], ends="is silent"), "UNKNOWN: 127.0.0.1:7861 gave no complete answer in time"),
    row("refused", Host(HERE[0], "refuses"), "COLD: connection refused by 127.0.0.1:7861"),
    row("itself", Host(HERE[0], "meets itself"), "COLD: connection refused by 127.0.0.1:7861"),
    row("dropped", Host(HERE[1], "drops"), "UNKNOWN: connecting to [::1]:7861 timed out"),
    row("dropped_away", Host(AWAY[0], "drops"), "COLD: connecting to 192.0.2.1:7861 timed out"),
    row("no_way", Host(AWAY[0], "is unreachable"), "COLD: 192.0.2.1:7861 is unreachable: No route to host"),
    row(
        "forbidden", Host(HERE[0], "has no permission"), "UNKNOWN: cannot connect to 127.0.0.1:7861: Permission denied"
    ),
    row("wordless", Host(HERE[0], "fails without a word"), "UNKNOWN: cannot connect to 127.0.0.1:7861: OSError"),
    lookup("nowhere.test", "'nowhere.test': Name or service not known"),
    lookup("n" * 20 + ".test" * 20, f"'{('n' * 20 + '.test' * 20)[:80]}': Name or service not known"),
    lookup(EMPTY, "'empty.test': it has no address"),
    lookup(ODD, "'odd.test': embedded null character"),
    lookup(CROWDED, "'crowded.test': can't start new thread"),
    lookup("a\x01b", "'a\\x01b': it holds a control character"),
)
"""What the answer is in each case, word by word."""

REFUSED_ARGUMENTS: tuple[dict[str, Any], ...] = (
    *({"host": host} for host in ("", None, 127, b"localhost")),
    *({"port": port} for port in (0, 65536, -1, True, "80", 80.0, None)),
    *({"timeout_means": meaning} for meaning in (Verdict.WARM, "cold")),
    *({limit: seconds} for limit in ("connect_s", "answer_s") for seconds in (-1, -0.5, 3600.5, 3601, nan)),
    *({"max_bytes": size} for size in (0, -1)),
)
TAKEN_ARGUMENTS: tuple[dict[str, Any], ...] = (
    *({"port": port} for port in (1, 65535)),
    *({"timeout_means": meaning} for meaning in (Verdict.COLD, Verdict.UNKNOWN, None)),
    *({limit: seconds} for limit in ("connect_s", "answer_s") for seconds in (0, 0.5, 3600)),
    *({"max_bytes": size} for size in (1, 2)),
)
