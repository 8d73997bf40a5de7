"""Saved counterexamples: a test that is red on the fault and green without it, and a trace that other tools accept."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import itf_py  # type: ignore[import-untyped]
import pytest

from impl.jobs import Job, Urgency
from impl.scheduler import Scheduler
from model.explore.breadth import explore
from model.explore.shapes import Setting
from model.history import regression
from model.history.happenings import Happening, Trace, admit, cancel, complete, progress, restart
from model.history.itf import from_itf, to_itf
from model.history.play import Step, play
from model.history.regression import choose, hold, perform
from model.history.retell import from_found
from model.history.save import read, save
from model.planted import PLANTED
from model.policy.file import load
from tests.found import BUGS, played, trace

ROOT = Path(__file__).resolve().parent.parent
WRONG = "def urgency(job):\n    return -job.priority\n"
CHAT = "chat_never_waits_behind_an_image"
COMMAND = "python -m model explore --slots 1"


def pytest_on(path: Path, **environment: str) -> tuple[int, str]:
    """The exit code and output of a pytest of its own."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={path.parent}", str(path)]
    env = {**os.environ, "PYTEST_ADDOPTS": "", "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def saved(name: str, folder: Path) -> tuple[Path, Path]:
    """The files for a planted bug."""
    return save(trace(name), played(name), PLANTED[name].claim, found=COMMAND, folder=folder)


# Red and green


def test_a_saved_test_is_red_on_the_fault_and_green_without(tmp_path: Path) -> None:
    test, _ = saved("StartsTheVictimAllOver", tmp_path / "a" / "b")
    assert test == tmp_path / "a" / "b" / "test_no_work_is_lost.py"
    assert pytest_on(test)[0] == 0
    (test.parent / "conftest.py").write_text(
        "from impl.scheduler import Scheduler\n"
        "from model.planted import PLANTED\n"
        "Scheduler.core = PLANTED['StartsTheVictimAllOver'].scheduler.core\n"
    )
    code, output = pytest_on(test)
    assert code == 1
    assert "What a live job was served and what remains of it add up to its work" in output
    assert "s.served[j] + s.remaining[j] == s.work[j] is false for j = 'A'" in output


def explored(policy: Path) -> tuple[Trace, list[Step]]:
    """The counterexample to the policy, and its play."""
    urgency = load(policy).urgency
    assert urgency
    setting = Setting(1, (Job("", 1, 1), Job("", 10, 1)), urgency=urgency)
    history = from_found(setting, explore(setting, 2).found[CHAT])
    return Trace(history, 1, 64, 1, str(policy)), play(history, setting.fresh(), urgency)


def test_a_saved_test_is_red_on_the_wrong_policy_and_green_on_the_default(tmp_path: Path) -> None:
    policy = tmp_path / "mine" / "wrong.py"
    policy.parent.mkdir()
    policy.write_text(WRONG)
    found, steps = explored(policy)
    test, other = save(found, steps, CHAT, found=COMMAND, folder=tmp_path / "tests" / "regressions")
    assert test.name == f"test_{CHAT}.py"
    assert 'POLICY = "../../mine/wrong.py"' in test.read_text()
    assert json.loads(other.read_text())["#meta"]["policy"] == "../../mine/wrong.py"
    code, output = pytest_on(test)
    assert code == 1
    assert "No job is queued while one of lower priority runs." in output
    assert pytest_on(test, SLOTPROOF_POLICY="default")[0] == 0
    policy.write_text("def urgency(job):\n    return job.priority\n")
    assert pytest_on(test)[0] == 0


def test_holding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = (admit("A", priority=1, work=1), admit("B", priority=10, work=1))
    wrong = tmp_path / "wrong.py"
    wrong.write_text(WRONG)
    hold(events, slots=1, capacity=64, reserve=1)
    with pytest.raises(AssertionError, match=f"{CHAT}\n(.|\n)*s.priority"):
        hold(events, slots=1, capacity=64, reserve=1, policy=wrong)
    monkeypatch.setenv("SLOTPROOF_POLICY", "default")
    hold(events, slots=1, capacity=64, reserve=1, policy=wrong)
    monkeypatch.setenv("SLOTPROOF_POLICY", str(wrong))
    with pytest.raises(AssertionError, match=CHAT):
        hold(events, slots=1, capacity=64, reserve=1)
    wrong.write_text(f"WAIVES = ({CHAT!r},)\n{WRONG}")
    hold(events, slots=1, capacity=64, reserve=1)


def test_the_policy_that_is_asked_for_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("recorded", "environment", "asked")
    for name in names:
        (tmp_path / name).write_text(WRONG)
    recorded, environment, asked = (str(tmp_path / name) for name in names)
    chosen = choose(recorded)
    assert chosen
    assert chosen.path == recorded
    monkeypatch.setenv("SLOTPROOF_POLICY", environment)
    chosen = choose(recorded)
    assert chosen
    assert chosen.path == environment
    chosen = choose(recorded, asked)
    assert chosen
    assert chosen.path == asked
    assert choose(recorded, "default") is None
    monkeypatch.setenv("SLOTPROOF_POLICY", "")
    assert choose(None) is None


# What is written


@pytest.mark.parametrize("name", BUGS)
def test_both_files_hold_the_trace(name: str, tmp_path: Path) -> None:
    for path in saved(name, tmp_path):
        assert read(path) == trace(name)
        assert perform(read(path), None)[-1].violation is None


EVERYTHING: tuple[Happening, ...] = (
    admit('it\'s "A"', priority=-(2**63), work=2**63 - 1, modality="text\n\\", arrived=2**53, deadline=-1),
    admit(7, priority=1, work=1),
    progress(7, 0, run=-1),
    progress(7, 1),
    complete(7, run=0),
    complete("\ud800 é"),
    cancel("7"),
    restart(),
)


def test_every_event_is_written_and_read_again(tmp_path: Path) -> None:
    whole = Trace(EVERYTHING, 3, 0, 2)
    steps = play(EVERYTHING, Scheduler(3, capacity=0, reserve=2))
    assert regression.read(regression.text(whole, "all", 'Odd """words""" \\', 'run "it" \\N\n"""')) == whole
    assert from_itf(json.loads(json.dumps(to_itf(whole, steps, {})))) == whole


def test_a_fault_at_the_start_needs_no_event(tmp_path: Path) -> None:
    class Starting(Scheduler):
        def snapshot(self) -> Any:
            return super().snapshot()._replace(waiting=1)

    claim = "every_live_job_has_exactly_one_place"
    paths = save(Trace((restart(),), 1, 1, 1), play((restart(),), Starting(1)), claim, found=COMMAND, folder=tmp_path)
    assert [read(path) for path in paths] == [Trace((), 1, 1, 1)] * 2
    assert compile(paths[0].read_text(), "saved", "exec")


def test_a_saved_test_is_plain_python() -> None:
    source = regression.text(trace("EvictsAllBelow"), "x", 'Odd """words""" \\', f"{COMMAND} --policy C:\\new\\x.py")
    module = ast.parse(source)
    assert ast.get_docstring(module) == f'Odd """words""" \\\n\nFound by `{COMMAND} --policy C:\\new\\x.py`.'
    assert max(map(len, source.splitlines())) <= 120
    assert [node.name for node in module.body if isinstance(node, ast.FunctionDef)] == ["test_x"]


def test_the_seed_is_kept(tmp_path: Path) -> None:
    test, other = save(trace("NeverPreempts"), played("NeverPreempts"), CHAT, found=COMMAND, seed=42, folder=tmp_path)
    assert f"Found by `{COMMAND} (seed 42)`." in test.read_text()
    assert json.loads(other.read_text())["#meta"]["seed"] == 42


@pytest.mark.parametrize("name", BUGS)
def test_the_trace_is_accepted_as_itf(name: str, tmp_path: Path) -> None:
    _, path = saved(name, tmp_path)
    raw = json.loads(path.read_text())
    accepted = itf_py.trace_from_json(raw)
    steps = played(name)
    assert accepted.meta["property"] == PLANTED[name].claim
    assert [state.meta["index"] for state in accepted.states] == list(range(len(steps)))
    assert set(accepted.params) <= set(accepted.states[0].values)
    for state, step in zip(accepted.states, steps, strict=True):
        assert set(accepted.vars) <= set(state.values)
        assert type(state.values["event"]).__name__.lower() == (step.happening.name if step.happening else "start")
        assert step.snapshot
        assert state.values["waiting"] == step.snapshot.waiting
        assert [entry.job for entry in state.values["queue"]] == [entry.job.request_id for entry in step.snapshot.queue]
        assert {slot: (run.job, run.remaining) for slot, run in state.values["running"].items()} == {
            run.slot: (run.job.request_id, run.remaining) for run in step.snapshot.running if run
        }
    assert accepted.states[-1].meta["breaks"]
    assert itf_py.trace_to_json(accepted)["vars"] == raw["vars"]


def urgent(job: Job) -> Urgency:
    return (job.priority, -(2**60))


def test_tuples_large_numbers_and_a_play_that_ends_in_an_error_are_accepted_as_itf() -> None:
    class Exploding(Scheduler):
        def restart(self) -> Any:
            raise ZeroDivisionError

    steps = play(EVERYTHING, Exploding(3, capacity=0, reserve=2, urgency=urgent), urgent)
    assert steps[-1].violation
    raw = to_itf(Trace(EVERYTHING, 3, 0, 2), steps, {})
    assert all(abs(int(number)) < 2**53 for number in re.findall(r"(?<!\")-?\d+\b(?!\")", json.dumps(raw)))
    trace = itf_py.trace_from_json(raw)
    first, last = trace.states[1].values, trace.states[-1].values
    assert first["running"][0].urgency == (-(2**63), -(2**60))
    assert (first["event"].arrived, first["event"].deadline) == (2**53, {-1})
    assert trace.states[2].values["event"].deadline == set()
    assert last["event"].value == "U_OF_UNIT"
    assert last["served"] == trace.states[-2].values["served"] != {}


# What is there already


def test_the_same_trace_is_saved_once(tmp_path: Path) -> None:
    first = saved("EvictsAllBelow", tmp_path)
    content = [path.read_bytes() for path in first]
    steps, claim = played("EvictsAllBelow"), PLANTED["EvictsAllBelow"].claim
    again = save(trace("EvictsAllBelow"), steps, claim, found="another command", folder=tmp_path)
    assert (again, [path.read_bytes() for path in again]) == (first, content)
    first[1].unlink()
    assert saved("EvictsAllBelow", tmp_path) == first
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{claim}.itf.json", f"test_{claim}.py"]


def test_another_trace_is_numbered(tmp_path: Path) -> None:
    names = [name for name in BUGS if PLANTED[name].claim == "no_work_is_lost"][:3]
    paths = [saved(name, tmp_path)[0].name for name in names]
    assert paths == ["test_no_work_is_lost.py", "test_no_work_is_lost_2.py", "test_no_work_is_lost_3.py"]
    for name, path in zip(names, paths, strict=True):
        assert read(tmp_path / path) == trace(name)


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "test_no_work_is_lost.py"
    mine.write_text("precious")
    (tmp_path / "no_work_is_lost_2.itf.json").mkdir()
    test, _ = saved("ForgetsProgress", tmp_path)
    assert test.name == "test_no_work_is_lost_3.py"
    assert mine.read_text() == "precious"


def test_what_broke_nothing_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not break no_work_is_lost"):
        save(trace("EvictsAllBelow"), played("EvictsAllBelow"), "no_work_is_lost", found=COMMAND, folder=tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_events_behind_the_fault_are_left_out(tmp_path: Path) -> None:
    whole = Trace((*trace("ForgetsProgress").history, restart()), 1, 64, 1)
    test, _ = save(whole, played("ForgetsProgress"), "no_work_is_lost", found=COMMAND, folder=tmp_path)
    assert read(test) == trace("ForgetsProgress")
