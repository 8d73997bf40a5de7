"""Logs that tell less than all: the verdict is weaker, says so, and is never wrong."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from impl.jobs import IMAGE, Job
from impl.journal import Journal
from impl.probe import Verdict
from impl.recorded import RecordedController, RecordedScheduler
from impl.scheduler import Scheduler
from impl.worker import Controller
from impl.worker_state import Settings
from model.check.learn import OF_A_LINE, OF_A_PART
from model.check.log import Log
from model.check.map import Map, MapError
from model.check.needs import MISSING, names, needs
from model.check.run import Check
from model.commands.check import check, text
from model.prove.machines import SCHEDULER
from tests.journals import lines_of, record_scheduler, write_lines

LOGS = Path(__file__).resolve().parent.parent / "examples" / "logs"
SEEDS = range(40)
FIELDS = {
    "slot": ("slot", "heir_slot"),
    "run": ("run", "heir_run", "leases"),
    "ticket": ("ticket",),
    "work": ("work", "remaining"),
    "priority": ("priority",),
    "outcome": ("outcome",),
}


def sizes(lines: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: lines[0][name] for name in ("slots", "capacity", "reserve")}


def test_a_log_without_its_start_is_never_called_wrong(tmp_path: Path) -> None:
    learned = 0
    for seed in SEEDS:
        random = Random(seed)
        record_scheduler(tmp_path / f"{seed}.jsonl", random, 80)
        lines = lines_of(tmp_path / f"{seed}.jsonl")
        part = write_lines(tmp_path / "a.jsonl", lines[random.randrange(1, len(lines) - 2) :])
        result = check(part, **sizes(lines))
        assert result["violation"] is None, (seed, result)
        assert result["partial"]
        learned += any("whole state" in note for note in result["notes"])
    assert learned > 5


def test_the_state_is_learned_and_then_all_is_judged(tmp_path: Path) -> None:
    record_scheduler(tmp_path / "a.jsonl", Random(1), 300)
    lines = lines_of(tmp_path / "a.jsonl")
    result = check(write_lines(tmp_path / "b.jsonl", lines[60:]), **sizes(lines))
    assert "conformance" in result["judged"]
    [note] = [note for note in result["notes"] if "whole state" in note]
    known = int(note.split()[1].rstrip(":"))
    place = next(at for at in range(60 + known, len(lines)) if lines[at].get("outcome") in ("ended", "placed"))
    lines[place] = {"event": "complete", "request_id": 99, "slot": 0, "run": 0, "outcome": "ended"}
    violation = check(write_lines(tmp_path / "b.jsonl", lines[60:]), **sizes(lines))["violation"]
    assert violation["line"] <= place - 60 + 1


PART_BUGS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "a chat waits": (
        [{"priority": 1, "outcome": "placed", "slot": 0, "run": 4}, {"priority": 10, "outcome": "queued", "ticket": 3}],
        "chat_never_waits_behind_an_image",
    ),
    "a peer makes room": (
        [
            {"priority": 1, "outcome": "placed", "slot": 0, "run": 4},
            {"priority": 1, "outcome": "placed", "slot": 0, "run": 5, "preempted": 0},
        ],
        "only_strictly_less_urgent_work_is_preempted",
    ),
    "a run again": (
        [
            {"priority": 1, "outcome": "placed", "slot": 0, "run": 4},
            {"priority": 1, "outcome": "placed", "slot": 1, "run": 4},
        ],
        "a_run_that_starts_has_a_new_number",
    ),
    "a ticket again": (
        [{"priority": 1, "outcome": "queued", "ticket": 4}, {"priority": 1, "outcome": "queued", "ticket": 4}],
        "equals_keep_their_order",
    ),
    "a job vanishes": (
        [
            {"priority": 1, "outcome": "placed", "slot": 0, "run": 4},
            {"priority": 1, "outcome": "placed", "slot": 0, "run": 5},
        ],
        "no_live_job_vanishes",
    ),
}


@pytest.mark.parametrize("bug", PART_BUGS)
def test_what_is_wrong_with_a_part_is_found_without_the_start(bug: str, tmp_path: Path) -> None:
    told, claim = PART_BUGS[bug]
    lines = [{"event": "admit", "request_id": who, "work": 5, **each} for who, each in enumerate(told)]
    violation = check(write_lines(tmp_path / "a.jsonl", lines), slots=3)["violation"]
    assert violation["line"] == 2
    assert claim in (violation["property"], *violation["also"])


def test_work_that_comes_back_is_found_without_the_start(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"event": "admit", "request_id": 1, "priority": 1, "work": 9, "outcome": "queued", "ticket": 0}
    ]
    lines += [
        {"event": "progress", "request_id": 1, "slot": 0, "run": 3, "steps": 4, "outcome": "progressed", "remaining": 6}
    ]
    assert check(write_lines(tmp_path / "a.jsonl", lines), slots=1)["violation"]["property"] == "no_work_is_lost"


def test_a_log_with_events_left_out_is_never_called_wrong(tmp_path: Path) -> None:
    for seed in SEEDS:
        random = Random(seed)
        scheduler = record_scheduler(tmp_path / f"{seed}.jsonl", random, 80, unique=True)
        lines = [line for line in lines_of(tmp_path / f"{seed}.jsonl")[1:-1] if random.random() < 0.7]
        judge = Check(len(scheduler.snapshot().running), sampled=True)
        for first, batch in Log(write_lines(tmp_path / "a.jsonl", lines)).read():
            assert judge.feed(first, batch) is None, seed
        assert judge.lacking("scheduler") >= {"start", "every"}
    assert {name for name in names("scheduler") if needs("scheduler", name, frozenset({"start", "every"}))} > OF_A_LINE


@pytest.mark.parametrize("token", FIELDS)
def test_a_log_that_leaves_fields_out_is_never_called_wrong(token: str, tmp_path: Path) -> None:
    for seed in SEEDS:
        record_scheduler(tmp_path / f"{seed}.jsonl", Random(seed), 60)
        lines = [
            line
            if line["event"] == "open"
            else {name: said for name, said in line.items() if name not in FIELDS[token]}
            for line in lines_of(tmp_path / f"{seed}.jsonl")
        ]
        if token == "priority":  # then all are equal, which is not how this log came about
            lines = [line for line in lines if line["event"] != "admit"]
        result = check(write_lines(tmp_path / "a.jsonl", lines))
        assert token == "priority" or result["violation"] is None, (seed, result["violation"])
        if token == "outcome":
            assert (result["verdict"], result["judged"]) == ("undetermined", [])
        elif token in ("slot", "run", "ticket") and result["verdict"] == "tested":
            assert all(MISSING[token] in why or "not told" in why for why in result["unjudged"].values())


def test_a_capacity_that_is_not_known_refuses_as_it_likes(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    scheduler = RecordedScheduler(Scheduler(1, capacity=0), journal)
    for who in range(3):
        scheduler.admit(Job(who, IMAGE, 1))
    journal.close()
    lines = lines_of(tmp_path / "a.jsonl")
    del lines[0]["capacity"]
    unknown = check(write_lines(tmp_path / "b.jsonl", lines))
    assert unknown["verdict"] == "tested"
    assert {"the_queue_stays_within_its_bound", "conformance"} <= set(unknown["unjudged"])
    assert check(tmp_path / "b.jsonl", capacity=0)["unjudged"] == {}
    assert check(tmp_path / "b.jsonl", capacity=1)["violation"]["line"] == 3


def test_a_declared_gap_leaves_the_state_unknown(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path)
    scheduler = RecordedScheduler(Scheduler(1), journal)
    scheduler.admit(Job("a", IMAGE, 1))
    journal.write("lost", events=2)
    scheduler.cancel("zz")
    journal.close()
    result = check(path)
    assert (result["verdict"], result["partial"], result["lost"]) == ("tested", True, 2)
    assert "2 events could not be written" in "\n".join(text(result))


def test_a_worker_is_known_again_when_it_serves(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path)
    controller = RecordedController(Controller(Settings(5), 0), journal)
    controller.probed(Verdict.COLD, 0)
    controller.tick(1, 1)
    journal.write("lost", events=1)
    controller.probed(Verdict.WARM, 1)
    controller.job_ended(1)
    controller.tick(2, 1)
    controller.tick(3, 0)
    journal.close()
    result = check(path)
    assert (result["verdict"], result["partial"], result["violation"]) == ("tested", True, None)
    assert any("whole state of the worker" in note for note in result["notes"])
    lines = lines_of(path)
    lines[-2] |= {"do": "reap", "why": "idle"}
    assert check(write_lines(tmp_path / "b.jsonl", lines))["violation"]["line"] == len(lines) - 1


def test_every_need_names_what_may_be_missing() -> None:
    for machine in ("scheduler", "worker"):
        for name in names(machine):
            assert needs(machine, name, frozenset()) <= set(MISSING)
    known = {each.name for each in SCHEDULER.always + SCHEDULER.steps}
    assert OF_A_LINE <= OF_A_PART <= known


# Logs of other systems

EXAMPLES = {
    "requests": ("only_strictly_less_urgent_work_is_preempted", {"batch-2": "batch-1"}),
    "models": ("a_stop_has_a_reason", {"09:02:05Z": "09:01:30Z", "09:02:06Z": "09:01:31Z"}),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_hold_in_part(name: str) -> None:
    result = check(LOGS / f"{name}.jsonl", Map.load(str(LOGS / f"{name}.toml")))
    assert (result["verdict"], result["partial"], result["violation"]) == ("tested", True, None)
    assert result["unjudged"]
    told = "\n".join(text(result))
    assert told.startswith("tested IN PART")
    assert "NOT judged, for" in told


def example(name: str, tmp_path: Path, *changes: tuple[str, str]) -> dict[str, Any]:
    said = (LOGS / f"{name}.jsonl").read_text()
    for old, new in changes:
        assert old in said
        said = said.replace(old, new)
    (tmp_path / "a.jsonl").write_text(said)
    return check(tmp_path / "a.jsonl", Map.load(str(LOGS / f"{name}.toml")))


def without(name: str, tmp_path: Path, line: int) -> dict[str, Any]:
    lines = (LOGS / f"{name}.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_text("".join(lines[: line - 1] + lines[line:]))
    return check(tmp_path / "a.jsonl", Map.load(str(LOGS / f"{name}.toml")))


def test_requests_that_are_preempted_wrongly(tmp_path: Path) -> None:
    peer = example("requests", tmp_path, ('"chat-1", "priority": 0', '"chat-1", "priority": 10'))["violation"]
    assert (peer["line"], peer["property"]) == (6, "only_strictly_less_urgent_work_is_preempted")
    assert [each["line"] for each in peer["window"]] == [2, 4, 6] or peer["window"][-1]["line"] == 6
    waits = without("requests", tmp_path, 8)["violation"]
    assert waits is not None
    idle = without("requests", tmp_path, 12)["violation"]
    assert (idle["line"], idle["property"]) == (11, "no_slot_idles_while_a_job_waits")


def test_which_of_two_equals_makes_room_is_not_judged_without_slots(tmp_path: Path) -> None:
    swap = (
        ('"batch-2", "cached', '"batch-1", "cached'),
        ('running", "request_id": "batch-2"}\n{"ts": 1767603615', "X"),
    )
    said = (LOGS / "requests.jsonl").read_text()
    assert swap[0][0] in said
    lines = said.splitlines()
    lines[6] = lines[6].replace("batch-2", "batch-1")
    lines[11] = lines[11].replace("batch-2", "batch-1")
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert check(tmp_path / "a.jsonl", Map.load(str(LOGS / "requests.toml")))["verdict"] == "tested"


def test_models_that_are_stopped_wrongly(tmp_path: Path) -> None:
    early = example("models", tmp_path, ("09:02:05Z", "09:01:50Z"), ("09:02:06Z", "09:01:51Z"))["violation"]
    assert (early["line"], early["property"]) == (9, "a_stop_has_a_reason")
    busy = without("models", tmp_path, 8)["violation"]
    assert busy["line"] == 8
    assert "never_reap_while_busy" in (busy["property"], *busy["also"])
    twice = example("models", tmp_path, ('"from": "starting", "to": "ready"', '"from": "stopped", "to": "starting"'))
    assert "never_spawn_unless_cold" in (twice["violation"]["property"], *twice["violation"]["also"])
    ungone = without("models", tmp_path, 11)["violation"]
    assert (ungone["line"], "never_spawn_unless_cold" in (ungone["property"], *ungone["also"])) == (12, True)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({}, "machine is None"),
        ({"machine": "scheduler"}, "there is no"),
        ({"machine": "scheduler", "lines": []}, "has lines"),
        ({"machine": "scheduler", "line": [{"means": "admit"}]}, "has no `when`"),
        ({"machine": "scheduler", "line": [{"when": {}, "means": "begin"}]}, "means 'begin'"),
        ({"machine": "scheduler", "line": [{"when": {}, "means": "admit"}]}, "has no request_id"),
        ({"machine": "scheduler", "line": [{"when": {}, "means": "admit", "request_id": 1}]}, "the name of a field"),
        ({"machine": "scheduler", "line": [{"when": {}, "means": "cancel", "request_id": "a", "now": "t"}]}, "has now"),
        ({"machine": "worker", "line": [{"when": {}, "means": "gone"}]}, "has no now"),
        ({"machine": "worker", "open": {"ttl": "x"}, "line": [{"when": {}, "means": "gone", "now": "t"}]}, "open"),
    ],
)
def test_a_map_that_is_wrong(said: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Map.of(said)


def test_a_map_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("machine = ")
    with pytest.raises(MapError, match="expected TOML"):
        Map.load(str(tmp_path / "a.toml"))
    with pytest.raises(MapError, match="check the path"):
        Map.load(str(tmp_path / "b.toml"))
    (tmp_path / "a.toml").write_text("machine = 'x'")
    with pytest.raises(MapError, match="correct the file"):
        Map.load(str(tmp_path / "a.toml"))


RULES = [
    {"when": {"e": "in"}, "means": "admit", "request_id": "who.id", "priority": "-who.nice"},
    {"when": {"e": "go"}, "means": "started", "request_id": "who.id"},
    {"when": {"e": "no"}, "means": "refused"},
    {"when": {"e": "step"}, "means": "progress", "request_id": "who.id", "steps": "n"},
    {"when": {"e": "out"}, "means": "complete", "request_id": "who.id"},
]


@pytest.mark.parametrize(
    ("events", "verdict"),
    [
        ([("in", 1, 0), ("go", 1, 0), ("in", 2, -5), ("no", 2, 0), ("step", 1, 0), ("out", 1, 0)], "tested"),
        ([("in", 1, 0), ("go", 1, 0), ("in", 2, 0), ("out", 1, 0)], "refuted"),
        ([("in", 1, 0), ("go", 1, 0), ("go", 1, 0)], "refuted"),
        ([("in", 1, 0), ("go", 2, 0)], "refuted"),
        ([("in", 1, "high")], "refuted"),
        ([("in", [], 0)], "refuted"),
        ([("else", 1, 0)], "undetermined"),
    ],
)
def test_a_map_of_ones_own(events: list[Any], verdict: str, tmp_path: Path) -> None:
    said = {"machine": "scheduler", "open": {"slots": 1}, "line": RULES}
    lines = [{"e": kind, "n": 1, "who": {"id": who, "nice": nice}} for kind, who, nice in events]
    result = check(write_lines(tmp_path / "a.jsonl", lines), Map.of(said))
    assert result["verdict"] == verdict, result


def test_a_line_of_another_system_that_is_no_object(tmp_path: Path) -> None:
    mapped = Map.of({"machine": "scheduler", "line": RULES})
    for content in ("[]\n", "{\n", "[1]\n{}\n"):
        (tmp_path / "a.jsonl").write_text(content)
        assert check(tmp_path / "a.jsonl", mapped)["violation"]["property"] == "schema"
    (tmp_path / "a.jsonl").write_text('{"e": "else"}\n{"e": ')
    assert check(tmp_path / "a.jsonl", mapped)["torn"]


def test_a_sampled_map_says_so(tmp_path: Path) -> None:
    said = {"machine": "scheduler", "sampled": True, "line": RULES}
    lines = [{"e": kind, "n": 1, "who": {"id": who, "nice": 0}} for kind, who in (("in", 1), ("out", 2), ("in", 3))]
    result = check(write_lines(tmp_path / "a.jsonl", lines), Map.of(said))
    assert result["violation"] is None
    assert set(result["judged"]) <= OF_A_LINE
    assert "not every event is told" in json.dumps(result["unjudged"])


def test_a_recorder_that_ended_without_a_word_may_have_lost_an_event(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path)
    scheduler = RecordedScheduler(Scheduler(1), journal)
    controller = RecordedController(Controller(Settings(5), 0), journal)
    scheduler.admit(Job("a", IMAGE, 1))
    journal._file.close()
    journal = Journal(path)
    scheduler._journal = controller._journal = journal
    scheduler.admit(Job("b", IMAGE, 1))
    controller.tick(1, 0)
    journal.close()
    result = check(path)
    assert (result["verdict"], result["partial"], result["violation"]) == ("tested", True, None)
    assert ["without saying so" in note for note in result["notes"]] == [True, False]
    assert "an event may have been lost" in result["notes"][1]


def test_a_worker_that_begins_after_a_lost_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path)
    controller = RecordedController(Controller(Settings(5), 0), journal)
    controller.tick(1, 0)
    journal._file.close()
    with open(path, "ab") as file:
        file.write(b'{"seq":2,"ev')
    journal = Journal(path)
    RecordedController(Controller.adopt(Settings(5), 3, 1, living=True, stopping=False), journal).tick(4, 0)
    journal.close()
    result = check(path)
    assert result["violation"] is None
    assert "12 bytes of a torn line" in result["notes"][0]
    assert "an event between was lost" in result["notes"][1]


def test_a_scheduler_that_begins_anew_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path)
    RecordedScheduler(Scheduler(1), journal).admit(Job("a", IMAGE, 1))
    RecordedScheduler(Scheduler(1), journal).admit(Job("a", IMAGE, 1))
    journal.close()
    assert "a scheduler begins with 0 live jobs; the last had 1" in check(path)["notes"][0]


@pytest.mark.parametrize(
    "opened",
    [{"machine": "toaster"}, {"machine": "scheduler"}, {"machine": "scheduler", "slots": 0}, {"machine": "worker"}],
)
def test_a_beginning_that_cannot_be(opened: dict[str, Any], tmp_path: Path) -> None:
    violation = check(write_lines(tmp_path / "a.jsonl", [{"event": "open", **opened}]))["violation"]
    assert (violation["line"], violation["property"]) == (1, "conformance")


def test_a_log_may_lack_the_end_of_its_last_line(tmp_path: Path) -> None:
    record_scheduler(tmp_path / "a.jsonl", Random(1), 30)
    lines = lines_of(tmp_path / "a.jsonl")
    path = write_lines(tmp_path / "b.jsonl", lines)
    path.write_bytes(path.read_bytes()[:-1])
    result = check(path)
    assert (result["lines"], result["torn"], result["closed"]) == (len(lines), False, True)
    path.write_bytes(path.read_bytes()[:-1])
    result = check(path)
    assert (result["lines"], result["torn"], result["violation"]) == (len(lines) - 1, True, None)
    assert "the last line is torn" in "\n".join(text(result))


def test_names_and_lines_of_any_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.check.log.BLOCK", 64)
    path = tmp_path / "a.jsonl"
    journal = Journal(path)
    scheduler = RecordedScheduler(Scheduler(1), journal)
    for who in ("x" * 1_000, "half a pair \ud800", 10**40, -1, "", '"event":"reopened"'):
        scheduler.admit(Job(who, IMAGE, 1))
    journal.close()
    result = check(path)
    assert (result["verdict"], result["partial"], result["lines"]) == ("tested", False, 8)


STATES = {"begin": "wanted", "end": "unwanted", "up": "spawned", "ok": "ready", "bad": "stopped", "exit": "exited"}


@pytest.mark.parametrize(
    ("events", "wrong"),
    [
        ([("begin", 1), ("up", 1.5), ("exit", 2), ("free", 3), ("begin", 4), ("up", 4)], 0),
        ([("begin", 1), ("up", 1), ("ok", 2), ("exit", 2), ("end", 2), ("free", 3)], 0),
        ([("begin", 1), ("up", 1), ("bad", 31), ("exit", 31), ("free", 32)], 0),
        ([("begin", 1), ("up", 1), ("bad", 3)], 3),
        ([("begin", 1), ("up", 1), ("exit", 2), ("free", 3), ("up", 3)], 5),
        ([("begin", 1), ("up", 2)], 1),
        ([("begin", None)], 1),
        ([("begin", 5), ("up", 5), ("ok", 4)], 3),
    ],
)
def test_a_map_of_ones_own_worker(events: list[Any], wrong: int, tmp_path: Path) -> None:
    rules = [{"when": {"to": to}, "means": means, "now": "t"} for to, means in (STATES | {"free": "gone"}).items()]
    mapped = Map.of({"machine": "worker", "open": {"ttl": 9, "start_budget": 30}, "line": rules})
    lines = [{"to": to, "t": at} for to, at in events]
    violation = check(write_lines(tmp_path / "a.jsonl", lines), mapped)["violation"]
    assert (violation["line"] if violation else 0) == wrong, violation
