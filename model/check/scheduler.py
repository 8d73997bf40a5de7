"""The outcomes that the specification of the scheduler has, computed fast: what `spec/scheduler.py` says of one event
is unique (`spec/scheduler_outcomes.py`), so that whoever knows the state can foretell it.

This is neither the shipped code nor the specification. The tests hold it to the latter step by step, and so does
`check`, wherever a log differs and at some events besides.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, heapreplace
from math import inf
from operator import attrgetter
from typing import Any

from impl.jobs import (
    Cancelled,
    Ended,
    Job,
    Lease,
    Nothing,
    Outcome,
    Placed,
    Progressed,
    Queued,
    Reason,
    Refused,
    RequestId,
    Restarted,
    Running,
    Snapshot,
    Stale,
    Waiting,
)
from model.check.lines import Admit, Cancel, Complete, Open, Progress, Restart
from model.conform.monitor import Violation, nonconforming
from spec.logic import sentence
from spec.scheduler_claims import chat_never_waits_behind_an_image, every_job_has_work

MOST_SLOTS = 1 << 16
"""Of which a log may speak. What would not run on one GPU shall not fill our memory."""
LIVE, FULL, STEPS = str(Reason.LIVE), str(Reason.FULL), str(Reason.STEPS)


class Descending(tuple[Any, ...]):
    """A tuple that orders the other way."""

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return tuple.__gt__(self, other)


class Fast:
    """The state of the scheduler, kept in the lines that admitted the live jobs.

    `admit`, `complete`, `progress`, `cancel` and `restart` take a line of the log. If it agrees with the one outcome
    there is, they take the step and return None; else they return that outcome and change nothing. What a line leaves
    open is not compared, and named in `missing`. Work below one step raises Violation.

    Each costs O(log n), `restart` and `snapshot` read every slot. Where a policy told urgencies of its own each costs
    O(n), for then it does not follow who waits behind whom by priority.
    """

    def __init__(self, slots: int, capacity: int | None, reserve: int | None) -> None:
        self.capacity = capacity
        self.reserve = slots if reserve is None else reserve
        self.jobs: dict[RequestId, Admit] = {}
        self.holders: list[Admit | None] = [None] * slots
        self.waiting = 0
        self.next_run = 0
        self.next_ticket = 0
        self.missing: set[str] = set() if capacity is not None else {"capacity"}
        self.policy = False
        self._room = inf if capacity is None else capacity
        self._brim = self._room + self.reserve
        self._free = list(range(slots))
        self._most = 2 * slots + 64
        self._victims: list[tuple[Any, int, int, Admit]] = []  # with runs that are over among them
        self._heirs: list[tuple[Any, int, Admit]] = []  # with tickets that left among them

    @classmethod
    def opened(cls, line: Open, slots: int) -> Fast:
        """The state that a recorder began with. Raises Violation for one that cannot be."""
        self = cls(slots, line.capacity, line.reserve)
        self.next_run, self.next_ticket = line.next_run, line.next_ticket
        for job in line.running or ():
            free = job.slot is not None and 0 <= job.slot < slots and self.holders[job.slot] is None
            if not free or job.run is None or job.run >= line.next_run:
                told = f"{job.request_id!r} begins in slot {job.slot} with run {job.run}"
                raise nonconforming(f"{told}, expected a free slot below {slots}, and a run below {line.next_run}.")
            self.holders[job.slot or 0] = job
        for job in line.queue or ():
            if job.run is not None or job.ticket is None or job.ticket >= line.next_ticket:
                told = f"{job.request_id!r} begins in the queue with ticket {job.ticket} and run {job.run}"
                raise nonconforming(f"{told}, expected a ticket below {line.next_ticket}, and no run.")
            self.waiting += 1
        for job in (*(line.running or ()), *(line.queue or ())):
            if job.request_id in self.jobs:
                raise nonconforming(f"{job.request_id!r} is there twice at the beginning.")
            job.urgency = self._level(job)
            self.jobs[job.request_id] = job
        self._free = [slot for slot, job in enumerate(self.holders) if job is None]
        self._index()
        return self

    def admit(self, line: Admit) -> Outcome | Violation | None:
        """A job comes: it is placed, perhaps by preemption, queued, or refused."""
        key = line.request_id
        if key in self.jobs:
            return self._refused(line, LIVE)
        urgency = line.urgency = line.priority if line.urgency is None else self._level(line)
        if urgency is None:
            urgency = line.urgency = 0
            self.missing.add("priority")
        if line.work is None:
            self.missing.add("work")
        elif line.work < 1:
            raise Violation(every_job_has_work.__name__, sentence(every_job_has_work), f"It has {line.work}.")
        if self._free:
            slot, run = self._free[0], self.next_run
            if (
                line.outcome != "placed" or line.slot != slot or line.run != run or line.preempted is not None
            ) and self._differs(line, "placed", slot=slot, run=run, preempted=None):
                return Placed(Lease(slot, key, run))
            heappop(self._free)
            heappush(self._victims, (urgency, slot, run, line))
        elif self.capacity is None and line.outcome == "refused" and line.reason in (None, FULL):
            return None
        else:
            victims = self._victims
            while victims[0][3].run != victims[0][2]:
                heappop(victims)
            victim = victims[0][3]
            if victim.urgency < urgency:
                if self.waiting >= self._brim:
                    return self._refused(line, FULL)
                slot, run = victim.slot or 0, self.next_run
                if (
                    line.outcome != "placed"
                    or line.preempted != victim.request_id
                    or line.slot != slot
                    or line.run != run
                ) and self._differs(line, "placed", slot=slot, run=run, preempted=victim.request_id):
                    twin = self._twin(line, victim)
                    if twin is None:
                        return Placed(Lease(slot, key, run), _job(victim))
                    victim, slot = twin, twin.slot or 0
                if victim is victims[0][3]:
                    heapreplace(victims, (urgency, slot, run, line))
                else:
                    heappush(victims, (urgency, slot, run, line))
                victim.slot = victim.run = None
                self._line_up(victim, victim.urgency)
            else:
                if self.waiting >= self._room:
                    return self._refused(line, FULL)
                if self.next_ticket < 0 and line.ticket is not None:  # learned of a log that had told no ticket so far
                    self.next_ticket = line.ticket
                ticket = self.next_ticket
                if (line.outcome != "queued" or line.ticket != ticket) and self._differs(line, "queued", ticket=ticket):
                    return Queued(ticket)
                if line.run is not None or line.preempted is not None:
                    return _no_more(line, "run", "preempted")
                self.jobs[key] = line
                line.remaining = line.work
                line.slot = line.run = None
                self._line_up(line, urgency)
                return self._chat() if self.policy else None
        self.jobs[key] = self.holders[slot] = line
        line.remaining = line.work
        line.slot, line.run, line.ticket = slot, run, None
        self.next_run = run + 1
        return self._chat() if self.policy else None

    def complete(self, line: Complete) -> Outcome | Violation | None:
        """A run is reported over."""
        job = self.jobs.get(line.request_id)
        if (
            job is None
            or job.run is None
            or ((job.run != line.run or job.slot != line.slot) and self._stale(job, line))
        ):
            if line.outcome != "stale" and self._differs(line, "stale"):
                return Stale()
            return None if line.heir is None else _no_more(line, "heir")
        return self._leave(line, job, "ended")

    def progress(self, line: Progress) -> Outcome | Violation | None:
        """A run reports steps done."""
        job = self.jobs.get(line.request_id)
        if (
            job is None
            or job.run is None
            or ((job.run != line.run or job.slot != line.slot) and self._stale(job, line))
        ):
            if line.outcome != "stale" and self._differs(line, "stale"):
                return Stale()
            return None if line.remaining is None else _no_more(line, "remaining")
        if job.remaining is None:
            if line.outcome != "refused" and self._differs(line, "progressed"):
                return Progressed(line.remaining or 0)
            job.remaining = line.remaining
            return None
        if not 1 <= line.steps <= job.remaining:
            return self._refused(line, STEPS)
        left = job.remaining - line.steps
        if (line.outcome != "progressed" or line.remaining != left) and self._differs(
            line, "progressed", remaining=left
        ):
            return Progressed(left)
        job.remaining = left
        return None

    def cancel(self, line: Cancel) -> Outcome | Violation | None:
        """Nobody wants a job any more."""
        job = self.jobs.get(line.request_id)
        if job is None:
            if line.outcome != "nothing" and self._differs(line, "nothing"):
                return Nothing()
            return None if line.heir is None else _no_more(line, "heir")
        if job.run is not None:
            return self._leave(line, job, "cancelled")
        if (line.outcome != "cancelled" or line.heir is not None) and self._differs(line, "cancelled", heir=None):
            return Cancelled(line.request_id)
        del self.jobs[line.request_id]
        self.waiting -= 1
        job.ticket = None
        self._compact()
        return None

    def restart(self, line: Restart) -> Outcome | None:
        """The worker was lost: every running job gets a new run."""
        running = [(slot, job) for slot, job in enumerate(self.holders) if job is not None]
        leases = [(slot, job.request_id, self.next_run + slot) for slot, job in running]
        if (line.outcome != "restarted" or line.leases != leases) and self._differs(line, "restarted", leases=leases):
            return Restarted(tuple(Lease(*lease) for lease in leases))
        for slot, job in running:
            job.run = self.next_run + slot
        self.next_run += len(self.holders)
        self._index()
        return None

    def snapshot(self) -> Snapshot:
        """The state, in the words of the shipped scheduler; a job whose work is not known has one step."""
        running = tuple(
            None if job is None else Running(_job(job), job.urgency, _left(job), slot, job.run or 0)
            for slot, job in enumerate(self.holders)
        )
        waiting = sorted((job for job in self.jobs.values() if job.run is None), key=attrgetter("ticket"))
        queue = tuple(Waiting(_job(job), job.urgency, _left(job), job.ticket or 0) for job in waiting)
        room = self.waiting + len(self.holders) if self.capacity is None else self.capacity
        return Snapshot(room, self.reserve, running, queue, self.waiting, self.next_run, self.next_ticket)

    def _leave(self, line: Complete | Cancel, job: Admit, how: str) -> Outcome | Violation | None:
        slot: int = job.slot or 0
        heirs = self._heirs
        while heirs and heirs[0][2].ticket != heirs[0][1]:
            heappop(heirs)
        if not heirs:
            if (line.outcome != how or line.heir is not None) and self._differs(line, how, heir=None):
                return (Ended if how == "ended" else Cancelled)(job.request_id)
            self.holders[slot] = None
            heappush(self._free, slot)
        else:
            run, heir = self.next_run, heirs[0][2]
            if (
                line.outcome != how or line.heir != heir.request_id or line.heir_run != run or line.heir_slot != slot
            ) and self._differs(line, how, heir=heir.request_id, heir_slot=slot, heir_run=run):
                return (Ended if how == "ended" else Cancelled)(job.request_id, Lease(slot, heir.request_id, run))
            heappop(heirs)
            self.waiting -= 1
            heir.slot, heir.run, heir.ticket = slot, run, None
            self.holders[slot] = heir
            self.next_run = run + 1
            heappush(self._victims, (heir.urgency, slot, run, heir))
        del self.jobs[job.request_id]
        job.slot = job.run = None
        if len(self._victims) > self._most:
            self._compact()
        return self._chat() if self.policy else None

    def _chat(self) -> Violation | None:
        """With a policy it does not follow from the outcomes that nobody waits behind one of lower priority."""
        runs = [job.priority or 0 for job in self.holders if job is not None]
        waits = [job for job in self.jobs.values() if job.run is None and (job.priority or 0) > min(runs, default=0)]
        if not runs or not waits:
            return None
        claim = chat_never_waits_behind_an_image
        detail = f"{waits[0].request_id!r} of priority {waits[0].priority} waits while one of {min(runs)} runs."
        return Violation(claim.__name__, sentence(claim), detail)

    def _line_up(self, job: Admit, urgency: Any) -> None:
        ticket = self.next_ticket
        self.next_ticket = ticket + 1
        job.ticket = ticket
        self.waiting += 1
        heappush(self._heirs, (Descending(urgency) if urgency.__class__ is tuple else -urgency, ticket, job))

    def _level(self, job: Admit) -> Any:
        """The urgency of a policy, in a form that orders: a list as a tuple."""
        if job.urgency is None:
            return job.priority
        self.policy = True
        return order_of(job)

    def _refused(self, line: Admit | Progress, reason: str) -> Outcome | Violation | None:
        agrees = line.outcome == "refused" and line.reason == reason
        if not agrees and self._differs(line, "refused", reason=reason):
            return Refused(Reason(reason))
        if isinstance(line, Progress):
            return None if line.remaining is None else _no_more(line, "remaining")
        return None if line.run is None and line.preempted is None else _no_more(line, "run", "preempted")

    def _differs(self, line: Any, outcome: str, **fields: Any) -> bool:
        """The log says otherwise. What it does not say at all is missing."""
        if line.outcome is None:
            self.missing.add("outcome")
            return False
        if line.outcome != outcome:
            return True
        for name, value in fields.items():
            said = getattr(line, name)
            if said is None and name in OPEN:
                self.missing.add(OPEN[name])
            elif said != value:
                return True
        return False

    def _stale(self, job: Admit, line: Complete | Progress) -> bool:
        """The lease of the line is not that of the present run, as far as it says. Where it says too little, the
        outcome is believed."""
        if line.run is None:
            self.missing.add("run")
            if line.outcome == "stale":
                return True
        if line.slot is None:
            self.missing.add("slot")
        return (line.run is not None and job.run != line.run) or (line.slot is not None and job.slot != line.slot)

    def _twin(self, line: Admit, victim: Admit) -> Admit | None:
        """The job that the log names as preempted, if it is as urgent as the victim: where no slots are told, which of
        equals comes first cannot be judged."""
        said = None if line.preempted is None else self.jobs.get(line.preempted)
        if line.outcome == "placed" and line.slot is None and said is not None and said.run is not None:
            return said if said.urgency == victim.urgency else None
        return None

    def _compact(self) -> None:
        if len(self._victims) > self._most:
            self._index_victims()
        if len(self._heirs) > 2 * self.waiting + 64:
            self._index_heirs()

    def _index(self) -> None:
        self._index_victims()
        self._index_heirs()

    def _index_victims(self) -> None:
        self._victims = [(job.urgency, job.slot or 0, job.run or 0, job) for job in self.holders if job is not None]
        heapify(self._victims)

    def _index_heirs(self) -> None:
        waiting = [job for job in self.jobs.values() if job.run is None]
        self._heirs = [
            (Descending(job.urgency) if isinstance(job.urgency, tuple) else -job.urgency, job.ticket or 0, job)
            for job in waiting
        ]
        heapify(self._heirs)


def _no_more(line: Any, *names: str) -> Violation | None:
    """What is wrong with a line that tells what its outcome rules out."""
    told = [f"{name} {getattr(line, name)!r}" for name in names if getattr(line, name) is not None]
    return nonconforming(f"The outcome is {line.outcome}, and yet there is {', '.join(told)}.") if told else None


def order_of(job: Admit) -> Any:
    """The urgency of a job, in a form that orders: a list as a tuple."""
    urgency = job.priority if job.urgency is None else job.urgency
    return tuple(urgency) if isinstance(urgency, list) else urgency


OPEN = {
    "slot": "slot",
    "run": "run",
    "ticket": "ticket",
    "heir_slot": "slot",
    "heir_run": "run",
    "remaining": "work",
    "reason": "reason",
    "leases": "run",
}
"""What a log may leave open, and what its judgement is then missing."""


def _job(job: Admit) -> Job:
    return Job(job.request_id, job.priority or 0, max(1, job.work or 0), job.modality, job.arrived, job.deadline)


def _left(job: Admit) -> int:
    return max(1, job.work or 0) if job.remaining is None else job.remaining
