"""Random events for the shipped controller, each of its steps held to the specification."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, initialize, invariant, precondition, rule

from impl.probe import Verdict
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Command, Do, Phase, Settings
from model.conform.monitor import Violation
from model.conform.witnesses import WORKER, look
from model.conform.worker_events import Adopted, Event, Exited, Gone, JobEnded, Probed, Progressed, Tick
from model.conform.worker_watch import Watch
from model.draw.rows import Row, loop_rows
from model.explore.moments import TRUTH, shifted
from model.explore.smallest import smallest
from model.fuzz.counting import Counting, counted, rules_of
from model.history.spoken import spoken
from spec.worker_state import State

SETTINGS = st.builds(
    Settings,
    ttl=st.sampled_from((0, 1, 3)),
    start_budget=st.sampled_from((2, 1, 5)),
    patience=st.sampled_from((1, 2, 3)),
    alarm_after=st.sampled_from((1, 3)),
    hang_budget=st.sampled_from((0, 1, 2)),
    longest_back_off=st.sampled_from((2, 1, 5)),
)
GAPS = st.sampled_from((1, 0, 1, 2, 60))
DEMANDS = st.sampled_from((1, 0, 2, None, 10**6))
VERDICTS = st.sampled_from(tuple(Verdict))
LAGS = st.sampled_from((0, 0, 0, 1, 2))
"""How many starts ago was the worker that is told of."""
REPORTS = st.sampled_from((Progressed, JobEnded))
TELL = st.one_of(
    st.builds(lambda verdict: lambda generation: Probed(verdict, generation), VERDICTS),
    st.sampled_from((Exited, Progressed, JobEnded)),
    st.builds(lambda port: lambda generation: Gone(generation, port), VERDICTS),
)
"""What may be told of a generation, once that is known."""
NO_NUMBERS = st.sampled_from((True, 1.0, float("nan"), "1", b"1", 10**30, -(10**30), (1,)))
NO_VERDICTS = st.sampled_from((None, True, 1, "warm", "WARM"))


class WorkerMachine(Counting):
    """A controller and whatever may happen to it: late, doubled and reordered events of several workers, probes that
    lie, other controllers, bad input."""

    controller_type: ClassVar[type[Controller]] = Controller
    met: ClassVar[list[Any]] = []
    """The events of the history that was retold last."""

    mail = Bundle[Event]("mail")
    """What is told of a worker that once was the last, and may come at any time, in any order, more than once."""

    @initialize(settings=SETTINGS)
    def begin(self, settings: Settings) -> None:
        self.told[:] = [(settings,)]
        self.watch: Watch = self.start(settings)
        self.living: set[int] = set()
        """The generations that were started and are not known to be gone."""
        self.adopted = 0
        """When the controller took over."""

    @classmethod
    def start(cls, settings: Settings) -> Any:
        """What is observed, before anything has happened."""
        return Watch(settings, make=cls.controller_type)

    @classmethod
    def again(cls, run: Any, step: Any) -> None:
        """The step that was taken, as seen from where the run is now."""
        now = run.controller.snapshot()
        run.meet(shifted(step, now.now, now.generation))

    @classmethod
    def simpler(cls, step: Any) -> Iterator[Any]:
        """What is tried in its place: less time, less demand."""
        if isinstance(step, Tick):
            yield from (replace(step, now=gap) for gap in (0, 1, 2) if gap < step.now)
            yield from (replace(step, demand=demand) for demand in (0, 1) if demand < (step.demand or 0))

    @classmethod
    def retold(cls, violation: Violation) -> tuple[list[str], Violation]:
        """How it began, and the smallest history that breaks the same claim in its last step."""
        begun, *steps = cls.told

        def breaks(part: Sequence[Any]) -> bool:
            found, _ = cls.play(begun, part)
            return found is not None and violation.claim in found.claims

        found, history = cls.play(begun, smallest(steps, breaks, cls.simpler))
        cls.met = history
        return [*(str(each) for each in begun if not callable(each)), *map(spoken, history)], found or violation

    @classmethod
    def rows(cls, violation: Violation) -> list[Row]:
        """The history that was retold last, for a drawing."""
        settings, *others = cls.told[0]
        scheduler = cls.scheduler_of(*others)
        return loop_rows(settings, cls.met, violation, make=cls.controller_type, scheduler=scheduler)

    @classmethod
    def scheduler_of(cls, *_: Any) -> Scheduler | None:
        """The one that the run began with, if there is one."""
        return None

    @classmethod
    def play(cls, begun: tuple[Any, ...], steps: Sequence[Any]) -> tuple[Violation | None, list[Any]]:
        """The violation in the last of the steps, if that is the first, and the events that were met."""
        taken, history = 0, []
        try:
            run = cls.start(*begun)
            history = run.history
            for step in steps:
                taken += 1
                cls.again(run, step)
        except Violation as violation:
            return violation if taken == len(steps) else None, history
        except ValueError:  # what made the step possible is missing
            pass
        return None, history

    @property
    def last(self) -> int:
        """The generation of the last start."""
        return self.watch.controller.snapshot().generation

    @property
    def phase(self) -> Phase:
        """Where its worker is."""
        return self.watch.controller.snapshot().phase

    @rule(gap=GAPS, demand=DEMANDS)
    @counted
    def tick(self, gap: int, demand: int | None) -> None:
        self.tick_after(gap, demand)

    @rule(seconds=st.integers(1, 4), demand=DEMANDS, report=st.none() | REPORTS, idle=st.sampled_from((0, 0, 2, 4)))
    @counted
    def seconds_pass(
        self, seconds: int, demand: int | None, report: type[Progressed | JobEnded] | None, idle: int
    ) -> None:
        """The world answers truly and ticks go on; something is done, and nothing is wanted for a while."""
        for second in range(seconds + idle):
            if second == seconds and report is not None and demand and self.phase is Phase.WARM:
                self.meet(report(self.last))
            self.answer()
            self.tick_after(1, demand if second < seconds else 0)

    @rule(events=st.lists(mail, min_size=2, max_size=4), demand=DEMANDS)
    @counted
    def one_instant(self, events: list[Event], demand: int | None) -> None:
        """All of it belongs to one instant, which is told twice."""
        for event in events:
            self.meet(event)
        for _ in range(2):
            self.tick_after(0, demand)

    @rule(verdict=VERDICTS, lag=LAGS)
    @counted
    def probe(self, verdict: Verdict, lag: int) -> None:
        self.meet(Probed(verdict, max(0, self.last - lag)))

    @rule(verdicts=st.lists(st.sampled_from((Verdict.COLD, Verdict.COLD, Verdict.UNKNOWN)), min_size=1, max_size=4))
    @counted
    def refuse(self, verdicts: list[Verdict]) -> None:
        """A warm worker refuses connections in a row, or does not answer in time."""
        self.warm_up()
        for verdict in verdicts:
            self.meet(Probed(verdict, self.last))

    @precondition(lambda self: self.phase in (Phase.COLD, Phase.STARTING))
    @rule(demand=DEMANDS, verdict=VERDICTS, report=REPORTS)
    @counted
    def start_slowly(self, demand: int | None, verdict: Verdict, report: type[Progressed | JobEnded]) -> None:
        """A worker that is wanted reports too early, and perhaps does not answer before its budget ends."""
        limits = self.watch.controller.snapshot().settings
        for _ in range(2):
            if self.phase is Phase.COLD:
                self.answer()
                self.tick_after(limits.longest_back_off, 1)
        self.meet(report(self.last))
        self.meet(Probed(verdict, self.last))
        self.tick_after(limits.start_budget - 1, demand)
        self.tick_after(1, demand)

    @precondition(lambda self: self.phase in (Phase.STARTING, Phase.WARM))
    @rule()
    @counted
    def crash(self) -> None:
        self.meet(Exited(self.last))

    @rule(lag=LAGS, port=VERDICTS)
    @counted
    def vanish(self, lag: int, port: Verdict) -> None:
        self.meet(Gone(max(0, self.last - lag), port))

    @rule(reports=st.lists(REPORTS, min_size=1, max_size=3), crashes=st.booleans())
    @counted
    def report(self, reports: list[type[Progressed | JobEnded]], crashes: bool) -> None:
        """A warm worker reports work, and perhaps dies of it."""
        self.warm_up()
        for report in reports:
            self.meet(report(self.last))
        if crashes:
            self.meet(Exited(self.last))

    @rule(target=mail, tell=TELL)
    @counted
    def post(self, tell: Callable[[int], Event]) -> Event:
        """Something is told of the present worker, and will come."""
        return tell(self.last)

    @rule(event=mail)
    @counted
    def deliver(self, event: Event) -> None:
        self.meet(event)

    def is_at_work(self) -> bool:
        """The controller has been here for a while."""
        return len(self.watch.history) >= self.adopted + 10

    @precondition(is_at_work)
    @rule(living=st.booleans())
    @counted
    def restart_the_controller(self, living: bool) -> None:
        self.adopt(living)

    @rule(number=NO_NUMBERS, verdict=NO_VERDICTS, ahead=st.integers(1, 3))
    @counted
    def tell_nonsense(self, number: Any, verdict: Any, ahead: int) -> None:
        """What is no event is refused and changes nothing."""
        controller, before = self.watch.controller, self.watch.controller.snapshot()
        for told in (
            lambda: controller.tick(number, 1),
            lambda: controller.tick(before.now - 1, 1),
            lambda: controller.tick(before.now, number),
            lambda: controller.tick(before.now, -1),
            lambda: controller.probed(verdict, before.generation),
            lambda: controller.probed(Verdict.WARM, before.generation + ahead),
            lambda: controller.exited(number),
            lambda: controller.exited(-1),
            lambda: controller.gone(before.generation, verdict),
            lambda: controller.gone(before.generation + ahead),
            lambda: controller.progressed(number),
            lambda: controller.job_ended(before.generation + ahead),
        ):
            refused(told)
            assert controller.snapshot() == before, "what was refused has changed something"
        make = self.controller_type
        refused(lambda: make(before.settings, number))
        refused(lambda: make.adopt(before.settings, before.now, 0, living=True, stopping=False))

    @invariant()
    def one_worker_lives(self) -> None:
        """By what the commands said, not by what the checker keeps."""
        assert len(getattr(self, "living", ())) <= 1, "two workers live"

    def warm_up(self) -> None:
        """Time in which a wanted worker becomes warm and serves, unless its back-off is long."""
        for _ in range(4):
            self.answer()
            self.tick_after(1, 1)

    def adopt(self, living: bool) -> None:
        """A new controller takes over; the worker may have died meanwhile."""
        alive = bool(self.watch.state.alive[self.last])
        self.meet(Adopted(self.last, living and alive, self.phase is Phase.STOPPING))
        self.adopted = len(self.watch.history)

    def answer(self) -> None:
        """A truthful probe, and of a worker that was told to stop that it is gone."""
        if self.phase is Phase.STOPPING:
            self.meet(Gone(self.last))
        self.meet(Probed(TRUTH[self.phase], self.last))

    def tick_after(self, gap: int, demand: int | None) -> None:
        self.meet(Tick(self.watch.controller.snapshot().now + gap, demand))

    def meet(self, event: Event) -> Command | None:
        now = self.watch.controller.snapshot()
        self.told.append(shifted(event, -now.now, -now.generation))
        known = self.watch.actions.copy()
        if isinstance(event, Gone) or (isinstance(event, Adopted) and not event.living):
            self.living.discard(event.generation)
        command = self.drive(event)
        self.actions.update(self.watch.actions - known)
        if command is not None and command.do is Do.SPAWN:
            self.living.add(command.generation)
        return command

    def drive(self, event: Event) -> Command | None:
        """Let the controller meet the event."""
        before = self.watch.state
        command = self.watch.meet(event)
        self.look(before, self.watch.state)
        return command

    def look(self, before: State, after: State) -> None:
        """Which witnesses the step is."""
        look(WORKER, self.witnesses, before, after)


def refused(told: Callable[[], object]) -> None:
    """AssertionError unless it raises ValueError."""
    try:
        told()
    except ValueError:
        return
    raise AssertionError("nonsense was taken")


RULES = rules_of(WorkerMachine)
"""The names of the rules that are counted."""
