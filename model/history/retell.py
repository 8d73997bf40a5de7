"""What an engine found, as a history that people can read and that plays from the start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from impl.jobs import Job, RequestId
from impl.scheduler import Scheduler
from model.conform.events import Admit, Cancel, Complete, Event, Progress, Restart, apply
from model.conform.watch import Decision
from model.explore.breadth import Found
from model.explore.shapes import Label, Setting
from model.history.happenings import NEVER, Happening, History, admit, cancel, complete, letter, progress, restart
from model.history.play import Leases, play

FAR = 2**40
"""How far apart levels are put at first that are only known to be below or above others."""


def from_found(setting: Setting, found: Found) -> History:
    """The history of an exploration, with letters for names. Where every order of urgencies was explored, the levels
    become priorities from 1."""
    history: list[Happening] = []
    newcomers = 0
    for label, name in found.history:
        who = letter(name if name >= 0 else newcomers)
        newcomers += label.action == "admit"
        history.append(_happening(label, who, _job(setting, history, label)))
    return tuple(_ranked(history)) if setting.every_order else tuple(history)


def from_events(events: Iterable[Event | Decision], scheduler: Scheduler) -> History:
    """The events that such a scheduler, to which nothing has happened yet, met until it raised; decisions are left
    out."""
    history: list[Happening] = []
    leases = Leases()
    for event in events:
        if isinstance(event, Decision):
            continue
        history.append(_told(event, leases))
        try:
            apply(scheduler, event)
            leases.see(scheduler.snapshot())
        except Exception:  # a broken scheduler may do anything, which the play will show
            break
    return tuple(history)


def _told(event: Event, leases: Leases) -> Happening:
    match event:
        case Admit(job):
            return _admit(job.request_id, job)
        case Complete(lease):
            return complete(lease.request_id, run=leases.run_of(lease))
        case Progress(lease, steps):
            return progress(lease.request_id, steps, run=leases.run_of(lease))
        case Cancel(request_id):
            return cancel(request_id)
        case Restart():
            return restart()


def _happening(label: Label, who: RequestId, job: Job) -> Happening:
    match label.action:
        case "admit" | "duplicate":
            return _admit(who, job)
        case "complete":
            return complete(who)
        case "progress":
            return progress(who, label.number)
        case "stale":
            return progress(who, label.number, run=NEVER) if label.number else complete(who, run=NEVER)
        case "cancel" | "nothing":
            return cancel(who)
    return restart()


def _admit(who: RequestId, job: Job) -> Happening:
    return admit(who, **{name: value for name, value in job._asdict().items() if name != "request_id"})


def _job(setting: Setting, history: list[Happening], label: Label) -> Job:
    """The job that a label brings, if it brings one."""
    if setting.every_order:
        return setting.kinds[0]._replace(priority=_level(setting, history, label.number))
    return setting.kinds[label.number if label.action == "admit" else 0]


def _level(setting: Setting, history: list[Happening], place: int) -> int:
    """A priority at that place among the levels of the live jobs and the gaps around them."""
    snapshot = play(history, setting.fresh(), setting.urgency)[-1].snapshot
    live = sorted({entry.job.priority for entry in (*snapshot.running, *snapshot.queue) if entry}) if snapshot else []
    if not live:
        return 0
    around = [live[0] - FAR, *live, live[-1] + FAR]
    at = min(place // 2, len(live))
    return around[at + 1] if place % 2 else (around[at] + around[at + 1]) // 2


def _ranked(history: list[Happening]) -> Iterator[Happening]:
    """The same with the smallest priorities of the same order."""
    levels = sorted({dict(event.details)["priority"] for event in history if event.name == "admit"})
    for event in history:
        ranks = [(name, levels.index(value) + 1 if name == "priority" else value) for name, value in event.details]
        yield replace(event, details=tuple(ranks))
