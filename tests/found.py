"""What the explorer finds of the planted bugs, each on an instance that is large enough for it and no larger."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from impl.jobs import Job
from model.explore.breadth import explore
from model.explore.shapes import Setting
from model.history.happenings import History, Trace
from model.history.play import Step, play
from model.history.retell import from_found
from model.planted import PLANTED


class Instance(NamedTuple):
    """Sizes, what may happen, and the priorities of the jobs that may come."""

    slots: int = 1
    capacity: int = 64
    reserve: int = 1
    actions: str = "admit"
    priorities: tuple[int, ...] = (1, 10)


BUGS = {
    "QueuesOneTooMany": Instance(1, 1, 0),
    "QueuesOneTooFew": Instance(1, 1, 0),
    "IgnoresTheReserve": Instance(1, 0),
    "DropsTheArrival": Instance(1, 0),
    "TakesATicketFirst": Instance(1, 0),
    "TakesTheLatest": Instance(actions="admit complete"),
    "TakesTheLeastUrgent": Instance(actions="admit complete"),
    "CountsNoTickets": Instance(),
    "RunsAndWaits": Instance(actions="admit complete"),
    "HoldsOffAfterACancel": Instance(actions="admit cancel"),
    "AgesTheWaiting": Instance(actions="admit complete", priorities=(1, 2, 3)),
    "LosesThePriority": Instance(actions="admit complete"),
    "MiscountsTheWaiting": Instance(),
    "LeasesTheNextRun": Instance(),
    "LeasesAnotherJob": Instance(2),
    "HidesTheHeir": Instance(actions="admit complete"),
    "MisreportsWhatRemains": Instance(actions="admit progress"),
    "CompletesWhateverRuns": Instance(actions="admit stale"),
    "BooksLateProgress": Instance(actions="admit stale"),
    "ForgetsProgress": Instance(actions="admit progress"),
    "WorksBelowZero": Instance(actions="admit progress"),
    "CancelsWhateverRuns": Instance(actions="admit cancel"),
    "OnlyLogsTheCancel": Instance(actions="admit cancel"),
    "KeepsTheLeases": Instance(actions="admit restart"),
    "RestartsFromTheBeginning": Instance(actions="admit restart progress"),
    "LosesTheJobsOfTheWorker": Instance(actions="admit restart"),
    "DropsTheVictim": Instance(1, 0),
    "StartsTheVictimAllOver": Instance(actions="admit progress"),
    "RequeuesAtTheHead": Instance(),
    "NeverPreempts": Instance(),
    "ClampsThePriority": Instance(priorities=(9, 10)),
    "PreemptsEquals": Instance(),
    "BreaksTiesBackwards": Instance(2),
    "TakesTheFirstBelow": Instance(2, priorities=(1, 2, 3)),
    "PreemptsBesideAFreeSlot": Instance(2),
    "EvictsAllBelow": Instance(2),
}


def setting(name: str) -> Setting:
    """The instance for the planted bug."""
    slots, capacity, reserve, actions, priorities = BUGS[name]
    kinds = tuple(Job("", priority, 2) for priority in priorities)
    scheduler = PLANTED[name].scheduler
    return Setting(slots, kinds, capacity, reserve, tuple(actions.split()), scheduler=scheduler)


@cache
def history(name: str) -> History:
    """The shortest history to the claim that the planted bug breaks."""
    instance = setting(name)
    return from_found(instance, explore(instance, 4, 200).found[PLANTED[name].claim])


def trace(name: str) -> Trace:
    """The same with the sizes."""
    return Trace(history(name), *BUGS[name][:3])


def played(name: str, events: History | None = None) -> list[Step]:
    """What becomes of the history, or of other events, on the planted scheduler."""
    instance = setting(name)
    return play(history(name) if events is None else events, instance.fresh(), instance.urgency)


def broken(steps: list[Step]) -> tuple[str, ...]:
    """The claims that the last step broke."""
    return steps[-1].violation.claims if steps[-1].violation else ()
