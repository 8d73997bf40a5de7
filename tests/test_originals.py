"""A negative control: the engines find by themselves what is wrong with the original scheduler, and nothing where it is
right."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, product
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, run_state_machine_as_test

from impl.gate import scheduler_rows
from impl.jobs import Job, Outcome, by_priority
from impl.scheduler import Scheduler
from model.conform.events import Event
from model.conform.monitor import Violation
from model.explore.breadth import explore
from model.explore.shapes import Setting
from model.fuzz.scheduler import RULES, SchedulerMachine, fresh
from model.history.happenings import Happening, History, admit, complete, letter
from model.history.play import Step, play
from model.history.retell import from_events, from_found
from model.history.shrink import shrink
from model.originals import mesh_autoscale, sched_qos
from model.originals.adapter import QosByName, QosScheduler
from tests.originals import AUTOSCALE, SCHEDULER, row

ROOT = Path(__file__).resolve().parent.parent
SEEDS = ROOT.parent / "shared" / "seeds"


def told(history: History) -> str:
    return "; ".join(map(str, history))


def claims(steps: list[Step]) -> tuple[str, ...]:
    """What the last step breaks."""
    return steps[-1].violation.claims if steps[-1].violation else ()


# What is wrong, in every history of a small instance


def setting(actions: str, *priorities: int, capacity: int = 64, scheduler: type[Scheduler] = QosScheduler) -> Setting:
    """One slot, and jobs of these priorities."""
    kinds = tuple(Job("", priority, 1) for priority in priorities)
    return Setting(1, kinds, capacity, 1, tuple(actions.split()), scheduler=scheduler)


EXPLORED = {
    "victim": setting("admit", 1, 10, capacity=1),
    "arrival": setting("admit", 1, capacity=1),
    "slot": setting("admit stale", 1),
    "name": setting("admit stale", 1, scheduler=QosByName),
    "again": setting("admit duplicate", 1),
    "cancel": setting("admit nothing", 1),
    "progress": setting("admit progress", 1),
    "restart": setting("restart", 1),
}


@pytest.mark.parametrize("name", EXPLORED)
def test_explore_finds(name: str) -> None:
    seen = explore(EXPLORED[name], 4, 100)
    found = seen.found[SCHEDULER[name].claim.strip("`")]
    assert told(from_found(EXPLORED[name], found)) == SCHEDULER[name].trace


@pytest.mark.parametrize("priority", [1, 10])
def test_at_64_places_it_is_so_too(priority: int) -> None:
    """With one slot the 66th job is lost, or the first."""
    jobs = [admit(letter(number), priority=1, work=1) for number in range(65)]
    steps = play([*jobs, admit("last", priority=priority, work=1)], QosScheduler(1))
    assert len(steps) == 67
    assert claims(steps)[0] == ("no_live_job_vanishes" if priority == 10 else "conformance")


# In every history of few events: what the explorer has no action for

NOBODY = -1
SEARCHED: dict[str, tuple[type[Scheduler], Sequence[Happening], Sequence[Happening]]] = {
    "late": (
        QosScheduler,
        [admit("A", priority=1, work=1), admit("B", priority=10, work=1)],
        [complete("A"), complete("B")],
    ),
    "twice": (
        QosScheduler,
        [admit("A", priority=1, work=1), admit("B", priority=1, work=1), complete("A")],
        [complete("A"), complete("B")],
    ),
    "free": (QosScheduler, [], [complete("A")]),
    "outside": (QosByName, [], [complete("A")]),
    "victim -1": (QosScheduler, [admit(NOBODY, priority=1, work=1)], [admit(0, priority=p, work=1) for p in (1, 2)]),
    "heir -1": (QosScheduler, [admit(each, priority=1, work=1) for each in (0, NOBODY)], [complete(0)]),
}
"""What decides, how each history begins, and what may follow."""


def histories(begin: Sequence[Happening], events: Sequence[Happening]) -> Iterator[History]:
    """The shortest first, up to three events more."""
    return ((*begin, *more) for length in range(4) for more in product(events, repeat=length))


@pytest.mark.parametrize("name", SEARCHED)
def test_search_finds(name: str) -> None:
    scheduler, begin, events = SEARCHED[name]
    finding = SCHEDULER[name]
    found = next(
        each for each in histories(begin, events) if finding.claim.strip("`") in claims(play(each, scheduler(1)))
    )
    assert told(found) == finding.trace


# In random histories


class Roomy(SchedulerMachine):
    """One slot and 64 places, where a violation counts if it is one of `claim`."""

    claim: ClassVar[str] = ""

    @initialize()
    def begin(self) -> None:
        super().begin(slots=0, capacity=64, reserve=None, urgency=0)

    def judged(self, event: Event) -> Outcome:
        try:
            return super().judged(event)
        except Violation as violation:
            if self.claim not in violation.claims:
                reject()
            raise


def fuzzed(claim: str, *rules: str, phases: tuple[Phase, ...] = (Phase.generate,)) -> tuple[list[Any], Exception]:
    """What these rules tell of the history that they led to, and what is wrong with it."""
    others = dict.fromkeys(set(RULES) - set(rules))
    machine = fresh(Roomy, claim=claim, scheduler_type=QosScheduler, urgencies=(by_priority,), **others)
    how = settings(
        max_examples=300,
        stateful_step_count=8,
        derandomize=True,
        database=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
    )
    with pytest.raises((Violation, AssertionError)) as caught:
        run_state_machine_as_test(machine, settings=how)
    return machine.told[1:], caught.value


def stranger() -> str:
    """Whatever was found becomes the smallest history."""
    events, wrong = fuzzed("no_live_job_vanishes", "admit", "complete")
    assert isinstance(wrong, Violation)
    history = from_events(events, QosScheduler(1))
    names = dict(zip(dict.fromkeys(each.job for each in history), map(letter, count()), strict=False))
    named = [replace(each, job=names[each.job]) for each in history]
    smallest, known = shrink(named, "no_live_job_vanishes", lambda events: play(events, QosScheduler(1)))
    assert known
    return told(smallest)


def any_work() -> str:
    """What is no job has no history."""
    events, wrong = fuzzed("", "admit_what_is_no_job", phases=(Phase.generate, Phase.shrink))
    assert not events
    name, priority, work = re.findall(r"(?:request_id|priority|work)=(-?\d+)", str(wrong))
    assert str(wrong).endswith("was admitted")
    return f"admit({name}, priority={priority}, work={work})"


FUZZED = {"stranger": stranger, "work": any_work}


@pytest.mark.parametrize("name", FUZZED)
def test_fuzz_finds(name: str) -> None:
    assert FUZZED[name]() == SCHEDULER[name].trace


# What is right


def test_its_own_five_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert all(each.holds for each in scheduler_rows(QosScheduler))
    assert sched_qos.main() == 0
    assert capsys.readouterr().out == "nx_sched_qos pass=5/5 GREEN\n"


def test_while_there_is_room_and_reports_are_in_time_it_takes_the_steps_of_the_specification() -> None:
    levels = tuple(Job("", priority, 1) for priority in (1, 2, 3))
    seen = explore(Setting(2, levels, actions=("admit", "complete"), scheduler=QosScheduler), 5)
    assert (seen.verdict, seen.states, seen.transitions) == ("explored", 1_933, 5_117)


@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.sampled_from((1, 1, 5, 10)), st.integers(1, 9)) | st.integers(0, 3), max_size=60),
)
def test_and_has_the_histories_of_ours(slots: int, events: list[tuple[int, int] | int]) -> None:
    """A pair is an arrival with its priority and work, a number the place of the run that ends."""
    ours, theirs = Scheduler(slots), QosScheduler(slots)
    for name, event in enumerate(events):
        running = [run.lease for run in filter(None, ours.snapshot().running)]
        if isinstance(event, tuple):
            assert ours.admit(Job(name, *event)) == theirs.admit(Job(name, *event))
        elif running:
            lease = running[event % len(running)]
            assert ours.complete(lease) == theirs.complete(lease)
        assert ours.snapshot() == theirs.snapshot()
        assert [ours.lease_of(each) for each in range(name)] == [theirs.lease_of(each) for each in range(name)]


# The lists


def test_every_finding_is_found() -> None:
    assert set(SCHEDULER) == {*EXPLORED, *SEARCHED, *FUZZED}


def test_the_specification_lists_each_finding() -> None:
    text = (ROOT / "spec" / "README.md").read_text().splitlines()
    for test, findings in (("test_originals.py", SCHEDULER), ("test_originals_autoscale.py", AUTOSCALE)):
        for name, finding in findings.items():
            assert row(test, name, finding) in text


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the originals are not at hand")
@pytest.mark.parametrize("port", [sched_qos, mesh_autoscale])
def test_the_ports_are_of_the_originals(port: ModuleType) -> None:
    """Constants, the line of each function, and every text it says."""
    name = f"nx_{port.__name__.rpartition('.')[2]}.nx"
    seed = (SEEDS / f"{name}.txt").read_text()
    constants = {each: int(value) for each, value in re.findall(r"const (\w+): i64 = (\d+)", seed)}
    assert constants == {each: value for each, value in vars(port).items() if each.isupper() and type(value) is int}
    lines = {function: line for line, function in re.findall(r"(?<!\S)(\d+)func (\w+)", seed)}
    tree = ast.parse(Path(str(port.__file__)).read_text())
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    assert set(lines) - set(functions) <= {"gw", "gn", "am_pollfd"}
    for function in set(lines) & set(functions):
        assert (ast.get_docstring(functions[function]) or "").startswith(f"{name}:{lines[function]}"), function
    for call in (each for each in ast.walk(tree) if isinstance(each, ast.Call)):
        if isinstance(call.func, ast.Name) and call.func.id in ("am_w", "am_p"):
            for said in (each.value for each in call.args if isinstance(each, ast.Constant)):
                assert str(said).encode("unicode_escape").decode() in seed, said
