"""Small instances of the closed loop: the first state of the executed specification, and lives that lead on from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from spec.logic import Finite, Table
from spec.worker import ACTIONS
from spec.worker_state import Demand, Place, State, Verdict, WorkerPhase

BY_NAME = {action.name: action for action in ACTIONS}
START = (("arrive", "A"), ("note", Verdict.COLD), ("spawn", Demand.SOME, 0))
READY = (*START, ("become_ready",), ("serve", Demand.SOME, 0), ("dispatch", "A"))
USED = (*READY, ("work", "A", 1), ("serve", Demand.SOME, 0))
IDLE = (*USED, ("finish", "A"), ("hold", Demand.NONE, 0))
CRASHED = (*USED, ("die", 1), ("crash", 1))
COLD = (*CRASHED, ("vanish", 1), ("confirm", 1, Verdict.COLD), ("hold", Demand.SOME, 0))


def worker_instance(*, jobs: str = "A", work: int = 2, **constants: int) -> State:
    """No worker was started and no job has come; `constants` are fields of the state, small unless given."""
    made: dict[str, Any] = {field.name: 0 for field in fields(State)}
    made |= {
        "ttl": 1,
        "start_budget": 1,
        "patience": 2,
        "alarm_after": 1,
        "hang_budget": 1,
        "shortest": 1,
        "longest": 2,
    }
    made |= {"phase": WorkerPhase.COLD, "seen": Verdict.UNKNOWN, "touched": True, "proven": False, "alarm": False}
    none = Table(dict.fromkeys(jobs, 0), 0)
    made |= {"remaining": none, "served": none, "work": Table(dict.fromkeys(jobs, work), 0)}
    made |= {"jobs": Finite(jobs), "place": Table(dict.fromkeys(jobs, Place.NEW), Place.NEW)}
    made |= {"alive": Table({0: False}, False), "runs": Table({0: False}, False)}
    return State(**made | constants)


def after(state: State, *life: tuple[Any, ...]) -> State:
    """The state after these steps, each an action and its arguments; ValueError if one is not possible."""
    for name, *given in life:
        action = BY_NAME[name]
        if not action.guard(state, *given):
            raise ValueError(f"{name}{tuple(given)} is not possible in {state}")
        state = action.step(state, *given)
    return state


def worker_instances() -> Iterator[State]:
    """One job, and a worker at the turns of its life."""
    patient = worker_instance(hang_budget=0)
    for life in (COLD, START, IDLE):
        yield after(patient, *life)
    yield after(worker_instance(patience=1), *READY)
