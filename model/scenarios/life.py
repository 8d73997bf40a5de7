"""The life of a worker, second by second, as the scenarios of the loop tell it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from impl.checks import check_int
from impl.probe import Verdict
from impl.worker_state import Do, Phase, Settings, Snapshot
from model.conform.worker_events import Event, Exited, Gone, Probed, Progressed, Tick, apply
from model.conform.worker_monitor import Monitor
from model.scenarios.notation import refused, trying

HEAD = dict(ttl=60, budget=300, patience=3, alarm=30, hang=0, start=1, stop=1, probe=1, warm=0)


class Met(NamedTuple):
    """An event, what the controller answered, and what it knows since."""

    event: Event
    do: Do
    generation: int
    alarm: bool
    after: Snapshot


def settings_of(head: dict[str, int]) -> Settings:
    """What the controller is set to. Raises ValueError."""
    check_int("probe", head["probe"], 1)
    return Settings(head["ttl"], head["budget"], head["patience"], head["alarm"], head["hang"])


class Life:
    """A controller and its worker, second by second: `now` is the instant of the next tick. `said` has the commands of
    each instant but HOLD, `alarms` the instants with one. With `judged`, each step is held to the specification."""

    def __init__(self, head: dict[str, int], make: Callable[[Settings, int], Any], *, judged: bool) -> None:
        self.head = head
        self.controller = make(settings_of(head), -1)
        self._monitor = Monitor(self.controller.snapshot()) if judged else None
        self.met: list[Met] = []
        self.said: defaultdict[int, list[Do]] = defaultdict(list)
        self.alarms: list[int] = []
        self.now = -1
        self.demand: int | None = 0
        self.claim: Verdict | None = None
        self.starts_fail = self.hangs = self._runs = False
        self._ready_at = self._exit_at = self._gone_at = -1
        if head["warm"]:
            self.meet(Probed(Verdict.COLD, 0))
            self.meet(Tick(-1, 1))
            self.meet(Probed(Verdict.WARM, 1))
            self._ready_at = 0
        self.now = 0

    @property
    def knows(self) -> Snapshot:
        """All that the controller knows."""
        return self.controller.snapshot()  # type: ignore[no-any-return]

    def tick(self) -> None:
        """What the worker does in this second, then the decision."""
        generation, phase = self.knows.generation, self.knows.phase
        if self._exit_at == self.now:
            self.crash()
        if self.knows.phase is Phase.STOPPING and self._gone_at <= self.now:
            self._runs = False
            self.meet(Gone(generation))
        if self.now % self.head["probe"] == 0:
            self.meet(Probed(self.claim or self._truth(), generation))
        if Do.SERVE in self.said[self.now - 1] and self.demand and phase is Phase.WARM and not self.hangs:
            self.meet(Progressed(generation))
        self.meet(Tick(self.now, self.demand))
        self.now += 1

    def meet(self, event: Event) -> None:
        """Let the controller meet the event, and do what it says. Raises Failed if it raises, and Violation."""
        with trying():
            command = apply(self.controller, event)
            after = self.knows
        if self._monitor is not None:
            self._monitor.judge(event, command, after)
        assert command is not None
        self.met.append(Met(event, command.do, command.generation, command.alarm is not None, after))
        if self.now >= 0 and command.do is not Do.HOLD:
            self.said[self.now].append(command.do)
        if self.now >= 0 and command.alarm is not None:
            self.alarms.append(self.now)
        if command.do is Do.SPAWN:
            self._runs = True
            self._ready_at = self.now + self.head["start"]
            self._exit_at = self.now + 1 if self.starts_fail else -1
        if command.do in (Do.STOP, Do.REAP):
            self._gone_at = self.now + self.head["stop"]

    def crash(self) -> None:
        """The process of the worker ends."""
        self._runs = False
        self.meet(Exited(self.knows.generation))

    def be_refused(self, act: Callable[[], object]) -> None:
        """Failed unless it is bad input, which raises ValueError and changes nothing."""
        refused(act, lambda: self.knows)

    def _truth(self) -> Verdict:
        return Verdict.WARM if self._runs and self._ready_at <= self.now else Verdict.COLD
