"""`explore --machine worker` and `--machine joined`: every history of the shipped controller, alone or with the
scheduler, each step held to the specification, and the shortest history to each fault.

For ticks at any distance and any number of starts: a state is what the controller knows up to the origin of its clock
and the number of its starts (`moments`), with the processes and, joined, the scheduler up to the names of its jobs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from impl.worker_state import Settings
from model import evidence
from model.conform.monitor import Violation
from model.draw.rows import Row, loop_rows
from model.exits import HOLDS, UNDETERMINED, VIOLATED
from model.explore.loops import Loop, retold
from model.explore.pairs import Pairs
from model.explore.pairs import retold as retold_joined
from model.explore.reach import Reached, reach
from model.explore.shapes import Setting
from model.explore.worker_liveness import liveness
from model.history.spoken import spoken
from model.prove.machines import MACHINES

CODES = {"explored": HOLDS, "refuted": VIOLATED, "undetermined": UNDETERMINED}


@dataclass(frozen=True)
class Seen:
    """An exploration; `histories` tells each fault, event by event, and so do `rows`, for a drawing."""

    loop: Loop
    reached: Reached[Any, Any]
    histories: dict[str, list[str]]
    rows: dict[str, list[Row]]
    pairs: Pairs | None = None


def run(options: argparse.Namespace, setting: Setting | None) -> int:
    """Explore the controller, with the scheduler of the setting if there is one; the exit code. Raises ValueError."""
    loop = Loop(settings_of(options))
    if setting is None:
        seen = explore_worker(loop, options.max_states)
    else:
        seen = explore_joined(Pairs(loop, setting, options.jobs), options.max_states)
    wanted = setting is None and options.liveness and seen.reached.exhaustive
    live = liveness(loop, seen.reached) if wanted else None
    verdict = "refuted" if live is not None and not live.holds else seen.reached.verdict
    told = as_json(seen, options, verdict) | ({"liveness": live.as_json()} if live else {})
    evidence.answer(options, told, [*text(seen, options), *(live.lines() if live else ()), f"verdict: {verdict}"])
    return CODES[verdict]


def settings_of(options: argparse.Namespace) -> Settings:
    """Those of the controller. Raises ValueError."""
    if options.max_states is not None and options.max_states < 1:
        raise ValueError(f"--max-states is {options.max_states}, expected at least 1")
    names = ("ttl", "start_budget", "patience", "alarm_after", "hang_budget", "longest_back_off")
    return Settings(**{name: getattr(options, name) for name in names})


def explore_worker(loop: Loop, most: int | None = None) -> Seen:
    """All histories of the controller, until `most` states are known."""
    reached = reach(loop.first, loop.follow, most)
    found = {claim: retold(loop, each.history) for claim, each in reached.found.items()}
    told = {claim: list(map(spoken, history)) for claim, history in found.items()}
    rows = {
        claim: loop_rows(loop.settings, history, reached.found[claim].violation, make=loop.controller)
        for claim, history in found.items()
    }
    return Seen(loop, reached, told, rows)


def explore_joined(pairs: Pairs, most: int | None = None) -> Seen:
    """All histories of both in which so many jobs arrive, until `most` states are known."""
    reached = reach(pairs.first, pairs.follow, most)
    found = {claim: retold_joined(pairs, each.history).history for claim, each in reached.found.items()}
    told = {claim: list(map(spoken, history)) for claim, history in found.items()}
    both: dict[str, Any] = {"make": pairs.loop.controller}
    rows = {
        claim: loop_rows(
            pairs.loop.settings, history, reached.found[claim].violation, scheduler=pairs.setting.fresh(), **both
        )
        for claim, history in found.items()
    }
    return Seen(pairs.loop, reached, told, rows, pairs)


def as_json(seen: Seen, options: argparse.Namespace, verdict: str) -> dict[str, object]:
    """The exploration for programs."""
    reached = seen.reached
    return {
        "machine": options.machine,
        "settings": asdict(seen.loop.settings),
        "horizon": seen.loop.horizon,
        **({} if seen.pairs is None else of_both(seen.pairs, options)),
        "distinct_states": len(reached.parents),
        "transitions": reached.transitions,
        "depth": reached.depth,
        "exhaustive": reached.exhaustive,
        "verdict": verdict,
        "judged_steps": seen.loop.judged,
        "seconds": round(reached.seconds, 3),
        "actions_seen": dict((seen.pairs or seen.loop).actions),
        "witnesses": sorted((seen.pairs or seen.loop).witnesses),
        "violations": {
            claim: {
                "sentence": sentence_of(claim, found.violation),
                "history": seen.histories[claim],
                "detail": found.violation.detail,
                "rows": seen.rows[claim],
            }
            for claim, found in reached.found.items()
        },
    }


def of_both(pairs: Pairs, options: argparse.Namespace) -> dict[str, object]:
    """What there is to say of the scheduler beside the controller."""
    return {
        "slots": pairs.setting.slots,
        "jobs": pairs.jobs,
        "kinds": len(pairs.setting.kinds),
        "levels": options.levels,
        "capacity": pairs.setting.capacity,
        "policy": options.policy,
        "moments": len(pairs.moments),
        "shapes": len(pairs.shapes),
        "waived": sorted(pairs.waived),
    }


def sentence_of(claim: str, violation: Violation) -> str:
    """The claim in English; of several that the same step broke, its own."""
    known = {each.name: each.sentence for machine in MACHINES.values() for each in machine.properties}
    return known.get(claim, violation.sentence)


def text(seen: Seen, options: argparse.Namespace) -> Iterator[str]:
    """The exploration for people: waivers first, then the faults, then what was seen."""
    reached, pairs = seen.reached, seen.pairs
    for claim in sorted(pairs.setting.waives) if pairs else ():
        yield f"waived: {claim} ({'broken here' if pairs and claim in pairs.waived else 'not broken here'})"
    for claim, found in reached.found.items():
        yield f"violated: {claim}: {sentence_of(claim, found.violation)}"
        yield from (f"  {place}. {line}" for place, line in enumerate(seen.histories[claim], 1))
        yield f"  {found.violation.detail}"
    settings = ", ".join(f"{name} {value}" for name, value in asdict(seen.loop.settings).items())
    yield f"{options.machine}: {settings}; ticks at any distance, any number of starts"
    if pairs is not None:
        kinds = len(pairs.setting.kinds)
        yield f"with {pairs.setting.slots} slots, {pairs.jobs} jobs of {kinds} kinds"
    ended = "all of them" if reached.exhaustive else "ended early by --max-states"
    yield f"{len(reached.parents)} states, {reached.transitions} transitions, depth {reached.depth}; {ended}"
    yield f"{seen.loop.judged} steps of the shipped controller judged, in all {reached.seconds:.2f} s"
