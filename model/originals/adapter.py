"""The original scheduler behind the interface of the shipped one, for the engines to judge.

The translation is that of a host that believes what it is told: a completion goes to the slot of its lease, a request
is queued when the original says so, an id of -1 is nobody. The original knows neither runs nor tickets; here they are
counted as jobs start and line up, so that no fault is one of counting.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from impl.checks import I64_MIN, check_job, is_int
from impl.core import Core
from impl.jobs import Ended, Job, Lease, Placed, Queued, RequestId, Running, Snapshot, Urgency, Waiting
from impl.scheduler import Scheduler
from model.originals.sched_qos import (
    QSLOT_FREE,
    QSLOT_RUNNING,
    qos_admit,
    qos_complete,
    qos_new,
    qos_slot_of,
)


class QosCore(Core):
    """The original decides, by the priority alone. Its `capacity` is all there is: it keeps no reserve."""

    def __init__(self, slots: int, capacity: int, reserve: int) -> None:
        self.capacity = capacity
        self.reserve = reserve
        self.qos = qos_new(slots, capacity)
        self._jobs: dict[RequestId, Job] = {}
        self._runs = [0] * slots
        self._tickets: list[int] = []
        self._next_run = 0
        self._next_ticket = 0

    def admit(self, job: Job, urgency: Any) -> Placed | Queued:
        """nx_sched_qos.nx:81"""
        preempted: list[Any] = [0]
        waiting, ticket = self.qos.qn, self._next_ticket
        modality = int(job.modality == "image")
        slot = qos_admit(self.qos, job.request_id, urgency, job.work, modality, preempted)
        victim = self._jobs.get(preempted[0])
        self._jobs[job.request_id] = job
        if self.qos.qn > waiting:
            self._tickets.append(ticket)
            self._next_ticket += 1
        if slot == -2:
            return Queued(ticket)
        return Placed(self._started(slot), None if preempted[0] == -1 else victim)

    def complete(self, lease: Lease) -> Ended:
        """nx_sched_qos.nx:98"""
        waiting = self.qos.qrq[: self.qos.qn]
        slot = self.slot(lease)
        rid = qos_complete(self.qos, slot)
        heir = None
        if self.qos.qn < len(waiting):
            del self._tickets[waiting.index(rid)]
            heir = self._started(slot)
        return Ended(lease.request_id, None if rid == -1 else heir)

    def slot(self, lease: Lease) -> int:
        """The slot that is to be completed."""
        return lease.slot

    def progress(self, lease: Lease, steps: int) -> NoReturn:
        """No line counts steps."""
        raise NotImplementedError("nx_sched_qos.nx knows no progress")

    def cancel(self, request_id: RequestId) -> NoReturn:
        """No line takes a job back."""
        raise NotImplementedError("nx_sched_qos.nx knows no cancel")

    def restart(self) -> NoReturn:
        """No line knows of a worker."""
        raise NotImplementedError("nx_sched_qos.nx knows no restart")

    def lease_of(self, request_id: RequestId) -> Lease | None:
        """nx_sched_qos.nx:117"""
        slot = qos_slot_of(self.qos, request_id)
        return None if slot == -1 else Lease(slot, request_id, self._runs[slot])

    def snapshot(self) -> Snapshot:
        """What the arrays hold."""
        c = self.qos
        running = tuple(
            Running(self._jobs[c.rq[slot]], c.pr[slot], c.tk[slot], slot, self._runs[slot])
            if c.st[slot] == QSLOT_RUNNING
            else None
            for slot in range(c.n_slots)
        )
        queue = tuple(
            Waiting(self._jobs[c.qrq[at]], c.qpr[at], c.qtk[at], ticket) for at, ticket in enumerate(self._tickets)
        )
        return Snapshot(self.capacity, self.reserve, running, queue, c.qn, self._next_run, self._next_ticket)

    def load(self, snapshot: Snapshot) -> None:
        """Fill the arrays."""
        c = self.qos
        self._next_run, self._next_ticket = snapshot.next_run, snapshot.next_ticket
        self._tickets = [entry.ticket for entry in snapshot.queue]
        c.qn = len(snapshot.queue)
        for slot, run in enumerate(snapshot.running):
            c.st[slot] = QSLOT_FREE
            if run is not None:
                c.st[slot], c.rq[slot], c.pr[slot] = QSLOT_RUNNING, run.job.request_id, run.urgency
                c.tk[slot], c.md[slot] = run.remaining, int(run.job.modality == "image")
                self._runs[slot], self._jobs[run.job.request_id] = run.run, run.job
        for at, entry in enumerate(snapshot.queue):
            c.qrq[at], c.qpr[at] = entry.job.request_id, entry.urgency
            c.qtk[at], c.qmd[at] = entry.remaining, int(entry.job.modality == "image")
            self._jobs[entry.job.request_id] = entry.job

    def _started(self, slot: int) -> Lease:
        self._runs[slot] = self._next_run
        self._next_run += 1
        return Lease(slot, self.qos.rq[slot], self._runs[slot])


class QosScheduler(Scheduler):
    """The original, whose language checks the types of its arguments and nothing else."""

    core = QosCore

    def _checked(self, jobs: Iterable[Job]) -> list[tuple[Job, Urgency]]:
        return [(_typed(job), job.priority) for job in jobs]


class ByName(QosCore):
    """A host that looks for the slot as the original's own test does (nx_sched_qos.nx:154)."""

    def slot(self, lease: Lease) -> int:
        return qos_slot_of(self.qos, lease.request_id)


class QosByName(QosScheduler):
    """The original, completed by the name of the request."""

    core = ByName


def _typed(job: Job) -> Job:
    any_work = isinstance(job, Job) and is_int(job.work) and I64_MIN <= job.work < 1
    check_job(job._replace(work=1) if any_work else job)
    return job
