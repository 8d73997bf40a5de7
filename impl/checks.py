"""What the scheduler accepts. A check returns its argument or raises ValueError: what was wrong, what was expected."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import Any, NoReturn

from impl.jobs import Job, Lease, RequestId, Running, Snapshot, Urgency, Waiting

I64_MIN, I64_MAX = -(2**63), 2**63 - 1


class Rank(tuple[float, ...]):
    """A tuple urgency. Its negation orders the other way, for tuples of unequal length too, thanks to a last `inf`."""

    __slots__ = ()

    def __neg__(self) -> Rank:
        return Rank((*(-part for part in self), inf))


def reject(name: str, value: object, expected: str) -> NoReturn:
    """Raise the ValueError that says `name` was `value` though `expected` was needed."""
    raise ValueError(f"{name} is {value!r}, expected {expected}; nothing was changed")


def is_int(value: object) -> bool:
    """A whole number; a bool is none."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_int(name: str, value: Any, least: int = I64_MIN) -> int:
    """A whole number from `least` to the largest i64."""
    if not is_int(value) or not least <= value <= I64_MAX:
        reject(name, value, f"a whole number from {least} to {I64_MAX}")
    return int(value)


def check_id(request_id: Any) -> RequestId:
    """An int (no bool) or a text."""
    if not (is_int(request_id) or isinstance(request_id, str)):
        reject("request_id", request_id, "an int or a str")
    return request_id  # type: ignore[no-any-return]


def check_job(job: Any) -> Job:
    """A job whose numbers lie in i64, with at least one step of work."""
    if not isinstance(job, Job):
        reject("job", job, "an impl.jobs.Job")
    check_id(job.request_id)
    check_int("priority", job.priority)
    check_int("work", job.work, 1)
    check_int("arrived", job.arrived)
    if job.deadline is not None:
        check_int("deadline", job.deadline)
    if not isinstance(job.modality, str):
        reject("modality", job.modality, "a str")
    return job


def check_lease(lease: Any) -> Lease:
    """A lease, of whatever run."""
    if not isinstance(lease, Lease):
        reject("lease", lease, "an impl.jobs.Lease, as a placement returned it")
    check_id(lease.request_id)
    check_int("slot", lease.slot)
    check_int("run", lease.run)
    return lease


def check_steps(steps: Any) -> int:
    """A whole number; whether it fits the remaining work is the scheduler's answer."""
    return check_int("steps", steps)


def check_size(slots: Any, capacity: Any, reserve: Any) -> None:
    """At least one slot, and no negative number of places."""
    check_int("slots", slots, 1)
    check_int("capacity", capacity, 0)
    check_int("reserve", reserve, 0)


def ordinal(urgency: Any) -> Urgency:
    """An urgency in the form the core takes: a plain int, or a Rank."""
    if is_int(urgency):
        return int(urgency)
    if isinstance(urgency, tuple) and urgency and all(map(is_int, urgency)):
        return Rank(urgency)  # type: ignore[return-value]
    reject("urgency", urgency, "an int or a non-empty tuple of ints")


def check_snapshot(snapshot: Any) -> Snapshot:
    """A state the scheduler can be in, with its urgencies in the core's form."""
    if not isinstance(snapshot, Snapshot):
        reject("snapshot", snapshot, "an impl.jobs.Snapshot")
    _check_kind("running", snapshot.running, Running, type(None))
    _check_kind("queue", snapshot.queue, Waiting)
    check_size(len(snapshot.running), snapshot.capacity, snapshot.reserve)
    check_int("waiting", snapshot.waiting, 0)
    running = [run for run in snapshot.running if run is not None]
    _check_entries(running, list(snapshot.queue))
    for slot, run in enumerate(snapshot.running):
        if run is not None and check_int("slot", run.slot, 0) != slot:
            reject("slot", run.slot, f"{slot}, the place of {run.job.request_id!r} in the list of slots")
    runs = sorted(check_int("run", run.run, 0) for run in running)
    tickets = [check_int("ticket", entry.ticket, 0) for entry in snapshot.queue]
    for name, numbers, bound in (("run", runs, snapshot.next_run), ("ticket", tickets, snapshot.next_ticket)):
        if any(a >= b for a, b in pairwise([*numbers, check_int(f"next {name}", bound, 0)])):
            reject(f"the {name}s", numbers, f"increasing numbers below {bound}")
    if snapshot.waiting != len(tickets) or len(tickets) > snapshot.capacity + snapshot.reserve:
        reject("waiting", snapshot.waiting, "the length of the queue, within capacity + reserve")
    if tickets and len(running) < len(snapshot.running):
        reject("the queue", tickets, "no waiting job while a slot is free")
    least = min((ordinal(run.urgency) for run in running), default=0)
    for entry in snapshot.queue:
        if ordinal(entry.urgency) > least:  # type: ignore[operator]
            reject("the queue", entry, "no waiting job more urgent than a running one")
    return snapshot._replace(
        running=tuple(run and run._replace(urgency=ordinal(run.urgency)) for run in snapshot.running),
        queue=tuple(entry._replace(urgency=ordinal(entry.urgency)) for entry in snapshot.queue),
    )


def _check_kind(name: str, entries: Any, *kinds: type) -> None:
    if not isinstance(entries, tuple) or not all(isinstance(entry, kinds) for entry in entries):
        reject(name, entries, f"a tuple of {' or '.join(kind.__name__ for kind in kinds)}")


def _check_entries(running: list[Running], queue: list[Waiting]) -> None:
    ids = set()
    kinds = set()
    entries: list[Running | Waiting] = [*running, *queue]
    for entry in entries:
        check_job(entry.job)
        if check_int("remaining", entry.remaining, 0) > entry.job.work:
            reject("remaining", entry.remaining, f"at most the work of the job, {entry.job.work}")
        ids.add(entry.job.request_id)
        kinds.add(type(ordinal(entry.urgency)))
    if len(ids) < len(running) + len(queue):
        reject("the snapshot", sorted(map(str, ids)), "each job once")
    if len(kinds) > 1:
        reject("urgencies", kinds, "all ints or all tuples")
