"""Conformance: every step the shipped scheduler takes is a step that the specification allows, and no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from enum import IntEnum
from itertools import chain, pairwise
from typing import Any, TypeAlias

from impl.jobs import (
    Cancelled,
    Ended,
    Job,
    Lease,
    Nothing,
    Outcome,
    Placed,
    Policy,
    Progressed,
    Queued,
    Reason,
    Refused,
    RequestId,
    Restarted,
    Snapshot,
    Stale,
    by_priority,
)
from model.conform.events import Admit, Cancel, Complete, Event, Progress, Restart
from model.conform.observe import Seen, key, observe, with_a_stranger, with_one_that_left
from spec import autoscale
from spec import scheduler_claims as claims
from spec.logic import Action, Finite, Property
from spec.scheduler import ACTIONS as EVERY_ACTION
from spec.scheduler import Phase, State, is_live, is_running, may_be_stale

ACTIONS: dict[str, Action] = {action.name: action for action in EVERY_ACTION}


class Violation(Exception):
    """A step broke a claim of the specification, or is no step of it (`claim` is then "conformance").

    `claims` names all that the same step broke, the first of them included.
    """

    def __init__(self, claim: str, sentence: str, detail: str) -> None:
        super().__init__(f"{claim}: {sentence} {detail}")
        self.claim = claim
        self.sentence = sentence
        self.detail = detail
        self.claims: tuple[str, ...] = (claim,)


Wrongs: TypeAlias = Iterator[Violation]


def settle(wrongs: Iterable[Violation]) -> None:
    """Raise the first of the violations, if there is one, with the names of all."""
    found = list(wrongs)
    if found:
        found[0].claims = tuple(dict.fromkeys(wrong.claim for wrong in found))
        raise found[0]


def nonconforming(detail: str) -> Violation:
    """The step is none that the specification allows."""
    return Violation("conformance", "Every step of the code is a step that the specification allows.", detail)


def action_of(s: State, event: Event, outcome: Outcome) -> tuple[str, tuple[Any, ...]]:
    """The one action of the specification that could be meant, with its arguments; Violation if there is none."""
    match event, outcome:
        case Admit(job), Placed(lease, None):
            return "place", (job.request_id, lease.slot)
        case Admit(job), Placed(_, victim) if victim is not None:
            return "preempt", (job.request_id, victim.request_id)
        case Admit(job), Queued():
            return "enqueue", (job.request_id,)
        case Admit(job), Refused(Reason.LIVE):
            return "refuse_the_live_id", (job.request_id,)
        case Admit(job), Refused(Reason.FULL):
            return "refuse_the_full_queue", (job.request_id,)
        case Complete(lease), Ended(_, None):
            return "finish_to_idle", (lease.request_id,)
        case Complete(lease), Ended(_, heir) if heir is not None:
            return "finish_with_an_heir", (lease.request_id, heir.request_id)
        case Progress(lease, steps), Progressed():
            return "work", (lease.request_id, steps)
        case Progress(lease, steps), Refused(Reason.STEPS):
            return "refuse_the_steps", (lease.request_id, steps)
        case Complete(lease) | Progress(lease), Stale():
            return "stale", (lease.request_id, lease.slot, lease.run)
        case Cancel(request_id), Cancelled(_, None):
            waits = s.phase[key(request_id)] == Phase.QUEUED
            return "cancel_queued" if waits else "cancel_to_idle", (request_id,)
        case Cancel(request_id), Cancelled(_, heir) if heir is not None:
            return "cancel_with_an_heir", (request_id, heir.request_id)
        case Cancel(request_id), Nothing():
            return "cancel_nothing", (request_id,)
        case Restart(), Restarted():
            return "restart", ()
    raise nonconforming(f"{outcome} is no answer to {event}.")


def lies(s: State, t: State, event: Event, outcome: Outcome, jobs: Mapping[RequestId, Job]) -> Iterator[str]:
    """What the outcome says that is not so in the states before and after; `jobs` are those that were admitted."""
    leases: tuple[Lease, ...] = ()
    match outcome:
        case Placed(lease, preempted):
            leases = (lease,)
            if isinstance(event, Admit) and lease.request_id != event.job.request_id:
                yield f"{lease} is not the lease of the newcomer"
            if preempted is not None and jobs.get(preempted.request_id) != preempted:
                yield f"{preempted} is not the job that was preempted"
        case Ended(request_id, heir) | Cancelled(request_id, heir):
            leases = (heir,) if heir else ()
            named = event.lease.request_id if isinstance(event, Complete) else getattr(event, "request_id", None)
            if named != request_id:
                yield f"it names {request_id!r} though the event names {named!r}"
        case Restarted():
            leases = outcome.leases
            if [key(lease.slot) for lease in leases] != [slot for slot in t.slots if t.busy[slot]]:
                yield "it does not have one lease for each busy slot, in their order"
        case Progressed(remaining):
            if isinstance(event, Progress) and t.remaining[key(event.lease.request_id)] != remaining:
                yield f"it says that {remaining} steps remain"
        case Queued(ticket):
            if isinstance(event, Admit) and t.ticket[key(event.job.request_id)] != ticket:
                yield f"it says that the ticket is {ticket}"
    for lease in leases:
        job = key(lease.request_id)
        if t.slot[job] != key(lease.slot) or t.run[job] != lease.run:
            yield f"{lease} is no lease of the state after"
    if isinstance(event, Complete | Progress) and not isinstance(outcome, Stale):
        lease = event.lease
        if may_be_stale(s, key(lease.request_id), key(lease.slot), lease.run):
            yield f"{lease} is stale, yet it was taken"


def differences(meant: State, found: State) -> Iterator[str]:
    """Where two states differ, in what has a meaning."""
    if meant is found:
        return
    for name in ("capacity", "reserve", "size", "waiting", "next_ticket", "next_run"):
        if getattr(meant, name) != getattr(found, name):
            yield f"{name} is {getattr(found, name)}, expected {getattr(meant, name)}"
    for job in {*meant.jobs, *found.jobs}:
        if meant.phase[job] != found.phase[job]:
            yield f"{job!r} is {found.phase[job].value}, expected {meant.phase[job].value}"
            continue
        tables: tuple[str, ...] = ("slot", "run") if is_running(meant, job) else ("ticket",)
        tables += ("urgency", "priority", "work", "remaining", "served")
        for name in tables if is_live(meant, job) else ():
            if getattr(meant, name)[job] != getattr(found, name)[job]:
                yield f"{name} of {job!r} is {getattr(found, name)[job]}, expected {getattr(meant, name)[job]}"
    for slot in meant.slots:
        for name in ("busy", "holder") if meant.busy[slot] else ("busy",):
            if getattr(meant, name)[slot] != getattr(found, name)[slot]:
                yield f"{name} of slot {slot} is {getattr(found, name)[slot]}, expected {getattr(meant, name)[slot]}"


def misstated(after: Snapshot, jobs: Mapping[RequestId, Job]) -> Iterator[str]:
    """What a snapshot says that cannot be, whatever the state is: `jobs` are those that were admitted."""
    for slot, run in enumerate(after.running):
        if run is not None and run.slot != slot:
            yield f"the run in slot {slot} says that it is in slot {run.slot}"
    if any(first.ticket >= second.ticket for first, second in pairwise(after.queue)):
        yield "the queue is not in the order of its tickets"
    for entry in (*after.running, *after.queue):
        if entry is not None and jobs.get(entry.job.request_id) != entry.job:
            yield f"{entry.job} is not the job that was admitted"


def broken(properties: Iterable[Property], states: tuple[State, ...], action: str, about: tuple[Any, ...]) -> Wrongs:
    """The properties that do not hold of the states: of one, of two, or of two and the first argument of the action."""
    for each in properties:
        if (not each.about or action in each.about) and not each.claim(*states, *(about[:1] if each.about else ())):
            yield Violation(
                each.name, each.sentence, f"Broken by {action}{about}." if action else "Broken at the start."
            )


class Monitor:
    """Holds a scheduler to the specification, step by step, from a first snapshot on.

    What each job was served is booked here from the accepted events alone, and never read from the scheduler. `before`
    is the state from which the last step was judged, its newcomer included, and `state` the one after. `owed` are a
    policy's own claims of every state. What it `waives` is judged too, and counted in `waived` when it is broken, but
    raises nothing.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        *,
        urgency: Policy = by_priority,
        owed: tuple[Property, ...] = (),
        waives: frozenset[str] = frozenset(),
    ) -> None:
        self._urgency = urgency
        self._owed = owed
        self._waives = waives
        self.waived: Counter[str] = Counter()
        live = [entry for entry in (*snapshot.running, *snapshot.queue) if entry is not None]
        self._jobs: dict[RequestId, Job] = {entry.job.request_id: entry.job for entry in live}
        self._served: dict[Any, int] = {entry.job.request_id: entry.job.work - entry.remaining for entry in live}
        self._lowest: Any = min((entry.urgency for entry in live), default=None)
        self._seen = snapshot
        self.state = self.before = observe(snapshot, self._served, self._lowest)
        self._settle(broken(claims.ALWAYS + owed, (self.state,), "", ()))

    def copy(self) -> Monitor:
        """Another one that goes on from here."""
        other = copy(self)
        other._served = dict(self._served)
        other._jobs = dict(self._jobs)
        other.waived = Counter(self.waived)
        return other

    def judge(self, event: Event, outcome: Outcome, after: Snapshot) -> str:
        """The name of the action that the step was; Violation if it was none, or broke a claim."""
        s = self.before = self._met(event)
        action, about = action_of(s, event, outcome)
        self._book(s, event, outcome)
        t = self._observed(after)
        always = () if t is self.state and not self._waives else claims.ALWAYS + self._owed
        gone = outcome.request_id if isinstance(outcome, Ended | Cancelled) else None
        if gone is not None and key(gone) not in t.jobs:
            t = with_one_that_left(t, s, gone, Phase.ENDED if isinstance(outcome, Ended) else Phase.CANCELLED)
        self._settle(
            chain(
                broken(claims.STEPS, (s, t), action, about),
                broken(always, (t,), action, about),
                broken(claims.THEOREMS, (s,), action, about),
                self._nonconforming(s, t, event, outcome, action, about),
                (nonconforming(f"After {action}{about}: {wrong}.") for wrong in misstated(after, self._jobs)),
            )
        )
        if gone is not None:
            self._served.pop(gone, None)
            self._jobs.pop(gone, None)
            t = replace(t, jobs=Finite(job for job in t.jobs if job != key(gone)))
        self.state = t
        return action

    def _observed(self, after: Snapshot) -> Seen:
        """The snapshot as a state; the very one that was judged last, if nothing that it is made of has changed."""
        last, self._seen = self._seen, after
        if after == last and self._lowest == self.state.lowest and self._served == self.state.served.entries:
            return self.state
        return observe(after, self._served, self._lowest)

    def _settle(self, wrongs: Iterable[Violation]) -> None:
        found = list(wrongs)
        self.waived.update(wrong.claim for wrong in found if wrong.claim in self._waives)
        settle(wrong for wrong in found if wrong.claim not in self._waives)

    def _met(self, event: Event) -> Seen:
        """The state before, with the newcomer in it if the event brings one."""
        if not isinstance(event, Admit) or is_live(self.state, key(event.job.request_id)):
            return self.state
        urgency = self._urgency(event.job)
        self._lowest = urgency if self._lowest is None else min(self._lowest, urgency)
        return replace(with_a_stranger(self.state, event.job, urgency), lowest=self._lowest)

    def _book(self, s: State, event: Event, outcome: Outcome) -> None:
        match event, outcome:
            case Admit(job), Placed() | Queued():
                self._served[job.request_id] = 0
                self._jobs[job.request_id] = job
            case Progress(lease, steps), Progressed():
                self._served[lease.request_id] = self._served.get(lease.request_id, 0) + steps
            case Complete(lease), Ended():
                left = s.remaining[key(lease.request_id)]
                self._served[lease.request_id] = self._served.get(lease.request_id, 0) + left

    def _nonconforming(
        self, s: State, t: State, event: Event, outcome: Outcome, action: str, about: tuple[Any, ...]
    ) -> Wrongs:
        if not ACTIONS[action].guard(s, *about):
            yield nonconforming(f"{action}{about} may not happen here.")
        wrong = [*lies(s, t, event, outcome, self._jobs), *differences(ACTIONS[action].step(s, *about), t)]
        if wrong:
            yield nonconforming(f"After {action}{about}: {'; '.join(wrong)}.")


def judge_decision(
    warm: int, demand: int, idle: int, ttl: int, action: IntEnum, waives: frozenset[str] = frozenset()
) -> tuple[str, list[str]]:
    """The name of the action of `spec.autoscale` that the decision was, and what it broke of that which it `waives`;
    Violation if it broke anything else."""
    seen = autoscale.State(warm, demand, idle, ttl, autoscale.Decision.UNDECIDED, 0)
    decided = replace(seen, decision=autoscale.Decision[action.name])
    about = (warm, demand, idle, ttl)
    name = action.name.lower()
    found = list(broken(autoscale.ALWAYS, (decided,), name, about))  # type: ignore[arg-type]
    settle(wrong for wrong in found if wrong.claim not in waives)
    meant = next(each for each in autoscale.ACTIONS if each.name == name)
    if not found and not meant.guard(seen):
        raise nonconforming(f"{name} may not happen at warm={warm} demand={demand} idle={idle} ttl={ttl}.")
    return name, [wrong.claim for wrong in found]
