"""The self-tests of the two originals, run on whatever code is handed in, and the lines they print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from impl.autoscale import Action
from impl.jobs import CHAT, IMAGE, Ended, Job, Placed, Queued
from impl.scheduler import Scheduler

Decide: TypeAlias = Callable[[int, int, int, int], int]
Savings: TypeAlias = Callable[[int, int], int]


class Row(NamedTuple):
    """One self-test: whether its claim holds, and what was seen."""

    name: str
    holds: bool
    claim: str
    seen: str


class Report(NamedTuple):
    """One gate: its rows, what it prints, and its part of the status table."""

    name: str
    rows: tuple[Row, ...]
    lines: tuple[str, ...]
    table: str

    @property
    def green(self) -> bool:
        return _all_hold(self.rows)


def scheduler_report(make_scheduler: Callable[[int], Scheduler]) -> Report:
    """The gate of nx_sched_qos.nx:122-165; a row that fails shows what was seen."""
    rows = scheduler_rows(make_scheduler)
    lines = (
        "=== nx_sched_qos: interactive chat preempts background renders on one GPU ===",
        "  slots full with 2 background image renders (#101, #102, priority 1)",
        *(
            f"PASS {row.name} {row.claim}" if row.holds else f"FAIL {row.name} saw {row.seen}, expected: {row.claim}"
            for row in rows
        ),
        f"nx_sched_qos pass={sum(row.holds for row in rows)}/{len(rows)} {'GREEN' if _all_hold(rows) else 'RED'}",
    )
    table = [
        "# nx_sched_qos -- priority and preemption on one GPU",
        *(f"scheduler_{row.name}\t{row.holds:d}" for row in rows),
    ]
    return Report("scheduler", rows, lines, _text(table))


def autoscale_report(decide: Decide, savings_permil: Savings) -> Report:
    """The gate of nx_mesh_autoscale.nx:130-180. The table begins with the original's two keys, of which
    `decision_table_green` stands for every row but T7; the original's is T1 alone."""
    rows = autoscale_rows(decide, savings_permil)
    lines = (
        "=== nx_mesh_autoscale: scale-to-zero policy ===",
        "  " + " | ".join(f"{row.name} {row.claim}: {row.holds:d}" for row in rows),
        f"MESHAUTOSCALEGATE verdict={'GREEN' if _all_hold(rows) else 'RED'}",
    )
    table = [
        "# nx_mesh_autoscale -- scale-to-zero policy: SPAWN on demand, REAP on idle-TTL, HOLD otherwise",
        f"decision_table_green\t{_all_hold([row for row in rows if row.name != 'T7']):d}",
        f"savings_permil_30of100\t{savings_permil(30, 100)}",
        *(f"{row.name}\t{row.holds:d}" for row in rows),
    ]
    return Report("autoscale", rows, lines, _text(table))


def scheduler_rows(make_scheduler: Callable[[int], Scheduler]) -> tuple[Row, ...]:
    """T1-T5 of nx_sched_qos.nx:127-161, one story on two slots; `make_scheduler` is given the number of slots.

    Two rows ask more than the original did: T2 for the victim it prints (the lowest slot among equals), and T5 for the
    steps of every job that is left, not for their number alone.
    """
    scheduler = make_scheduler(2)
    for render in (101, 102):
        scheduler.admit(Job(render, IMAGE, 30, "image"))
    peer = scheduler.admit(Job(103, IMAGE, 30, "image"))
    chat = scheduler.admit(Job(200, CHAT, 8, "chat"))
    victim = chat.preempted if isinstance(chat, Placed) else None
    queued = {entry.job.request_id: entry.remaining for entry in scheduler.snapshot().queue}
    lease = scheduler.lease_of(200)
    ended = None if lease is None else scheduler.complete(lease)
    heir = ended.heir if isinstance(ended, Ended) else None
    after = scheduler.snapshot()
    running = {run.job.request_id: run.remaining for run in after.running if run is not None}
    waiting = {entry.job.request_id: entry.remaining for entry in after.queue}
    return (
        Row("T1", isinstance(peer, Queued), "equal-priority image #103 QUEUED (no preemption of a peer)", f"{peer}"),
        Row(
            "T2",
            victim is not None and victim.request_id == 101,
            "chat #200 PREEMPTED image #101 -> it runs at once",
            f"{chat}",
        ),
        Row(
            "T3",
            victim is not None and queued.get(victim.request_id) == 30,
            "preempted image #101 requeued WITH its 30 steps intact",
            f"steps waiting by job: {queued}",
        ),
        Row(
            "T4",
            heir is not None and heir.request_id == 103,
            "chat done -> slot recycled to queued image #103 (first come, first served within a priority)",
            f"drained={None if heir is None else heir.request_id}",
        ),
        Row(
            "T5",
            len(running) == 2
            and len(waiting) == after.waiting == 1
            and running | waiting == {101: 30, 102: 30, 103: 30},
            "no work lost: 2 running + 1 queued, 30 steps each",
            f"steps running by job: {running}, waiting: {waiting}",
        ),
    )


def autoscale_rows(decide: Decide, savings_permil: Savings) -> tuple[Row, ...]:
    """T1-T7 and the negative controls neg1-neg3 of nx_mesh_autoscale.nx:130-154."""

    def chosen(name: str, wanted: Action, claim: str, *state: int) -> Row:
        action = decide(*state)
        return Row(name, action == wanted, claim, f"{action!r}")

    def avoided(name: str, unwanted: Action, claim: str, *state: int) -> Row:
        action = decide(*state)
        return Row(name, action != unwanted, claim, f"{action!r}")

    permil = savings_permil(30, 100)
    return (
        chosen("T1", Action.SPAWN, "cold+demand->SPAWN", 0, 1, 0, 60),
        chosen("T2", Action.SERVE, "warm+demand->SERVE", 1, 1, 0, 60),
        chosen("T3", Action.REAP, "warm+idle>ttl->REAP", 1, 0, 90, 60),
        chosen("T4", Action.HOLD, "warm+idle<ttl->HOLD", 1, 0, 30, 60),
        chosen("T5", Action.HOLD, "cold+nodemand->HOLD", 0, 0, 999, 60),
        chosen("T6", Action.SPAWN, "demand-beats-idle", 0, 1, 999, 60),
        Row("T7", permil == 700, "savings 30/100=700permil", f"{permil}"),
        avoided("neg1", Action.REAP, "no-reap-while-busy", 1, 1, 999, 60),
        avoided("neg2", Action.REAP, "no-reap-while-fresh", 1, 0, 30, 60),
        avoided("neg3", Action.SPAWN, "no-spawn-while-warm", 1, 1, 0, 60),
    )


def _all_hold(rows: Sequence[Row]) -> bool:
    return all(row.holds for row in rows)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
