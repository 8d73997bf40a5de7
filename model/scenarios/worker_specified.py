"""The executed specification of the loop in the place of the shipped controller: whatever it is told, it takes the one
action that is possible, in a world that did what is told of it."""

from __future__ import annotations

from typing import Any

from impl.checks import check_int
from impl.probe import Verdict
from impl.worker_state import Command, Do, Phase, Settings, Snapshot, Why
from model.conform.monitor import nonconforming
from model.conform.worker_events import Event, Exited, Gone, JobEnded, Probed, Progressed, Tick
from model.conform.worker_monitor import ACTIONS, ORDERS, Monitor, demand_of
from spec import worker_state as spec
from spec.worker_state import is_in_flight, is_stopping, is_waiting, is_warm

AT_A_TICK = ("spawn", "serve", "reap", "give_up", "renew", "hold")


class SpecifiedController(Monitor):
    """It is told and answers like `impl.worker.Controller`, but for the reasons, which the specification does not give.
    An event for which not exactly one action is possible is a Violation."""

    def __init__(self, settings: Settings, now: int) -> None:
        self._settings = settings
        super().__init__(Snapshot(settings, now, now, now))

    def snapshot(self) -> Snapshot:
        """The state, in the words of the shipped controller."""
        s = self.state
        return Snapshot(
            self._settings,
            s.now,
            s.since,
            s.quiet,
            Phase[s.phase.name],
            s.generation,
            Verdict[s.seen.name],
            s.refusals,
            s.touched,
            s.back_off,
            s.proven,
            s.blind,
        )

    def tick(self, now: int, demand: int | None) -> Command:
        """The decision of this instant. A demand or a time that the specification does not speak of is a ValueError."""
        check_int("now", now, self.state.now)
        if demand is not None:
            check_int("demand", demand, 0)
        return self._take(Tick(now, demand), *((action, demand_of(demand), now) for action in AT_A_TICK))

    def probed(self, verdict: Verdict, generation: int) -> Command:
        """A probe of the port has ended."""
        event = Probed(verdict, generation)
        if generation < self.state.generation:
            return self._take(event, ("late", generation))
        if verdict is Verdict.UNKNOWN:
            return self._take(event, ("see_nothing",))
        others = (("become_ready",),) if verdict is Verdict.WARM else (("count_a_refusal",), ("lose",))
        return self._take(event, ("note", spec.Verdict[verdict.name]), *others)

    def exited(self, generation: int) -> Command:
        """The process of the worker has ended."""
        return self._take(Exited(generation), ("crash", generation), ("late", generation))

    def gone(self, generation: int, port: Verdict = Verdict.COLD) -> Command:
        """None of the group is left. A stop that is confirmed is over: it is not put off as known already."""
        confirm = ("confirm", generation, spec.Verdict[port.name])
        confirmed = generation == self.state.generation and is_stopping(self.state) and port is not Verdict.UNKNOWN
        others = (confirm,) if confirmed else (("crash", generation), ("late", generation))
        return self._take(Gone(generation, port), *others)

    def progressed(self, generation: int) -> Command:
        """A job in flight reported steps done."""
        return self._report(Progressed(generation), "work", 1)

    def job_ended(self, generation: int) -> Command:
        """A job in flight ended."""
        return self._report(JobEnded(generation), "finish")

    def _report(self, event: Progressed | JobEnded, action: str, *steps: int) -> Command:
        others = [("late", event.generation), ("early", event.generation)]
        if is_warm(self.state) and event.generation == self.state.generation:
            self._make_true(event, Command(Do.HOLD, Why.NOTED, event.generation))
            others.append((action, self._where(is_in_flight)[-1], *steps))
        return self._take(event, *others)

    def _take(self, event: Event, *meant: tuple[Any, ...]) -> Command:
        """The one action among those meant that is possible."""
        self._make_true(event, None)
        possible = [(action, about) for action, *about in meant if ACTIONS[action].guard(self.state, *about)]
        if len(possible) != 1:
            raise nonconforming(f"Of {meant}, these are possible: {possible}; expected exactly one.")
        [(action, about)] = possible
        self.state = ACTIONS[action].step(self.state, *about)
        for job in self._where(is_waiting) if action == "serve" else ():
            self._world("dispatch", job)
        alarm = "an alarm" if isinstance(event, Tick) and self.state.alarm else None
        return Command(ORDERS.get(action, Do.HOLD), Why.NOTED, self.state.generation, alarm)
