"""For each scenario a planted bug that it fails under, and those bugs that no list of `model.planted` has."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import reduce
from heapq import heappush
from socket import socket
from typing import Any

from impl import probe as module
from impl.core import Core
from impl.jobs import (
    CHAT,
    Cancelled,
    Ended,
    Job,
    Lease,
    Nothing,
    Outcome,
    Placed,
    Queued,
    Reason,
    Refused,
    RequestId,
    Running,
    Snapshot,
    Stale,
)
from impl.probe import Answer, Verdict
from impl.scheduler import Scheduler
from model.planted.catalogue import BUGS, Code
from model.planted.registry import Pieces

PAIRED = {
    "X01": "StartsTheVictimAllOver",
    "X02": "PreemptsEquals",
    "X03": "RequeuesAtTheHead",
    "X04": "GivesUpOnTheOftenPreempted",
    "X07": "ForgetsProgress",
    "X08": "CompletesWhateverRuns",
    "X08b": "BooksLateProgress",
    "X09": "DrainsForTheEnded",
    "X11": "CancelsWhateverRuns",
    "X12": "MissesThePreempted",
    "X13": "QueuesOneTooMany",
    "X13b": "RemembersTheRefused",
    "X14": "DropsTheVictim",
    "X15": "DropsTheArrival",
    "X17": "RepairsTheJob",
    "X17b": "EvictsBeforeItChecks",
    "X18": "LoadsWithoutTheRuns",
    "X19": "PreemptsNobodyTwice",
    "X20": "ReturnsAsWhoCame",
    "X21": "PreemptsBesideAFreeSlot",
    "X23": "RunsAndWaits",
    "X24": "HoldsOffAfterAnEnd",
    "X26": "TakesArrivalsFirst",
    "X28": "ComparesInACircle",
    "X29": "RemembersTheEnded",
    "X30": "LosesTheJobsOfTheWorker",
    "X34": "BreaksTiesBackwards",
    "Y01": "CountsIdleFromTheRequest",
    "Y02": "ReapsOneTickLate",
    "Y03": "SpawnsWhileStarting",
    "Y03b": "ReapsAStart",
    "Y04": "SpawnsForEachWhoWaits",
    "Y04b": "adds_one_when_all_is_well",
    "Y05b": "Revives",
    "Y06": "serves_before_it_is_ready",
    "Y07": "TakesUnknownForNone",
    "Y08": "takes_a_ttl_of_zero_for_none",
    "Y10": "CountsProbesAsUse",
    "Y11": "waits_for_the_ttl_twice",
    "Y12": "NeverBacksOff",
    "Y14": "serves_a_phantom",
    "Y17": "starts_without_demand",
    "Z01": "believes_the_connection",
    "Z03": "takes_all_below_500",
    "Z04": "reads_no_list",
    "Z05": "Silent",
    "Z09": "tries_twice",
    "Z11": "wakes_the_worker",
}
OWN: dict[str, Code] = {}


def wrong_for(scenario: str) -> Code:
    """The shipped code with the bug of that scenario in it."""
    name = PAIRED[scenario]
    return OWN[name] if name in OWN else BUGS[name].code


def core(wrong: type[Core]) -> type[Core]:
    """Enter the core into the list, as a scheduler that decides by it."""
    OWN[wrong.__name__] = Code(scheduler=type(wrong.__name__, (Scheduler,), {"core": wrong}))
    return wrong


def scheduler(wrong: type[Scheduler]) -> type[Scheduler]:
    """Enter the scheduler into the list."""
    OWN[wrong.__name__] = Code(scheduler=wrong)
    return wrong


@core
class DrainsForTheEnded(Core):
    """To cancel a job that is over frees its slot once more (vllm-project/vllm#25067)."""

    def cancel(self, request_id: RequestId) -> Cancelled | Nothing:
        outcome = super().cancel(request_id)
        run = self._slots[0]
        if run and isinstance(outcome, Nothing):
            self._vacate(run)
        return outcome


@core
class MissesThePreempted(Core):
    """A job is looked for among those that run and those that never ran (sgl-project/sglang#18705)."""

    def cancel(self, request_id: RequestId) -> Cancelled | Nothing:
        entry = self._queue.get(request_id)
        return Nothing() if entry and entry.remaining < entry.job.work else super().cancel(request_id)


@core
class RemembersTheRefused(Core):
    """Whoever was refused once stays refused (sgl-project/sglang#20182)."""

    def __init__(self, slots: int, capacity: int, reserve: int) -> None:
        super().__init__(slots, capacity, reserve)
        self._refused: set[RequestId] = set()

    def admit(self, job: Job, urgency: Any) -> Placed | Queued | Refused:
        outcome = Refused(Reason.LIVE) if job.request_id in self._refused else super().admit(job, urgency)
        if isinstance(outcome, Refused):
            self._refused.add(job.request_id)
        return outcome


@core
class LoadsWithoutTheRuns(Core):
    """The number of the next run is not stored (BerriAI/litellm#14817)."""

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._next_run = 0


@core
class HoldsOffAfterAnEnd(Core):
    """A slot rests when its job has ended, whoever waits (openlava/openlava#86)."""

    def complete(self, lease: Lease) -> Ended | Stale:
        run = self._run_of(lease)
        if run is None:
            return Stale()
        self._leave(run)
        heappush(self._free, run.slot)
        return Ended(lease.request_id)


@core
class ComparesInACircle(Pieces):
    """Each level comes before the one below it, and the lowest before the highest (volcano-sh/kthena#1772)."""

    def _vacate(self, run: Running) -> Lease | None:
        if not self._queue:
            return super()._vacate(run)
        waiting = self._queue.values()
        return self.hand_over(run, reduce(lambda a, b: b if (b.urgency - a.urgency) % 3 == 1 else a, waiting))


@scheduler
class RepairsTheJob(Scheduler):
    """What is no number within bounds is clamped to the highest (celery/celery#8967)."""

    def admit(self, job: Job) -> Placed | Queued | Refused:
        try:
            return super().admit(job)
        except ValueError:
            return super().admit(job._replace(priority=CHAT, work=1))


@scheduler
class EvictsBeforeItChecks(Scheduler):
    """Room is made for a job before it is looked at (volcano-sh/volcano#5011)."""

    def admit(self, job: Job) -> Placed | Queued | Refused:
        if not self._core._free:
            victim = self._core._least_urgent_running()
            self._core._leave(victim)
            self._core._enqueue(victim.job, victim.urgency, victim.remaining)
            heappush(self._core._free, victim.slot)
        return super().admit(job)


@scheduler
class TakesArrivalsFirst(Scheduler):
    """Of what happens at one instant the arrivals count first (r-simmer/simmer#187)."""

    def at_once(
        self, completions: Iterable[Lease] = (), cancels: Iterable[RequestId] = (), arrivals: Iterable[Job] = ()
    ) -> tuple[Outcome, ...]:
        came = super().at_once(arrivals=arrivals)
        return (*super().at_once(completions, cancels), *came)


def believes_the_connection(*_: object) -> Answer:
    """Whoever accepts is warm (kserve/kserve#6259)."""
    return Answer(Verdict.WARM, "it accepts")


def takes_all_below_500(line: bytes) -> Verdict:
    """Only a status of 500 and above is a failure (xuleihive/turnstile#22)."""
    status = module.STATUS_LINE.fullmatch(line)
    return Verdict.WARM if status and status[1] < b"500" else Verdict.UNKNOWN


class AnyModel(list[Any]):
    """A list that has whatever it is asked for."""

    def __contains__(self, model: object) -> bool:
        return True


def reads_no_list(body: bytes) -> list[Any]:
    """A list is an answer, whatever is on it (timtoole02/Camelid#692)."""
    return AnyModel()


connect, send = module._connect, module._Exchange.send


def tries_twice(endpoint: module.Endpoint, seconds: float) -> socket:
    """One call is not enough (urllib3/urllib3#2037)."""
    with suppress(OSError):
        connect(endpoint, seconds).close()
    return connect(endpoint, seconds)


def wakes_the_worker(exchange: module._Exchange, request: bytes) -> None:
    """It is asked to work rather than whether it could (basecamp/kamal-proxy#228)."""
    send(exchange, request.replace(b"GET /v1/models", b"POST /v1/completions"))


OWN |= {
    "believes_the_connection": Code(patches=((module, "_ask", believes_the_connection),)),
    "takes_all_below_500": Code(patches=((module, "judge", takes_all_below_500),)),
    "reads_no_list": Code(patches=((module, "_models", reads_no_list),)),
    "tries_twice": Code(patches=((module, "_connect", tries_twice),)),
    "wakes_the_worker": Code(patches=((module._Exchange, "send", wakes_the_worker),)),
}
