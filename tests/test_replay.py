"""`python -m model replay`: verdicts and exit codes, both kinds of files, and step by step."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from impl.jobs import by_priority
from impl.scheduler import Scheduler
from model.__main__ import main
from model.conform.events import Admit
from model.exits import HOLDS, UNDETERMINED, USAGE, VIOLATED
from model.history.happenings import Trace, admit, complete
from model.history.play import Leases, play
from model.history.possible import possible
from model.history.regression import perform
from model.history.save import save
from model.planted import PLANTED
from model.policy.file import load
from tests.found import BUGS, history, played, trace

ROOT = Path(__file__).resolve().parent.parent
CHAT = "chat_never_waits_behind_an_image"
WRONG = "def urgency(job):\n    return -job.priority\n"


@pytest.fixture(params=["test", "itf"])
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A counterexample to a policy, which is beside it, in a file of either kind."""
    policy = tmp_path / "wrong.py"
    policy.write_text(WRONG)
    return both_files(policy, tmp_path / "saved")[request.param == "itf"]


def both_files(policy: Path, folder: Path) -> tuple[Path, Path]:
    whole = Trace((admit("A", priority=1, work=2), admit("B", priority=10, work=1)), 1, 64, 1, str(policy))
    return save(whole, perform(whole, load(policy)), CHAT, found="...", folder=folder)


@pytest.fixture
def saved_test(tmp_path: Path) -> Path:
    policy = tmp_path / "wrong.py"
    policy.write_text(WRONG)
    return both_files(policy, tmp_path / "saved")[0]


def test_a_wrong_policy_is_violated(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(saved)]) == VIOLATED
    output = capsys.readouterr().out
    assert output.startswith(f"slots 1, capacity 64, reserve 1; urgency of {saved.parent.parent / 'wrong.py'}\n")
    assert "No job is queued while one of lower priority runs." in output
    assert "s.priority[q] <= s.priority[r] is false for q = 'B', r = 'A'" in output
    assert output.endswith("\nviolated\n")


def test_the_default_holds(saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["replay", str(saved), "--policy", "default"]) == HOLDS
    output = capsys.readouterr().out
    assert "; shipped urgency\n" in output
    assert output.endswith("\nholds\n")
    monkeypatch.setenv("SLOTPROOF_POLICY", "default")
    assert main(["replay", str(saved)]) == HOLDS


def test_the_policy_is_found_from_any_folder(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["replay", str(saved.relative_to(tmp_path))]) == VIOLATED
    monkeypatch.chdir(saved.parent)
    assert main(["replay", saved.name]) == VIOLATED


def test_a_waiver_is_shown_first(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (saved.parent.parent / "wrong.py").write_text(f"WAIVES = ({CHAT!r},)\n{WRONG}")
    assert main(["replay", str(saved)]) == HOLDS
    assert capsys.readouterr().out.startswith(f"WAIVED: {CHAT}\n")


CLAIMS = '''
from spec.logic import every
from spec.scheduler import queued

def urgency(job):
    return job.priority

def nobody_waits_for_long(s):
    """No job is queued that has two steps or more to go."""
    return every(queued(s), lambda j: s.remaining[j] < 2)

CLAIMS = (nobody_waits_for_long,)
'''


def test_a_claim_of_the_policy_counts_like_ours(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (saved.parent.parent / "wrong.py").write_text(CLAIMS)
    assert main(["replay", str(saved)]) == VIOLATED
    output = capsys.readouterr().out
    assert "\nnobody_waits_for_long\n  No job is queued that has two steps or more to go.\n" in output
    assert "  after it, s.remaining[j] < 2 is false for j = 'A'\n" in output
    (saved.parent.parent / "wrong.py").write_text(CLAIMS.replace("return every", "return 1 / 0 and every"))
    assert main(["replay", str(saved)]) == UNDETERMINED


def test_for_programs(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(saved), "--json"]) == VIOLATED
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["slots"], told["capacity"], told["reserve"]) == ("violated", 1, 64, 1)
    assert told["steps"][1] == {"event": "admit", "job": "B", "priority": 10, "work": 1, "action": "enqueue"}
    assert [fault["property"] for fault in told["broken"]] == [CHAT]
    assert told["broken"][0]["false"] == ["after it, s.priority[q] <= s.priority[r] is false for q = 'B', r = 'A'"]
    assert main(["replay", str(saved), "--json", "--policy", "default"]) == HOLDS
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["policy"], told["broken"]) == ("holds", None, [])


@pytest.mark.parametrize("name", BUGS)
def test_a_fault_of_the_code_is_seen_while_it_lasts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = save(trace(name), played(name), PLANTED[name].claim, found="...", folder=tmp_path)
    for path in paths:
        assert main(["replay", str(path)]) == HOLDS
    monkeypatch.setattr(Scheduler, "core", PLANTED[name].scheduler.core)
    for path in paths:
        assert main(["replay", str(path)]) == VIOLATED


# Wrong input

ITF: dict[str, Any] = {
    "#meta": {},
    "vars": ["event"],
    "states": [
        {"slots": 1, "capacity": 0, "reserve": {"#bigint": "1"}, "event": {"tag": "Start", "value": "U_OF_UNIT"}},
        {"event": {"tag": "Restart", "value": "U_OF_UNIT"}},
    ],
}


def test_a_small_trace_is_enough(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(ITF))
    assert main(["replay", str(tmp_path / "x.json")]) == HOLDS


def changed(**first: Any) -> str:
    return json.dumps({**ITF, "states": [{**ITF["states"][0], **first}]})


def event(tag: Any, value: Any) -> str:
    return json.dumps({**ITF, "states": [ITF["states"][0], {"event": {"tag": tag, "value": value}}]})


SIZES = "SLOTS, CAPACITY, RESERVE = 1, 1, 1\n"
BAD = {
    "empty.json": "",
    "cut.json": '{"states": [',
    "deep.json": "[" * 100_000,
    "number.json": "7",
    "huge.json": f'{{"states": {"9" * 9999}}}',
    "other.json": '{"vars": [], "states": [{"x": 1}]}',
    "no_states.json": '{"#meta": {}, "vars": [], "states": []}',
    "no_slots.json": changed(slots=0),
    "many_slots.json": changed(slots=10**9),
    "slots_as_text.json": changed(slots="1"),
    "policy.json": json.dumps({**ITF, "#meta": {"policy": 7}}),
    "explode.json": event("Explode", "U_OF_UNIT"),
    "no_tag.json": event(7, "U_OF_UNIT"),
    "no_record.json": event("Cancel", "A"),
    "no_job.json": event("Cancel", {}),
    "odd_job.json": event("Cancel", {"job": {"#map": []}}),
    "no_digits.json": event("Cancel", {"job": {"#bigint": "x"}}),
    "no_work.json": event("Admit", {"job": "A", "priority": 1, "work": 0}),
    "two_runs.json": event("Complete", {"job": "A", "run": {"#set": [1, 2]}}),
    "empty.py": "",
    "cut.py": "EVENTS = (",
    "null.py": "EVENTS = '\0'",
    "no_sizes.py": "EVENTS = ()",
    "no_events.py": SIZES,
    "comprehension.py": f"{SIZES}EVENTS = tuple(x for x in ())",
    "other_call.py": f"{SIZES}EVENTS = (print('run me'),)",
    "attribute.py": f"{SIZES}EVENTS = (os.remove('x'),)",
    "name.py": f"{SIZES}EVENTS = (cancel(A),)",
    "nested.py": f"{SIZES}EVENTS = (cancel(print('run me')),)",
    "unpacked.py": f"{SIZES}EVENTS = (cancel(**{{'job': 'A'}}),)",
    "no_number.py": "SLOTS, CAPACITY, RESERVE = 1, 1, 0.5\nEVENTS = ()",
    "policy.py": f"{SIZES}POLICY = 7\nEVENTS = ()",
    "long_sum.py": f"{SIZES}EVENTS = (cancel({'1 + ' * 2000}1),)",
    "long_sum_of_events.py": f"{SIZES}EVENTS = ({'1 + ' * 2000}1,)",
    "latin.py": "caf\xe9",
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_trace_is_a_mistake(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.write_bytes(BAD[name].encode("latin-1"))
    assert main(["replay", str(path)]) == USAGE
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(f"replay: {path}: ")
    assert "Traceback" not in output.err


def test_nothing_of_a_file_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.py"
    path.write_text(f"print('run me')\n{SIZES}EVENTS = ()\nraise SystemExit(9)\n")
    assert main(["replay", str(path)]) == HOLDS
    assert "run me" not in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["no/such/file"], [".", "--json"], ["x", "--step", "--json"], ["x", "-x"]])
def test_mistakes_on_the_command_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", *arguments]) == USAGE
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err


def test_a_policy_that_is_missing_is_a_mistake(saved: Path) -> None:
    (saved.parent.parent / "wrong.py").unlink()
    assert main(["replay", str(saved)]) == USAGE
    assert main(["replay", str(saved), "--policy", "no/such/file.py"]) == USAGE


@pytest.mark.parametrize(
    "body",
    [
        "1 / 0",
        "return 'high'",
        "return True",
        "return ()",
        "return (job.priority, 0.5)",
        "return job.priority if job.priority == 1 else (job.priority,)",
        "raise SystemExit(0)",
        "while True: pass",
    ],
)
def test_a_policy_that_gives_no_urgency_is_undetermined(
    body: str, saved_test: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.policy.consult.consult.__kwdefaults__", {"seconds": 0.2})
    (saved_test.parent.parent / "wrong.py").write_text(f"def urgency(job):\n    {body}\n")
    assert main(["replay", str(saved_test)]) == UNDETERMINED
    output = capsys.readouterr()
    assert "violated" not in output.out
    assert "urgency(Job(request_id=" in output.err


def test_what_a_policy_prints_is_not_part_of_the_answer(saved_test: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (saved_test.parent.parent / "wrong.py").write_text("def urgency(job):\n    print('!')\n    return job.priority\n")
    assert main(["replay", str(saved_test), "--json"]) == HOLDS
    assert json.loads(capsys.readouterr().out)["verdict"] == "holds"


# Step by step


def walk(saved: Path, said: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """What is printed for whoever says this on standard input; None: it is closed."""
    monkeypatch.setattr("sys.stdin", None if said is None else io.StringIO(said))
    assert main(["replay", str(saved), "--step"]) == VIOLATED
    return capsys.readouterr().out


def shown(output: str) -> list[int]:
    """The steps in the order in which they were shown: each is the last row of its table."""
    tables = output.split("    event ")[1:]
    return [int(re.findall(r"^[ !](\d)  ", table, re.MULTILINE)[-1]) for table in tables]


@pytest.mark.parametrize(
    ("said", "steps"),
    [
        (None, [0, 1, 2]),
        ("", [0, 1, 2]),
        ("\n", [0, 1, 2]),
        ("\n\n\n\n\n", [0, 1, 2]),
        ("q\n", [0]),
        ("\nq\n", [0, 1]),
        ("Q", [0]),
        ("2\n1\n0\n\nq\n", [0, 2, 1, 0, 1]),
        ("what\n", [0, 1, 2]),
        ("3\n-1\n\xb2\n", [0, 1, 2]),
        (f"{'9' * 9999}\n", [0, 1, 2]),
    ],
)
def test_the_walk_goes_where_it_is_told(
    said: str | None,
    steps: list[int],
    saved: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = walk(saved, said, monkeypatch, capsys)
    assert shown(output) == steps
    assert output.endswith("violated\n")


def test_the_walk_says_what_may_happen_next(
    saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = walk(saved, "\nq\n", monkeypatch, capsys)
    first, second = (part.split("holds")[0] for part in output.split("May happen next, among other things:\n")[1:])
    assert first.splitlines()[0] == (
        "  place                 job newcomer of priority 1/-1, slot 0; job newcomer of priority 10/-10, slot 0"
    )
    assert "  finish_to_idle        job A\n" in second
    assert "  work                  job A, steps 1 or 2\n" in second
    assert "  refuse_the_steps      job A, steps 0 or 3\n" in second
    assert "  enqueue               job newcomer of priority 1/-1; job newcomer of priority 10/-10\n" in second
    assert "preempt" not in second


class Asking(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_walk_asks(
    saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", Asking("\nq\n"))
    assert main(["replay", str(saved), "--step"]) == VIOLATED
    assert "step 0 of 2; Enter: the next, a number: that step, q: the end > " in capsys.readouterr().out


def test_an_input_that_fails_is_like_none(
    saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr("sys.stdin", closed)
    assert main(["replay", str(saved), "--step"]) == VIOLATED
    assert shown(capsys.readouterr().out) == [0, 1, 2]


def test_the_command_reads_a_pipe(saved_test: Path) -> None:
    command = [sys.executable, "-m", "model", "replay", str(saved_test), "--step"]
    env = {**os.environ, "SLOTPROOF_POLICY": "default"}
    done = subprocess.run(
        command, cwd=ROOT, env=env, input="\n", capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (HOLDS, "")
    assert shown(done.stdout) == [0, 1, 2]


# What may happen


@pytest.mark.parametrize("name", BUGS)
def test_what_happens_next_was_possible(name: str) -> None:
    slots, capacity, reserve, *_ = BUGS[name]
    steps = play(history(name), Scheduler(slots, capacity=capacity, reserve=reserve))
    newcomers = [step.event.job for step in steps if isinstance(step.event, Admit)]
    leases = Leases()
    for step, following in pairwise(steps):
        assert step.snapshot
        assert step.after
        leases.see(step.snapshot)
        found = possible(step.after, newcomers, by_priority, leases)
        assert following.action in found
        impossible = "place" if all(step.snapshot.running) else "preempt"
        assert impossible not in found


def test_a_late_report_is_possible() -> None:
    events = (admit("A", priority=1, work=1), admit("B", priority=2, work=1), complete("B"))
    steps = play(events, Scheduler(1))
    leases = Leases()
    for step in steps:
        assert step.snapshot
        leases.see(step.snapshot)
    assert steps[-1].after
    found = possible(steps[-1].after, [], by_priority, leases)
    assert found["stale"] == ["job A, slot 0, run 0", "job B, slot 0, run 1", "job A, slot 0, run -1"]
