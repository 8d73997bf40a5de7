"""nx_sched_qos.nx in Python, statement by statement and under its own names. Nothing is mended.

Its arrays are lists; `qcap` can be set, so that a small instance shows what 64 places hide. Only the texts of the
self-test are left out, but for the closing line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

QSLOT_FREE = 0
QSLOT_RUNNING = 1
PRIO_CHAT = 10
PRIO_IMAGE = 1
QCAP = 64


@dataclass
class QosSched:
    """nx_sched_qos.nx:16: state, request, priority, work left and modality of each slot, then of each queue place."""

    n_slots: int
    qcap: int
    st: list[int]
    rq: list[Any]
    pr: list[int]
    tk: list[int]
    md: list[int]
    qn: int
    qrq: list[Any]
    qpr: list[int]
    qtk: list[int]
    qmd: list[int]


def qos_new(n_slots: int, qcap: int = QCAP) -> QosSched:
    """nx_sched_qos.nx:29"""
    st, rq, pr, tk, md = ([0] * n_slots for _ in range(5))
    qrq, qpr, qtk, qmd = ([0] * qcap for _ in range(4))
    return QosSched(n_slots, qcap, st, rq, pr, tk, md, 0, qrq, qpr, qtk, qmd)


def qos_running(c: QosSched) -> int:
    """nx_sched_qos.nx:48"""
    return sum(state == QSLOT_RUNNING for state in c.st)


def _free_slot(c: QosSched) -> int:
    """nx_sched_qos.nx:53"""
    for i in range(c.n_slots):
        if c.st[i] == QSLOT_FREE:
            return i
    return -1


def _lowest_running(c: QosSched, prio: int) -> int:
    """nx_sched_qos.nx:55: the lowest running priority strictly below `prio`, in the lowest slot; else -1."""
    best, bestp = -1, prio
    for i in range(c.n_slots):
        if c.st[i] == QSLOT_RUNNING and c.pr[i] < bestp:
            best, bestp = i, c.pr[i]
    return best


def _enqueue(c: QosSched, req: Any, prio: int, tok: int, mod: int) -> int:
    """nx_sched_qos.nx:65: -1 if the queue is full. Neither caller looks at that."""
    if c.qn >= c.qcap:
        return -1
    n = c.qn
    c.qrq[n], c.qpr[n], c.qtk[n], c.qmd[n] = req, prio, tok, mod
    c.qn = n + 1
    return 0


def _place(c: QosSched, slot: int, req: Any, prio: int, tok: int, mod: int) -> int:
    """nx_sched_qos.nx:73"""
    c.st[slot], c.rq[slot], c.pr[slot], c.tk[slot], c.md[slot] = QSLOT_RUNNING, req, prio, tok, mod
    return slot


def qos_admit(c: QosSched, req: Any, prio: int, tok: int, mod: int, preempted_out: list[Any]) -> int:
    """nx_sched_qos.nx:81: the slot, or -2 for queued; `preempted_out[0]` is the request that lost its slot, or -1."""
    preempted_out[0] = -1
    f = _free_slot(c)
    if f >= 0:
        return _place(c, f, req, prio, tok, mod)
    victim = _lowest_running(c, prio)
    if victim >= 0:
        preempted_out[0] = c.rq[victim]
        _enqueue(c, c.rq[victim], c.pr[victim], c.tk[victim], c.md[victim])
        return _place(c, victim, req, prio, tok, mod)
    _enqueue(c, req, prio, tok, mod)
    return -2


def qos_complete(c: QosSched, slot: int) -> Any:
    """nx_sched_qos.nx:98: frees the slot and returns the request that takes it, or -1.

    The original writes to whatever memory lies there if no slot has that number; here that is an IndexError.
    """
    if not 0 <= slot < c.n_slots:
        raise IndexError(f"slot {slot} of {c.n_slots} is written to")
    c.st[slot] = QSLOT_FREE
    if c.qn <= 0:
        return -1
    best, bp = 0, c.qpr[0]
    for i in range(1, c.qn):
        if c.qpr[i] > bp:
            best, bp = i, c.qpr[i]
    rid = c.qrq[best]
    _place(c, slot, rid, c.qpr[best], c.qtk[best], c.qmd[best])
    for j in range(best, c.qn - 1):
        c.qrq[j], c.qpr[j], c.qtk[j], c.qmd[j] = c.qrq[j + 1], c.qpr[j + 1], c.qtk[j + 1], c.qmd[j + 1]
    c.qn = c.qn - 1
    return rid


def qos_slot_of(c: QosSched, req: Any) -> int:
    """nx_sched_qos.nx:117: the slot in which the request runs, or -1."""
    for i in range(c.n_slots):
        if c.st[i] == QSLOT_RUNNING and c.rq[i] == req:
            return i
    return -1


def main() -> int:
    """nx_sched_qos.nx:122: the self-test; 0 if all five hold, else 1."""
    passed = tot = 0
    pe: list[Any] = [0]
    c = qos_new(2)
    qos_admit(c, 101, PRIO_IMAGE, 30, 1, pe)
    qos_admit(c, 102, PRIO_IMAGE, 30, 1, pe)
    tot += 1  # T1
    passed += qos_admit(c, 103, PRIO_IMAGE, 30, 1, pe) == -2
    tot += 1  # T2
    passed += qos_admit(c, 200, PRIO_CHAT, 8, 0, pe) >= 0 and pe[0] >= 0
    tot += 1  # T3
    passed += any(c.qrq[qi] == pe[0] and c.qtk[qi] == 30 for qi in range(c.qn))
    tot += 1  # T4
    passed += qos_complete(c, qos_slot_of(c, 200)) == 103
    tot += 1  # T5
    passed += qos_running(c) == 2 and c.qn == 1
    print(f"nx_sched_qos pass={passed}/{tot}", end=" GREEN\n" if passed == tot else " RED\n")
    return 0 if passed == tot else 1
