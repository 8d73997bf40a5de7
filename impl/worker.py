"""The closed loop as a pure controller: when to start the worker, use it, stop it, and when to leave it alone.

It is told what happened and answers with a command; it does nothing itself. Whoever drives it owes it this:

- `tick` comes last at its instant. What is told between two ticks belongs to the instant of the later one.
- SPAWN starts the process before anything else is told; a start that fails is an exit.
- REAP and STOP write into the lock file that a stop has begun, then end the whole process group. STOP also restarts the
  jobs that were in flight, as `Scheduler.restart` does; so does a new controller. Jobs are dispatched on SERVE alone.
- `gone` is told at every tick until the phase is COLD. The end of a process or of its group is told only when it is a
  fact, however late, often or out of order.
- A probe may say anything, but a time-out has to be UNKNOWN, never COLD: refusals are counted.
- Every event names the generation it belongs to, a probe the one that was current when it began. What is told of a
  worker that is over changes nothing and is answered with LATE.

Idle time counts from ready, from the last tick with demand and from the last report of work. A tick that does not know
the demand counts as one with demand, for what is not known is not zero (kedacore/keda#5008, knative/serving#8610). The
back-off counts from the confirmed end of the worker. An alarm comes with the command of a tick and changes no decision.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from impl.autoscale import Action, decide
from impl.checks import check_int, reject
from impl.probe import Verdict
from impl.worker_state import Command, Do, Phase, Settings, Snapshot, Why


class Controller:
    """One worker's life (nx_mesh_autoscale.nx:60 decides in COLD and WARM; the rest is ours).

    Bad input raises ValueError and changes nothing.
    """

    def __init__(self, settings: Settings, now: int) -> None:
        """No worker was ever started. `now` is the first instant, by a clock that never goes back."""
        self._s = Snapshot(settings, check_int("now", now), now, now)

    @classmethod
    def adopt(cls, settings: Settings, now: int, generation: int, *, living: bool, stopping: bool) -> Controller:
        """A new controller after another, which left a lock file: it names the generation, and says if a stop had
        begun. If any of its group is `living` it is ours; nothing else that answers on the port is."""
        self = cls(settings, now)
        phase = Phase.COLD if not living else Phase.STOPPING if stopping else Phase.STARTING
        self._set(generation=check_int("generation", generation, 1 if living else 0), phase=phase)
        return self

    @classmethod
    def restore(cls, snapshot: Snapshot) -> Controller:
        """The controller whose whole state this was."""
        self = cls(snapshot.settings, snapshot.now)
        self._s = snapshot
        return self

    def snapshot(self) -> Snapshot:
        """The whole state, as immutable values."""
        return self._s

    def tick(self, now: int, demand: int | None) -> Command:
        """The decision of this instant. `demand` counts what is queued and in flight; None is unknown."""
        check_int("now", now, self._s.now)
        if demand is not None:
            check_int("demand", demand, 0)
        self._pass_time(now, demand)
        alarm = self._alarm(demand)
        return replace(self._decide(demand), alarm=alarm)

    def probed(self, verdict: Verdict, generation: int) -> Command:
        """A probe of the port has ended. Refused connections count while WARM; an unknown ends their row."""
        if not isinstance(verdict, Verdict):
            reject("verdict", verdict, "an impl.probe.Verdict")
        if self._known(generation) < self._s.generation:
            return self._hold(Why.LATE)
        refused = self._s.phase is Phase.WARM and verdict is Verdict.COLD
        self._set(seen=verdict, refusals=self._s.refusals + 1 if refused else 0)
        if self._s.refusals >= self._s.settings.patience:
            return self._fail(Why.LOST)
        if self._s.phase is Phase.STARTING and verdict is Verdict.WARM:
            self._set(phase=Phase.WARM, touched=True, proven=False)
            return self._hold(Why.READY)
        return self._hold(Why.NOTED)

    def exited(self, generation: int) -> Command:
        """The process of the worker has ended, or could not be started. Others of its group may live on."""
        return self._hold(Why.LATE) if self._is_over(generation) else self._fail(Why.CRASHED)

    def gone(self, generation: int, port: Verdict = Verdict.COLD) -> Command:
        """None of the group is left; `port` is free (COLD), answers (WARM, then a stranger's) or is UNKNOWN, which
        confirms nothing. Before a stop had begun this is an exit, and has to be told again."""
        if not isinstance(port, Verdict):
            reject("port", port, "an impl.probe.Verdict")
        if not self._is_over(generation):
            return self._fail(Why.CRASHED)
        if generation < self._s.generation or self._s.phase is Phase.COLD:
            return self._hold(Why.LATE)
        if port is Verdict.UNKNOWN:
            return self._hold(Why.STOPPING)
        self._set(phase=Phase.COLD, seen=port, touched=True)
        return self._hold(Why.COLD if port is Verdict.COLD else Why.STRANGER)

    def progressed(self, generation: int) -> Command:
        """A job in flight reported steps done."""
        return self._report(generation)

    def job_ended(self, generation: int) -> Command:
        """A job in flight ended: the worker is of use, and the back-off over."""
        return self._report(generation, back_off=0, proven=True)

    def _report(self, generation: int, **shown: Any) -> Command:
        if self._is_over(generation):
            return self._hold(Why.LATE)
        if self._s.phase is Phase.STARTING:
            return self._hold(Why.EARLY)
        self._set(touched=True, **shown)
        return self._hold(Why.NOTED)

    def _pass_time(self, now: int, demand: int | None) -> None:
        s = self._s
        undecided = s.phase in (Phase.COLD, Phase.WARM) and (demand is None or s.seen is Verdict.UNKNOWN)
        self._set(
            now=now,
            since=now if s.touched or (s.phase is Phase.WARM and demand != 0) else s.since,
            quiet=now if s.touched or not demand else s.quiet,
            touched=False,
            blind=s.blind + 1 if undecided else 0,
        )

    def _alarm(self, demand: int | None) -> str | None:
        s = self._s
        elapsed, quiet, limit = s.now - s.since, s.now - s.quiet, s.settings.alarm_after
        if s.phase is Phase.COLD and s.seen is Verdict.WARM:
            return "a stranger answers on the port: no worker is started until it is gone"
        if s.phase is Phase.WARM and demand and quiet >= limit:
            return f"work is in flight or queued, and none has progressed for {quiet} s"
        if s.phase is Phase.STOPPING and elapsed >= limit:
            return f"the worker was told to stop {elapsed} s ago, and is not gone"
        if s.blind >= s.settings.patience:
            return f"demand or probe were unknown at {s.blind} ticks in a row: nothing is decided"
        return None

    def _decide(self, demand: int | None) -> Command:
        s, limits = self._s, self._s.settings
        if s.phase is Phase.STOPPING:
            return self._hold(Why.STOPPING)
        if s.phase is Phase.STARTING:
            overdue = s.now - s.since >= limits.start_budget
            return self._fail(Why.SLOW) if overdue else self._hold(Why.STARTING)
        if s.phase is Phase.WARM and demand and 0 < limits.hang_budget <= s.now - s.quiet:
            return self._fail(Why.HUNG)
        doubt = self._doubt(demand)
        if doubt is not None:
            return self._hold(doubt)
        match decide(int(s.phase is Phase.WARM), int(demand != 0), s.now - s.since, limits.ttl):
            case Action.SPAWN:
                self._set(phase=Phase.STARTING, generation=s.generation + 1, since=s.now)
                return self._command(Do.SPAWN, Why.WANTED)
            case Action.SERVE:
                return self._command(Do.SERVE, Why.WANTED)
            case Action.REAP:
                return self._stop(Do.REAP, Why.IDLE)
            case _:
                return self._hold(Why.UNWANTED)

    def _doubt(self, demand: int | None) -> Why | None:
        """Why the policy cannot be asked now."""
        s = self._s
        if s.seen is Verdict.UNKNOWN:
            return Why.UNKNOWN_PROBE
        if s.phase is Phase.COLD and s.seen is Verdict.WARM:
            return Why.STRANGER
        if s.phase is Phase.WARM and s.seen is Verdict.COLD:
            return Why.REFUSED
        if demand is None:
            return Why.UNKNOWN_DEMAND
        if s.phase is Phase.COLD and s.now - s.since < s.back_off:
            return Why.BACKING_OFF
        return None

    def _fail(self, why: Why) -> Command:
        s, limits = self._s, self._s.settings
        if s.phase is Phase.STARTING or not s.proven:
            self._set(back_off=min(2 * s.back_off or limits.shortest_back_off, limits.longest_back_off))
        return self._stop(Do.STOP, why)

    def _stop(self, do: Do, why: Why) -> Command:
        self._set(phase=Phase.STOPPING, refusals=0, touched=True)
        return self._command(do, why)

    def _known(self, generation: int) -> int:
        if check_int("generation", generation, 0) > self._s.generation:
            reject("generation", generation, f"at most {self._s.generation}, that of the last start")
        return generation

    def _is_over(self, generation: int) -> bool:
        return self._known(generation) < self._s.generation or self._s.phase in (Phase.COLD, Phase.STOPPING)

    def _hold(self, why: Why) -> Command:
        return self._command(Do.HOLD, why)

    def _command(self, do: Do, why: Why) -> Command:
        return Command(do, why, self._s.generation)

    def _set(self, **changes: Any) -> None:
        self._s = replace(self._s, **changes)
