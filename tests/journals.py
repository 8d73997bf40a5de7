"""Random histories in a journal, for the tests of the recorder and of `model check`."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import msgspec

from impl.jobs import Job, Lease, Policy, by_priority
from impl.journal import Journal
from impl.probe import Verdict
from impl.recorded import RecordedController, RecordedScheduler
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Phase, Settings


def record_scheduler(
    path: Path, random: Random, events: int, urgency: Policy = by_priority, unique: bool = False
) -> Scheduler:
    """A scheduler under random events, old leases and unknown ids among them. With `unique` no id comes twice."""
    slots = random.choice((1, 2, 3))
    scheduler = Scheduler(slots, capacity=random.randrange(4), reserve=random.randrange(3), urgency=urgency)
    journal = Journal(path)
    recorded = RecordedScheduler(scheduler, journal, urgency)
    leases = [Lease(0, 0, 0)]
    for came in range(events):
        who = max(0, came - random.randrange(8)) if unique else random.randrange(8)
        match random.choice("aaaaccccppxr"):
            case "a":
                priority = random.choice((1, 5, 10))
                who = came if unique else who
                recorded.admit(Job(who, priority, random.randint(1, 9), deadline=random.choice((None, 3))))
            case "c":
                recorded.complete(recorded.lease_of(who) or random.choice(leases))
            case "p":
                recorded.progress(recorded.lease_of(who) or random.choice(leases), random.randint(0, 5))
            case "x":
                recorded.cancel(who)
            case "r" if random.random() < 0.2:
                recorded.restart()
        leases += filter(None, [recorded.lease_of(who)])
    journal.close()
    return scheduler


def record_controller(path: Path, random: Random, events: int) -> Controller:
    """The controller of a worker under random events that may happen."""
    settings = Settings(
        ttl=random.choice((0, 3, 10)),
        start_budget=random.choice((2, 9)),
        patience=random.choice((1, 3)),
        alarm_after=random.choice((2, 6)),
        hang_budget=random.choice((0, 5)),
        longest_back_off=random.choice((1, 4)),
    )
    now = random.randrange(100)
    controller = Controller(settings, now)
    journal = Journal(path)
    recorded = RecordedController(controller, journal)
    for _ in range(events):
        s = recorded.snapshot()
        told = s.generation if random.random() < 0.9 else random.randint(0, s.generation)
        match random.choice("ttttttppppegwj"):
            case "t":
                now += random.choice((0, 1, 1, 2, 5))
                recorded.tick(now, random.choice((0, 0, 1, 4, None)))
            case "p":
                recorded.probed(random.choice((Verdict.WARM, Verdict.COLD, Verdict.COLD, Verdict.UNKNOWN)), told)
            case "e" if random.random() < 0.5:
                recorded.exited(told)
            case "g" if s.phase is Phase.STOPPING:
                recorded.gone(told, random.choice(list(Verdict)))
            case "w":
                recorded.progressed(told)
            case "j":
                recorded.job_ended(told)
    journal.close()
    return controller


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a journal as plain values, without number and digest."""
    found = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    return [{name: value for name, value in line.items() if name not in ("seq", "digest")} for line in found]


def write_lines(path: Path, lines: list[dict[str, Any]]) -> Path:
    """A log of these lines that carries neither number nor digest."""
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    return path


def command() -> None:
    """`python -m model check`, with the words behind the program."""
    import sys

    from model import __main__ as main

    main.COMMANDS.setdefault("check", "")
    sys.exit(main.main(["check", *sys.argv[1:]]))
