"""Conformance of the loop: every step that the shipped controller takes is a step that the specification allows.

The controller knows neither processes nor jobs, so the checker keeps them. Like the specification it takes for true
that a process whose end is told has ended, and the demand: what the world must have done comes first, as steps of the
world. What a command does to processes and jobs is read from the command, never from the step that the specification
takes. Only whether there are jobs matters: it keeps no more than a few, however large the demand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from itertools import chain
from typing import Any

from impl.probe import Verdict
from impl.worker_state import Command, Do, Phase, Snapshot, Why
from model.conform.monitor import broken, nonconforming, settle
from model.conform.worker_events import Adopted, Event, Exited, Gone, JobEnded, Probed, Progressed, Tick
from spec import worker_claims as claims
from spec import worker_state as spec
from spec.logic import Action, Finite, Table
from spec.worker import ACTIONS as EVERY_ACTION
from spec.worker_state import Demand, Place, State, is_in_flight, is_live, is_starting, is_waiting, is_warm

ACTIONS: dict[str, Action] = {action.name: action for action in EVERY_ACTION}
ORDERS = {"spawn": Do.SPAWN, "serve": Do.SERVE, "reap": Do.REAP, **dict.fromkeys(claims.FAILURES, Do.STOP)}
"""What the controller has to say at an action; at all others HOLD."""
CROWD = 2
"""As many jobs as the checker keeps at most."""
ENDLESS = 2**62
"""The work of a job of which only its end is told."""


def demand_of(number: int | None) -> Demand:
    """What the specification calls this demand."""
    return Demand.UNKNOWN if number is None else Demand.SOME if number else Demand.NONE


def action_of(s: State, event: Event, command: Command | None) -> tuple[str, tuple[Any, ...]]:
    """The one action of the specification that could be meant, with its arguments; Violation if there is none."""
    do, why = (command.do, command.why) if command else (None, None)
    match event, do:
        case Adopted(), None:
            return "controller_restart", ()
        case Tick(now, demand), Do.STOP:
            return "give_up" if is_starting(s) else "renew", (demand_of(demand), now)
        case Tick(now, demand), Do.HOLD | Do.SPAWN | Do.SERVE | Do.REAP:
            return do.value, (demand_of(demand), now)
        case Probed() | Exited() | Gone() | Progressed() | JobEnded(), Do.HOLD if why is Why.LATE:
            return "late", (event.generation,)
        case Probed(_, generation), _ if generation < s.generation:
            return "late", (generation,)
        case Probed(Verdict.UNKNOWN), Do.HOLD:
            return "see_nothing", ()
        case Probed(Verdict.WARM), Do.HOLD if is_starting(s):
            return "become_ready", ()
        case Probed(Verdict.COLD), Do.HOLD if is_warm(s):
            return "count_a_refusal", ()
        case Probed(Verdict.COLD), Do.STOP | Do.REAP:
            return "lose", ()
        case Probed(verdict), Do.HOLD:
            return "note", (spec.Verdict[verdict.name],)
        case Exited() | Gone(), Do.HOLD | Do.STOP | Do.REAP if is_starting(s) or is_warm(s):
            return "crash", (event.generation,)
        case Gone(generation, Verdict.UNKNOWN), Do.HOLD:
            return "late", (generation,)
        case Gone(generation, port), Do.HOLD:
            return "confirm", (generation, spec.Verdict[port.name])
        case Progressed() | JobEnded(), Do.HOLD if why is Why.EARLY:
            return "early", (event.generation,)
        case Progressed(), Do.HOLD:
            return "work", (_job_at_work(s), 1)
        case JobEnded(), Do.HOLD:
            return "finish", (_job_at_work(s),)
    raise nonconforming(f"{command} is no answer to {event}.")


def _job_at_work(s: State) -> Any:
    """The job that a report is taken to be of: one in flight if there is any."""
    return max((job for job in s.jobs if is_live(s, job)), key=lambda job: bool(is_in_flight(s, job)))


def observe(snapshot: Snapshot, before: State, alarm: bool) -> State:
    """What the controller knows, in the specification's words, beside the processes and jobs of `before`."""
    settings = snapshot.settings
    return replace(
        before,
        ttl=settings.ttl,
        start_budget=settings.start_budget,
        patience=settings.patience,
        alarm_after=settings.alarm_after,
        hang_budget=settings.hang_budget,
        shortest=settings.shortest_back_off,
        longest=settings.longest_back_off,
        phase=spec.WorkerPhase[snapshot.phase.name],
        generation=snapshot.generation,
        seen=spec.Verdict[snapshot.seen.name],
        refusals=snapshot.refusals,
        now=snapshot.now,
        since=snapshot.since,
        quiet=snapshot.quiet,
        touched=snapshot.touched,
        back_off=snapshot.back_off,
        proven=snapshot.proven,
        blind=snapshot.blind,
        alarm=alarm,
    )


def differences(meant: State, found: State) -> Iterator[str]:
    """Where two states differ."""
    for field in fields(State):
        here, there = getattr(found, field.name), getattr(meant, field.name)
        if here != there:
            yield f"{field.name} is {here}, expected {there}"


class Monitor:
    """Holds a controller to the specification, step by step, from a first snapshot on. `taken` counts the actions that
    its steps were, those of the world among them."""

    def __init__(self, snapshot: Snapshot) -> None:
        living = Table({snapshot.generation: snapshot.phase is not Phase.COLD}, False)
        nobody: dict[str, Any] = {field.name: Table({}, 0) for field in fields(State)}
        nobody |= {"alive": living, "runs": living, "jobs": Finite(), "place": Table({}, Place.NEW)}
        self.state = observe(snapshot, State(**nobody), alarm=False)
        self.taken: Counter[str] = Counter()
        self._jobs = 0
        settle(self._wrong((self.state,), "", ()))

    def judge(self, event: Event, command: Command | None, after: Snapshot) -> str:
        """The name of the action that the step was; Violation if it was none, or broke a claim."""
        self._make_true(event, command)
        s = self.state
        action, about = action_of(s, event, command)
        t = self._found(event, command, after)
        settle(
            chain(
                broken(claims.STEPS, _any((s, t)), action, about),
                self._wrong((t,), action, about),
                self._nonconforming(t, event, command, action, about),
            )
        )
        self.taken[action] += 1
        self.state = t
        for job in self._where(is_waiting) if action == "serve" else ():
            self._world("dispatch", job)
        return action

    def _make_true(self, event: Event, command: Command | None) -> None:
        """Whatever the world must have done before."""
        match event:
            case Tick(_, int(demand)):
                live = self._where(is_live)
                for _ in range(min(demand, CROWD) - len(live)):
                    self._arrive()
                for job in live[min(demand, CROWD) :]:
                    self._world("cancel", job)
            case Exited(generation):
                self._end(generation, group=False)
            case Gone(generation):
                self._end(generation, group=True)
            case Adopted(generation, living=False):
                self._end(generation, group=True)
            case Adopted(generation) if not self.state.alive[generation]:
                raise nonconforming(f"Nothing is left of generation {generation}, yet it was adopted as living.")
            case Progressed() | JobEnded() if command and command.why not in (Why.LATE, Why.EARLY):
                if not self._where(is_live):
                    self._arrive()
                if is_warm(self.state) and not self._where(is_in_flight):
                    self._world("dispatch", self._where(is_waiting)[0])

    def _where(self, claim: Callable[[State, Any], Any]) -> list[Any]:
        return [job for job in self.state.jobs if claim(self.state, job)]

    def _world(self, action: str, *about: Any) -> None:
        if not ACTIONS[action].guard(self.state, *about):
            raise nonconforming(f"The world cannot have done {action}{about} here.")
        self.taken[action] += 1
        self.state = ACTIONS[action].step(self.state, *about)

    def _arrive(self) -> None:
        """A job comes; those that are over are forgotten."""
        job: Any = self._jobs
        self._jobs += 1
        live = self._where(is_live)
        kept = {
            name: Table({each: getattr(self.state, name)[each] for each in live}, getattr(self.state, name).default)
            for name in ("place", "work", "remaining", "served")
        }
        kept["work"] = kept["work"].put(job, ENDLESS)
        self.state = replace(self.state, jobs=Finite((*live, job)), **_any(kept))
        self._world("arrive", job)

    def _end(self, generation: int, group: bool) -> None:
        if self.state.runs[generation]:
            self._world("die", generation)
        if group and self.state.alive[generation]:
            self._world("vanish", generation)

    def _found(self, event: Event, command: Command | None, after: Snapshot) -> State:
        """The state after, as the snapshot says and the command makes it: STOP and a new controller restart what was in
        flight, REAP leaves it to die with the worker."""
        s = self.state
        alarm = command.alarm is not None if isinstance(event, Tick) and command else s.alarm
        t = observe(after, s, alarm and not isinstance(event, Adopted))
        if command is None or command.do in (Do.STOP, Do.REAP):
            then = Place.CANCELLED if command and command.do is Do.REAP else Place.WAITING
            moved = dict.fromkeys(self._where(is_in_flight), then)
            return replace(t, place=Table({**s.place.entries, **moved}, Place.NEW))
        if command.do is Do.SPAWN:
            return replace(t, alive=s.alive.put(command.generation, True), runs=s.runs.put(command.generation, True))
        if isinstance(event, Progressed | JobEnded) and command.why not in (Why.LATE, Why.EARLY):
            job = _job_at_work(s)
            steps = 1 if isinstance(event, Progressed) else s.remaining[job]
            return replace(
                t,
                remaining=s.remaining.put(job, s.remaining[job] - steps),
                served=s.served.put(job, s.served[job] + steps),
                place=s.place if isinstance(event, Progressed) else s.place.put(job, Place.DONE),
            )
        return t

    def _wrong(self, states: tuple[State, ...], action: str, about: tuple[Any, ...]) -> Iterator[Any]:
        yield from broken(claims.ALWAYS + claims.LEMMAS + claims.THEOREMS, _any(states), action, about)

    def _nonconforming(
        self, t: State, event: Event, command: Command | None, action: str, about: tuple[Any, ...]
    ) -> Iterator[Any]:
        if not ACTIONS[action].guard(self.state, *about):
            yield nonconforming(f"{action}{about} may not happen here.")
        wrong = list(differences(ACTIONS[action].step(self.state, *about), t))
        if command and command.do is not ORDERS.get(action, Do.HOLD):
            wrong.append(f"the command is {command.do.value}")
        if command and command.generation != t.generation:
            wrong.append(f"the command names generation {command.generation}")
        if command and command.alarm and not isinstance(event, Tick):
            wrong.append("an alarm was raised between two ticks")
        if wrong:
            yield nonconforming(f"After {action}{about}: {'; '.join(wrong)}.")


def _any(value: Any) -> Any:
    """The same value: `model.conform.monitor` is typed for the state of the scheduler."""
    return value
