"""Histories as rows of plain values, a row an event: what the report draws as lanes, and evidence keeps.

A row has the `number` of its event (0: the start), the `event` and the `action` that the specification calls it, and
what was so after it: of a scheduler `slots` (a cell or null each) and `queue` (cells), of a worker `now` in seconds,
`phase`, `generation`, and the `command` that was answered. `lost` names jobs that are nowhere though nothing ended
them, `breaks` the claims that the event broke, with the `detail` of the first. Where the code raised, nothing is known
of its slots. A cell has `job`, `priority`, `left` (steps), and `urgency` and `run`
where it has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from impl.jobs import Placed, Queued, Running, Snapshot, Waiting
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Settings
from model.conform import events as scheduler_events
from model.conform import worker_events
from model.conform.events import Admit, Cancel, Complete, Progress, Restart
from model.conform.monitor import Violation
from model.conform.worker_events import Adopted, Exited, Gone, JobEnded, Probed, Progressed, Tick
from model.history.lanes import JOINT, called, words
from model.history.play import Step
from model.simulate.counterexample import words as step_words

Row: TypeAlias = dict[str, Any]


def rows(steps: Sequence[Step]) -> list[Row]:
    """The play of a scheduler."""
    return [_row(step, before) for step, before in zip(steps, (None, *steps), strict=False)]


def _row(step: Step, before: Step | None) -> Row:
    event = words(step.happening).replace(JOINT, " ") if step.happening else "start"
    told: Row = {"number": step.number, "event": event, "action": step.action, "slots": [], "queue": []}
    if step.snapshot is not None:
        told |= _places(step.snapshot)
        told["lost"] = _lost(step, step.snapshot, before.snapshot if before else None)
    told["breaks"] = list(step.violation.claims) if step.violation else []
    return told | ({"detail": step.violation.detail} if step.violation else {})


def _places(snapshot: Snapshot) -> Row:
    slots = [cell and _cell(cell) for cell in snapshot.running]
    return {"slots": slots, "queue": [_cell(cell) for cell in snapshot.queue]}


def _cell(of: Running | Waiting) -> Row:
    cell: Row = {"job": called(of.job.request_id), "priority": of.job.priority, "left": of.remaining}
    if of.urgency != of.job.priority:
        cell["urgency"] = str(of.urgency)
    return cell | ({"run": of.run} if isinstance(of, Running) else {})


def _lost(step: Step, now: Snapshot, before: Snapshot | None) -> list[str]:
    """Jobs that were live, or were said to be taken, and of which nothing is left."""
    happening = step.happening
    expected = set(_live(before)) if before else set()
    if happening and happening.job is not None:
        if isinstance(step.outcome, Placed | Queued):
            expected.add(called(happening.job))
        if happening.name in ("complete", "cancel"):
            expected.discard(called(happening.job))
    return sorted(expected - set(_live(now)))


def _live(snapshot: Snapshot) -> Iterator[str]:
    yield from (called(each.job.request_id) for each in (*snapshot.running, *snapshot.queue) if each)


def loop_rows(
    settings: Settings,
    events: Sequence[worker_events.Event | scheduler_events.Event],
    violation: Violation,
    *,
    make: type[Controller] = Controller,
    scheduler: Scheduler | None = None,
) -> list[Row]:
    """The life of a controller, joined perhaps with a scheduler to which nothing has happened yet. The last of the
    events, which both met in this order, is the one that broke the claims."""
    life = _Life(make(settings, 0), scheduler)
    found = [life.row(0, "start")]
    for number, event in enumerate(events, 1):
        try:
            told = life.meet(event)
        except Exception:  # a broken controller may raise anything, which then is the violation
            told = {}
        found.append(life.row(number, _spoken(event)) | told)
    found[-1] |= {"breaks": list(violation.claims), "detail": violation.detail}
    return found


class _Life:
    """A controller, and perhaps a scheduler beside it."""

    def __init__(self, controller: Controller, scheduler: Scheduler | None) -> None:
        self.controller, self.scheduler = controller, scheduler

    def meet(self, event: worker_events.Event | scheduler_events.Event) -> Row:
        """What is answered."""
        if isinstance(event, Admit | Complete | Progress | Cancel | Restart):
            if self.scheduler is not None:
                scheduler_events.apply(self.scheduler, event)
            return {}
        if isinstance(event, Adopted):
            s = self.controller.snapshot()
            found = {"living": event.living, "stopping": event.stopping}
            self.controller = type(self.controller).adopt(s.settings, s.now, event.generation, **found)
        command = worker_events.apply(self.controller, event)
        if command is None:
            return {}
        told = {"command": command.do.value, "why": command.why.value}
        return told | ({"alarm": command.alarm} if command.alarm else {})

    def row(self, number: int, event: str) -> Row:
        """What is so now."""
        s = self.controller.snapshot()
        told: Row = {"number": number, "event": event, "now": s.now, "phase": s.phase.value, "generation": s.generation}
        if self.scheduler is not None:
            told |= _places(self.scheduler.snapshot())
        return told | {"breaks": []}


def _spoken(event: worker_events.Event | scheduler_events.Event) -> str:
    """The event in short."""
    match event:
        case Admit() | Complete() | Progress() | Cancel() | Restart():
            return step_words(event)
        case Tick(_, demand):
            return f"tick, demand {'unknown' if demand is None else demand}"
        case Probed(verdict, generation):
            return f"probe of start {generation}: {verdict.value}"
        case Gone(generation, port):
            return f"start {generation} gone, port {port.value}"
        case Adopted(generation, living, stopping):
            found = f"{'living' if living else 'gone'}{', stopping' if stopping else ''}"
            return f"new controller; start {generation} is {found}"
        case _:
            return f"{SAID[type(event)]} start {event.generation}"


SAID: dict[type, str] = {Exited: "exit of", Progressed: "progress on", JobEnded: "a job ends on"}


def text(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The same for people, a paragraph an event."""
    for row in rows:
        when = f"t{row['now']}: " if "now" in row else ""
        action = f"  ->  {row['action']}" if row.get("action") else ""
        yield f"{row['number']:>3}  {when}{row['event']}{action}"
        if "phase" in row:
            answer = f"{row['command']} ({row['why']})" if "command" in row else "-"
            yield f"     worker  {row['phase']}, start {row['generation']}; answer  {answer}"
        if row.get("alarm"):
            yield f"     alarm   {row['alarm']}"
        if "slots" in row:
            running = [f"{slot}: {_full(cell)}" for slot, cell in enumerate(row["slots"]) if cell]
            free = len(row["slots"]) - len(running)
            yield f"     slots   {', '.join([*running, *([f'{free} free'] if free else [])]) or '?'}"
            yield f"     queue   {', '.join(map(_full, row['queue'])) or '-'}"
        yield from (f"     lost    {job}" for job in row.get("lost", ()))
        yield from (f"     breaks  {claim}" for claim in row["breaks"])
        if "detail" in row:
            yield f"     {row['detail']}"


def _full(cell: Mapping[str, Any]) -> str:
    urgency = f"/{cell['urgency']}" if "urgency" in cell else ""
    return f"{cell['job']} {cell['priority']}{urgency} ({cell['left']} left)"
