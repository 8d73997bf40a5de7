"""What can be judged of a scheduler whose state is not known: its log has no beginning, or lines are missing.

The jobs that the log has told of are a part of the state. What holds of every job holds of the part as of the whole,
and is judged. Where events are missing not even a part is known, and what a line says is only held against what was
said before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from impl.jobs import Job, RequestId, Running, Snapshot, Waiting
from model.check import lines
from model.check.lines import Admit
from model.check.scheduler import MOST_SLOTS, Fast, order_of
from model.conform.monitor import Violation, broken, nonconforming
from model.conform.observe import Seen, key, observe, with_one_that_left
from spec import scheduler_claims as claims
from spec.logic import Finite, Property, sentence
from spec.scheduler import Phase

OF_A_PART = frozenset(
    {
        "no_work_is_lost",
        "no_live_job_vanishes",
        "no_job_waits_behind_a_less_urgent_one",
        "chat_never_waits_behind_an_image",
        "no_slot_idles_while_a_job_waits",
        "equals_keep_their_order",
        "runs_are_never_reused",
        "only_strictly_less_urgent_work_is_preempted",
        "the_least_urgent_running_job_is_the_victim",
        "nothing_is_preempted_while_a_slot_is_free",
        "the_earliest_of_the_most_urgent_inherits",
        "a_run_that_starts_has_a_new_number",
    }
)
"""Claims of every job, which hold of a part of the jobs and slots if they hold of all."""
OF_A_LINE = frozenset(
    {
        "no_work_is_lost",
        "equals_keep_their_order",
        "runs_are_never_reused",
        "only_strictly_less_urgent_work_is_preempted",
        "a_run_that_starts_has_a_new_number",
    }
)
"""Those of them that need no event in between, if an id names one job alone."""
NEVER = 1 << 60
"""Tickets that nobody told lie so far below those that somebody did."""
MOST_JOBS = 100_000
"""So many are kept of a log that may never tell of their end."""
OUTCOMES: dict[type, set[str]] = {
    Admit: {"placed", "queued", "refused"},
    lines.Complete: {"ended", "stale"},
    lines.Progress: {"progressed", "refused", "stale"},
    lines.Cancel: {"cancelled", "nothing"},
    lines.Restart: {"restarted"},
}


def _among(properties: tuple[Property, ...]) -> tuple[Property, ...]:
    return tuple(each for each in properties if each.name in OF_A_PART)


STEPS, ALWAYS = _among(claims.STEPS), _among(claims.ALWAYS)


class Learner:
    """The part of the state that the log has told. `holders` has the slots that are known, None for a free one, and the
    `queue` is known once nobody can wait in it unseen."""

    def __init__(self, slots: int | None, capacity: int | None, reserve: int | None, sampled: bool) -> None:
        self.slots, self.capacity, self.reserve, self.sampled = slots, capacity, reserve, sampled
        self.jobs: dict[RequestId, Admit] = {}
        self.holders: dict[int, RequestId | None] = {}
        self.queue = False
        self.run = -1
        self.ticket = -NEVER
        self.lowest: Any = None
        self.missing: set[str] = set()

    def step(self, line: Any) -> Violation | None:
        """Take the step that the line claims; what is wrong with it, if anything is."""
        if getattr(line, "outcome", None) is None:
            self.missing.add("outcome")
            return None
        wrong = self._cannot_be(line) or self._said_before(line)
        if wrong:
            return wrong
        if self.sampled:
            self._take(line)
            while len(self.jobs) > MOST_JOBS:
                del self.jobs[next(iter(self.jobs))]
            return None
        if isinstance(line, Admit) and line.priority is not None:
            level = order_of(line)
            self.lowest = level if self.lowest is None else min(level, self.lowest)
        before = self._state()
        self._take(line)
        after = self._state()
        if line.outcome in ("ended", "cancelled") and line.request_id in before.phase.entries:
            after = with_one_that_left(after, before, line.request_id, Phase.CANCELLED)
        found = [
            *broken(STEPS, (before, after), line.outcome, ()),
            *broken(ALWAYS, (after,), line.outcome, ()),
        ]
        if found:
            found[0].claims = tuple(dict.fromkeys(each.claim for each in found))
        return found[0] if found else None

    def learned(self) -> Fast | None:
        """The scheduler, once its whole state is known."""
        if self.sampled or self.slots is None or not self.queue or self.run < 0:
            return None
        holders = [self.holders.get(slot, ...) for slot in range(self.slots)]
        runs = [(slot, self.jobs.get(key)) for slot, key in enumerate(holders) if key is not None and key is not ...]
        if ... in holders or any(job is None or job.slot != slot for slot, job in runs):
            return None
        if any(job.priority is None for job in self.jobs.values()):
            return None
        start = lines.Open(
            capacity=self.capacity,
            reserve=self.reserve,
            running=[job for _, job in runs if job is not None],
            queue=[job for job in self.jobs.values() if job.run is None],
            next_run=self.run + 1,
            next_ticket=self.ticket + 1,
        )
        return Fast.opened(start, self.slots)

    def _cannot_be(self, line: Any) -> Violation | None:
        """What the line says that no line may."""
        if line.outcome not in OUTCOMES[type(line)]:
            return nonconforming(f"{line.outcome!r} is no outcome of {type(line).__name__.lower()}.")
        if line.outcome == "stale":
            return None
        told = [getattr(line, "slot", None), getattr(line, "heir_slot", None)]
        told += [slot for slot, _, _ in getattr(line, "leases", None) or ()]
        most = MOST_SLOTS if self.slots is None else self.slots
        beyond = [slot for slot in told if slot is not None and not 0 <= slot < most]
        return nonconforming(f"There is no slot {beyond[0]}, expected 0 to {most - 1}.") if beyond else None

    def _said_before(self, line: Any) -> Violation | None:
        """What the line says against lines before it."""
        run = line.run if line.outcome == "placed" else getattr(line, "heir_run", None)
        if run is not None and run <= self.run:
            detail = f"Run {run} starts, though {self.run} did before."
            return _violation(claims.a_run_that_starts_has_a_new_number, detail)
        ticket = line.ticket if line.outcome == "queued" else None
        if ticket is not None and ticket <= self.ticket:
            return _violation(claims.equals_keep_their_order, f"Ticket {ticket} is given after {self.ticket}.")
        job = self.jobs.get(getattr(line, "request_id", ""))
        if line.outcome == "progressed" and job and job.remaining is not None and line.remaining is not None:
            most = job.remaining - line.steps
            if line.remaining > most:
                return _violation(claims.no_work_is_lost, f"{line.remaining} steps remain, expected {most} at most.")
        victim = self.jobs.get(line.preempted) if line.outcome == "placed" and line.preempted is not None else None
        if victim and None not in (victim.priority, line.priority) and not order_of(victim) < order_of(line):
            return _violation(
                claims.only_strictly_less_urgent_work_is_preempted,
                f"{line.preempted!r} of urgency {order_of(victim)} made room for one of {order_of(line)}.",
            )
        return None

    def _take(self, line: Any) -> None:
        key = getattr(line, "request_id", "")
        match line.outcome:
            case "placed":
                self.queue = self.queue or line.preempted is None
                if line.preempted is not None:
                    self.ticket += 1
                    self._wait(line.preempted, self.ticket)
                self.jobs[key] = line
                line.remaining, line.ticket = line.work, None
                self._run(key, line.slot, line.run)
            case "queued":
                self.ticket = self.ticket + 1 if line.ticket is None else line.ticket
                self.jobs[key] = line
                line.remaining = line.work
                self._wait(key, self.ticket)
            case "progressed":
                if key in self.jobs:
                    self.jobs[key].remaining = line.remaining
            case "ended" | "cancelled":
                job = self.jobs.pop(key, None)
                slot = line.slot if isinstance(line, lines.Complete) else job.slot if job else None
                slot = line.heir_slot if slot is None else slot
                if line.heir is not None:
                    self._run(line.heir, slot, line.heir_run)
                elif slot is not None:
                    self.holders[slot] = None
                    self.queue = True
            case "restarted":
                for slot, who, run in line.leases or ():
                    self._run(who, slot, run)
                self.run = max([self.run, *(run + self._slots() - 1 - slot for slot, _, run in line.leases or ())])

    def _slots(self) -> int:
        return self.slots or 1

    def _wait(self, key: RequestId, ticket: int) -> None:
        job = self.jobs.get(key)
        if job is not None:
            job.slot, job.run, job.ticket = None, None, ticket
        else:
            self.queue = False

    def _run(self, key: RequestId, slot: int | None, run: int | None) -> None:
        self.run = self.run + 1 if run is None else max(run, self.run)
        job = self.jobs.get(key)
        if job is not None:
            job.slot, job.run, job.ticket = slot, self.run if run is None else run, None
        if slot is not None:
            self.holders[slot] = key

    def _state(self) -> Seen:
        """The part that is known, as a state of the specification."""
        known = {each: job for each, job in self.jobs.items() if job.priority is not None}
        seats = [slot for slot, who in self.holders.items() if who is None or who in known]
        running: list[Running | None] = [None] * (max([-1, *seats]) + 1)
        for slot in seats:
            job = known.get(self.holders[slot])  # type: ignore[arg-type]
            if job is not None:
                running[slot] = Running(_job(job), order_of(job), job.remaining or 0, slot, job.run or 0)
        waiting = sorted((job for job in known.values() if job.run is None), key=lambda job: job.ticket or 0)
        queue = tuple(Waiting(_job(job), order_of(job), job.remaining or 0, job.ticket or 0) for job in waiting)
        snapshot = Snapshot(0, 0, tuple(running), queue, len(queue), self.run + 1, self.ticket + 1)
        live: list[Running | Waiting] = [run for run in running if run] + list(queue)
        served = {entry.job.request_id: entry.job.work - entry.remaining for entry in live}
        state = observe(snapshot, served, self.lowest)
        return replace(state, slots=Finite(map(key, sorted(seats))))


def _job(job: Admit) -> Job:
    return Job(job.request_id, job.priority or 0, max(job.work or 0, job.remaining or 0, 1), job.modality)


def _violation(claim: Any, detail: str) -> Violation:
    return Violation(claim.__name__, sentence(claim), detail)
