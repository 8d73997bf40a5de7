"""The two solvers. Each reads the text of an obligation and nothing else, and answers with one of three words."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import cvc5
import z3

TIMEOUT_MS = 10_000
"""Wall-clock limit of one call; the resource limits below end a runaway search first, and alike on every machine."""
Z3_UNITS = 40_000_000
CVC5_UNITS = 4_000_000


@dataclass(frozen=True)
class Answer:
    """`word` is "sat", "unsat" or "unknown"; `seconds` are of the processor, reading the text not counted."""

    word: str
    seconds: float


def ask_z3(text: str, seed: int) -> Answer:
    """Z3's answer to the text under the seed."""
    solver = z3.Solver(ctx=z3.Context())
    solver.set("timeout", TIMEOUT_MS)
    solver.set("rlimit", Z3_UNITS)
    solver.set("random_seed", seed)
    solver.from_string(text)
    start = time.process_time()
    word = str(solver.check())
    return Answer(word, time.process_time() - start)


def ask_cvc5(text: str, seed: int) -> Answer:
    """The answer of cvc5 to the text under the seed; to cvc5 an answer other than the expected one is an error."""
    solver = cvc5.Solver(cvc5.TermManager())
    for option, value in (("tlimit-per", TIMEOUT_MS), ("rlimit-per", CVC5_UNITS), ("seed", seed)):
        solver.setOption(option, str(value))
    parser = cvc5.InputParser(solver)
    unprejudiced = "\n".join(line for line in text.splitlines() if not line.startswith("(set-info :status"))
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, unprejudiced, "obligation")
    said, seconds = "", 0.0
    while not (command := parser.nextCommand()).isNull():
        start = time.process_time()
        said += command.invoke(solver, parser.getSymbolManager())
        seconds = time.process_time() - start
    word = said.strip()
    return Answer(word if word in ("sat", "unsat") else "unknown", seconds)


SOLVERS: dict[str, tuple[str, Callable[[str, int], Answer]]] = {
    "z3": (z3.get_version_string(), ask_z3),
    "cvc5": (cvc5.__version__, ask_cvc5),
}
"""Version and question, by name."""
