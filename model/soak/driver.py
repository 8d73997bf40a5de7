"""Whoever drives a host and its worker by the shipped scheduler: it owns the jobs.

It tells the host the demand, hands its leases to the worker on SERVE alone, and restarts the jobs when the log says
that the worker was lost or a new host took over. What the worker did it reads from the worker's own ledger, and what
that worker or one before it had ended is not done again. Each step of the scheduler is held to its specification.
"""

from __future__ import annotations

import http.client
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from impl.jobs import CHAT, IMAGE, Ended, Job, Lease, Outcome, Placed, Refused, Stale
from impl.scheduler import Scheduler
from model.conform import events
from model.conform.monitor import Monitor
from model.soak.hosted import Hosted


class Driver:
    """The jobs of one host. `live` are the requests that were admitted and not yet seen to end, `in_flight` the leases
    that the worker was handed. Raises Violation."""

    def __init__(self, hosted: Hosted) -> None:
        self._hosted = hosted
        self.scheduler = Scheduler(slots=2)
        self._monitor = Monitor(self.scheduler.snapshot())
        self._log, self._ledger = _Tail(hosted.log), _Tail(hosted.folder / "ledger")
        self.counts: Counter[str] = Counter()
        self.live: set[str] = set()
        self.in_flight: frozenset[Lease] = frozenset()
        self._leases: dict[int, Lease] = {}
        self._done: set[str] = set()
        self._ends: Counter[str] = Counter()
        self._demand: int | None = None

    @property
    def lost(self) -> set[str]:
        """Requests that were admitted, and were not seen to end or not ended by any worker."""
        return self.live | (self._done - set(self._ends))

    @property
    def doubled(self) -> set[str]:
        """Requests that were ended more than once."""
        return {request for request, ends in self._ends.items() if ends > 1}

    def admit(self, kind: str, work: int) -> None:
        """A request comes, a chat or a render, of so many steps."""
        self.counts["requests"] += 1
        request = f"{kind}-{self.counts['requests']}"
        outcome = self.tell(events.Admit(Job(request, CHAT if kind == "chat" else IMAGE, work)))
        if isinstance(outcome, Refused):
            self.counts["refused"] += 1
        else:
            self.live.add(request)

    def look(self) -> None:
        """Read what is new in ledger and log, and act on it."""
        for line in self._ledger.lines():
            what, request, run, _ = line.split()
            self._reported(what, request, self._leases[int(run)])
        serve = False
        for line in self._log.lines():
            serve = self._logged(json.loads(line))
        if serve:
            self._dispatch()
        if len(self.live) != self._demand:
            self._demand = len(self.live)
            self._hosted.want(self._demand)

    def restart(self) -> None:
        """The worker was lost, or is another host's now: nothing is in flight, and every lease is a new one."""
        self.in_flight = frozenset()
        self.counts["restarts"] += 1
        self.tell(events.Restart())

    def tell(self, event: events.Event) -> Outcome:
        """Let the scheduler meet the event."""
        outcome = events.apply(self.scheduler, event)
        self._monitor.judge(event, outcome, self.scheduler.snapshot())
        if isinstance(outcome, Ended):
            self.live.remove(str(outcome.request_id))
            self._done.add(str(outcome.request_id))
            self.counts["ended"] += 1
        self.counts["preemptions"] += isinstance(outcome, Placed) and outcome.preempted is not None
        return outcome

    def _logged(self, line: dict[str, Any]) -> bool:
        """Act on a line of the log, and say if it was SERVE, which allows to dispatch."""
        self.counts["log lines"] += 1
        do = line.get("do")
        self.counts["reaps"] += do == "reap"
        self.counts["serves"] += do == "serve"
        if do == "stop" or line["event"] == "open":
            self.restart()
        if line["event"] == "open":
            self.counts["hosts"] += 1
            forgotten = set() if line["living"] else self._hosted.before & self._hosted.living()
            self.counts["workers forgotten"] += len(forgotten)
        return bool(do == "serve")

    def _dispatch(self) -> None:
        """Hand the worker what runs now, if that is other than what it was handed."""
        running = [run for run in self.scheduler.snapshot().running if run is not None]
        leases = frozenset(run.lease for run in running)
        if leases == self.in_flight:
            return
        self._leases |= {lease.run: lease for lease in leases}
        runs = [[run.job.request_id, run.run, run.remaining] for run in running]
        connection = http.client.HTTPConnection("127.0.0.1", self._hosted.port, timeout=1)
        with suppress(OSError, http.client.HTTPException, ValueError):  # the next SERVE tries again
            connection.request("PUT", "/runs", json.dumps(runs))
            ended = json.loads(connection.getresponse().read())
            self.in_flight = leases
            for lease in leases:
                if lease.request_id in ended:
                    self.tell(events.Complete(lease))
        connection.close()

    def _reported(self, what: str, request: str, lease: Lease) -> None:
        self._ends[request] += what == "end"
        outcome = self.tell(events.Complete(lease) if what == "end" else events.Progress(lease, 1))
        self.counts["late reports"] += isinstance(outcome, Stale)


class _Tail:
    """The whole lines that a growing file has got since the last look."""

    def __init__(self, path: Path) -> None:
        self._path, self._at = path, 0

    def lines(self) -> Iterator[str]:
        with suppress(FileNotFoundError), self._path.open("rb") as file:
            file.seek(self._at)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._at += len(line)
                yield line.decode()
