"""The worker of the soak: `python soak_worker.py PORT FOLDER SEED`. It does the runs that it is handed, step by step.

`PUT /runs` with a JSON list of [request id, run, steps] says all that shall be in flight from now on; the answer is a
JSON list of the request ids that had ended before, which are done no second time. Each step and each end is a line of
FOLDER/ledger, `step ID RUN PID` or `end ID RUN PID`, written before anybody is told.

Each start appends a line to FOLDER/starts: its pid, and what chance made of it: slow, stubborn (it ignores SIGTERM),
leaving (a descendant leaves the group and keeps the memory in use). The file FOLDER/gpu stands for the memory of the
one GPU: whoever finds it in use appends its pid to FOLDER/two.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

STEP = 0.05
"""Seconds that a step of work takes."""
SLOWEST = 2.5
"""Seconds that the slowest start takes."""


class Worker:
    """The runs in flight: of each request the run and the steps that are left."""

    def __init__(self, folder: Path) -> None:
        self._ledger = os.open(folder / "ledger", os.O_RDWR | os.O_CREAT | os.O_APPEND)
        lines = (folder / "ledger").read_text().splitlines()
        self.ended = {line.split()[1] for line in lines if line.startswith("end")}
        self.runs: dict[str, tuple[int, int]] = {}

    def hand(self, runs: list[tuple[str, int, int]]) -> list[str]:
        """Do these runs and no other; the requests among them that had ended before."""
        known = {(request, run): left for request, (run, left) in self.runs.items()}
        wanted = [each for each in runs if each[0] not in self.ended]
        self.runs = {request: (run, known.get((request, run), steps)) for request, run, steps in wanted}
        return [request for request, _, _ in runs if request in self.ended]

    def step(self) -> None:
        """One step of each run."""
        for request, (run, left) in list(self.runs.items()):
            if left > 0:
                self._note("step", request, run)
            if left > 1:
                self.runs[request] = run, left - 1
                continue
            del self.runs[request]
            self.ended.add(request)
            self._note("end", request, run)

    def _note(self, what: str, request: str, run: int) -> None:
        os.write(self._ledger, f"{what} {request} {run} {os.getpid()}\n".encode())


def answer(connection: socket.socket, worker: Worker) -> None:
    """Hear one request, and answer it."""
    connection.settimeout(0.5)
    with connection.makefile("rwb") as stream:
        method = stream.readline().split(b" ")[0]
        length = 0
        while (field := stream.readline().strip()) != b"":
            name, _, value = field.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        body = json.dumps(worker.hand(json.loads(stream.read(length))) if method == b"PUT" else {}).encode()
        stream.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)


def serve(listener: socket.socket, worker: Worker) -> None:
    """Answer and work, in turn."""
    due = time.monotonic() + STEP
    while True:
        listener.settimeout(max(0.001, due - time.monotonic()))
        with suppress(OSError, ValueError):
            connection, _ = listener.accept()
            with connection:
                answer(connection, worker)
        if time.monotonic() >= due:
            worker.step()
            due = time.monotonic() + STEP


def note(path: Path, *words: str) -> None:
    """Append the pid and the words to a file, as one line."""
    with path.open("a") as file:
        file.write(f"{' '.join((str(os.getpid()), *words))}\n")


def leave_a_descendant() -> None:
    """Somebody goes on in a session of its own, and keeps open what is open here."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() > 0:
            os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            signal.pause()
    os.wait()


def main(port: int, folder: Path, seed: str) -> None:
    """Start as chance has it, then serve for ever."""
    gpu = os.open(folder / "gpu", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(gpu, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        note(folder / "two")
    starts = (folder / "starts").read_text().splitlines() if (folder / "starts").exists() else []
    chance = random.Random(f"{seed} {len(starts)}")
    traits = [trait for trait in ("stubborn", "leaving", "slow") if chance.random() < 0.3]
    note(folder / "starts", *traits)
    if "stubborn" in traits:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "leaving" in traits:
        leave_a_descendant()
    if "slow" in traits:
        time.sleep(chance.uniform(1, SLOWEST))
    serve(socket.create_server(("127.0.0.1", port)), Worker(folder))


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
