"""Holds the lines of a log to the specification: each outcome is foretold, and where one differs, or now and then, the
specification itself judges the step and names what it breaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from impl.journal import SCHEMA
from model.check import claimed as check_claimed
from model.check import lines
from model.check import worker as check_worker
from model.check.learn import Learner
from model.check.log import Wrong, integrity
from model.check.scheduler import MOST_SLOTS, Fast
from model.check.worker import FastWorker, Meant
from model.conform.monitor import Monitor, Violation, nonconforming

SELDOM = 10_000
"""Every so many lines, and 1,000 more for each live job, one is judged by the specification itself although it is as
foretold: that takes as long as judging some ten lines for each live job."""
MOST_NOTES = 20
"""So many are kept, and the others counted."""
OF_THE_SCHEDULER = (lines.Admit, lines.Complete, lines.Progress, lines.Cancel, lines.Restart)
OF_A_WORKER = (lines.Tick, lines.Probed, lines.Exited, lines.Gone, lines.Progressed, lines.JobEnded)

Step = Callable[[Any], Any]


class Check:
    """One pass over a log, in memory proportional to its live jobs. `slots`, `capacity` and `reserve` are for one that
    does not tell them; in a `sampled` one events may be missing anywhere.

    `events` counts the lines by type, `rejudged` those that the specification judged itself, and `lost` the events that
    a recorder says it lost. `closed`: the last recorder said that it was done. `missing` holds, by machine, what was
    not told (`check_needs`), `known` the machines whose whole state was known at some time; `partial` says that it was
    not at another, and `notes`, the first of all that were `noted`, say when.
    """

    def __init__(
        self, slots: int | None = None, capacity: int | None = None, reserve: int | None = None, sampled: bool = False
    ) -> None:
        self.sizes = slots, capacity, reserve
        self.sampled = sampled
        self.events: Counter[type] = Counter()
        self.rejudged = 0
        self.lost = 0
        self.closed = False
        self.missing: dict[str, set[str]] = {}
        self.known: set[str] = set()
        self.partial = False
        self.notes: list[str] = []
        self.noted = 0
        self.scheduler: Fast | None = None
        self.worker: FastWorker | None = None
        self._learner: Learner | None = None
        self._settings: lines.Open | None = None
        self._served = False
        self._torn = False
        self._steps: dict[type, Step] = {}
        self._due = 0

    def feed(self, first: int, batch: Sequence[Any]) -> Wrong | None:
        """Judge the lines, the first of which has this number; what is wrong, if anything is."""
        kinds = list(map(type, batch))
        for kind in set(kinds):
            self.events[kind] += kinds.count(kind)
        find, due = self._steps.get, self._due
        number = first
        try:
            for number, (kind, line) in enumerate(zip(kinds, batch, strict=True), first):
                step = find(kind)
                if step is None or number >= due:
                    wrong = self._look(number, line)
                    due = self._due
                    if wrong:
                        return wrong
                elif (meant := step(line)) is not None:
                    return self._differs(number, line, meant)
        except Violation as violation:
            return _wrong(number, batch[number - first], violation)
        except TypeError as error:
            return _wrong(number, batch[number - first], nonconforming(f"Two urgencies do not compare: {error}."))
        return None

    def lacking(self, machine: str) -> set[str]:
        """What was not told of the machine."""
        return self.missing[machine] | (set() if machine in self.known else {"start"})

    def _look(self, number: int, line: Any) -> Wrong | None:
        """A line that is no usual one, or is judged by the specification itself."""
        if line.__class__ in self._steps:
            return self._rejudge(number, line)
        match line:
            case lines.Open() if line.schema != SCHEMA:
                return integrity(number, "schema", f"The schema is {line.schema}, expected {SCHEMA}.")
            case lines.Open(machine="scheduler"):
                self._begin(number, line)
            case lines.Open(machine="worker"):
                self._begin_worker(number, line)
            case lines.Open():
                raise nonconforming(f"The machine is {line.machine!r}, expected scheduler or worker.")
            case lines.Lost():
                self.lost += line.events
                self._forget(f"line {number}: {line.events} events could not be written here")
            case lines.Close():
                self.closed = True
            case lines.Reopened():
                self._reopen(number, line)
            case lines.Told():
                self._learn_worker(number, line)
            case _:
                return self._learn(number, line)
        return None

    def _rejudge(self, number: int, line: Any) -> Wrong | None:
        of_scheduler = isinstance(line, OF_THE_SCHEDULER)
        machine: Any = self.scheduler if of_scheduler else self.worker
        before = machine.snapshot()
        meant = self._steps[type(line)](line)
        if meant is not None:
            return self._differs(number, line, meant)
        self._due = number + SELDOM + (1000 * len(self.scheduler.jobs) if self.scheduler else 0)
        if of_scheduler and (machine.missing or before.next_ticket < 0):
            return None  # a state of which something is not known is none of the specification
        self.rejudged += 1
        if of_scheduler:
            found = check_claimed.rejudge(before, line, machine.snapshot())
        else:
            found = check_worker.judge(before, line, machine.meant)
        return _wrong(number, line, found) if found else None

    def _differs(self, number: int, line: Any, meant: Any) -> Wrong:
        if isinstance(meant, Violation):
            return _wrong(number, line, meant)
        if isinstance(meant, Meant):
            assert self.worker is not None
            found = check_worker.judge(self.worker.snapshot(), line, meant)
        else:
            assert self.scheduler is not None
            found = check_claimed.judge(self.scheduler.snapshot(), line, meant)
        if found is None:
            raise AssertionError(f"line {number}: {meant} was foretold, yet the specification allows {line}")
        return _wrong(number, line, found, meant)

    # The scheduler

    def _begin(self, number: int, line: lines.Open) -> None:
        slots, line.capacity, line.reserve = (
            given if told is None else told
            for given, told in zip(self.sizes, (line.slots, line.capacity, line.reserve), strict=True)
        )
        if slots is None or not 1 <= slots <= MOST_SLOTS:
            raise nonconforming(f"There are {slots} slots, expected 1 to {MOST_SLOTS}.")
        fast = Fast.opened(line, slots)
        Monitor(fast.snapshot())
        if self.scheduler:
            self._goes_on(number, self.scheduler, fast)
        self._follow(fast)

    def _goes_on(self, number: int, last: Fast, fast: Fast) -> None:
        """A later recorder of a scheduler found what an earlier one left, or begins anew."""
        had, has = (
            [
                *filter(None, each.running),
                *each.queue,
                f"run {each.next_run} to come",
                f"ticket {each.next_ticket} to come",
            ]
            for each in (last.snapshot(), fast.snapshot())
        )
        if had == has or not (last.jobs or fast.jobs or fast.next_run):
            return
        whole = not last.missing and last.next_ticket >= 0
        if whole and fast.next_run and not self._torn:
            was, now = next(((a, b) for a, b in zip_longest(had, has) if a != b))
            raise nonconforming(f"A scheduler goes on with {now}, though the last one left {was}.")
        told = f"a scheduler begins with {len(fast.jobs)} live jobs; the last had {len(last.jobs)}"
        self._note(f"line {number}: {told}, and what became of them is not told")
        self.partial = True

    def _follow(self, fast: Fast) -> None:
        fast.missing = self._of("scheduler") | fast.missing
        self.missing["scheduler"] = fast.missing
        self.known.add("scheduler")
        self.scheduler, self._learner, self._torn, self._due = fast, None, False, 0
        steps = (fast.admit, fast.complete, fast.progress, fast.cancel, fast.restart)
        self._steps |= dict(zip(OF_THE_SCHEDULER, steps, strict=True))

    def _learn(self, number: int, line: Any) -> Wrong | None:
        """A line of a scheduler whose state is not known."""
        if self._torn:
            self._forget(f"line {number}: it goes on where an event may have been lost")
        if self._learner is None:
            self._learner = Learner(*self.sizes, sampled=self.sampled)
            self._learner.missing = self._of("scheduler")
            self._learner.missing.update({"every"} if self.sampled else ())
            self.partial = True
        wrong = self._learner.step(line)
        if wrong:
            return _wrong(number, line, wrong)
        fast = self._learner.learned()
        if fast is not None:
            self._follow(fast)
            self._note(f"line {number}: after it the whole state of the scheduler is known")
        return None

    # The worker

    def _begin_worker(self, number: int, line: lines.Open) -> None:
        try:
            found = check_worker.opened(line)
        except ValueError as error:
            raise nonconforming(f"No worker begins so: {error}.") from error
        before = self.worker and self.worker.snapshot()
        if before and not check_worker.follows(before, found, line.phase is not None):
            was, now = check_worker.told_apart(before, found, line.phase is not None)
            if not self._torn:
                raise nonconforming(f"A new controller begins with a worker that is {now}, though it was {was}.")
            self._note(f"line {number}: the worker was {was} and is {now}; an event between was lost")
        self._settings = line
        self._follow_worker(FastWorker(found))

    def _follow_worker(self, fast: FastWorker) -> None:
        fast.missing = self._of("worker")
        self.known.add("worker")
        self.worker, self._torn, self._due = fast, False, 0
        self._steps |= dict.fromkeys(OF_A_WORKER, fast.step)
        self._steps[lines.Tick], self._steps[lines.Probed] = fast.tick, fast.probed

    def _learn_worker(self, number: int, line: Any) -> None:
        """A line of a worker whose state is not known. It is known again at a SERVE if a job has ended on that worker
        since the tick before."""
        if self._torn:
            self._forget(f"line {number}: it goes on where an event may have been lost")
        self._of("worker")
        self.partial = True
        if isinstance(line, lines.JobEnded):
            self._served = line.do == "hold" and line.why == "noted"
        elif isinstance(line, lines.Tick):
            if self._served and line.do == "serve" and line.of is not None and self._settings is not None:
                self._follow_worker(FastWorker(check_worker.serving(self._settings, line.now, line.of)))
                self._note(f"line {number}: after it the whole state of the worker is known")
            self._served = False

    # What a recorder says of itself

    def _note(self, text: str) -> None:
        if len(self.notes) < MOST_NOTES:
            self.notes.append(text)
        self.noted += 1

    def _of(self, machine: str) -> set[str]:
        return self.missing.setdefault(machine, set())

    def _forget(self, why: str) -> None:
        """Nothing is known of the present state any more."""
        self._note(f"{why}; the state after it is not known")
        self.partial = True
        self.scheduler = self.worker = self._learner = None
        self._torn = False
        self._steps.clear()

    def _reopen(self, number: int, line: lines.Reopened) -> None:
        """Another process goes on. Unless the one before had said that it was done, its last event may be lost."""
        if not self.closed:
            cut = f", and {line.cut} bytes of a torn line were removed" if line.cut else ""
            self._note(f"line {number}: the recorder before ended without saying so{cut}")
            self._torn = True
            self._steps.clear()
        self.closed = False


def _wrong(number: int, line: Any, found: Violation, meant: Any = None) -> Wrong:
    told = f" Expected {meant}." if meant is not None else ""
    return Wrong(number, found.claim, found.sentence, found.detail + told, found.claims, tuple(involved(line, meant)))


def involved(line: Any, meant: Any = None) -> Iterator[Any]:
    """The jobs that the line names, and those that it should have named."""
    named: list[Any] = [getattr(line, name, None) for name in ("request_id", "preempted", "heir")]
    named += [getattr(getattr(meant, name, None), "request_id", None) for name in ("preempted", "heir")]
    yield from dict.fromkeys(name for name in named if name is not None)
