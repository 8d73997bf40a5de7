"""The loop on real processes: what `impl.worker.Controller` says is done, and what became of it is told.

One step looks whether the worker's processes still are, asks for the demand in the background, probes the port, and
ticks; it takes up to 3 s when the worker or the source of the demand hangs. A command is written into the journal,
then into the lock file, then it is done. Of the work only the demand is known: less demand than at the last tick on a
warm worker is told as a job that ended, and steps done are never told, so that `hang_budget` has to outlast any time in
which the demand does not fall. What the host says on standard output and error may be lost without harm, and is where
nobody reads it.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic

from impl import host_process
from impl.host_demand import PATIENCE_S, Demand
from impl.host_lock import Lock, Record
from impl.host_system import Process, Worker
from impl.output import OutputError, complain, say
from impl.probe import Answer, Verdict, probe
from impl.recorded import RecordedController
from impl.worker import Controller
from impl.worker_state import Command, Do, Phase, Snapshot, Why

BUSY_S = 0.25
"""Between two ticks while the worker starts or stops, however long `tick` is."""
LOOK_S = 0.1
"""How often it is looked whether the worker is gone, when the host ends."""
FRESH_S = 3600.0
"""How often the lock file is written at least: what clears temporary folders removes old files."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run and where it answers. A worker that was told to stop has `grace` seconds before it is killed; `tick`
    seconds lie between two ticks while it is cold or warm."""

    words: Sequence[str]
    host: str
    port: int
    model: str | None = None
    tick: int = 1
    grace: int = 10
    as_json: bool = False


class Host:
    """One worker under one controller. It ends when `requests` gets an item; `trouble` says why no log is kept."""

    def __init__(
        self,
        plan: Plan,
        controller: Controller | RecordedController,
        lock: Lock,
        demand: Demand,
        requests: SimpleQueue[object],
        trouble: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Go on with what the lock file tells. A worker that was told to stop is told again."""
        found = lock.found or Record()
        self._plan, self._controller, self._lock, self._demand = plan, controller, lock, demand
        self._requests, self._trouble = requests, trouble
        self._worker = found.worker and host_process.recover(found.worker)
        self._stop_began = found.stop_began or 0.0
        self._last = found.demand
        self._shown: object = None
        self._told: dict[str, object] = {}
        self._write()
        if self._phase is Phase.STOPPING:
            self._send(signal.SIGTERM)

    def run(self) -> None:
        """Until it is asked to end; then the worker is stopped, and confirmed gone. A step that the system does not
        allow, as when no file can be opened, is said, and the next one tried."""
        due = monotonic()
        while True:
            try:
                self.step()
            except (OSError, OutputError) as error:
                self._tell("step", f"{error}; the loop goes on")
            else:
                self._tell("step", None)
            now = monotonic()
            due = max(now, due + (self._plan.tick if self._phase in (Phase.COLD, Phase.WARM) else BUSY_S))
            if self._is_asked_within(due - now):
                break
        self.end()
        self._demand.answer(PATIENCE_S + 1)

    def step(self) -> Command:
        """Look, tell, tick and act, once. The answer is that of the tick."""
        deadline = monotonic() + PATIENCE_S
        generation = self._now.generation
        self._reap()
        if self._phase in (Phase.STARTING, Phase.WARM) and not self._runs():
            self._do(self._controller.exited(generation))
        is_gone = self._phase is Phase.STOPPING and not self._hurry()
        self._demand.ask()  # not before the look: a command that just starts bears no mark yet
        answer = self._probe()
        self._do(self._controller.probed(answer.verdict, generation))
        if is_gone:
            self._confirm(generation, answer.verdict)
        found = self._demand.answer(deadline - monotonic())
        demand, trouble = (found, None) if isinstance(found, int) else (None, found)
        self._compare(demand)
        command = self._controller.tick(int(monotonic()), demand)
        self._do(command)
        self._tell("demand", trouble)
        alarm = command.alarm and f"{command.alarm} ({answer.reason})"
        self._tell("alarm", alarm, re.sub("[0-9]", "", command.alarm or ""))
        log = self._trouble()
        self._tell("log", log, log and "full")
        if monotonic() - self._written >= FRESH_S:
            self._write()
        return command

    def leave(self) -> None:
        """End and leave the worker as it is, with all that is known, to the next host."""
        self._demand.answer(PATIENCE_S + 1)
        self._write(self._now)

    def end(self) -> None:
        """Stop the worker, wait until nothing is left of it, and end. The controller knows of no stop until the process
        has ended: were this host killed now, the next might find the worker of use."""
        generation = self._now.generation
        if self._phase is Phase.COLD:
            return
        if self._phase is not Phase.STOPPING:
            self._stop()
        while self._hurry():
            self._is_asked_within(LOOK_S)
            self._reap()
        if self._phase is not Phase.STOPPING:
            self._do(self._controller.exited(generation))
        self._confirm(generation, self._probe().verdict)

    @property
    def _now(self) -> Snapshot:
        return self._controller.snapshot()

    @property
    def _phase(self) -> Phase:
        return self._now.phase

    def _compare(self, demand: int | None) -> None:
        """Less demand than when this worker was last seen warm is a job that ended."""
        if self._phase is not Phase.WARM:
            self._last = 0
        elif demand is not None:
            if demand < self._last:
                self._controller.job_ended(self._now.generation)
            self._last = demand

    def _do(self, command: Command) -> None:
        if command.do is Do.SPAWN:
            self._start()
        elif command.do in (Do.REAP, Do.STOP):
            self._stop()
        self._show(command)

    def _start(self) -> None:
        """The mark is written first: should this host be killed now, the next finds the worker by it."""
        self._worker, self._stop_began = Worker(os.urandom(8).hex()), 0.0
        self._write()
        try:
            self._worker = host_process.start(self._plan.words, self._worker.mark)
        except OSError as error:
            program = self._plan.words[0]
            self._tell("start", f"worker {self._now.generation}: {program!a} cannot be run: {error.strerror}")
        self._write()

    def _runs(self) -> bool:
        return self._worker is not None and host_process.runs(self._worker)

    def _stop(self) -> None:
        self._stop_began = monotonic()
        self._write()
        self._send(signal.SIGTERM)

    def _hurry(self) -> list[Process]:
        """What is left of a worker that was told to stop. After the grace it is killed."""
        overdue = monotonic() - self._stop_began >= self._plan.grace
        return self._send(signal.SIGKILL if overdue else None)

    def _send(self, number: signal.Signals | None) -> list[Process]:
        """Signal all that is left of the worker, and return it."""
        worker = self._worker
        left = host_process.members(worker) if worker else []
        away = [process.pid for process in left if worker and process.session != worker.pid != 0]
        name = f"worker {self._now.generation}"
        if away:
            self._tell("away", f"{name}: {len(away)} processes had left its group, and end with it: {away}", name)
        if number is not None:
            host_process.send(number, left)
        if number is signal.SIGKILL and left:
            self._tell("kill", f"{name} is killed, for it did not end within {self._plan.grace} s")
        return left

    def _confirm(self, generation: int, port: Verdict) -> None:
        """Nothing is left of the worker; the controller says whether the port is as good as free."""
        self._show(self._controller.gone(generation, port))
        if self._phase is Phase.COLD:
            self._worker = None
            self._write()

    def _probe(self) -> Answer:
        """A time-out is never taken for a refusal."""
        plan = self._plan
        return probe(plan.host, plan.port, model=plan.model, timeout_means=Verdict.UNKNOWN)

    def _reap(self) -> None:
        """Take the exits of children, unless the demand command, which takes its own, may be among them."""
        codes = {} if self._demand.is_open() else host_process.reap()
        if self._worker and self._worker.pid in codes and not self._stop_began:
            self._tell("exit", f"worker {self._now.generation} ended with {codes[self._worker.pid]}")

    def _write(self, snapshot: Snapshot | None = None) -> None:
        stop_began = self._stop_began if self._phase is Phase.STOPPING else None
        self._lock.write(Record(self._now.generation, self._worker, stop_began, snapshot, self._last))
        self._written = monotonic()

    def _is_asked_within(self, seconds: float) -> bool:
        try:
            self._requests.get(timeout=seconds)
        except Empty:
            return False
        return True

    def _show(self, command: Command) -> None:
        """Say what is done on standard output, when it is not what was done before."""
        about = command.do, command.why, command.generation
        if about == self._shown or command.why in (Why.NOTED, Why.LATE):
            return
        self._shown = about
        phase, action, why, now = self._phase.value, command.do.name, command.why.value, int(monotonic())
        said = {"now": now, "phase": phase, "generation": command.generation, "action": action, "why": why}
        line = f"host now={now}s phase={phase} worker={command.generation} -> ACTION={action}: {why}"
        try:
            if not _is_read(1):
                raise OutputError("standard output does not take the answer: nobody reads it")
            say(f"{json.dumps(said) if self._plan.as_json else line}\n")
        except OutputError as error:
            self._tell("output", str(error))

    def _tell(self, about: str, text: str | None, gist: str | None = None) -> None:
        """Say on standard error what is wrong, or that it no longer is, unless the last that was said had that gist."""
        gist = gist or text
        if gist != self._told.get(about) and _is_read(2):
            self._told[about] = gist
            complain(f"python -m impl host: {about}: {text or 'over'}.\n")


def _is_read(descriptor: int) -> bool:
    """Whether a line can be written there without waiting, as it cannot into a pipe that is full."""
    return bool(select.select([], [descriptor], [], 0)[1])
