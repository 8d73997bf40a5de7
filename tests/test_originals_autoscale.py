"""A negative control: what is wrong with the original autoscaler, its command line and its probe is found by comparison
with the specification and with ours, and nothing where it is right."""

from __future__ import annotations

import io
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from random import Random
from string import ascii_letters
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from impl import command
from impl.autoscale import Action, decide, savings_permil
from impl.gate import autoscale_report, autoscale_rows
from impl.probe import Answer, Verdict, judge, probe
from model.conform.monitor import Violation, judge_decision
from model.originals import mesh_autoscale
from model.originals.mesh_autoscale import am_decide, am_probe_warm, am_resp_2xx, am_savings_permil
from model.symbolic.findings import Judgement
from model.symbolic.judge import EQUALS, judge_decide, judge_savings
from spec.autoscale import Decision, State, savings_lie_between_0_and_1000
from tests.originals import AUTOSCALE
from tests.servers import Behaviour, Server, full_backlog, refusing, reset, says, silence

I64_MAX = 2**63 - 1


def smallest(inputs: SearchStrategy[Any], wrong: Callable[[Any], bool]) -> Any:
    """The simplest of the inputs that is wrong; always the same."""
    how = settings(max_examples=2000, database=None, suppress_health_check=list(HealthCheck))
    return find(inputs, wrong, settings=how, random=Random(0))


# The decisions, on every input


def am_decide_of_two(warm: int, demand: int, idle_sec: int, ttl_sec: int) -> int:
    """A host that tells how many jobs are wanted: two, or none."""
    return am_decide(warm, 2 * demand, idle_sec, ttl_sec)


def am_savings_of_small_numbers(warm_sec: int, window_sec: int) -> int:
    """Where nothing overflows, and a smallest counterexample is soon known."""
    if -1000 <= warm_sec <= 1000 and window_sec <= 1000:
        return am_savings_permil(warm_sec, window_sec)
    return savings_permil(warm_sec, window_sec)


def refuted(judgement: Judgement, claim: str) -> dict[str, int]:
    """The counterexample on which both solvers agree."""
    found = [each for each in judgement.findings if f"`{each.about}`" == claim]
    assert [each.verdict for each in found] == ["refuted", "refuted"]
    return dict(found[0].witness or {})


def of_two(claim: str) -> str:
    """What is decided breaks the claim of a worker that is wanted."""
    warm, wanted, idle, ttl = refuted(judge_decide(am_decide_of_two), claim).values()
    view = (warm, 2 * wanted, idle, ttl)
    action = Action(am_decide(*view))
    with pytest.raises(Violation):
        judge_decision(warm, wanted, idle, ttl, action)
    return f"am_decide{view} = {action.name}"


def of_savings(claim: str) -> str:
    sample = tuple(refuted(judge_savings(am_savings_of_small_numbers), claim).values())
    return f"am_savings_permil{sample} = {am_savings_permil(*sample)}"


PROVED = {"count": of_two, "cold count": of_two, "negative": of_savings}


@pytest.mark.parametrize("name", PROVED)
def test_proof_finds(name: str) -> None:
    assert PROVED[name](AUTOSCALE[name].claim) == AUTOSCALE[name].trace


def test_of_demand_0_or_1_its_decisions_are_ours() -> None:
    findings = judge_decide(am_decide).findings
    assert {each.verdict for each in findings} == {"proved"}
    assert findings[-1].about == EQUALS


def am_savings_of_a_part(warm_sec: int, window_sec: int) -> int:
    if 0 <= warm_sec < 2**63 and -(2**63) <= window_sec <= I64_MAX // 1000:
        return am_savings_permil(warm_sec, window_sec)
    return savings_permil(warm_sec, window_sec)


def test_where_no_time_is_negative_and_nothing_overflows_its_savings_are_ours() -> None:
    findings = judge_savings(am_savings_of_a_part).findings
    assert {each.verdict for each in findings} == {"proved"}
    assert findings[-1].about == EQUALS


def overflow() -> str:
    """A warm time that is a part of its window, though not of one within i64 / 1000."""
    times = st.tuples(st.integers(0, I64_MAX), st.integers(0, I64_MAX))
    part = smallest(times, lambda each: each[0] <= each[1] and not savings_lie_between_0_and_1000(saved(*each)))
    return f"am_savings_permil{part} = {am_savings_permil(*part)}"


def saved(warm: int, window: int) -> State:
    return State(0, 0, 0, 0, Decision.UNDECIDED, am_savings_permil(warm, window))


SEARCHED = {"overflow": overflow}


@pytest.mark.parametrize("name", SEARCHED)
def test_search_finds(name: str) -> None:
    assert SEARCHED[name]() == AUTOSCALE[name].trace


# The command line, against ours


def theirs(*words: str, asked: list[Any] | None = None, warm: int = 1) -> tuple[int, str]:
    """Exit code and output of the original. Each address that it asks is noted in `asked`."""

    def probed(*address: int) -> int:
        if asked is not None:
            asked.append(address)
        return warm

    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()):
        code = mesh_autoscale.main(("nx_mesh_autoscale", *words), probed)
    return code, out.getvalue()


def ours(*words: str, warm: int = 1) -> tuple[int, str]:
    """Exit code and output of the shipped command, whose worker is warm or cold."""
    verdict = Verdict.WARM if warm else Verdict.COLD
    out: list[str] = []
    with (
        patch.object(command, "say", out.append),
        patch.object(command, "complain"),
        patch("impl.probe.probe", lambda *_, **__: Answer(verdict, "")),
    ):
        return command.main(words), "".join(out)


def mistaken(words: Sequence[str]) -> bool:
    """To us a usage error, there an action."""
    return ours(*words)[0] == 64 and theirs(*words)[0] in list(Action)


def reaps(words: Sequence[str]) -> bool:
    """And the worker is lost."""
    return mistaken(words) and theirs(*words)[0] == Action.REAP


FEW = st.integers(0, 3).map(str)
WORDS = st.lists(st.sampled_from(("decide", "tick", "--help", "0")), max_size=6)
OCTETS = st.integers(0, 300).map(str)
HOSTS = [(), ("10", "0", "0", "255")]


def decide_of(*arguments: SearchStrategy[str]) -> SearchStrategy[list[str]]:
    return st.tuples(*arguments).map(lambda words: ["decide", *words])


def idle(text: SearchStrategy[str], ttl: str) -> SearchStrategy[list[str]]:
    return decide_of(*map(st.just, "10"), text, st.just(ttl))


def tick_at(least: int, most: int) -> SearchStrategy[list[str]]:
    return st.lists(OCTETS, min_size=least, max_size=most).map(lambda octets: ["tick", "0", "0", "0", *octets])


CALLED: dict[str, tuple[SearchStrategy[list[str]], Callable[[Sequence[str]], bool]]] = {
    "bare": (WORDS, mistaken),
    "usage": (WORDS.filter(bool), mistaken),
    "sign": (idle(st.integers(1).map(lambda number: f"-{number}"), "5"), reaps),
    "letter": (decide_of(*map(st.just, "100"), st.text(ascii_letters, min_size=1)), reaps),
    "wrap": (decide_of(*map(st.just, "100"), st.integers(I64_MAX + 1).map(str)), reaps),
    "demand": (decide_of(st.just("1"), FEW, FEW, FEW), reaps),
    "warmth": (decide_of(FEW, st.just("0"), FEW, FEW), mistaken),
    "surplus": (st.lists(st.just("0"), min_size=4).map(lambda words: ["decide", *words]), mistaken),
    "octets": (tick_at(0, 3), mistaken),
    "octet": (tick_at(4, 4), mistaken),
}


@pytest.mark.parametrize("name", CALLED)
def test_call_finds(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    words = smallest(*CALLED[name])
    asked: list[tuple[int, ...]] = []
    code, _ = theirs(*words, asked=asked)
    said = [f"asks {'.'.join(map(str, address))}, " for address in asked]
    trace = f"{' '.join(words)}: {''.join(said)}exit {code} {Action(code).name}".removeprefix(": ")
    assert trace == AUTOSCALE[name].trace


@given(
    st.integers(0, 1), st.integers(0, 1), *[st.integers(0, 60) | st.integers(0, I64_MAX)] * 2, st.sampled_from(HOSTS)
)
def test_a_call_without_mistake_says_and_does_the_same(
    warm: int, demand: int, idle: int, ttl: int, host: tuple[str, ...]
) -> None:
    moment = (str(demand), str(idle), str(ttl))
    for words in (("decide", str(warm), *moment), ("tick", *moment, *host)):
        assert theirs(*words, warm=warm) == ours(*words, warm=warm)


# The gate


VIEWS = [
    (0, 1, 0, 60),
    (1, 1, 0, 60),
    (1, 0, 90, 60),
    (1, 0, 30, 60),
    (0, 0, 999, 60),
    (0, 1, 999, 60),
    (1, 1, 999, 60),
]
"""What the gate asks, each once."""
CASES = st.tuples(st.sampled_from(VIEWS), st.sampled_from(Action))


class Gate(NamedTuple):
    """Exit code and record of the original's gate, and what ours records."""

    code: int
    theirs: str
    ours: str


def gate(case: tuple[tuple[int, ...], Action], status: Path) -> Gate:
    """Both gates, where one decision is another."""

    def other(*seen: int) -> Action:
        return case[1] if seen == case[0] else decide(*seen)

    with patch.object(mesh_autoscale, "am_decide", other), redirect_stdout(io.StringIO()):
        code = mesh_autoscale.am_gate(str(status))
    table = autoscale_report(other, savings_permil).table
    return Gate(code, *(text.splitlines()[1].replace("\t", " ") for text in (status.read_text(), table)))


def wrong_green(gate: Gate) -> str:
    """What the original's table says, where ours says another thing."""
    return "" if gate.theirs == gate.ours else gate.theirs


def wrong_red(gate: Gate) -> str:
    """What its exit code says of the worker, where it is not the HOLD of a green gate."""
    return f"exit {gate.code} {Action(gate.code).name}" if gate.code else ""


GATED = {"green": wrong_green, "red": wrong_red}


@pytest.mark.parametrize("name", GATED)
def test_gate_finds(name: str, tmp_path: Path) -> None:
    wrong, status = GATED[name], tmp_path / "status"
    view, action = case = smallest(CASES, lambda case: bool(wrong(gate(case, status))))
    assert f"am_decide{view} = {action.name}: {wrong(gate(case, status))}" == AUTOSCALE[name].trace


def test_its_own_ten_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert all(row.holds for row in autoscale_rows(am_decide, am_savings_permil))
    assert mesh_autoscale.am_gate(str(tmp_path / "status")) == 0
    assert capsys.readouterr().out == "MESHAUTOSCALEGATE verdict=GREEN\n"
    ours = autoscale_report(decide, savings_permil).table.splitlines()
    assert (tmp_path / "status").read_text().splitlines() == ours[:3]


# The first line of an answer

LINES = st.builds(
    lambda minor, status, reason: f"HTTP/1.{minor} {status} {reason}".strip(),
    st.integers(0, 9),
    st.integers(100, 599),
    st.sampled_from(("", "OK", "200", "/200/")),
)


def is_warm(line: str) -> tuple[bool, bool]:
    """What the original makes of it, and what ours does."""
    answer = f"{line}\r\n".encode()
    return am_resp_2xx(answer, len(answer)) == 1, judge(answer) is Verdict.WARM


JUDGED = {"anywhere": (True, False), "other 2xx": (False, True)}


@pytest.mark.parametrize("name", JUDGED)
def test_line_finds(name: str) -> None:
    assert smallest(LINES, lambda line: is_warm(line) == JUDGED[name]) == AUTOSCALE[name].trace
    assert is_warm("HTTP/1.1 204 No Content") == (False, True)


@given(st.integers(0, 9), st.sampled_from((200, *range(300, 600))), st.text(ascii_letters + " "))
def test_of_200_and_failures_it_makes_what_ours_does(minor: int, status: int, reason: str) -> None:
    theirs, ours = is_warm(f"HTTP/1.{minor} {status} {reason}")
    assert theirs == ours == (status == 200)


# A worker that is up


def in_halves(connection: socket.socket) -> None:
    """The second half comes a second later, to those who wait for it."""
    connection.sendall(b"HTTP/1.1 2")
    connection.settimeout(1)
    with suppress(TimeoutError):
        if not connection.recv(1):
            return
    connection.sendall(b"00 OK\r\n")


@contextmanager
def behaving(behave: Behaviour) -> Iterator[int]:
    with Server(behave) as server:
        yield server.port


BUSY = says(b"HTTP/1.1 503 Busy\r\n")
UP: dict[str, tuple[Callable[[], AbstractContextManager[int]], float, Verdict]] = {
    "one read": (partial(behaving, in_halves), 3, Verdict.WARM),
    "silence": (partial(behaving, silence), 0.2, Verdict.UNKNOWN),
    "reset": (partial(behaving, reset), 0.2, Verdict.UNKNOWN),
    "503": (partial(behaving, BUSY), 0.2, Verdict.UNKNOWN),
    "backlog": (full_backlog, 0.2, Verdict.UNKNOWN),
}
"""What it does, how many seconds it is given to answer, and what our probe says of it."""


@pytest.mark.parametrize("name", UP)
def test_probe_finds(name: str) -> None:
    place, seconds, verdict = UP[name]
    with place() as port:
        assert probe("127.0.0.1", port, connect_s=0.3, answer_s=seconds).verdict is verdict
        warm = am_probe_warm(127, 0, 0, 1, port, connect_ms=300, answer_ms=int(1000 * seconds))
    action = Action(am_decide(warm, 1, 0, 60))
    with pytest.raises(Violation, match=AUTOSCALE[name].claim.strip("`")):
        judge_decision(1, 1, 0, 60, action)
    assert AUTOSCALE[name].trace.endswith(f": {action.name}")


def test_a_worker_that_answers_is_warm_and_one_that_refuses_cold() -> None:
    with behaving(says(b"HTTP/1.1 200 OK\r\n")) as port:
        assert am_probe_warm(127, 0, 0, 1, port) == 1
    with refusing() as port:
        assert am_probe_warm(127, 0, 0, 1, port) == 0
        assert probe("127.0.0.1", port).verdict is Verdict.COLD


def test_every_finding_is_found() -> None:
    assert set(AUTOSCALE) == {*PROVED, *SEARCHED, *CALLED, *GATED, *JUDGED, *UP}
