"""The commands that the specification of the loop has, computed fast: each event has one outcome
(`spec/worker_outcomes.py`), so that whoever knows the state can foretell it. Tests hold this to the specification step
by step, and so does `check`, wherever a log differs and at some events besides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, NamedTuple

from impl.probe import Verdict
from impl.worker_state import Command, Do, Phase, Settings, Snapshot, Why
from model.check import lines
from model.conform import worker_events as events
from model.conform.monitor import Violation, nonconforming
from model.conform.worker_monitor import ACTIONS, Monitor, action_of
from spec.worker_state import State

COLD, STARTING, WARM, STOPPING = Phase
ANSWERS, FREE, UNKNOWN = Verdict
VERDICTS = {verdict.value: verdict for verdict in Verdict}
STOPS = {"crashed", "lost", "slow", "hung"}
REASONS = {"spawn": {"wanted"}, "serve": {"wanted"}, "reap": {"idle"}, "stop": STOPS}
REASONS["hold"] = {why.name.lower() for why in Why} - STOPS - {"wanted", "idle"}
"""Which reasons a command may have. The specification gives none but for what is late or early."""
MOST_GENERATIONS = 1 << 20
"""Of which a log may speak at its beginning: a start a minute for two years. The specification looks at each."""
AROUND = {"late", "early"}
PLAIN = {do: reasons - AROUND for do, reasons in REASONS.items()}
STAYS = ("hold", "serve")


class Meant(NamedTuple):
    """The one answer there is. `why` is late, early, or any other (None)."""

    do: str
    of: int
    alarm: bool = False
    why: str | None = None


class FastWorker:
    """What the controller knows. `step` takes a line: if it agrees with the one command there is, None; else that
    command, and nothing changes; `meant` is the last of them, None if the line told all of it. What a line leaves open
    is not compared, and named in `missing`.

    Raises Violation for an event that cannot be.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.missing: set[str] = set()
        self.meant: Meant | None = None
        self._take(snapshot)
        self._steps: dict[type, Callable[[Any], tuple[Meant, dict[str, Any]]]] = {
            lines.Probed: self._probed,
            lines.Exited: self._exited,
            lines.Gone: self._gone,
            lines.Progressed: self._progressed,
            lines.JobEnded: self._job_ended,
        }

    def snapshot(self) -> Snapshot:
        """The state, in the words of the shipped controller."""
        return Snapshot(self.settings, **{name: getattr(self, name) for name in FIELDS})

    def step(self, line: Any) -> Meant | None:
        """Take the step, if the line agrees."""
        meant, changes = self._steps[type(line)](line)
        self.meant = meant
        if self._differs(line, meant):
            return meant
        for name, value in changes.items():
            setattr(self, name, value)
        return None

    def _differs(self, line: Any, meant: Meant) -> bool:
        if line.do is None:
            self.missing.add("command")
            return False
        if line.do != meant.do and (line.do != "stay" or meant.do not in STAYS):
            return True
        if line.alarm == lines.UNTOLD:
            self.missing.add("alarm")
        elif (line.alarm is not None) != meant.alarm:
            return True
        if line.why is None:
            self.missing.add("reason")
        elif line.why not in REASONS[meant.do] or meant.why != _around(line.why):
            return True
        if line.of is None:
            self.missing.add("generation")
        return line.of not in (None, meant.of)

    def _take(self, snapshot: Snapshot) -> None:
        self.settings = snapshot.settings
        self.now, self.since, self.quiet = snapshot.now, snapshot.since, snapshot.quiet
        self.phase, self.generation, self.seen = snapshot.phase, snapshot.generation, snapshot.seen
        self.refusals, self.touched, self.back_off = snapshot.refusals, snapshot.touched, snapshot.back_off
        self.proven, self.blind = snapshot.proven, snapshot.blind

    def tick(self, line: lines.Tick) -> Meant | None:
        """`step` for a tick, which most lines are."""
        self.meant = None
        limits, phase, seen, now, demand = self.settings, self.phase, self.seen, line.now, line.demand
        if now < self.now or (demand is not None and demand < 0):
            raise nonconforming(
                f"A tick at {now} with demand {demand}: expected {self.now} or later, and no less than 0."
            )
        since = now if self.touched or (phase is WARM and demand != 0) else self.since
        quiet = now if self.touched or not demand else self.quiet
        unsure = (demand is None or seen is UNKNOWN) and (phase is COLD or phase is WARM)
        blind = self.blind + 1 if unsure else 0
        alarm = blind >= limits.patience
        do, of, more = "hold", self.generation, None
        if phase is WARM:
            if demand:
                alarm = alarm or now - quiet >= limits.alarm_after
                hung = 0 < limits.hang_budget <= now - quiet
                do = "stop" if hung else "serve" if seen is ANSWERS else "hold"
            elif demand is not None and seen is ANSWERS and now - since >= limits.ttl:
                do, more = "reap", STOPPED
        elif phase is COLD:
            alarm = alarm or seen is ANSWERS
            if seen is FREE and demand and now - since >= self.back_off:
                do, of, more = "spawn", of + 1, {"phase": STARTING, "generation": of + 1}
                since = now
        elif phase is STOPPING:
            alarm = alarm or now - since >= limits.alarm_after
        elif now - since >= limits.start_budget:
            do = "stop"
        if line.do != do or line.of != of or (line.alarm is None) is alarm or line.why not in PLAIN[do]:
            self.meant = Meant(do, of, alarm)
            if self._differs(line, self.meant):
                return self.meant
        more = self._failed() if do == "stop" else more
        self.now, self.since, self.quiet, self.touched, self.blind = now, since, quiet, False, blind
        if more:
            for name, value in more.items():
                setattr(self, name, value)
        return None

    def probed(self, line: lines.Probed) -> Meant | None:
        """`step` for a probe, which most other lines are."""
        verdict = VERDICTS.get(line.verdict)
        if (
            line.generation == self.generation == line.of
            and (verdict is UNKNOWN or (verdict is ANSWERS and self.phase is not STARTING) or self.phase is COLD)
            and verdict is not None
            and line.do == "hold"
            and line.alarm is None
            and line.why in PLAIN["hold"]
        ):
            self.meant = None
            self.seen, self.refusals = verdict, 0
            return None
        return self.step(line)

    def _probed(self, line: lines.Probed) -> tuple[Meant, dict[str, Any]]:
        verdict = VERDICTS.get(line.verdict)
        if verdict is None:
            raise nonconforming(f"{line.verdict!r} is no verdict, expected one of {', '.join(VERDICTS)}.")
        if self._known(line.generation) < self.generation:
            return self._late()
        refusals = self.refusals + 1 if self.phase is WARM and verdict is Verdict.COLD else 0
        changes: dict[str, Any] = {"seen": verdict, "refusals": refusals}
        if refusals >= self.settings.patience:
            return Meant("stop", self.generation), changes | self._failed()
        if self.phase is STARTING and verdict is Verdict.WARM:
            changes |= {"phase": WARM, "touched": True, "proven": False}
        return Meant("hold", self.generation), changes

    def _exited(self, line: lines.Exited) -> tuple[Meant, dict[str, Any]]:
        return self._late() if self._is_over(line.generation) else (Meant("stop", self.generation), self._failed())

    def _gone(self, line: lines.Gone) -> tuple[Meant, dict[str, Any]]:
        port = VERDICTS.get(line.port)
        if port is None:
            raise nonconforming(f"{line.port!r} is no verdict, expected one of {', '.join(VERDICTS)}.")
        if not self._is_over(line.generation):
            return Meant("stop", self.generation), self._failed()
        if line.generation < self.generation or self.phase is COLD:
            return self._late()
        confirmed = {"phase": COLD, "seen": port, "touched": True}
        return Meant("hold", self.generation), {} if port is Verdict.UNKNOWN else confirmed

    def _progressed(self, line: lines.Progressed) -> tuple[Meant, dict[str, Any]]:
        return self._report(line.generation, {"touched": True})

    def _job_ended(self, line: lines.JobEnded) -> tuple[Meant, dict[str, Any]]:
        return self._report(line.generation, {"touched": True, "back_off": 0, "proven": True})

    def _report(self, generation: int, changes: dict[str, Any]) -> tuple[Meant, dict[str, Any]]:
        if self._is_over(generation):
            return self._late()
        if self.phase is STARTING:
            return Meant("hold", self.generation, why="early"), {}
        return Meant("hold", self.generation), changes

    def _failed(self) -> dict[str, Any]:
        limits = self.settings
        of_use = self.phase is WARM and self.proven
        longer = min(2 * self.back_off or limits.shortest_back_off, limits.longest_back_off)
        return STOPPED | ({} if of_use else {"back_off": longer})

    def _late(self) -> tuple[Meant, dict[str, Any]]:
        return Meant("hold", self.generation, why="late"), {}

    def _known(self, generation: int) -> int:
        if not 0 <= generation <= self.generation:
            raise nonconforming(f"Generation {generation} was never started; the last was {self.generation}.")
        return generation

    def _is_over(self, generation: int) -> bool:
        return self._known(generation) < self.generation or self.phase in (COLD, STOPPING)


FIELDS = [field.name for field in fields(Snapshot) if field.name != "settings"]
STOPPED: dict[str, Any] = {"phase": STOPPING, "refusals": 0, "touched": True}


def opened(line: lines.Open) -> Snapshot:
    """What a recorder of a worker began with. Raises ValueError for settings that cannot be."""
    settings = Settings(**{field.name: getattr(line, field.name) for field in fields(Settings)})
    if not 0 <= line.generation <= MOST_GENERATIONS:
        raise ValueError(f"generation is {line.generation}, expected 0 to {MOST_GENERATIONS}")
    if line.phase is None:
        phase = COLD if not line.living else STOPPING if line.stopping else STARTING
        return Snapshot(settings, line.now, line.now, line.now, phase, line.generation)
    told = {name: getattr(line, name) for name in FIELDS}
    return Snapshot(settings, **told | {"phase": Phase(line.phase), "seen": Verdict(line.seen)})


def serving(line: lines.Open, now: int, generation: int) -> Snapshot:
    """The state after a tick that serves, if a job has ended on that worker since the tick before."""
    settings = Settings(**{field.name: getattr(line, field.name) for field in fields(Settings)})
    return Snapshot(settings, now, now, now, WARM, generation, Verdict.WARM, touched=False, proven=True)


def follows(before: Snapshot, after: Snapshot, resumed: bool) -> bool:
    """A later recorder found what an earlier one left: exactly, or as a new controller that adopts."""
    if resumed:
        return replace(after, settings=before.settings) == before
    living = after.phase is not COLD
    stopping = after.phase is STOPPING
    same = after.generation == before.generation
    return same and (not living or (before.phase is not COLD and stopping == (before.phase is STOPPING)))


def told_apart(before: Snapshot, after: Snapshot, resumed: bool) -> tuple[str, str]:
    """What an earlier recorder left and a later one found, in words."""
    names = [name for name in FIELDS if getattr(before, name) != getattr(after, name)] if resumed else []
    more = [", ".join(f"{name} {getattr(each, name)}" for name in names) for each in (before, after)]
    was, now = (f"{each.phase.value} in generation {each.generation}" for each in (before, after))
    return (was, now) if not names else (f"{was} ({more[0]})", f"{now} ({more[1]})")


class Logged(Monitor):
    """Holds the lines of a log to the specification: the state after, which they do not tell, is that which the action
    that they claim leads to, be it allowed or not."""

    def _found(self, event: events.Event, command: Command | None, _after: Snapshot) -> State:
        action, about = action_of(self.state, event, command)
        state: State = ACTIONS[action].step(self.state, *about)
        told = isinstance(event, events.Tick) and command is not None
        return replace(state, alarm=command.alarm is not None) if told and command else state


def judge(before: Snapshot, line: Any, meant: Meant | None) -> Violation | None:
    """What is wrong with this step of a log, by the specification itself; None if nothing is. `meant` is the command
    that there is, None if it is all that the line tells."""
    if meant is None:
        meant = Meant(line.do, line.of, line.alarm is not None, _around(line.why))
    said = meant.do if line.do is None or (line.do == "stay" and meant.do in STAYS) else line.do
    try:
        do = Do("hold" if said == "stay" else said)
        usual = Why[(meant.why or "noted").upper()]
        why = usual if line.why is None else Why[line.why.upper()]
    except (ValueError, KeyError) as error:
        return nonconforming(f"{error} is no command, or no reason for one.")
    born = before.generation + (do is Do.SPAWN)
    alarm = ("an alarm" if meant.alarm else None) if line.alarm == lines.UNTOLD else line.alarm
    command = Command(do, why, born if line.of is None else line.of, alarm)
    try:
        Logged(before).judge(event_of(line), command, before)
    except Violation as violation:
        return violation
    if line.why is not None and (line.why not in REASONS[do.value] or _around(line.why) != meant.why):
        return nonconforming(f"The reason for {do.value} is {line.why}, which it cannot be here.")
    return None


def _around(why: str) -> str | None:
    return why if why in AROUND else None


def event_of(line: Any) -> events.Event:
    """The event of the line."""
    match line:
        case lines.Tick(now=now, demand=demand):
            return events.Tick(now, demand)
        case lines.Probed(verdict=verdict, generation=generation):
            return events.Probed(Verdict(verdict), generation)
        case lines.Exited(generation=generation):
            return events.Exited(generation)
        case lines.Gone(generation=generation, port=port):
            return events.Gone(generation, Verdict(port))
        case lines.Progressed(generation=generation):
            return events.Progressed(generation)
    return events.JobEnded(line.generation)
