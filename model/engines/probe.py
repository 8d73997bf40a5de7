"""What is asked of the probe: whether it says of a scripted network what is true of it, and how it finds out."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any
from unittest.mock import patch

import impl.probe as subject
from impl.probe import Answer, Verdict
from model.engines.engine import ENDS, Engine
from model.engines.net import ACCEPTING, HERE, LATE, SLOW, START, Host, Net, Script
from model.engines.scripts import PORT, REFUSED_ARGUMENTS, ROOM, ROWS, TAKEN_ARGUMENTS, random_script, scripts
from model.planted.bugs import Code

CONNECT, ANSWER = 1.0, 2.0
"""Seconds that the shipped probe has for its calls together, and for the answer."""
SEED, SCRIPTS = 0, 400


def play(script: Script, net: Net | None = None) -> tuple[Answer, Net]:
    """The answer of the probe, and what it did."""
    net = net or Net(script.hosts)
    limits = {"connect_s": script.connect, "answer_s": script.answer, "max_bytes": script.room}
    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    with patch.object(subject, "socket", net):
        answer = subject.probe(
            script.name, PORT, model=script.model, timeout_means=script.timeout_means, now=net.now, **given
        )
    return answer, net


# What is true of the network


def shares(script: Script) -> list[float]:
    """The seconds that each address has, in turn: an even part of what is left. No address without any is called."""
    left, found = CONNECT if script.connect is None else script.connect, []
    for number, host in enumerate(script.hosts):
        share = left / (len(script.hosts) - number)
        if share > 0:
            found.append(share)
        if host.call in ACCEPTING:
            break
        left -= share if host.call == "drops" else 0
    return found


def accepting(script: Script) -> Host | None:
    """The first host that accepts a call."""
    called = script.hosts[: len(shares(script))]
    return next((host for host in called if host.call in ACCEPTING), None)


def said(script: Script, host: Host) -> tuple[bytes, bool]:
    """All that arrives within the time and the room, and whether the end was seen."""
    elapsed, data = 0.0, b""
    limit, room = ANSWER if script.answer is None else script.answer, script.room or ROOM
    for delay, piece in host.pieces if host.call == "accepts" else ():
        elapsed += delay
        data += piece if elapsed <= limit else b""
        if elapsed >= limit:
            return data[:room], False
    return data[:room], host.ends == "closes" and len(data) <= room


def means_ready(script: Script, host: Host) -> bool:
    """It answered 2xx in time, and with the model that is asked for."""
    data, ended = said(script, host)
    line, newline, rest = data.partition(b"\n")
    status = re.fullmatch(rb"HTTP/1\.\d ([0-9]{3})( [^\r\n]*)?\r?", line)
    if not newline or status is None or not 200 <= int(status[1]) <= 299:
        return False
    return script.model is None or lists(rest, ended, script.model)


def lists(rest: bytes, ended: bool, model: str) -> bool:
    """The body is complete, by its chunks, its length or the end of the answer, and has the model."""
    head, blank, body = rest.partition(b"\r\n\r\n")
    length = re.search(rb"Content-Length: (\d+)", head)
    if not blank:
        return False
    if b"Transfer-Encoding: chunked" in head:
        whole = re.fullmatch(rb"((?:[0-9a-f]+(?:;x=y)?\r\n.*?\r\n)*)0(?:;x=y)?\r\n(?:\r\n)?", body, re.DOTALL)
        if whole is None:
            return False
        body = b"".join(re.findall(rb"[0-9a-f]+(?:;x=y)?\r\n(.*?)\r\n", whole[1], re.DOTALL))
    elif length is not None:
        if len(body) < int(length[1]):
            return False
        body = body[: int(length[1])]
    elif not ended:
        return False
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        return model in [each.get("id") for each in json.loads(body)["data"] if isinstance(each, dict)]
    return False


def nobody_listens(script: Script) -> bool:
    """Every call was refused or had no way there; a call that is dropped counts as the caller said, or else off
    loopback alone. A call that was not made for want of time counts as dropped."""

    def is_nobody(number: int, host: Host) -> bool:
        if host.call == "drops" or number >= len(shares(script)):
            return (script.timeout_means or (Verdict.UNKNOWN if host.address in HERE else Verdict.COLD)) is Verdict.COLD
        no_ipv6 = host.call == "has no address" and ":" in host.address
        return host.call in ("refuses", "is unreachable", "meets itself") or no_ipv6

    return bool(script.hosts) and all(is_nobody(number, host) for number, host in enumerate(script.hosts))


# What is claimed of the probe


def claims(script: Script, answer: Any, net: Net) -> Iterator[str]:
    """The claims that are broken."""
    if not isinstance(answer, Answer) or not isinstance(answer.verdict, Verdict):
        yield ENDS
        return
    host = accepting(script)
    ready = host is not None and means_ready(script, host)
    limit = ANSWER if script.answer is None else script.answer
    wanted = shares(script)
    if net.answered_from - START > (script.connect or CONNECT) + 1e-6 or net.time - net.answered_from > limit + 1e-6:
        yield "a_probe_ends_within_its_time"
    if answer.verdict is Verdict.WARM and not ready:
        yield "warm_means_that_it_answered_2xx"
    if answer.verdict is not Verdict.WARM and ready:
        yield "whoever_answers_2xx_is_warm"
    if answer.verdict is Verdict.COLD and (host is not None or not nobody_listens(script)):
        yield "a_busy_worker_is_not_a_cold_one"
    if answer.verdict is not Verdict.COLD and host is None and nobody_listens(script):
        yield "where_nobody_listens_it_is_cold"
    if net.called != [each.address for each in script.hosts[: len(wanted)]]:
        yield "each_address_is_called_once_in_turn"
    elif any(limit is None or abs(limit - share) > 1e-6 for limit, share in zip(net.limits, wanted, strict=True)):
        yield "each_address_has_an_even_part_of_the_time"
    if len(net.asked) != (host is not None) or not all(is_the_question(script, data) for _, data in net.asked):
        yield "one_question_is_asked"
    if net.open:
        yield "no_connection_stays_open"
    if net.read > (script.room or ROOM) + 1:
        yield "the_answer_is_bounded"


def is_the_question(script: Script, data: bytes) -> bool:
    """A request for the models and for nothing else, on a connection that is not kept."""
    host = f"[{script.name}]" if ":" in script.name else script.name
    return data == f"GET /v1/models HTTP/1.1\r\nHost: {host}:{PORT}\r\nConnection: close\r\n\r\n".encode()


def of_arguments() -> Iterator[str]:
    """The claim that a wrong argument is refused before anybody is called, and a right one is not."""
    for refused, arguments in (
        *((True, each) for each in REFUSED_ARGUMENTS),
        *((False, each) for each in TAKEN_ARGUMENTS),
    ):
        net = Net((Host(HERE[0], "refuses"),))
        given: dict[str, Any] = {"host": HERE[0], "port": PORT, "now": net.now} | arguments
        try:
            with patch.object(subject, "socket", net):
                subject.probe(**given)
        except (ValueError, TypeError):
            if not refused or net.called:
                yield "a_wrong_argument_is_refused"
        else:
            if refused:
                yield "a_wrong_argument_is_refused"


def of_slow_names() -> Iterator[str]:
    """The claims that a name whose lookup takes for ever keeps one thread, which keeps nobody from leaving, and that a
    lookup that takes a moment is waited for."""
    net = Net(())
    script = Script((), SLOW, connect=0.05)
    answers = [play(script, net)[0].reason for _ in range(2)]
    threads = [each for each in threading.enumerate() if each.name == "name lookup"]
    if answers != ["cannot resolve 'slow.test': no address within 0.05 s"] * 2 or net.lookups != 1:
        yield "slow_names_pile_up_nothing"
    if len(threads) != 1 or not threads[0].daemon:
        yield "slow_names_pile_up_nothing"
    if play(Script((Host(HERE[0], "refuses"),), LATE))[0].verdict is not Verdict.COLD:
        yield "where_nobody_listens_it_is_cold"
    net.release.set()
    for each in threads:
        each.join(5)


NAMES = (
    "a_probe_ends_within_its_time",
    "warm_means_that_it_answered_2xx",
    "whoever_answers_2xx_is_warm",
    "a_busy_worker_is_not_a_cold_one",
    "where_nobody_listens_it_is_cold",
    "each_address_is_called_once_in_turn",
    "each_address_has_an_even_part_of_the_time",
    "one_question_is_asked",
    "no_connection_stays_open",
    "the_answer_is_bounded",
    "a_wrong_argument_is_refused",
    "slow_names_pile_up_nothing",
)
"""The claims that have to catch something."""


# The engines


def golden(_code: Code) -> Iterator[str]:
    """Answers that are pinned word by word."""
    for name, script, wanted in ROWS:
        answer, _ = play(script)
        if f"{answer and answer.verdict.name}: {answer and answer.reason}" != wanted:
            yield name


def explored(_code: Code) -> Iterator[str]:
    """Every script of the list, and every argument."""
    for script in scripts():
        yield from claims(script, *play(script))
    yield from of_arguments()
    yield from of_slow_names()


def fuzzed(_code: Code) -> Iterator[str]:
    """Random scripts, always the same ones."""
    random = Random(SEED)
    for script in [random_script(random) for _ in range(SCRIPTS)]:
        yield from claims(script, *play(script))


ENGINES: dict[str, Engine] = {"golden": golden, "explore": explored, "fuzz": fuzzed}
