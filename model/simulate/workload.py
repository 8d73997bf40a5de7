"""Turns traces into jobs: chats with as many steps as tokens to generate, renders of 30 steps in the background."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from impl.jobs import CHAT, IMAGE, Job
from model.simulate.arrivals import Arrival, TraceError, read
from model.simulate.ticks import SECOND

RENDER_STEPS = 30
RENDER_RATE = 3
"""Steps a second of a render in its slot."""
RENDER_EVERY = 10
"""Seconds between two random renders, on average."""
MOST_DAYS = 31
"""No trace spans more, for the worker is asked every second of it."""


@dataclass(frozen=True, slots=True)
class Workload:
    """Jobs in order of arrival; tick 0 is the first row of all, `span` the tick of the last."""

    chats: list[Job]
    renders: list[Job]
    span: int

    @property
    def jobs(self) -> list[Job]:
        """All of them; of those that arrive at one instant the chats come first."""
        return sorted(self.chats + self.renders, key=lambda job: job.arrived)


def load(chat: str, image: str | None, seed: int) -> Workload:
    """Chats, one a row of the trace at the path `chat`, and renders, one a row of `image` or else random ones while the
    chats last. Prefill is ignored; a row that generates no token still takes one step. Raises TraceError."""
    traces = {path: read(path) for path in (chat, image) if path is not None}
    origin = min(rows[0].at for rows in traces.values())
    span = max(_span(path, rows, origin) for path, rows in traces.items())
    chats = _jobs("chat", CHAT, traces[chat], origin)
    renders = _random_renders(seed, span) if image is None else _jobs("image", IMAGE, traces[image], origin)
    return Workload(chats, renders, span)


def _span(path: str, rows: list[Arrival], origin: int) -> int:
    latest = origin + MOST_DAYS * 86_400 * SECOND
    for row in rows:
        if row.at > latest:
            wrong = f"more than {MOST_DAYS} days after the first row of all"
            raise TraceError(f"{path}:{row.line}: {wrong}, expected at most that; correct the times or split the trace")
    return rows[-1].at - origin


def _jobs(kind: str, priority: int, rows: list[Arrival], origin: int) -> list[Job]:
    return [
        Job(f"{kind}-{number}", priority, max(1, row.generated), kind, row.at - origin)
        for number, row in enumerate(rows, 1)
    ]


def _random_renders(seed: int, span: int) -> list[Job]:
    random = Random(seed)
    jobs: list[Job] = []
    at = 0
    while (at := at + round(random.expovariate(1 / RENDER_EVERY) * SECOND)) <= span:
        jobs.append(Job(f"image-{len(jobs) + 1}", IMAGE, RENDER_STEPS, "image", at))
    return jobs
