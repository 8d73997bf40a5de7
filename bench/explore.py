"""The time to a verdict on every history of a finite instance: 2 slots, 3 levels, arrivals and ends, over jobs.

Every subject reaches the same states, and each run checks that it did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import Any, NamedTuple, TypeAlias

import minicheck  # type: ignore[import-untyped]

from bench.record import Bar, Figure, Measurement
from bench.timing import ROUNDS, figure
from impl.jobs import CAPACITY, Job, Running, Snapshot, Waiting
from impl.scheduler import Scheduler
from model.commands.prove import ask, choose
from model.conform.events import Admit, Complete, Event, apply
from model.conform.observe import observe
from model.explore.breadth import explore
from model.explore.shapes import Setting
from model.prove.machines import SCHEDULER
from model.prove.solvers import SOLVERS
from spec.scheduler_claims import ALWAYS

SLOTS, LEVELS = 2, (1, 2, 3)
STATES = {5: 1_933, 6: 8_493, 7: 37_752, 8: 167_807, 9: 742_066}
"""Of so many jobs."""
OURS, SHIPPED, MODEL, BARE, PROOF = (
    "explore",
    "minicheck, shipped code",
    "minicheck, hand-written model",
    "bare search, hand-written model",
    "proof for all sizes",
)
MOST_OF_THE_CODE = 8
"""Jobs: minicheck asks the code at each of the states, and the claims of each."""
ENOUGH = 10.0
"""Seconds after which a subject is not measured again."""

Entry: TypeAlias = tuple[int, int]
"""Name and level of a job."""


class State(NamedTuple):
    """`slots` has an entry a slot, `queue` is in order of tickets, `admitted` is the next name."""

    slots: tuple[Entry | None, ...]
    queue: tuple[Entry, ...]
    admitted: int


FIRST = State((None,) * SLOTS, (), 0)
Follows: TypeAlias = Callable[[State], list[tuple[str, State]]]


def measure(quick: bool) -> Measurement:
    """5 to 9 jobs; quick: 5."""
    found = Measurement("explore: time to verdict, 2 slots, 3 levels, admit and complete")
    proof = proved("restart" if quick else None)
    sizes = (5,) if quick else tuple(STATES)
    shown = min(sizes[-1], MOST_OF_THE_CODE)
    for jobs in sizes:
        subjects: dict[str, Callable[[int], int]] = {OURS: explored, MODEL: hand_written, BARE: bare}
        if jobs <= MOST_OF_THE_CODE:
            subjects[SHIPPED] = of_the_code
        figures = compared(subjects, jobs)
        for name, each in figures.items():
            found.lines.setdefault(name, []).append((jobs, each.best))
            if name != OURS:
                found.add(f"{jobs} jobs, {STATES[jobs]:,} states", figures[OURS], each, None, jobs == shown)
        bar = Bar(4.0, of="best") if jobs == 8 else None
        found.add(f"{jobs} jobs, beside the proof for all sizes", figures[OURS], proof, bar, jobs == shown)
        found.lines.setdefault(PROOF, []).append((jobs, proof.best))
    found.notes.append(
        "`explore` holds every claim and each step of the shipped code to the specification. minicheck on the shipped "
        "code tests the claims of a state alone; on the hand-written model one claim; the bare search tests nothing."
    )
    return found


def compared(subjects: dict[str, Callable[[int], int]], jobs: int) -> dict[str, Figure]:
    """Each subject in turn."""
    spent: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(ROUNDS):
        for name, run in subjects.items():
            if sum(spent[name]) < ENOUGH:
                began = process_time()
                states = run(jobs)
                spent[name].append(process_time() - began)
                assert states == STATES[jobs], f"{name} reaches {states} states, expected {STATES[jobs]}"
    return {name: figure(name, times, "s") for name, times in spent.items()}


def explored(jobs: int) -> int:
    """`python -m model explore`."""
    kinds = tuple(Job("", level, 2) for level in LEVELS)
    seen = explore(Setting(SLOTS, kinds, actions=("admit", "complete")), jobs)
    assert seen.verdict == "explored"
    return seen.states


def of_the_code(jobs: int) -> int:
    """minicheck, which restores the shipped scheduler at each state and tests all that has to hold of a state."""
    names = tuple(each.name for each in ALWAYS)
    claims: dict[str, Any] = {each.name: partial(_holds, each.claim) for each in ALWAYS}
    assert len(claims) == len(names)
    return _checked(partial(by_the_code, jobs), claims)


def hand_written(jobs: int) -> int:
    """minicheck, as it is meant to be used: a model of its own, and one claim."""
    return _checked(partial(by_hand, jobs), {"no_job_waits_behind_a_less_urgent_one": _in_order})


def bare(jobs: int) -> int:
    """What no search of these states can do without."""
    known = {FIRST}
    level = [FIRST]
    while level:
        following = []
        for state in level:
            for _, after in by_hand(jobs, state):
                if after not in known:
                    known.add(after)
                    following.append(after)
        level = following
    return len(known)


def _checked(follows: Follows, claims: dict[str, Any]) -> int:
    model = minicheck.Protocol("scheduler", False, State._fields, FIRST, follows, claims)
    report = minicheck.check_safety(model, max_states=10**9)
    assert report["exhaustive"]
    assert all(each["holds"] for each in report["properties"].values())
    return int(report["reachable_states"])


def by_hand(jobs: int, state: State) -> list[tuple[str, State]]:
    """Arrivals at each level, then the end of each running job."""
    slots, queue, admitted = state
    found: list[tuple[str, State]] = []
    if admitted < jobs:
        found.extend(("admit", _arrive(slots, queue, (admitted, level))) for level in LEVELS)
    for slot, running in enumerate(slots):
        if running is not None:
            heir = max(queue, key=_level, default=None)
            left = tuple(entry for entry in queue if entry is not heir)
            found.append(("complete", State((*slots[:slot], heir, *slots[slot + 1 :]), left, admitted)))
    return found


def _arrive(slots: tuple[Entry | None, ...], queue: tuple[Entry, ...], job: Entry) -> State:
    slot = min(range(SLOTS), key=lambda each: 0 if slots[each] is None else _level(slots[each]))
    victim = slots[slot]
    if victim is not None and victim[1] >= job[1]:
        return State(slots, (*queue, job), job[0] + 1)
    back = queue if victim is None else (*queue, victim)
    return State((*slots[:slot], job, *slots[slot + 1 :]), back, job[0] + 1)


def _level(entry: Any) -> int:
    return entry[1]  # type: ignore[no-any-return]


def _in_order(seen: dict[str, Any]) -> bool:
    least = min((entry[1] for entry in seen["slots"] if entry is not None), default=0)
    return all(entry[1] <= least for entry in seen["queue"])


def by_the_code(jobs: int, state: State) -> list[tuple[str, State]]:
    """The same by the shipped scheduler, restored anew for each event."""
    return [(type(event).__name__, _after(state, event)) for event in _events(jobs, state)]


def _events(jobs: int, state: State) -> Iterator[Event]:
    if state.admitted < jobs:
        yield from (Admit(Job(state.admitted, level, 2)) for level in LEVELS)
    yield from (Complete(run.lease) for run in snapshot_of(state).running if run is not None)


def _after(state: State, event: Event) -> State:
    scheduler = Scheduler.restore(snapshot_of(state))
    apply(scheduler, event)
    after = scheduler.snapshot()
    slots = tuple(run and (run.job.request_id, run.urgency) for run in after.running)
    queue = tuple((entry.job.request_id, entry.urgency) for entry in after.queue)
    return State(slots, queue, state.admitted + isinstance(event, Admit))  # type: ignore[arg-type]


def snapshot_of(state: State) -> Snapshot:
    """The state as the scheduler takes it: runs are numbered by slots, tickets by places."""
    jobs = {entry: Job(entry[0], entry[1], 2) for entry in (*state.slots, *state.queue) if entry is not None}
    running = tuple(entry and Running(jobs[entry], entry[1], 2, slot, slot) for slot, entry in enumerate(state.slots))
    queue = tuple(Waiting(jobs[entry], entry[1], 2, place) for place, entry in enumerate(state.queue))
    return Snapshot(CAPACITY, SLOTS, running, queue, len(queue), SLOTS, len(queue))


def _holds(claim: Callable[[Any], bool], seen: dict[str, Any]) -> bool:
    state = State(**seen)
    if _latest[:1] != [state]:
        _latest[:] = [state, observe(snapshot_of(state), {}, min(LEVELS))]
    return bool(claim(_latest[1]))


_latest: list[Any] = []
"""The state that minicheck asks about, and how the specification sees it: made once for all claims."""


def proved(action: str | None) -> Figure:
    """Both solvers on each proof of the scheduler's specification, or of one action: solver time, under one seed."""
    texts = [each.text for each in choose(SCHEDULER.name, action, None) if each.expected == "unsat"]
    seconds = 0.0
    for text in texts:
        for solver in SOLVERS:
            (answer,) = ask((text, solver, 1))
            assert answer.word == "unsat"
            seconds += answer.seconds
    return figure(PROOF, [seconds], "s")
