"""Moments of the shipped controller: what it knows, up to the origin of its clock and the number of its starts.

The controller must look at no instant but for its distance from now, and at that only as far as its settings reach; at
no generation but to compare it with the last. So all that it must take for the same has one frame, in which now is 0
and the last start is the first. That it does is not assumed: `elsewhere` is another snapshot in the same frame, at
which every step is tried again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from impl.probe import Verdict
from impl.worker_state import Phase, Snapshot
from model.conform.worker_events import Event, Tick
from spec.worker_state import Place, State

LATER, LONGER, MORE = 1_000, 7, 5
"""What is added elsewhere: to every instant, to a time that is long enough, to counts."""
TRUTH = {Phase.COLD: Verdict.COLD, Phase.STARTING: Verdict.WARM, Phase.WARM: Verdict.WARM, Phase.STOPPING: Verdict.COLD}
"""What a probe of the present worker says when it answers."""


class Moment(NamedTuple):
    """A snapshot in its frame; beside it whether the group and the process of the last worker live, and how many jobs
    the checker keeps."""

    snapshot: Snapshot
    alive: bool = False
    runs: bool = False
    waiting: int = 0
    in_flight: int = 0


def moment_of(snapshot: Snapshot, state: State) -> Moment:
    """The moment of a controller that knows this, among the processes and jobs of the state."""
    last, places = snapshot.generation, [state.place[job] for job in state.jobs]
    waiting, in_flight = places.count(Place.WAITING), places.count(Place.IN_FLIGHT)
    return Moment(framed(snapshot), state.alive[last], state.runs[last], waiting, in_flight)


def framed(snapshot: Snapshot) -> Snapshot:
    """The snapshot in its frame. Clocks reach back no farther than they matter, and what does not matter is plain."""
    phase, touched = snapshot.phase, snapshot.touched
    since = 0 if touched else min(snapshot.now - snapshot.since, _reach(snapshot))
    quiet = 0 if touched or phase is not Phase.WARM else min(snapshot.now - snapshot.quiet, _patience(snapshot))
    return replace(
        snapshot,
        now=0,
        since=-since,
        quiet=-quiet,
        generation=min(snapshot.generation, 1),
        seen=snapshot.seen if phase in (Phase.COLD, Phase.WARM) else Verdict.UNKNOWN,
        proven=snapshot.proven and phase is Phase.WARM,
        blind=min(snapshot.blind, snapshot.settings.patience),
    )


def elsewhere(snapshot: Snapshot) -> Snapshot:
    """Another snapshot in the frame of this one, which is in it: later, after more starts if there were any, longer ago
    where it is long ago already, and with other values where nothing may look."""
    phase, touched = snapshot.phase, snapshot.touched
    since, quiet = -snapshot.since, -snapshot.quiet
    forgotten = touched or phase is not Phase.WARM
    return replace(
        snapshot,
        now=LATER,
        since=LATER - since - (LONGER if touched or since == _reach(snapshot) else 0),
        quiet=LATER - quiet - (LONGER if forgotten or quiet == _patience(snapshot) else 0),
        generation=snapshot.generation + starts_elsewhere(snapshot),
        seen=snapshot.seen if phase in (Phase.COLD, Phase.WARM) else Verdict.WARM,
        proven=snapshot.proven or phase is not Phase.WARM,
        blind=snapshot.blind + (MORE if snapshot.blind == snapshot.settings.patience else 0),
    )


def starts_elsewhere(snapshot: Snapshot) -> int:
    """How many more starts there were elsewhere; none if there was none."""
    return MORE if snapshot.generation else 0


def shifted(event: Event, seconds: int, generations: int) -> Event:
    """The same event so much later, and so many generations on."""
    if isinstance(event, Tick):
        return replace(event, now=event.now + seconds)
    return replace(event, generation=event.generation + generations)


def _reach(snapshot: Snapshot) -> int:
    """How far back the clock of the phase is looked at."""
    limits = snapshot.settings
    return {
        Phase.COLD: snapshot.back_off,
        Phase.STARTING: limits.start_budget,
        Phase.WARM: limits.ttl,
        Phase.STOPPING: limits.alarm_after,
    }[snapshot.phase]


def _patience(snapshot: Snapshot) -> int:
    """How far back the clock of work is looked at."""
    return max(snapshot.settings.alarm_after, snapshot.settings.hang_budget)
