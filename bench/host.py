"""What the loop costs on real processes: at rest with the worker reaped, and from demand to SPAWN and ready to SERVE.

Wall clock; Linux alone, for it reads /proc.
"""

from __future__ import annotations

import json
import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from bench.record import Figure, Measurement, digits
from bench.timing import figure

SEED = 0
WORKER = """
import sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer

class Models(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Models)
with open(sys.argv[2], "w") as file:
    file.write(repr(time.monotonic()))
server.serve_forever()
"""
PATIENCE = 30.0
"""Seconds for anything that has to come."""


class Watched:
    """A host with a worker that is ready as soon as it listens; `said` has the decisions, with the time of each."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.demand, self.ready, worker = folder / "demand", folder / "ready", folder / "worker.py"
        worker.write_text(WORKER)
        self.demand.write_text("0")
        words = f"{sys.executable} {worker} {port} {self.ready}"
        told = ["--port", str(port), "--ttl", "1", "--demand-file", str(self.demand), "--lock", str(folder / "lock")]
        command = [sys.executable, "-m", "impl", "host", "--worker", words, *told, "--json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.said: queue.Queue[tuple[float, dict[str, object]]] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.put((time.monotonic(), json.loads(line)))

    def wants(self, many: int) -> float:
        """The demand is so many from now on; now."""
        fresh = self.demand.with_suffix(".new")
        fresh.write_text(str(many))
        os.replace(fresh, self.demand)
        return time.monotonic()

    def until(self, action: str, phase: str | None = None) -> float:
        """When the host said so."""
        while True:
            at, said = self.said.get(timeout=PATIENCE)
            if said["action"] == action and phase in (None, said["phase"]):
                return at


@contextmanager
def host() -> Iterator[Watched]:
    """One that is ended in order."""
    with tempfile.TemporaryDirectory() as folder:
        watched = Watched(Path(folder))
        try:
            yield watched
        finally:
            watched.process.terminate()
            watched.process.wait(PATIENCE)
            if watched.process.stdout:
                watched.process.stdout.close()


def measure(quick: bool) -> Measurement:
    """A few starts, then a rest."""
    found = Measurement("host: the loop on real processes, tick 1 s")
    if not Path("/proc/self/stat").exists():
        found.notes.append("Not measured: this needs Linux.")
        return found
    random = Random(SEED)
    spawns, serves = [], []
    with host() as watched:
        watched.until("HOLD")
        for _ in range(1 if quick else 8):
            time.sleep(random.random())
            wanted = watched.wants(1)
            spawns.append(watched.until("SPAWN") - wanted)
            served = watched.until("SERVE")
            serves.append(served - float(watched.ready.read_text()))
            watched.wants(0)
            watched.until("REAP")
            watched.until("HOLD", "cold")
        found.add("demand to SPAWN decision", figure("host", spawns, "s"), None, None, True)
        found.add("worker ready to SERVE decision", figure("host", serves, "s"), None, None, True)
        rest(found, watched.process.pid, 1.0 if quick else 20.0)
    found.notes.append("Demand comes at a random moment between two ticks, and waits for half a tick on average.")
    return found


def rest(found: Measurement, pid: int, seconds: float) -> None:
    """What the host takes while nobody wants anything."""
    before = spent(pid)
    time.sleep(seconds)
    permil = digits((spent(pid) - before) / seconds * 1000)
    found.add(
        f"processor at rest, over {seconds:g} s", Figure("host", permil, permil, "permil of a core"), None, None, True
    )
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    memory = digits(int(status["VmRSS"].split()[0]) / 1024)
    bare = digits(bare_python())
    beside = Figure("an idle Python", bare, bare, "MiB")
    found.add("resident memory at rest", Figure("host", memory, memory, "MiB"), beside, None, True)
    many = float(1 + len(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    found.add("processes at rest", Figure("host", many, many, "in all"))


def spent(pid: int) -> float:
    """Seconds of the processor so far, its own and those of the kernel for it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bare_python() -> float:
    """MiB of an interpreter that has nothing to do."""
    code = "print(next(l for l in open('/proc/self/status') if l.startswith('VmRSS')).split()[1])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(said.stdout) / 1024
