"""What is asked of `python -m impl`: whether its words and exit codes say what the policy decided, and nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch

import impl.command
import impl.gate
import impl.output
import impl.probe
from impl.autoscale import Action, decide, savings_permil
from model.engines.engine import Engine
from model.engines.net import HERE, Host, Net
from model.engines.scripts import LISTED, WANTED, answer
from model.planted.bugs import Code
from spec import autoscale

LONGEST = 2**63 - 1
RIGHT = ("0", "1", "2", "60", "007", str(LONGEST))
WRONG = ("-5", "+1", "x", "", " 1", "1.0", "1_0", "٣", "²", "nan", "inf", "1e3", str(LONGEST + 1), "9" * 5000)
WORDS = (*RIGHT, *WRONG)
OPTIONS = ("--json", "--exit-base=71", "--exit-base=1", "--exit-base=x", "--exit-base", "--exit", "--help", "--nope")
MISTAKE = 64
SEED, CALLS = 0, 400


class Said(NamedTuple):
    """The exit code, and what went to standard output."""

    code: int
    out: str


def call(argv: Sequence[str]) -> Said:
    """The command, its output caught."""
    written: list[str] = []

    def write(descriptor: int, text: str) -> None:
        if descriptor == 1:
            written.append(text)

    with patch.object(impl.output, "_write", write), patch.object(os.path, "isdir", lambda _: False):
        code = impl.command.main(argv)
    return Said(code, "".join(written))


# What the policy decides


def decided(warm: int, demand: int, idle: int, ttl: int) -> Action:
    """The one decision that the specification allows."""
    seen = autoscale.State(warm, demand, idle, ttl, autoscale.Decision.UNDECIDED, 0)
    names = {action.name.lower(): action for action in Action}
    return next(names[make.name] for make in autoscale.ACTIONS if make.name in names and make.guard(seen))


def number(word: str, most: int) -> int | None:
    """A number from 0, in ASCII digits."""
    strict = word != "" and all(letter in "0123456789" for letter in word)
    return int(word) if strict and len(word.lstrip("0")) <= 19 and int(word) <= most else None


def of_decide(argv: Sequence[str]) -> Iterator[str]:
    """The claims that `decide` breaks with these arguments."""
    said = call(["decide", *argv])
    words = [word for word in argv if not word.startswith("--")]
    options = [word for word in argv if word.startswith("--")]
    most = (1, 1, LONGEST, LONGEST)
    view = [number(word, limit) for word, limit in zip(words, most, strict=False)]
    right = len(words) == 4 and None not in view and set(options) <= {"--json", "--exit-base=71"}
    if not right or len(set(options)) < len(options):
        if said.code != MISTAKE or (said.out and "--help" not in options):
            yield "no_mistake_reads_as_an_action"
        return
    warm, demand, idle, ttl = (value or 0 for value in view)
    yield from of_action(said, decided(warm, demand, idle, ttl), options)


def of_action(said: Said, action: Action, options: Sequence[str]) -> Iterator[str]:
    """The claims that an answer breaks."""
    base = 71 if "--exit-base=71" in options else 0
    if said.code != base + action:
        yield "the_exit_code_is_the_action"
    told = (
        json.loads(said.out)["action"]
        if "--json" in options and said.out
        else said.out.rpartition("ACTION=")[2].strip()
    )
    if told != action.name:
        yield "the_printed_action_is_that_of_the_policy"


def of_tick(host: Host, *options: str) -> Iterator[str]:
    """The claims that `tick` breaks before this worker, wanted and unwanted."""
    octets = () if host.address == HERE[0] or ":" in host.address else host.address.split(".")
    named = ("--host", host.address) if not octets and host.address != HERE[0] else ()
    for demand, idle in (("1", "0"), ("0", "99")):
        net = Net((host,))
        with patch.object(impl.probe, "socket", net):
            said = call(["tick", demand, idle, "60", *octets, *named, *options])
        warm = warmth(host, options)
        action = Action.HOLD if warm is None else decided(warm, int(demand), int(idle), 60)
        if warm is None and said.code != Action.HOLD:
            yield "an_unknown_worker_is_left_alone"
        yield from of_action(said, action, options)
        port = next((word for word in options if word.isdigit()), "7861")
        if net.called != [host.address] or (net.asked and f":{port}\r\n".encode() not in net.asked[0][1]):
            yield "the_probe_is_asked_as_told"


def warmth(host: Host, options: Sequence[str]) -> int | None:
    """Whether the worker is warm; None where that cannot be known."""
    if host.call == "refuses" or (host.call == "drops" and "cold" in options):
        return 0
    listed = "--model" not in options or WANTED in options
    return 1 if host.pieces and b" 200 " in host.pieces[0][1] and listed else None


def of_mistaken_ticks() -> Iterator[str]:
    """The claims that `tick` breaks with wrong arguments: nobody is called."""
    net = Net((Host(HERE[0], "refuses"), Host("10.0.0.1", "refuses")))
    right = ["1", "0", "60"]
    wrong = [right[:2], [*right, "10"], [*right, *"1234", "5"], [*right, "10", "0", "0", "256"], [*right, "10", "0"]]
    wrong += [[*right, "10", "0", "0", "1", "--host", HERE[0]], [*right, "--port", "0"], [*right, "--port", "65536"]]
    wrong += [[*right, "--timeout-means", "warm"], [*right, "--model", ""], ["2", "0", "60"]]
    for argv in wrong:
        with patch.object(impl.probe, "socket", net):
            said = call(["tick", *argv])
        if said.code != MISTAKE or said.out or net.called:
            yield "no_mistake_reads_as_an_action"


def of_savings(words: Sequence[str]) -> Iterator[str]:
    """The claims that `savings` breaks with these arguments."""
    said = call(["savings", *words])
    warm, window = (number(word, LONGEST) for word in words)
    if warm is None or window is None:
        if said.code != MISTAKE or said.out:
            yield "no_mistake_reads_as_an_action"
    elif said != Said(0, f"savings warm={warm}s window={window}s -> PERMIL={savings_permil(warm, window)}\n"):
        yield "the_printed_saving_is_that_of_the_policy"


def of_no_command() -> Iterator[str]:
    """The claims that a call breaks that names no command, or none that exists."""
    for argv in ((), ("--help",), ("decide", "--help"), ("reap",), ("1", "0", "90", "60"), ("--json",)):
        if call(argv).code != MISTAKE:
            yield "no_mistake_reads_as_an_action"


def of_gates() -> Iterator[str]:
    """The claims that `gate` breaks, on the shipped policy and on a wrong one."""
    for policy, code, word in ((decide, 0, "GREEN"), (lambda *_: Action.HOLD, 1, "RED")):
        with patch.object(impl.command, "decide", policy):
            said = call(["gate", "autoscale"])
        if said.code != code or not said.out.endswith(f"verdict={word}\n"):
            yield "a_gate_is_green_when_all_rows_hold"


NAMES = (
    "no_mistake_reads_as_an_action",
    "the_exit_code_is_the_action",
    "the_printed_action_is_that_of_the_policy",
    "an_unknown_worker_is_left_alone",
    "the_probe_is_asked_as_told",
    "the_printed_saving_is_that_of_the_policy",
    "a_gate_is_green_when_all_rows_hold",
)
"""The claims that have to catch something."""


# The engines

ROWS: tuple[tuple[str, tuple[str, ...], int, str], ...] = (
    ("command_spawn", ("decide", "0", "1", "0", "60"), 1, "decide warm=0 demand=1 idle=0s ttl=60s -> ACTION=SPAWN\n"),
    ("command_reap", ("decide", "1", "0", "90", "60"), 3, "decide warm=1 demand=0 idle=90s ttl=60s -> ACTION=REAP\n"),
    ("command_savings", ("savings", "30", "100"), 0, "savings warm=30s window=100s -> PERMIL=700\n"),
    ("command_minus_five", ("decide", "1", "0", "-5", "60"), 64, ""),
    ("command_bare", (), 64, ""),
)
"""Calls that are pinned letter by letter (nx_mesh_autoscale.nx:185-225)."""
OK = Host(HERE[0], pieces=((0.0, answer(b"200 OK", LISTED)),))
WORKERS: tuple[Host, ...] = (
    OK,
    OK._replace(address="192.0.2.7"),
    OK._replace(address="::1"),
    OK._replace(pieces=(), ends="resets"),
)
WORKERS += (Host(HERE[0], "refuses"), Host(HERE[0], "drops"), OK._replace(pieces=((0.0, answer(b"503 Busy")),)))


def golden(_code: Code) -> Iterator[str]:
    """The pinned calls."""
    yield from (name for name, argv, code, out in ROWS if call(argv) != Said(code, out))


def explored(_code: Code) -> Iterator[str]:
    """Every word in every place, two places at a time; every worker; every option."""
    plain = ("1", "0", "90", "60")
    for first, second in combinations(range(4), 2):
        for one, other in product(WORDS, repeat=2):
            argv = list(plain)
            argv[first], argv[second] = one, other
            yield from of_decide(argv)
    for count in range(4):
        yield from of_decide(plain[:count])
        yield from (claim for options in product(OPTIONS, repeat=count) for claim in with_options(plain, options))
    yield from (claim for words in product(WORDS, repeat=2) for claim in of_savings(words))
    for host in WORKERS:
        for options in ((), ("--port", "80"), ("--model", WANTED), ("--model", "other"), ("--timeout-means", "cold")):
            yield from of_tick(host, *options)
    yield from of_no_command()
    yield from of_mistaken_ticks()
    yield from of_gates()


def with_options(words: Sequence[str], options: Sequence[str]) -> Iterator[str]:
    """The words, then the options. One that lacks its value would take the next for it, and is left to the end."""
    if "--exit-base" not in options[:-1]:
        yield from of_decide([*words, *options])


def fuzzed(_code: Code) -> Iterator[str]:
    """Random words, always the same ones."""
    random = Random(SEED)
    letters = "0123456789-+_. xe٣"
    word: Callable[[], Any] = lambda: random.choice((*RIGHT, "".join(random.choices(letters, k=random.randint(0, 4)))))  # noqa: E731
    for _ in range(CALLS):
        words = [word() for _ in range(random.choice((3, 4, 4, 4, 4, 5)))]
        if not any(each.startswith("--") for each in words):
            yield from of_decide(words)
            yield from of_savings(words[:2])


ENGINES: dict[str, Engine] = {"golden": golden, "explore": explored, "fuzz": fuzzed}
