"""Replays arrivals on a virtual clock: jobs do their work in the slots, and the worker starts and stops on demand.

At one instant: the worker is ready, then completions, then arrivals, then the tick. The tick of the worker's loop comes
at every whole second and at once when demand begins; it asks `decide` while the worker is cold or warm, never while it
starts. A stop takes no time.

Before an arrival that finds every slot busy the running jobs of lower urgency report their whole steps, so that the
one it preempts resumes with what is left. The step cut in two is done again, or else the job resumes within it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from heapq import heappop, heappush
from typing import NamedTuple

from impl.autoscale import Action
from impl.jobs import Ended, Job, Lease, Outcome, Placed, Policy, Queued, RequestId, Urgency, by_priority
from model.conform.events import Admit, Complete, Event, Progress
from model.simulate.ticks import SECOND, steps_in, ticks_for

PATIENCE = 43_200
"""So many seconds, or four times the ttl or the cold start if that is more, are too long for nothing to happen."""


class Phase(Enum):
    """Of the worker."""

    COLD = "cold"
    STARTING = "starting"
    WARM = "warm"


@dataclass(slots=True)
class Story:
    """What became of one job. `left` in steps; `started` (its first work on a warm worker) and `ended` in ticks, and so
    is `head_start`, the part of the next step that it has done already."""

    job: Job
    left: int
    admitted: bool = False
    started: int | None = None
    ended: int | None = None
    ends: int = 0
    preemptions: int = 0
    head_start: int = 0


class Stay(NamedTuple):
    """A job was in its slot from one tick to another, when it was `cut` or had ended."""

    lease: Lease
    since: int
    until: int
    cut: bool


class Up(NamedTuple):
    """The worker held its VRAM from one tick to another; it was ready at the tick `ready`, if ever."""

    since: int
    ready: int | None
    until: int


@dataclass(slots=True)
class Run:
    """A job in its slot, placed at tick `placed`. Its work began at tick `since`, with `left` steps to do; None while
    the worker is cold."""

    lease: Lease
    story: Story
    placed: int
    since: int | None = None
    left: int = 0


class Simulation:
    """One worker with `slots` slots, cold at tick 0, under the scheduler `meet`, which goes by `urgency`, and the
    autoscale policy `decide`.

    `rates` in steps a second by modality, `ttl` and `cold_start` in seconds; `exact` lets a preempted job resume in
    mid-step.

    `resident` counts the ticks in which the worker held its VRAM, starting or warm; `redone` those of steps done again.
    `stays` are the jobs in their slots, `ups` the worker in its VRAM, each in the order in which they ended.
    """

    def __init__(
        self,
        slots: int,
        rates: Mapping[str, int],
        *,
        ttl: int,
        cold_start: int,
        exact: bool = False,
        meet: Callable[[Event], Outcome],
        decide: Callable[[int, int, int, int], Action],
        urgency: Policy = by_priority,
    ) -> None:
        self.slots, self.rates, self.ttl, self.cold_start, self.exact = slots, rates, ttl, cold_start, exact
        self.meet, self.decide, self.urgency = meet, decide, urgency
        self.stories: dict[RequestId, Story] = {}
        self.live = 0
        self.now = 0
        self.phase = Phase.COLD
        self.starts = 0
        self.reaps = 0
        self.resident = 0
        self.redone = 0
        self.stays: list[Stay] = []
        self.ups: list[Up] = []
        self._runs: dict[int, Run] = {}
        self._ends: list[tuple[int, int, int]] = []  # (end, slot, run), with runs that were cut among them
        self._spawned = 0
        self._idle_since = 0
        self._latest = 0

    def run(self, jobs: Iterable[Job]) -> None:
        """Replay `jobs`, in order of arrival, until every job has ended and the worker is cold again.

        It also returns when the jobs that are left can never end: `live` then stays above 0. And it returns when for so
        long nobody came and no job ended that the policy will never start or stop the worker as it should.
        """
        arrivals = iter(jobs)
        coming = next(arrivals, None)
        tick = 0
        patience = max(PATIENCE, 4 * self.ttl, 4 * self.cold_start) * SECOND
        while coming is not None or self.live or self.phase is not Phase.COLD:
            end = self._next_end()
            if coming is None and end is None and self.live and self.phase is Phase.WARM:
                return
            if coming is None and end is None and self.now > self._latest + patience:
                if self.phase is not Phase.COLD:
                    self._leave()
                return
            ready = self._spawned + self.cold_start * SECOND if self.phase is Phase.STARTING else None
            arrival = None if coming is None else coming.arrived
            self.now = min(instant for instant in (ready, end, arrival, tick) if instant is not None)
            wanted = self.live > 0
            if ready == self.now:
                self._get_ready()
            while self._next_end() == self.now:
                self._end(self._runs[self._ends[0][1]])
                self._latest = self.now
            while coming is not None and coming.arrived == self.now:
                self._arrive(coming)
                self._latest = self.now
                coming = next(arrivals, None)
            if wanted or self.live:
                self._idle_since = self.now
            if tick == self.now or (self.live and not wanted):
                self._tick()
            if tick == self.now:
                tick += SECOND

    def _tick(self) -> None:
        if self.phase is Phase.STARTING:
            return
        idle = (self.now - self._idle_since) // SECOND
        action = self.decide(int(self.phase is Phase.WARM), int(self.live > 0), idle, self.ttl)
        if action is Action.SPAWN:
            self.phase = Phase.STARTING
            self._spawned = self.now
            self.starts += 1
        elif action is Action.REAP:
            self._leave()
            self.phase = Phase.COLD
            self.reaps += 1

    def _leave(self) -> None:
        self.resident += self.now - self._spawned
        ready = self._spawned + self.cold_start * SECOND
        self.ups.append(Up(self._spawned, ready if self.phase is Phase.WARM else None, self.now))

    def _get_ready(self) -> None:
        self.phase = Phase.WARM
        self._idle_since = self.now
        for run in self._runs.values():
            self._work(run)

    def _arrive(self, job: Job) -> None:
        story = self.stories[job.request_id] = Story(job, job.work)
        if len(self._runs) == self.slots:
            self._report(self.urgency(job))
        outcome = self.meet(Admit(job))
        story.admitted = isinstance(outcome, Placed | Queued)
        self.live += story.admitted
        if isinstance(outcome, Placed):
            if outcome.preempted is not None:
                self._cut(self._runs[outcome.lease.slot])
            self._place(outcome.lease)

    def _report(self, urgency: Urgency) -> None:
        for run in self._runs.values():
            if run.since is not None and self.urgency(run.story.job) < urgency:  # type: ignore[operator]
                left = run.left - steps_in(self.now - run.since, self.rates[run.story.job.modality])
                steps, run.story.left = run.story.left - left, left
                if steps:
                    self.meet(Progress(run.lease, steps))

    def _cut(self, run: Run) -> None:
        story = run.story
        self.stays.append(Stay(run.lease, run.placed, self.now, True))
        story.preemptions += 1
        if run.since is not None:
            done = ticks_for(run.left - story.left, self.rates[story.job.modality])
            part = max(0, self.now - run.since - done)
            if self.exact:
                story.head_start = part
            else:
                self.redone += part

    def _end(self, run: Run) -> None:
        del self._runs[run.lease.slot]
        outcome = self.meet(Complete(run.lease))
        if isinstance(outcome, Ended):
            self.stays.append(Stay(run.lease, run.placed, self.now, False))
            self.live -= 1
            run.story.left, run.story.ended = 0, self.now
            run.story.ends += 1
            if outcome.heir is not None:
                self._place(outcome.heir)

    def _place(self, lease: Lease) -> None:
        run = self._runs[lease.slot] = Run(lease, self.stories[lease.request_id], self.now)
        if self.phase is Phase.WARM:
            self._work(run)

    def _work(self, run: Run) -> None:
        story = run.story
        run.since, run.left = self.now - story.head_start, story.left
        if story.started is None:
            story.started = self.now
        end = run.since + ticks_for(run.left, self.rates[story.job.modality])
        heappush(self._ends, (end, run.lease.slot, run.lease.run))

    def _next_end(self) -> int | None:
        """The tick of the next completion; the ends of preempted runs are forgotten on the way."""
        while self._ends:
            end, slot, number = self._ends[0]
            if slot in self._runs and self._runs[slot].lease.run == number:
                return end
            heappop(self._ends)
        return None
