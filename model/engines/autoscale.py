"""What is asked of `decide` and `savings_permil`: the gate, a proof, every small input, and random ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from random import Random

from impl.autoscale import Action
from impl.gate import autoscale_rows
from model.conform.monitor import Violation, judge_decision
from model.engines.engine import ENDS, Engine, Undetermined
from model.planted.bugs import SHIPPED, Code
from model.symbolic.findings import Finding
from model.symbolic.judge import NOTHING, judge_decide, judge_savings
from spec import autoscale

COUNTS = (0, 1, 2)
SECONDS = (0, 1, 2, 3, 4, 59, 60, 61)
SIGNED = (-61, -1, *SECONDS, 100)
LONGEST = 2**63 - 1
SEED, INPUTS = 0, 400


def golden(code: Code) -> Iterator[str]:
    """The self-tests of nx_mesh_autoscale.nx."""
    yield from (f"autoscale_{row.name}" for row in autoscale_rows(code.decide, code.savings) if not row.holds)


def proved(code: Code) -> Iterator[str]:
    """The functions, executed symbolically, on every input; both solvers are asked. Of a planted bug only the function
    that it is in."""
    findings: list[Finding] = []
    judges = ((judge_decide, code.decide, SHIPPED.decide), (judge_savings, code.savings, SHIPPED.savings))
    for judgement in (judge(part) for judge, part, shipped in judges if part is not shipped or code == SHIPPED):
        findings += judgement.findings
        yield from (each.about for each in judgement.findings if each.verdict == "refuted")
    open_questions = [each.about for each in findings if each.verdict != "proved"]
    if open_questions and not any(each.verdict == "refuted" for each in findings):
        raise Undetermined(f"no verdict on {', '.join(dict.fromkeys(open_questions))}")


def explored(code: Code) -> Iterator[str]:
    """Every small input, and counts of demand beside."""
    yield from of_decisions(code, product((0, 1), COUNTS, SECONDS, SECONDS))
    yield from of_savings(code, product(SIGNED, SIGNED))


def fuzzed(code: Code) -> Iterator[str]:
    """Random inputs of every length, always the same ones."""
    random = Random(SEED)

    def seconds(least: int = 0) -> int:
        return max(least, random.choice((1, 1, -1)) * (random.getrandbits(random.choice((1, 3, 7, 20, 62)))))

    def moment() -> tuple[int, int, int, int]:
        idle = seconds()
        return (
            random.randint(0, 1),
            random.choice((0, 0, 1, 1, 2, LONGEST)),
            idle,
            max(0, random.choice((idle, seconds()))),
        )

    yield from of_decisions(code, (moment() for _ in range(INPUTS)))
    yield from of_savings(code, ((seconds(-LONGEST), seconds(-LONGEST)) for _ in range(INPUTS)))


def of_decisions(code: Code, moments: Iterable[tuple[int, int, int, int]]) -> Iterator[str]:
    """The claims that the decisions break. Any demand but 0 is the demand of 1 that the specification knows."""
    for warm, demand, idle, ttl in moments:
        action = code.decide(warm, demand, idle, ttl)
        if action not in tuple(Action):
            yield ENDS
            continue
        try:
            judge_decision(warm, int(demand != 0), idle, ttl, Action(action))
        except Violation as violation:
            yield from violation.claims


def of_savings(code: Code, spans: Iterable[tuple[int, int]]) -> Iterator[str]:
    """The claims that the savings break."""
    for warm, window in spans:
        permil = code.savings(warm, window)
        if not isinstance(permil, int):
            yield ENDS
            continue
        if not autoscale.savings_lie_between_0_and_1000(replace(NOTHING, permil=permil)):
            yield autoscale.savings_lie_between_0_and_1000.__name__
        if not autoscale.is_the_saving(warm, window, permil):
            yield "equals_the_specification"


ENGINES: dict[str, Engine] = {"golden": golden, "proof": proved, "explore": explored, "fuzz": fuzzed}
