"""One lane of the soak: a host, its worker and whoever drives both, while any process may be killed or frozen."""

from __future__ import annotations

import os
import random
import shlex
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

from model.commands.check import check
from model.soak.driver import Driver
from model.soak.hosted import HOST, Hosted, free_port

OPTIONS = ("--ttl", "1", "--tick", "1", "--start-budget", "6", "--hang-budget", "5", "--grace", "1")
TURN_S = 0.05
"""Between two looks at log and ledger."""
FAULTS = (
    "kill worker",
    "kill worker",
    "kill host",
    "kill host",
    "kill both",
    "stall worker",
    "freeze worker",
    "stall host",
    "end host",
)
"""What is stalled goes on later, what is frozen never; what is killed or ended is started anew."""
SIGNALS = {"kill": signal.SIGKILL, "end": signal.SIGTERM, "stall": signal.SIGSTOP, "freeze": signal.SIGSTOP}
COUNTED = {"kill": "kills", "end": "ends", "stall": "freezes", "freeze": "freezes"}


class Lane:
    """Runs in `folder` until its time is over, then lets all work end. Four lanes begin with different faults, so that
    all are met soon.

    `counts` says what happened beside what the driver counts. AssertionError if the host ended by itself or came to no
    end, or if its log is wrong; Violation if the scheduler is.
    """

    worker: ClassVar[Path] = Path(__file__).with_name("worker.py")
    program: ClassVar[tuple[str, ...]] = HOST
    make: ClassVar[type[Driver]] = Driver
    faults: ClassVar[tuple[str, ...]] = FAULTS
    drain: ClassVar[float] = 150.0
    """Seconds in which all work has to end once nothing is harmed any more."""

    def __init__(self, folder: Path, seed: int, number: int) -> None:
        self._chance = random.Random(f"{seed} {number}")
        port = free_port()
        worker = shlex.join((sys.executable, "-S", str(self.worker), str(port), str(folder), f"{seed} {number}"))
        self.hosted = Hosted(folder, port, worker, *OPTIONS, program=self.program)
        self.driver = self.make(self.hosted)
        self.counts: Counter[str] = Counter()
        first = 2 * number % len(self.faults)
        self._deck = [*self.faults[first:], *self.faults[:first]]
        self._next_burst = self._next_fault = 0.0
        self._hosts = 0
        self._later: list[tuple[float, Callable[[], object]]] = []

    def run(self, seconds: float) -> None:
        """The whole life of the lane."""
        until = time.monotonic() + seconds
        try:
            self.start()
            while time.monotonic() < until:
                self._burst()
                self._harm()
                self.turn()
            self.settle_down()
        finally:
            self._take_stock()
            self.hosted.clean_up()

    def start(self) -> None:
        """Start a host, once all is read that the one before it had said."""
        self.driver.look()
        self._hosts = self.driver.counts["hosts"]
        self.hosted.start()

    def turn(self) -> None:
        """Whatever is due, and a short rest."""
        for due, act in [each for each in self._later if each[0] <= time.monotonic()]:
            self._later.remove((due, act))
            act()
        expected = any(act == self.start for _, act in self._later)
        assert expected or self._host(), f"the host ended by itself: {self.hosted.said()[-500:]}"
        self.driver.look()
        time.sleep(TURN_S)

    def settle_down(self) -> None:
        """No more harm: all work ends, the worker is reaped, and the host ends in order."""
        until = time.monotonic() + self.drain
        while (
            self.driver.live or self._later or self.hosted.living() or not self._has_begun()
        ) and time.monotonic() < until:
            self.turn()
        self.hosted.signal(signal.SIGTERM)
        self._ended_in_order()
        self.driver.look()
        found = check(self.hosted.log)
        assert found["verdict"] == "tested", f"the log is wrong: {found['violation']}"

    def _ended_in_order(self) -> None:
        """The host that was told to end does so, and leaves nothing."""
        code = self.hosted.ended()
        self.counts["orphans"] += len(self.hosted.living())
        assert code == 0, f"the host ended with {code}: {self.hosted.said()[-500:]}"

    def _has_begun(self) -> bool:
        """The present host has begun its log: before that it cannot end in order."""
        return self.driver.counts["hosts"] > self._hosts

    def _burst(self) -> None:
        """Now and then some requests: renders first, then chats that preempt them."""
        if time.monotonic() < self._next_burst:
            return
        self._next_burst = time.monotonic() + self._chance.uniform(2, 12)
        for _ in range(self._chance.randint(1, 3)):
            self.driver.admit("render", self._chance.randint(5, 30))
        for _ in range(self._chance.randint(0, 3)):
            self.driver.admit("chat", self._chance.randint(1, 8))

    def _harm(self) -> None:
        """The next fault of the deck, as soon as it is possible."""
        if time.monotonic() < self._next_fault:
            return
        if not self._deck:
            self._deck = self._chance.sample(self.faults, len(self.faults))
        what, whom = self._deck[-1].split()
        victims = {"worker": [self._worker()], "host": [self._host()], "both": [self._worker(), self._host()]}[whom]
        if not all(victims) or (what == "end" and not self._has_begun()):
            return
        self._deck.pop()
        self._next_fault = time.monotonic() + self._chance.uniform(0.5, 3.5)
        pause = self._chance.uniform(0.3, 2.5)
        self.counts[f"{what} {whom}"] += 1
        self.counts[COUNTED[what]] += len(victims)
        for victim in victims:
            self._send(victim, SIGNALS[what])
            if what == "stall":
                self._after(pause, partial(self._send, victim, signal.SIGCONT))
        if what == "end":
            self._send(self._host(), signal.SIGCONT)  # it may have been stalled
            self._ended_in_order()
        elif what == "kill" and whom != "worker":
            self.hosted.ended()
        if what in ("end", "kill") and whom != "worker":
            self._after(self._chance.choice((0.0, pause)), self.start)

    def kill_the_worker(self) -> None:
        """As a crash would."""
        self._send(self._worker(), signal.SIGKILL)

    def _after(self, seconds: float, act: Callable[[], object]) -> None:
        self._later.append((time.monotonic() + seconds, act))

    def _send(self, pid: int, number: int) -> None:
        if self.hosted.is_ours(pid):
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _worker(self) -> int:
        """The process that was started last, if it lives; else 0."""
        pid = int(self._starts()[-1].split()[0]) if self._starts() else 0
        return pid if self.hosted.is_ours(pid) else 0

    def _host(self) -> int:
        process = self.hosted.process
        return process.pid if process is not None and process.poll() is None else 0

    def _starts(self) -> list[str]:
        return _lines(self.hosted.folder / "starts")

    def _take_stock(self) -> None:
        self.counts["starts"] = len(self._starts())
        for trait in ("slow", "stubborn", "leaving"):
            self.counts[f"{trait} starts"] = sum(trait in each.split() for each in self._starts())
        self.counts["lost"] = len(self.driver.lost)
        self.counts["doubled"] = len(self.driver.doubled)
        self.counts["two workers at once"] = len(_lines(self.hosted.folder / "two"))


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
