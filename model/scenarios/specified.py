"""The executed specification in the place of the shipped scheduler: whatever is told, it takes the one action that is
possible, and answers with what the action means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, product
from typing import Any

from impl.checks import I64_MIN, check_job
from impl.jobs import (
    CAPACITY,
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
from model.conform.monitor import ACTIONS, nonconforming
from model.conform.observe import key, observe, with_a_stranger
from model.prove.search import sorts
from spec.logic import Finite, Slot, Table
from spec.logic import Job as SpecJob
from spec.scheduler import Phase, State, is_queued

LOWEST = I64_MIN
"""A lower bound of all urgencies, which are the priorities."""
OVER = (Phase.ENDED, Phase.CANCELLED)


class Specified:
    """It is told and answers like `impl.scheduler.Scheduler` with the default urgency. An event for which not exactly
    one action is possible is a Violation."""

    def __init__(self, slots: int, *, capacity: int = CAPACITY, reserve: int | None = None) -> None:
        self._state: Any
        self._jobs: dict[RequestId, Job]
        room = slots if reserve is None else reserve
        self._load(Snapshot(capacity, room, (None,) * slots, (), 0, 0, 0))

    @classmethod
    def restore(cls, snapshot: Snapshot) -> Specified:
        """One that goes on where the snapshot was taken."""
        specified = cls(len(snapshot.running))
        specified._load(snapshot)
        return specified

    def snapshot(self) -> Snapshot:
        """The state, in the words of the shipped scheduler."""
        s, jobs = self._state, self._jobs
        queue = [
            Waiting(jobs[job], s.urgency[job], s.remaining[job], s.ticket[job]) for job in s.jobs if is_queued(s, job)
        ]
        return Snapshot(
            s.capacity,
            s.reserve,
            tuple(self._run_in(slot) for slot in s.slots),
            tuple(sorted(queue, key=lambda entry: entry.ticket)),
            s.waiting,
            s.next_run,
            s.next_ticket,
        )

    def admit(self, job: Job) -> Outcome:
        """The job arrives. One that the specification does not speak of raises ValueError (WORK)."""
        name = key(check_job(job).request_id)
        s = self._state
        if s.phase[name] in OVER:
            self._take(("reuse", name, job.work, job.priority, job.priority))
        elif name not in s.jobs:
            self._state = with_a_stranger(s, job, job.priority)
        if self._state.phase[name] is Phase.NEW:
            self._jobs[job.request_id] = job
        names = ("place", "preempt", "enqueue", "refuse_the_full_queue", "refuse_the_live_id")
        outcome = self._take(*((action, name) for action in names))
        came = Finite(job for job in self._state.jobs if self._state.phase[job] is not Phase.NEW)
        self._state = replace(self._state, jobs=came)
        return outcome

    def complete(self, lease: Lease) -> Outcome:
        """The run of this lease is over."""
        return self._report(lease, ("finish_with_an_heir",), ("finish_to_idle",))

    def progress(self, lease: Lease, steps: int) -> Outcome:
        """The run of this lease has done so many more steps."""
        return self._report(lease, ("work", steps), ("refuse_the_steps", steps))

    def cancel(self, request_id: RequestId) -> Outcome:
        """Nobody wants the job any more."""
        names = ("cancel_queued", "cancel_with_an_heir", "cancel_to_idle", "cancel_nothing")
        return self._take(*((action, request_id) for action in names))

    def restart(self) -> Outcome:
        """The worker was lost."""
        return self._take(("restart",))

    def at_once(
        self, completions: Iterable[Lease] = (), cancels: Iterable[RequestId] = (), arrivals: Iterable[Job] = ()
    ) -> tuple[Outcome, ...]:
        """An instant is its events, one by one in this order."""
        jobs = list(map(check_job, arrivals))
        return tuple(chain(map(self.complete, completions), map(self.cancel, cancels), map(self.admit, jobs)))

    def _load(self, snapshot: Snapshot) -> None:
        live = [entry for entry in (*snapshot.running, *snapshot.queue) if entry is not None]
        self._jobs = {entry.job.request_id: entry.job for entry in live}
        served = {entry.job.request_id: entry.job.work - entry.remaining for entry in live}
        ranks: Any = Table({slot: slot for slot in range(len(snapshot.running))}, -1)
        self._state = replace(observe(snapshot, served, LOWEST), rank=ranks, ranked=ranks)

    def _report(self, lease: Lease, *taken: tuple[Any, ...]) -> Outcome:
        """A report is stale, or else one of these actions of its job."""
        stale = (key(lease.request_id), key(lease.slot), lease.run)
        if ACTIONS["stale"].guard(self._state, *stale):
            return self._take(("stale", *stale))
        return self._take(*((action, lease.request_id, *about) for action, *about in taken))

    def _take(self, *meant: tuple[Any, ...]) -> Outcome:
        """The one action among those meant that is possible, with whichever slot, victim or heir makes it so."""
        s = self._state
        possible = [
            (action, whole)
            for action, *about in meant
            for whole in _completed(s, action, about)
            if ACTIONS[action].guard(s, *whole)
        ]
        if len(possible) != 1:
            raise nonconforming(f"Of {meant}, these are possible: {possible}; expected exactly one.")
        [(action, about)] = possible
        self._state = ACTIONS[action].step(s, *about)
        return self._outcome(action, about)

    def _outcome(self, action: str, about: tuple[Any, ...]) -> Outcome:
        t = self._state
        match action, about:
            case "place", (job, _):
                return Placed(self._lease(job))
            case "preempt", (job, victim):
                return Placed(self._lease(job), self._jobs[victim])
            case "enqueue", (job,):
                return Queued(t.ticket[job])
            case "refuse_the_live_id", _:
                return Refused(Reason.LIVE)
            case "refuse_the_full_queue", _:
                return Refused(Reason.FULL)
            case "refuse_the_steps", _:
                return Refused(Reason.STEPS)
            case "work", (job, _):
                return Progressed(t.remaining[job])
            case (("finish_with_an_heir" | "finish_to_idle"), (job, *heirs)):
                return Ended(job, *map(self._lease, heirs))
            case (("cancel_queued" | "cancel_with_an_heir" | "cancel_to_idle"), (job, *heirs)):
                return Cancelled(job, *map(self._lease, heirs))
            case "stale", _:
                return Stale()
            case "restart", _:
                return Restarted(tuple(run.lease for run in map(self._run_in, t.slots) if run))
        return Nothing()

    def _lease(self, job: Any) -> Lease:
        return Lease(self._state.slot[job], job, self._state.run[job])

    def _run_in(self, slot: Any) -> Running | None:
        s = self._state
        if not s.busy[slot]:
            return None
        job = s.holder[slot]
        return Running(self._jobs[job], s.urgency[job], s.remaining[job], slot, s.run[job])


def _completed(s: State, action: str, about: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Every choice of the arguments that the event leaves open."""
    members: dict[Any, Any] = {SpecJob: s.jobs, Slot: s.slots}
    open_ones = sorts(ACTIONS[action].guard)[len(about) :]
    return ((*about, *chosen) for chosen in product(*(members[kind] for _, kind in open_ones)))
