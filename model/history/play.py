"""Histories played on a scheduler, each step held to the specification and kept with the states around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from impl.jobs import Job, Lease, Outcome, Policy, RequestId, Snapshot, by_priority
from impl.scheduler import Scheduler
from model.conform.events import Admit, Cancel, Complete, Event, Progress, Restart, apply
from model.conform.monitor import Monitor, Violation, nonconforming
from model.conform.observe import Seen, observe
from model.history.happenings import Happening
from model.policy.file import PolicyError
from spec.logic import Property


@dataclass(frozen=True)
class Step:
    """What happened, what came of it, and how it was judged.

    The first step of a play is the start, at which nothing happens. `snapshot` is None if the code raised. `before` and
    `after` are the states of the specification that the claims were made of, `after` None if no step could be meant;
    `action` and `about` are what the specification calls it, with its arguments. `wrongs` are all the claims that it
    broke, waived ones among them; `violation` is the first that counts. `owed` are a policy's own claims.
    """

    number: int
    happening: Happening | None = None
    event: Event | None = None
    outcome: Outcome | None = None
    snapshot: Snapshot | None = None
    before: Seen | None = None
    after: Seen | None = None
    action: str = ""
    about: tuple[Any, ...] = ()
    wrongs: tuple[Violation, ...] = ()
    violation: Violation | None = None
    owed: tuple[Property, ...] = ()


def play(
    history: Iterable[Happening],
    scheduler: Scheduler,
    urgency: Policy = by_priority,
    *,
    owed: tuple[Property, ...] = (),
    waives: frozenset[str] = frozenset(),
) -> list[Step]:
    """The start and every event, up to the first that breaks a claim. The scheduler has the same `urgency`; `owed` and
    `waives` are those of its policy. Raises PolicyError if the policy does, and nothing else of the code's doing."""
    snapshot = scheduler.snapshot()
    try:
        recorder = _Recorder(snapshot, urgency=urgency, owed=owed, waives=waives)
    except Violation as violation:
        state = observe(snapshot, {}, None)
        return [Step(0, snapshot=snapshot, after=state, wrongs=(violation,), violation=violation, owed=owed)]
    steps = [Step(0, snapshot=snapshot, after=recorder.state, owed=owed)]
    leases = Leases()
    for number, happening in enumerate(history, 1):
        step = _met(number, happening, scheduler, recorder, leases)
        steps.append(replace(step, owed=owed))
        if step.violation is not None or step.snapshot is None:
            break
        leases.see(step.snapshot)
    return steps


def _met(number: int, happening: Happening, scheduler: Scheduler, recorder: _Recorder, leases: Leases) -> Step:
    event = leases.event(happening)
    outcome, snapshot, violation = None, None, None
    recorder.begin()
    try:
        outcome = apply(scheduler, event)
        snapshot = scheduler.snapshot()
        recorder.judge(event, outcome, snapshot)
    except Violation as found:
        violation = found
    except PolicyError:
        raise
    except Exception as error:  # whatever a broken scheduler raises is a finding
        violation = nonconforming(f"It raised {error!r}.")
    noted = {"wrongs": (violation,) if violation else (), **recorder.noted()}
    return Step(number, happening, event, outcome, snapshot, violation=violation, **noted)


class Leases:
    """The leases that each job was given so far, in order."""

    def __init__(self) -> None:
        self._given: dict[RequestId, list[Lease]] = {}
        self._present: dict[RequestId, Lease] = {}

    def __iter__(self) -> Iterator[Lease]:
        for given in self._given.values():
            yield from given

    def see(self, snapshot: Snapshot) -> None:
        """Take note of the leases of all running jobs."""
        self._present = {run.job.request_id: run.lease for run in snapshot.running if run is not None}
        for name, lease in self._present.items():
            given = self._given.setdefault(name, [])
            if lease not in given[-1:]:
                given.append(lease)

    def of(self, job: RequestId, run: int | None) -> Lease:
        """The lease of that run of the job, None being the last; one that nobody has if there is none."""
        given = self._given.get(job, [])
        if run is None and given:
            return given[-1]
        if run is not None and 0 <= run < len(given):
            return given[run]
        return Lease(self._present[job].slot if job in self._present else 0, job, -1)

    def run_of(self, lease: Lease) -> int | None:
        """The inverse: which run of its job the lease is of."""
        given = self._given.get(lease.request_id, [])
        return None if given[-1:] == [lease] else given.index(lease) if lease in given else -1

    def event(self, happening: Happening) -> Event:
        """The event that the scheduler is to meet."""
        details = dict(happening.details)
        if happening.job is None:
            return Restart()
        match happening.name:
            case "admit":
                return Admit(Job(happening.job, **details))
            case "cancel":
                return Cancel(happening.job)
        lease = self.of(happening.job, details.get("run"))
        return Progress(lease, details["steps"]) if happening.name == "progress" else Complete(lease)


class _Recorder(Monitor):
    """A monitor that notes what it judges."""

    _noted: dict[str, Any]

    def begin(self) -> None:
        """Forget the step before."""
        self.before, self._noted = self.state, {}

    def noted(self) -> dict[str, Any]:
        """What of a Step is known by now."""
        return {"before": self.before, **self._noted}

    def _nonconforming(
        self, s: Any, t: Any, event: Event, outcome: Outcome, action: str, about: tuple[Any, ...]
    ) -> Iterator[Violation]:
        self._noted = {"after": t, "action": action, "about": about}
        return super()._nonconforming(s, t, event, outcome, action, about)

    def _settle(self, wrongs: Iterable[Violation]) -> None:
        found = tuple(wrongs)
        self._noted = {**getattr(self, "_noted", {}), "wrongs": found}
        super()._settle(found)
