"""`python -m model COMMAND`: finds the command, and sees to it that no failure ends in the exit code of a verdict."""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import Any

from impl.__main__ import drop_what_is_stuck
from model import evidence
from model.exits import HOLDS, INTERNAL, USAGE

COMMANDS = {
    "check": "hold a journal or the log of another system to the specification, in one pass",
    "diff": "what a policy does otherwise than another, on every input",
    "explore": "explore every history of the shipped scheduler on a finite instance",
    "mutants": "plant bugs, by name and systematically, and show which property catches each",
    "fuzz": "random histories of the shipped scheduler, each step held to the specification",
    "prove": "prove that every action of the specification keeps every claim",
    "table": "what the shipped functions or a policy do on every input, in words, and judged",
    "replay": "play a saved counterexample on the code as it is now, step by step if wished",
    "report": "what holds, how strongly and what shows it, as one page and as one JSON object",
    "simulate": "replay arrivals through the shipped policies, each step held to the specification",
    "soak": "the loop on real processes, under kills, freezes, slow starts and bursts of demand",
    "verify": "the main job: every engine, each leaving its evidence, and the report",
}
"""What each command does. Its module of `model.commands` has `arguments(parser)` and `run(options)`."""

EXITS = (
    "exit codes: 0 holds, 1 violated, 2 usage, 3 undetermined, 70 internal error or an output that is closed or full"
)


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code; all that it printed has been written by then."""
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed, expected one to print the result to; open it")
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        code = _command(argv)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except Exception:
        with suppress(Exception):
            if sys.stderr is not None:
                sys.stderr.write(f"{traceback.format_exc()}python -m model: internal error, no verdict was reached\n")
                sys.stderr.flush()
        return INTERNAL


def _command(argv: Sequence[str]) -> int:
    try:
        parser = _Parser("python -m model", "The engines that show the two policies right, or where they are wrong.")
        kind = argparse.ArgumentParser
        commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=kind)
        for name, summary in COMMANDS.items():
            commands.add_parser(name, help=summary, add_help=False)
        name = parser.parse_args(argv[:1]).command
        module = import_module(f"model.commands.{name}")
        parser = _Parser(f"python -m model {name}", module.__doc__)
        module.arguments(parser)
        options = parser.parse_args(argv[1:])
    except SystemExit as leaving:  # argparse has printed the help, or what is wrong
        return USAGE if leaving.code else HOLDS
    evidence.forget(options)
    began = time.monotonic()
    code = int(module.run(options))
    evidence.keep(options, argv, code, time.monotonic() - began)
    return code


class _Parser(argparse.ArgumentParser):
    def __init__(self, prog: str, description: str | None) -> None:
        super().__init__(prog, description=description, epilog=EXITS, allow_abbrev=False)

    def print_help(self, file: Any = None) -> None:
        """As the base class does, but an output that does not take it is an error."""
        print(self.format_help(), end="", file=file)


if __name__ == "__main__":
    status = main(sys.argv[1:])
    if status == INTERNAL:
        os._exit(status)  # what an output did not take would fail once more on the way out, with another exit code
    drop_what_is_stuck()
    sys.exit(status)
