"""The probe against real sockets on loopback, each misbehaving its own way. Z03 and the like are names of scenarios."""

from __future__ import annotations

import errno
import itertools
import json
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from impl import probe as module
from impl.probe import Answer, Verdict, judge, probe
from tests.servers import (
    Behaviour,
    Server,
    full_backlog,
    half_close,
    never_ends,
    on_one_port,
    refusing,
    reset,
    says,
    says_and_stays,
    silence,
    trickles,
)

WARM, COLD, UNKNOWN = Verdict.WARM, Verdict.COLD, Verdict.UNKNOWN
OK = b"HTTP/1.1 200 OK\r\n"
SLACK = 1.0  # seconds a busy machine may add to the 3 the design allows


def ask(behave: Behaviour, host: str = "127.0.0.1", hears: bool = True, **limits: Any) -> Answer:
    """The answer about a server that behaves so; it must have been called exactly once."""
    with Server(behave, host, hears=hears) as server:
        answer = probe(host, server.port, **limits)
    assert server.connections == 1
    return answer


def descriptors() -> int:
    """How many this process holds."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("no /proc/self/fd to count descriptors in")
    return len(os.listdir("/proc/self/fd"))


def name_leads_to(monkeypatch: pytest.MonkeyPatch, lookup: Callable[[], Iterable[str]]) -> None:
    """Make every name resolve to these addresses, in this order. What is an address stays one."""
    real = socket.getaddrinfo

    def fake(host: str, port: int, flags: int = 0, **wanted: Any) -> list[Any]:
        if flags & socket.AI_NUMERICHOST:
            return real(host, port, flags=flags, **wanted)
        return [entry for address in lookup() for entry in real(address, port, **wanted)]

    monkeypatch.setattr(socket, "getaddrinfo", fake)


def connecting_raises(monkeypatch: pytest.MonkeyPatch, errors: dict[str, BaseException]) -> list[socket.socket]:
    """Connecting to these addresses fails so; returns the sockets made from now on."""
    made: list[socket.socket] = []

    class Scripted(socket.socket):
        def __init__(self, family: int = -1, kind: int = -1, proto: int = -1, fileno: int | None = None) -> None:
            super().__init__(family, kind, proto, fileno)
            if fileno is None:  # else a server has accepted it
                made.append(self)

        def connect(self, address: Any) -> None:
            if error := errors.get(address[0]):
                raise error
            super().connect(address)

    monkeypatch.setattr(socket, "socket", Scripted)
    return made


@pytest.fixture
def ipv6() -> None:
    try:
        with refusing("::1"):
            pass
    except OSError:
        pytest.skip("no IPv6 on this machine's loopback")


# The status line


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        (b"HTTP/1.1 200 OK\r\n", WARM),
        (b"HTTP/1.0 200 OK\r\n", WARM),
        (b"HTTP/1.1 200\r\n", WARM),
        (b"HTTP/1.1 200 \r\n", WARM),
        (b"HTTP/1.1 200 OK\n", WARM),
        (b"HTTP/1.1 204 No Content\r\n", WARM),
        (b"HTTP/1.1 299 \xff\x00\r\n", WARM),
        (b"HTTP/1.1 200 HTTP/1.1 500\r\n", WARM),
        (b"HTTP/1.1 199 Odd\r\n", UNKNOWN),
        (b"HTTP/1.1 300 Many\r\n", UNKNOWN),
        (b"HTTP/1.1 500 expected 200\r\n", UNKNOWN),
        (b"HTTP/1.1 404 /200\r\n", UNKNOWN),
        (b"HTTP/1.1 200", UNKNOWN),
        (b"HTTP/1.1 200 OK", UNKNOWN),
        (b"HTTP/1.1 200 OK\r", UNKNOWN),
        (b"HTTP/1.1 2000 OK\r\n", UNKNOWN),
        (b"HTTP/1.1 20 OK\r\n", UNKNOWN),
        (b"HTTP/1.1 -200 OK\r\n", UNKNOWN),
        (b"HTTP/1.1 20\xb2 OK\r\n", UNKNOWN),
        ("HTTP/1.1 ２００ OK\r\n".encode(), UNKNOWN),
        (b"HTTP/1.1  200 OK\r\n", UNKNOWN),
        (b"HTTP/1.1\t200 OK\r\n", UNKNOWN),
        (b" HTTP/1.1 200 OK\r\n", UNKNOWN),
        (b"HTTP/1.1 200OK\r\n", UNKNOWN),
        (b"HTTP/2 200\r\n", UNKNOWN),
        (b"HTTP/2.0 200 OK\r\n", UNKNOWN),
        (b"HTTP/1 200 OK\r\n", UNKNOWN),
        (b"HTTP/1.10 200 OK\r\n", UNKNOWN),
        (b"http/1.1 200 ok\r\n", UNKNOWN),
        (b"ICY 200 OK\r\n", UNKNOWN),
        (b"HTTP/1.1 200 OK\rHTTP/1.1 500\r\n", UNKNOWN),
        (b"HTTP/1.1 500 No\r\nHTTP/1.1 200 OK\r\n", UNKNOWN),
        (b"HTTP/1.1 200 OK\r\nHTTP/1.1 500 No\r\n", UNKNOWN),
        (b"\r\n", UNKNOWN),
        (b"", UNKNOWN),
    ],
)
def test_the_status_line_is_read_strictly(line: bytes, verdict: Verdict) -> None:
    assert judge(line) is verdict


def test_each_status_but_2xx_is_unknown() -> None:
    warm = {status for status in range(1000) if judge(b"HTTP/1.1 %03d Reason 200\r\n" % status) is WARM}
    assert warm == set(range(200, 300))


@pytest.mark.parametrize(
    ("status", "verdict"),
    [(200, WARM), (204, WARM)] + [(status, UNKNOWN) for status in (199, 301, 302, 401, 404, 429, 500, 503)],
)
def test_z03_only_2xx_is_warm_and_no_redirect_is_followed(status: int, verdict: Verdict) -> None:
    with Server(says(OK + b"\r\n")) as target:
        location = b"Location: http://127.0.0.1:%d/v1/models\r\n" % target.port
        answer = ask(says(b"HTTP/1.1 %d Whatever 200\r\n" % status + location + b"Content-Length: 0\r\n\r\n"))
    assert answer.verdict is verdict
    assert str(status) in answer.reason
    assert target.connections == 0


@pytest.mark.parametrize(
    "reply", [b"SSH-2.0-OpenSSH_9.6\r\n", b"\x15\x03\x03\x00\x02\x02\x46", b"\n", b"200 OK\r\n", b"HTTP/1.1 200"]
)
def test_garbage_and_a_line_cut_short_are_unknown(reply: bytes) -> None:
    assert ask(says(reply)).verdict is UNKNOWN


# Time and size


def test_z01_accepted_but_silent_is_unknown_within_the_budget() -> None:
    start = time.monotonic()
    assert ask(silence).verdict is UNKNOWN
    assert time.monotonic() - start < 3 + SLACK


def test_one_byte_each_300_ms_is_unknown_within_the_budget() -> None:
    start = time.monotonic()
    with Server(trickles(OK, gap=0.3)) as server:
        answer = probe("127.0.0.1", server.port)
        took = time.monotonic() - start
    assert answer.verdict is UNKNOWN
    assert took < 3 + SLACK


def test_a_trickle_that_makes_it_in_time_is_warm() -> None:
    assert ask(trickles(OK, gap=0.005)).verdict is WARM


@pytest.mark.parametrize("model", [None, "m"])
def test_an_endless_body_never_holds_the_probe(model: str | None) -> None:
    answer = ask(never_ends(OK + b"\r\n", b" " * 4096), model=model, answer_s=60)
    assert answer.verdict is (UNKNOWN if model else WARM)


@pytest.mark.parametrize("model", [None, "m"])
def test_endless_headers_never_hold_the_probe(model: str | None) -> None:
    answer = ask(never_ends(OK, b"X-More: and more\r\n" * 256), model=model, answer_s=60)
    assert answer.verdict is (UNKNOWN if model else WARM)


def test_an_endless_status_line_is_unknown() -> None:
    assert ask(never_ends(b"HTTP/1.1 200 ", b"so " * 1024), answer_s=60).verdict is UNKNOWN


@pytest.mark.parametrize(("size", "verdict"), [(65536, WARM), (65537, UNKNOWN)])
def test_the_limit_is_64_kib_exactly(size: int, verdict: Verdict) -> None:
    line = b"HTTP/1.1 200 ".ljust(size - 1, b"k") + b"\n"
    assert ask(says(line)).verdict is verdict
    head = OK + b"\r\n"
    listed = b'{"data": [{"id": "m"}]}'
    assert ask(says(head + listed + b" " * (size - len(head) - len(listed))), model="m").verdict is verdict


def test_the_body_shares_the_time_of_the_status_line() -> None:
    answer = ask(says(OK + b"\r\n", b'{"data": [{"id": "m"}]}', gap=0.4), model="m", answer_s=0.6)
    assert answer.verdict is UNKNOWN


def test_no_time_at_all_is_a_time_out() -> None:
    with refusing() as port:
        assert probe("127.0.0.1", port, connect_s=0).verdict is UNKNOWN
    assert ask(says(OK), answer_s=0, hears=False).verdict is UNKNOWN


# Connections


def test_refused_is_cold() -> None:
    with refusing() as port:
        assert probe("127.0.0.1", port) == Answer(COLD, f"connection refused by 127.0.0.1:{port}")


@pytest.mark.parametrize("hears", [True, False])
def test_a_reset_after_accept_is_unknown(hears: bool) -> None:
    assert ask(reset, hears=hears).verdict is UNKNOWN


def test_a_reset_after_a_complete_status_line_is_too_late_to_matter() -> None:
    def behave(connection: socket.socket) -> None:
        connection.sendall(OK)
        time.sleep(0.2)
        reset(connection)

    assert ask(behave).verdict is WARM


@pytest.mark.parametrize("hears", [True, False])
def test_a_half_close_without_a_status_line_is_unknown(hears: bool) -> None:
    answer = ask(half_close, hears=hears)
    assert answer.verdict is UNKNOWN
    assert answer.reason.endswith("closed with no answer")


def test_a_full_accept_backlog_is_unknown_unless_told_otherwise() -> None:
    with full_backlog() as port:
        start = time.monotonic()
        assert probe("127.0.0.1", port).verdict is UNKNOWN
        assert time.monotonic() - start < 1 + SLACK
        assert probe("127.0.0.1", port, connect_s=0.1, timeout_means=COLD).verdict is COLD
        assert probe("127.0.0.1", port, connect_s=0.1, timeout_means=UNKNOWN).verdict is UNKNOWN


@pytest.mark.usefixtures("ipv6")
@pytest.mark.parametrize(
    ("address", "verdict"),
    [
        ("127.0.0.1", UNKNOWN),
        ("127.9.9.9", UNKNOWN),
        ("0.0.0.0", UNKNOWN),
        ("::1", UNKNOWN),
        ("::", UNKNOWN),
        ("::ffff:127.0.0.1", UNKNOWN),
        ("192.0.2.1", COLD),
        ("12.7.0.1", COLD),
        ("2001:db8::1", COLD),
        ("::ffff:192.0.2.1", COLD),
    ],
)
def test_a_time_out_is_unknown_on_loopback_and_cold_elsewhere(
    monkeypatch: pytest.MonkeyPatch, address: str, verdict: Verdict
) -> None:
    made = connecting_raises(monkeypatch, {address: TimeoutError()})
    assert probe(address, 7861).verdict is verdict
    assert probe(address, 7861, timeout_means=COLD).verdict is COLD
    assert probe(address, 7861, timeout_means=UNKNOWN).verdict is UNKNOWN
    assert [sock.fileno() for sock in made] == [-1] * 3


@pytest.mark.parametrize(
    ("address", "code", "verdict"),
    [
        ("192.0.2.1", errno.ECONNREFUSED, COLD),
        ("192.0.2.1", errno.EHOSTUNREACH, COLD),
        ("192.0.2.1", errno.ENETUNREACH, COLD),
        ("192.0.2.1", errno.EHOSTDOWN, COLD),
        ("2001:db8::1", errno.ENETUNREACH, COLD),
        ("::1", errno.EADDRNOTAVAIL, COLD),
        ("127.0.0.1", errno.EADDRNOTAVAIL, UNKNOWN),
        ("127.0.0.1", errno.EMFILE, UNKNOWN),
        ("127.0.0.1", errno.ENOBUFS, UNKNOWN),
        ("127.0.0.1", errno.EPERM, UNKNOWN),
        ("127.0.0.1", errno.ECONNRESET, UNKNOWN),
    ],
)
def test_only_what_the_network_refuses_is_cold_and_own_trouble_is_unknown(
    monkeypatch: pytest.MonkeyPatch, address: str, code: int, verdict: Verdict
) -> None:
    def socket_fails(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(socket, "socket", socket_fails)
    assert probe(address, 7861).verdict is verdict


def test_a_socket_that_met_itself_is_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    class Narcissus(socket.socket):
        def connect(self, address: Any) -> None:
            self.bind((address[0], 0))
            super().connect(self.getsockname())

    monkeypatch.setattr(socket, "socket", Narcissus)
    assert probe("127.0.0.1", 7861).verdict is COLD


def test_a_connection_reset_before_anything_is_asked_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    connected = threading.Event()

    class Slow(socket.socket):
        def connect(self, address: Any) -> None:
            super().connect(address)
            connected.set()
            assert select.select([self], [], [], 5)[0], "the reset never came"

    def reset_once_connected(connection: socket.socket) -> None:
        connected.wait(5)
        reset(connection)

    monkeypatch.setattr(socket, "socket", Slow)
    answer = ask(reset_once_connected, hears=False)
    assert answer.verdict is UNKNOWN
    assert "cannot be read" in answer.reason, "once connected, it is the question that fails"


def test_z09_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(says(OK + b"\r\n")) as proxy:
        for variable in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(variable, f"http://127.0.0.1:{proxy.port}")
        with refusing() as port:
            assert probe("127.0.0.1", port).verdict is COLD
        assert ask(says(b"HTTP/1.1 503 Busy\r\n\r\n")).verdict is UNKNOWN
    assert proxy.connections == 0


@pytest.mark.parametrize("behave", [reset, half_close, silence, says(b"HTTP/1.1 503 Busy\r\n\r\n"), says(b"what?\n")])
def test_z09_one_connection_and_no_second_try(monkeypatch: pytest.MonkeyPatch, behave: Behaviour) -> None:
    name_leads_to(monkeypatch, lambda: ["127.0.0.1", "127.0.0.1"])
    with Server(behave) as server:
        assert probe("worker.test", server.port, answer_s=0.3).verdict is UNKNOWN
    assert server.connections == 1


@pytest.mark.usefixtures("ipv6")
def test_z09_no_second_address_once_one_has_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    name_leads_to(monkeypatch, lambda: ["::1", "127.0.0.1"])
    both = on_one_port(lambda port: Server(reset, "::1", port), lambda port: Server(says(OK), "127.0.0.1", port))
    with both as (port, (first, second)):
        assert probe("localhost", port).verdict is UNKNOWN
    assert (first.connections, second.connections) == (1, 0)


@pytest.mark.usefixtures("ipv6")
@pytest.mark.parametrize("order", [("127.0.0.1", "::1"), ("::1", "127.0.0.1")])
@pytest.mark.parametrize("serving", ["127.0.0.1", "::1"])
def test_localhost_is_warm_where_one_family_serves(
    monkeypatch: pytest.MonkeyPatch, order: tuple[str, str], serving: str
) -> None:
    name_leads_to(monkeypatch, lambda: order)
    other = order[serving == order[0]]
    with on_one_port(lambda port: Server(says(OK), serving, port), lambda port: refusing(other, port)) as (port, _):
        assert probe("localhost", port).verdict is WARM
    with on_one_port(lambda port: refusing("127.0.0.1", port), lambda port: refusing("::1", port)) as (port, _):
        answer = probe("localhost", port)
    assert answer.verdict is COLD
    assert "[::1]" in answer.reason
    assert "127.0.0.1" in answer.reason


def test_the_real_localhost_is_warm_where_only_ipv4_serves() -> None:
    with Server(says(OK)) as server:
        assert probe("localhost", server.port).verdict is WARM
    assert server.connections == 1


@pytest.mark.usefixtures("ipv6")
def test_an_address_that_times_out_leaves_time_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    name_leads_to(monkeypatch, lambda: ["::1", "127.0.0.1"])
    both = on_one_port(lambda port: full_backlog("::1", port), lambda port: Server(says(OK), "127.0.0.1", port))
    with both as (port, _):
        assert probe("localhost", port).verdict is WARM


@pytest.mark.parametrize("order", [("192.0.2.1", "127.0.0.1"), ("127.0.0.1", "192.0.2.1")])
@pytest.mark.parametrize("refuses", ["192.0.2.1", "127.0.0.1"])
def test_refused_here_and_timed_out_there_is_what_the_time_out_means(
    monkeypatch: pytest.MonkeyPatch, order: tuple[str, str], refuses: str
) -> None:
    errors: dict[str, BaseException] = {"192.0.2.1": TimeoutError(), "127.0.0.1": TimeoutError()}
    connecting_raises(monkeypatch, errors | {refuses: ConnectionRefusedError()})
    name_leads_to(monkeypatch, lambda: order)
    assert probe("worker.test", 7861).verdict is (COLD if refuses == "127.0.0.1" else UNKNOWN)
    assert probe("worker.test", 7861, timeout_means=COLD).verdict is COLD
    assert probe("worker.test", 7861, timeout_means=UNKNOWN).verdict is UNKNOWN


def test_an_address_named_twice_is_called_once(monkeypatch: pytest.MonkeyPatch) -> None:
    name_leads_to(monkeypatch, lambda: ["127.0.0.1", "127.0.0.1"])
    made = connecting_raises(monkeypatch, {"127.0.0.1": ConnectionRefusedError()})
    assert probe("worker.test", 7861).verdict is COLD
    assert len(made) == 1


# Names


@pytest.mark.parametrize(
    "host",
    ["worker.invalid", "a..b", "x" * 64, "x" * 5000, ".", "\u00ad", "\ud800", "a b", "127.0.0.1\0.test", "a\r\nb"],
)
def test_a_name_that_does_not_resolve_is_unknown(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    def unknown() -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    name_leads_to(monkeypatch, unknown)
    answer = probe(host, 7861)
    assert answer.verdict is UNKNOWN
    assert answer.reason.isascii()
    assert answer.reason.isprintable()


def test_a_name_without_addresses_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    name_leads_to(monkeypatch, list)
    assert probe("worker.test", 7861).verdict is UNKNOWN


def test_a_slow_name_is_unknown_and_piles_up_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    resolved = threading.Event()
    lookups = itertools.count()

    def slow() -> list[str]:
        next(lookups)
        assert resolved.wait(30)
        return ["127.0.0.1"]

    name_leads_to(monkeypatch, slow)
    before = threading.active_count()
    with Server(says(OK)) as server:
        start = time.monotonic()
        assert probe("slow.test", server.port, timeout_means=COLD).verdict is UNKNOWN
        assert time.monotonic() - start < 1 + SLACK
        for _ in range(20):
            assert probe("slow.test", server.port, connect_s=0.01).verdict is UNKNOWN
        assert threading.active_count() == before + 2  # the server's and one lookup
        assert all(thread.daemon for thread in threading.enumerate() if thread.name == "name lookup")
        timer = threading.Timer(0.2, resolved.set)
        timer.start()
        assert probe("slow.test", server.port, connect_s=30).verdict is WARM
        timer.join()
    assert next(lookups) == 1
    assert server.connections == 1


def test_a_lookup_that_cannot_start_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_thread(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(module._Lookup, "start", no_thread)
    assert probe("worker.test", 7861).verdict is UNKNOWN


@pytest.mark.parametrize(("lookup_s", "verdict"), [(0.5, COLD), (1.0, UNKNOWN)])
def test_resolving_and_connecting_share_their_time(
    monkeypatch: pytest.MonkeyPatch, lookup_s: float, verdict: Verdict
) -> None:
    clock = [0.0]

    def takes_long_by_this_clock() -> list[str]:
        clock[0] += lookup_s
        return ["127.0.0.1"]

    name_leads_to(monkeypatch, takes_long_by_this_clock)
    with refusing() as port:
        assert probe("worker.test", port, connect_s=1.0, now=lambda: clock[0]).verdict is verdict


# The question


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_the_question_is_one_plain_get(request: pytest.FixtureRequest, host: str) -> None:
    if ":" in host:
        request.getfixturevalue("ipv6")
    with Server(says(OK), "127.0.0.1" if host == "localhost" else host) as server:
        assert probe(host, server.port).verdict is WARM
    place = f"[{host}]:{server.port}" if ":" in host else f"{host}:{server.port}"
    assert server.requests == [f"GET /v1/models HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n".encode()]


@pytest.mark.parametrize(
    ("host", "port"),
    [("", 80), (None, 80), (b"localhost", 80), ("localhost", 0), ("localhost", -1), ("localhost", 65536)]
    + [("localhost", port) for port in (True, 80.0, "80", None)],
)
def test_bad_places_are_refused_before_any_socket(monkeypatch: pytest.MonkeyPatch, host: Any, port: Any) -> None:
    made = connecting_raises(monkeypatch, {})
    with pytest.raises(ValueError, match="expected"):
        probe(host, port)
    assert made == []


@pytest.mark.parametrize(
    "wrong",
    [{"timeout_means": WARM}, {"timeout_means": "cold"}, {"max_bytes": 0}]
    + [{limit: value} for limit in ("connect_s", "answer_s") for value in (-1, float("nan"), float("inf"))],
)
def test_bad_limits_are_refused_before_any_socket(monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any]) -> None:
    made = connecting_raises(monkeypatch, {})
    with pytest.raises(ValueError, match="expected"):
        probe("127.0.0.1", 7861, **wrong)
    assert made == []


# The list of models


def listing(*ids: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": model, "object": "model"} for model in ids]}).encode()


def chunked(body: bytes, size: int) -> bytes:
    pieces = (body[start : start + size] for start in range(0, len(body), size))
    return b"".join(b"%X;ext=1\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\nTrailer: x\r\n\r\n"


LISTED = listing("other", "llama")


@pytest.mark.parametrize(
    "behave",
    [
        pytest.param(says(OK + b"\r\n" + LISTED), id="up to the end"),
        pytest.param(says_and_stays(OK + b"Content-Length: %d\r\n\r\n" % len(LISTED) + LISTED), id="by length"),
        pytest.param(
            says_and_stays(OK + b"content-length:%d  \r\n\r\n" % len(LISTED) + LISTED), id="by length, lower case"
        ),
        pytest.param(says_and_stays(OK + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(LISTED, 7)), id="in chunks"),
        pytest.param(
            says_and_stays(b"HTTP/1.1 200\nTRANSFER-ENCODING:Chunked\n\n" + chunked(LISTED, 999)), id="line feeds alone"
        ),
        pytest.param(trickles(OK + b"\r\n" + LISTED, gap=0.001), id="byte by byte"),
        pytest.param(says(OK + b"\r\n\xef\xbb\xbf" + LISTED), id="with a byte order mark"),
        pytest.param(
            says(OK + b"\r\n" + b'{"data": [null, 1, {}, {"id": 2}, {"id": "llama"}]}'), id="among odd entries"
        ),
    ],
)
def test_a_listed_model_is_warm(behave: Behaviour) -> None:
    assert ask(behave, model="llama").verdict is WARM


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(listing(), id="Z04 empty"),
        pytest.param(listing("other", "llama-2", "LLAMA"), id="Z04 absent"),
        pytest.param(b"", id="no body"),
        pytest.param(b"llama", id="no JSON"),
        pytest.param(LISTED[:-1], id="cut short"),
        pytest.param(LISTED + b"x", id="followed by more"),
        pytest.param(b'{"data": {"id": "llama"}}', id="data is an object"),
        pytest.param(b'{"data": "llama"}', id="data is a text"),
        pytest.param(b'{"data": null}', id="data is null"),
        pytest.param(b'{"data": ["llama"]}', id="entries are texts"),
        pytest.param(b'{"id": "llama"}', id="no data"),
        pytest.param(b'[{"id": "llama"}]', id="a bare list"),
        pytest.param(b"[" * 60000, id="too deep"),
        pytest.param(b'{"data": [' + b'{"a":' * 10000, id="too deep inside"),
        pytest.param(b"9" * 60000, id="a huge number"),
        pytest.param(b"\xff\xfe\xfa", id="not a text"),
    ],
)
def test_a_model_not_listed_is_unknown(body: bytes) -> None:
    for framing in (b"", b"Content-Length: %d\r\n" % len(body)):
        assert ask(says(OK + framing + b"\r\n" + body), model="llama").verdict is UNKNOWN
    answer = ask(says(OK + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(body, 5000)), model="llama")
    assert answer.verdict is UNKNOWN
    assert len(answer.reason) < 500


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(b"HTTP/1.1 200", id="no status line"),
        pytest.param(OK, id="no headers"),
        pytest.param(OK + b"Content-Length: 99\r\n", id="headers cut short"),
        pytest.param(OK + b"Content-Length: %d\r\n\r\n" % (len(LISTED) - 1) + LISTED, id="length too small"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n" + LISTED, id="no chunks"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n" + LISTED[:-1], id="a huge chunk"),
        pytest.param(OK + b"Content-Length: %s\r\n\r\n" % (b"9" * 30) + LISTED[:-1], id="a huge length"),
        pytest.param(OK + b"Content-Length: %s\r\n\r\n" % (b"9" * 5000) + LISTED, id="an absurd length"),
        pytest.param(b"HTTP/1.1 503 Loading\r\n\r\n" + LISTED, id="not 2xx"),
        pytest.param(b"HTTP/1.1 204 No Content\r\n\r\n", id="no content"),
    ],
)
def test_a_reply_that_does_not_hold_together_lists_nothing(reply: bytes) -> None:
    assert ask(says(reply), model="llama").verdict is UNKNOWN


@pytest.mark.parametrize("scenario", ["Z04 an empty list while loading", "Z05 completions hang", "Z11 asleep"])
def test_2xx_is_warm_whatever_the_worker_hides(scenario: str) -> None:
    """What the list does not show, no probe sees. Only `/v1/models` is asked, which wakes nobody."""
    reply = OK + b"\r\n" + (listing() if "Z04" in scenario else listing("llama"))
    with Server(says(reply)) as server:
        assert probe("127.0.0.1", server.port).verdict is WARM
    assert [request.split(b" ")[:2] for request in server.requests] == [[b"GET", b"/v1/models"]]


# Nothing stays behind


def test_2000_probes_leave_no_descriptor_and_no_thread() -> None:
    before = descriptors(), threading.active_count()
    with (
        Server(says(OK)) as warm,
        Server(says(b"HTTP/1.1 500 No\r\n\r\n")) as failing,
        Server(reset) as resetting,
        Server(silence) as silent,
        refusing() as refused,
    ):
        kinds: list[Callable[[], Answer]] = [
            lambda: probe("127.0.0.1", warm.port),
            lambda: probe("localhost", warm.port),
            lambda: probe("127.0.0.1", failing.port, model="m"),
            lambda: probe("127.0.0.1", resetting.port),
            lambda: probe("127.0.0.1", silent.port, answer_s=0.001),
            lambda: probe("127.0.0.1", refused),
            lambda: probe("localhost", refused),
            lambda: probe("a..b", 1),
        ]
        seen = [kind().verdict for kind in itertools.islice(itertools.cycle(kinds), 2000)]
    assert seen == [WARM, WARM, UNKNOWN, UNKNOWN, UNKNOWN, COLD, COLD, UNKNOWN] * 250
    assert (descriptors(), threading.active_count()) == before


@pytest.mark.parametrize("look", range(6))
def test_an_interrupt_at_any_look_at_the_clock_closes_the_socket(monkeypatch: pytest.MonkeyPatch, look: int) -> None:
    looks = itertools.count()

    def now() -> float:
        if next(looks) == look:
            raise KeyboardInterrupt
        return time.monotonic()

    with Server(says(b"HTTP/1.1 ", b"200 OK\r\n", gap=0.1)) as server:
        made = connecting_raises(monkeypatch, {})
        with pytest.raises(KeyboardInterrupt):
            probe("127.0.0.1", server.port, now=now)
    assert [sock.fileno() for sock in made] == [-1] * len(made)


def test_an_interrupt_while_connecting_closes_the_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    made = connecting_raises(monkeypatch, {"127.0.0.1": KeyboardInterrupt()})
    with pytest.raises(KeyboardInterrupt):
        probe("127.0.0.1", 7861)
    assert [sock.fileno() for sock in made] == [-1]


# Teeth


@pytest.mark.parametrize(
    ("owner", "part", "bug", "behave"),
    [
        pytest.param(module._Exchange, "_left", lambda _: 1.0, trickles(OK, gap=0.1), id="a limit per read"),
        pytest.param(
            module,
            "judge",
            lambda line: WARM if b"200" in line else UNKNOWN,
            says(b"HTTP/1.1 500 not 200\r\n"),
            id="200 anywhere",
        ),
        pytest.param(
            module,
            "judge",
            lambda line: WARM if line[9:10] in b"23" else UNKNOWN,
            says(b"HTTP/1.1 302 Found\r\n"),
            id="3xx accepted",
        ),
        pytest.param(module, "_models", lambda _: ["m"], says(OK + b"\r\n" + b'{"data": []}'), id="listed unread"),
    ],
)
def test_a_planted_bug_would_be_seen(
    monkeypatch: pytest.MonkeyPatch, owner: object, part: str, bug: object, behave: Behaviour
) -> None:
    model = "m" if part == "_models" else None
    assert ask(behave, model=model, answer_s=1.0).verdict is UNKNOWN
    monkeypatch.setattr(owner, part, bug)
    assert ask(behave, model=model, answer_s=1.0).verdict is WARM
