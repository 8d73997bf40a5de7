"""Which job holds a slot: an urgent arrival takes the slot of the least urgent running job, which returns to the queue
with its work intact; a freed slot goes to the most urgent waiting job (nx_sched_qos.nx)."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

from impl.jobs import (
    Cancelled,
    Ended,
    Job,
    Lease,
    Nothing,
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


class Core:
    """The decisions, over any urgency that can be compared and negated. Trusts its caller, which is `Scheduler`.

    Every event costs O(log n); `restart` and `snapshot` read every slot.
    """

    def __init__(self, slots: int, capacity: int, reserve: int) -> None:
        self.capacity = capacity
        self.reserve = reserve
        self._slots: list[Running | None] = [None] * slots
        self._slot_of: dict[RequestId, int] = {}
        self._queue: dict[RequestId, Waiting] = {}  # in ticket order, for a dict keeps the order of insertion
        self._free = list(range(slots))
        self._victims: list[tuple[Any, int, int]] = []  # (urgency, slot, run), with runs that are over among them
        self._heirs: list[tuple[Any, int, RequestId]] = []  # (-urgency, ticket, id), with tickets that left among them
        self._next_run = 0
        self._next_ticket = 0

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        """Give the newcomer the lowest free slot, else the slot of a strictly less urgent victim, else a place in the
        queue (nx_sched_qos.nx:81)."""
        if job.request_id in self._slot_of or job.request_id in self._queue:
            return Refused(Reason.LIVE)
        if self._free:
            return Placed(self._start(heappop(self._free), job, urgency, job.work))
        victim = self._least_urgent_running()
        if victim.urgency < urgency:
            if len(self._queue) >= self.capacity + self.reserve:
                return Refused(Reason.FULL)
            self._leave(victim)
            self._enqueue(victim.job, victim.urgency, victim.remaining)
            return Placed(self._start(victim.slot, job, urgency, job.work), victim.job)
        if len(self._queue) >= self.capacity:
            return Refused(Reason.FULL)
        return Queued(self._enqueue(job, urgency, job.work))

    def complete(self, lease: Lease) -> Ended | Stale:
        """End the run of this lease; the most urgent waiting job inherits the slot (nx_sched_qos.nx:98)."""
        run = self._run_of(lease)
        return Stale() if run is None else Ended(lease.request_id, self._vacate(run))

    def progress(self, lease: Lease, steps: int) -> Progressed | Refused | Stale:
        """Book `steps` of work as served, 1 to all that remain."""
        run = self._run_of(lease)
        if run is None:
            return Stale()
        if not 1 <= steps <= run.remaining:
            return Refused(Reason.STEPS)
        self._slots[lease.slot] = run._replace(remaining=run.remaining - steps)
        return Progressed(run.remaining - steps)

    def cancel(self, request_id: RequestId) -> Cancelled | Nothing:
        """Take the job out, wherever it is; a slot it held goes to the heir at once."""
        if request_id in self._queue:
            del self._queue[request_id]
            self._compact()
            return Cancelled(request_id)
        slot = self._slot_of.get(request_id)
        run = None if slot is None else self._slots[slot]
        return Nothing() if run is None else Cancelled(request_id, self._vacate(run))

    def restart(self) -> Restarted:
        """The worker was lost: nobody moves, and each running job gets a new lease, run number next_run + slot."""
        for run in filter(None, self._slots):
            self._slots[run.slot] = run._replace(run=self._next_run + run.slot)
        self._next_run += len(self._slots)
        self._index()
        return Restarted(tuple(run.lease for run in filter(None, self._slots)))

    def lease_of(self, request_id: RequestId) -> Lease | None:
        """The current lease of a running job; None when it waits or is not live."""
        slot = self._slot_of.get(request_id)
        run = None if slot is None else self._slots[slot]
        return None if run is None else run.lease

    def snapshot(self) -> Snapshot:
        """The whole state, as immutable values."""
        return Snapshot(
            self.capacity,
            self.reserve,
            tuple(self._slots),
            tuple(self._queue.values()),
            len(self._queue),
            self._next_run,
            self._next_ticket,
        )

    def load(self, snapshot: Snapshot) -> None:
        """Take over the state of `snapshot`, which has as many slots as this core."""
        self._slots = list(snapshot.running)
        self._slot_of = {run.job.request_id: run.slot for run in filter(None, self._slots)}
        self._queue = {entry.job.request_id: entry for entry in snapshot.queue}
        self._free = [slot for slot, run in enumerate(self._slots) if run is None]
        self._next_run, self._next_ticket = snapshot.next_run, snapshot.next_ticket
        self._index()

    def _run_of(self, lease: Lease) -> Running | None:
        slot = self._slot_of.get(lease.request_id)
        run = None if slot is None else self._slots[slot]
        return run if run is not None and run.slot == lease.slot and run.run == lease.run else None

    def _start(self, slot: int, job: Job, urgency: Any, remaining: int) -> Lease:
        run = Running(job, urgency, remaining, slot, self._next_run)
        self._next_run += 1
        self._slots[slot] = run
        self._slot_of[job.request_id] = slot
        heappush(self._victims, (urgency, slot, run.run))
        return run.lease

    def _enqueue(self, job: Job, urgency: Any, remaining: int) -> int:
        ticket = self._next_ticket
        self._next_ticket += 1
        self._queue[job.request_id] = Waiting(job, urgency, remaining, ticket)
        heappush(self._heirs, (-urgency, ticket, job.request_id))
        return ticket

    def _leave(self, run: Running) -> None:
        self._slots[run.slot] = None
        del self._slot_of[run.job.request_id]
        self._compact()

    def _vacate(self, run: Running) -> Lease | None:
        self._leave(run)
        while self._heirs:
            _, ticket, request_id = heappop(self._heirs)
            heir = self._queue.get(request_id)
            if heir is not None and heir.ticket == ticket:
                del self._queue[request_id]
                return self._start(run.slot, heir.job, heir.urgency, heir.remaining)
        heappush(self._free, run.slot)
        return None

    def _least_urgent_running(self) -> Running:
        while True:
            _, slot, number = self._victims[0]
            run = self._slots[slot]
            if run is not None and run.run == number:
                return run
            heappop(self._victims)

    def _compact(self) -> None:
        if len(self._victims) > 2 * len(self._slot_of) + 8:
            self._index_victims()
        if len(self._heirs) > 2 * len(self._queue) + 8:
            self._index_heirs()

    def _index(self) -> None:
        self._index_victims()
        self._index_heirs()

    def _index_victims(self) -> None:
        runs = filter(None, map(self._slots.__getitem__, self._slot_of.values()))
        self._victims = [(run.urgency, run.slot, run.run) for run in runs]
        heapify(self._victims)

    def _index_heirs(self) -> None:
        self._heirs = [(-entry.urgency, entry.ticket, entry.job.request_id) for entry in self._queue.values()]
        heapify(self._heirs)
