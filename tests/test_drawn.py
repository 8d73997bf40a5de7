"""The drawings: what stands in them is what the rows say, and what is drawn is what the code did."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from impl.jobs import CHAT, IMAGE, Job
from impl.probe import Verdict
from impl.scheduler import Scheduler
from impl.worker_state import Settings
from model.__main__ import main
from model.commands.explore_loop import explore_worker
from model.commands.fuzz import fuzzed, one_round
from model.conform.events import Admit
from model.conform.monitor import nonconforming
from model.conform.worker_events import Adopted, Event, Exited, Gone, JobEnded, Probed, Progressed, Tick
from model.draw.html import STYLE, Html, clipped, element
from model.draw.lanes import MOST_QUEUED, MOST_ROWS, lanes
from model.draw.originals import decided, findings, history, played
from model.draw.rows import loop_rows, rows, text
from model.explore.loops import Loop
from model.fuzz.scheduler import fresh
from model.history.happenings import Happening, admit, cancel, complete, letter, progress, restart
from model.history.play import play
from model.planted.worker import SpawnsWhileStarting

ROOT = Path(__file__).resolve().parent.parent
SVG = "{http://www.w3.org/2000/svg}"


def tree(figure: str) -> ElementTree.Element:
    """The figure, which is well-formed."""
    return ElementTree.fromstring(figure.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))


def said(figure: str, kind: str = "") -> list[str]:
    """The words of the drawing, or those of a kind."""
    labels = tree(figure).iter(f"{SVG}text")
    return ["".join(each.itertext()) for each in labels if kind in each.get("class", "").split() or not kind]


def boxes(figure: str, *kinds: str) -> list[ElementTree.Element]:
    every = tree(figure).iter(f"{SVG}rect")
    return [each for each in every if set(kinds) <= set(each.get("class", "").split())]


def of(*happenings: Happening, slots: int = 1, capacity: int = 64) -> list[dict[str, Any]]:
    return rows(play(happenings, Scheduler(slots, capacity=capacity)))


RENDERS = (admit("A", priority=IMAGE, work=5), admit("B", priority=IMAGE, work=7))


# Elements


def test_whatever_is_written_is_escaped_once() -> None:
    nasty = "<b>\"&'"
    found = element("text", nasty, element("tspan", "&"), class_="a", aria_label=nasty)
    assert isinstance(found, Html)
    assert found.__html__() == found
    root = ElementTree.fromstring(found)
    assert (root.text, root[0].text, root.attrib) == (nasty, "&", {"class": "a", "aria-label": nasty})


def test_a_long_name_keeps_both_ends() -> None:
    assert clipped("short", 5) == "short"
    assert clipped("render-1234567", 9) == "rend\N{HORIZONTAL ELLIPSIS}4567"


def test_every_class_that_is_drawn_has_a_style() -> None:
    styled = set(re.findall(r"\.([a-z][a-z-]*)", STYLE))
    figure = lanes([*of(*RENDERS, admit("C", priority=CHAT, work=1), complete("C"))], "x")
    used = {name for each in tree(figure).iter() for name in each.get("class", "").split()}
    assert used <= styled
    assert "undefined" not in styled


# Histories of the scheduler


def test_rows_say_what_was_so_after_each_event() -> None:
    told = of(*RENDERS, progress("A", 2), admit("C", priority=CHAT, work=1))
    assert [row["action"] for row in told] == ["", "place", "enqueue", "work", "preempt"]
    assert told[-1]["slots"] == [{"job": "C", "priority": CHAT, "left": 1, "run": 1}]
    assert [(cell["job"], cell["left"]) for cell in told[-1]["queue"]] == [("B", 7), ("A", 3)]
    assert all(row["lost"] == row["breaks"] == [] for row in told)
    assert json.loads(json.dumps(told)) == told


def test_lanes_show_each_job_where_it_is() -> None:
    told = of(*RENDERS, admit("C", priority=CHAT, work=1), complete("C"), slots=1)
    figure = lanes(told, "x")
    words = said(figure)
    assert Counter(words)["A 1"] == 2
    assert Counter(words)["C 10"] == 1
    assert Counter(words)["B 1"] == 1
    assert "B 1, 7 left" in words
    assert len(boxes(figure, "box", "chat")) == 1
    assert len(boxes(figure, "box", "image")) == 6  # A in its slot, waiting twice, B waiting twice, and in its slot
    assert len(list(tree(figure).iter(f"{SVG}polygon"))) == 2  # A goes to the queue, B comes from there
    assert not boxes(figure, "wash")


def test_a_job_is_one_bar_for_as_long_as_its_run() -> None:
    through = lanes(of(RENDERS[0], progress("A", 1), progress("A", 1)), "x")
    assert len(boxes(through, "box", "image")) == 1
    renewed = lanes(of(RENDERS[0], progress("A", 1), restart(), progress("A", 1)), "x")
    assert len(boxes(renewed, "box", "image")) == 2


def test_the_drawing_is_told_to_those_who_cannot_see_it() -> None:
    figure = tree(lanes(of(*RENDERS, cancel("B")), "some-name", "Two renders"))
    svg = next(figure.iter(f"{SVG}svg"))
    named = {each.get("id"): each.text for each in svg}
    assert svg.get("role") == "img"
    assert (svg.get("aria-labelledby") or "").split() == ["some-name-title", "some-name-desc"]
    assert named["some-name-title"] == "Two renders"
    assert named["some-name-desc"]
    folded = "".join(next(figure.iter("pre")).itertext())
    assert "cancel B  ->  cancel_queued" in folded
    assert "queue   B 1 (7 left)" in folded


def test_two_slots_fit_a_phone_and_more_scroll() -> None:
    def width(slots: int) -> float:
        figure = tree(lanes(of(*RENDERS, slots=slots), "x"))
        style = next(figure.iter(f"{SVG}svg")).get("style") or ""
        return float(re.findall(r"min-width:(\d+)px", style)[0])

    assert width(1) < width(2) <= 270 < width(3) < width(8)
    assert width(64) <= width(8)


def test_what_is_much_is_said_to_be_more() -> None:
    many = [admit(letter(number), priority=1, work=1) for number in range(70)]
    told = of(*many)
    figure = lanes(told, "x")
    assert f"and {64 - MOST_QUEUED} more" in said(figure)
    assert f"and others; {MOST_ROWS} rows are drawn" in said(figure)
    assert len("".join(next(tree(figure).iter("pre")).itertext()).splitlines()) == 3 * len(told)


def test_no_rows_are_no_history() -> None:
    with pytest.raises(ValueError, match="at least the start"):
        lanes([], "x")


def test_evidence_of_a_counterexample_can_be_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    policy = str(ROOT / "examples" / "policies" / "upside_down.py")
    for words in (["explore", "--slots", "1", "--jobs", "3", "--levels", "2"], ["fuzz", "--seed", "1"]):
        assert main([*words, "--policy", policy, "--json"]) == 1
        told = json.loads(capsys.readouterr().out)
        found = told["violations"].values() if "violations" in told else [told["violation"]]
        for violation in found:
            figure = lanes(violation["rows"], "x")
            assert violation["rows"][-1]["breaks"]
            assert boxes(figure, "wash")
            assert any(line.startswith("breaks chat_never_waits") for line in said(figure, "bad"))


# Histories of the worker


SMALL = Settings(ttl=1, start_budget=1, patience=1, alarm_after=1, longest_back_off=1)


def test_a_life_shows_phases_and_answers() -> None:
    events: list[Event] = [
        Probed(Verdict.COLD, 0),
        Tick(0, 1),
        Probed(Verdict.WARM, 1),
        Tick(1, 2),
        Progressed(1),
        JobEnded(1),
        Tick(2, None),
        Adopted(1, living=True, stopping=False),
        Exited(1),
        Gone(1, Verdict.COLD),
    ]
    told = loop_rows(SMALL, events, nonconforming("Made up."))
    assert [row["phase"] for row in told] == [
        *["cold"] * 2,
        "starting",
        *["warm"] * 5,
        "starting",
        "stopping",
        "cold",
    ]
    assert [row.get("command") for row in told] == [
        *[None, "hold", "spawn", "hold", "serve", "hold", "hold", "hold", None, "stop", "hold"]
    ]
    assert (told[-1]["breaks"], told[-1]["detail"]) == (["conformance"], "Made up.")
    figure = lanes(told, "x")
    assert {"starting 1", "warm 1", "stopping 1", "cold", "spawn", "serve", "stop"} <= set(said(figure))
    assert len(boxes(figure, "box", "up")) == 1
    assert len(boxes(figure, "box", "half")) == 3
    assert "t1 tick, demand 2" in said(figure)
    assert "     worker  warm, start 1; answer  serve (work is queued or in flight)" in text(told)


def test_a_planted_fault_of_the_worker_is_drawn() -> None:
    seen = explore_worker(Loop(SMALL, SpawnsWhileStarting))
    told = seen.rows["never_two_workers"]
    assert [row["generation"] for row in told][-2:] == [1, 2]
    assert "never_two_workers" in told[-1]["breaks"]
    assert "breaks never_two_workers" in said(lanes(told, "x"), "bad")


@pytest.mark.parametrize("name", ["worker", "joined"])
def test_so_is_what_fuzz_finds(name: str) -> None:
    machine = fuzzed(name)
    machine = replace(machine, machine=fresh(machine.machine, controller_type=SpawnsWhileStarting))
    wrong: Any = one_round(machine, 0, 200)
    history, violation = machine.machine.retold(wrong)
    told = machine.machine.rows(violation)  # type: ignore[attr-defined]
    assert len(told) >= 3
    assert told[-1]["breaks"] == list(violation.claims)
    assert ("slots" in told[0]) == (name == "joined")
    assert len(history) >= len(told) - 1
    assert said(lanes(told, "x"), "bad")


def test_code_that_raises_is_drawn_up_to_there() -> None:
    told = loop_rows(SMALL, [Tick(5, 1), Tick(1, 1)], nonconforming("It raised ValueError."))
    assert [row["number"] for row in told] == [0, 1, 2]
    assert told[-1]["breaks"] == ["conformance"]


def test_a_scheduler_beside_the_worker_has_its_lanes() -> None:
    told = loop_rows(SMALL, [Admit(Job("A", IMAGE, 3)), Tick(0, 1)], nonconforming(""), scheduler=Scheduler(1))
    figure = lanes(told, "x")
    assert {"slot 0", "queue", "worker", "answer", "A 1"} <= set(said(figure))


# The originals


def test_every_finding_about_the_original_scheduler_is_played() -> None:
    found = findings()
    drawn = [each for each in found if each["rows"] and "slots" in each["rows"][0]]
    assert {each["original"] for each in found} == {"nx_sched_qos", "nx_mesh_autoscale"}
    assert drawn == [each for each in found if each["original"] == "nx_sched_qos"]
    assert len(drawn) == 16
    assert all(each["claim"] in each["rows"][-1]["breaks"] for each in drawn)
    assert len({each["test"] for each in found}) == len(found)
    assert all(each["place"] for each in found if not each["fault"].startswith("no "))
    assert json.loads(json.dumps(found)) == found


def test_the_job_that_the_original_drops_is_shown_as_lost() -> None:
    victim, arrival = (each for each in findings() if each["host"] == "one slot, one queue place")
    assert (victim["rows"][-1]["lost"], arrival["rows"][-1]["lost"]) == (["A"], ["C"])
    assert "A is lost" in said(lanes(victim["rows"], "x"))
    assert len(boxes(lanes(arrival["rows"], "x"), "lost")) == 1


def test_where_the_original_raises_nothing_is_known_of_its_slots() -> None:
    told = next(each for each in findings() if each["trace"] == "restart()")
    assert told["rows"][-1]["slots"] == []
    assert "?" in said(lanes(told["rows"], "x"))
    assert "     slots   ?" in text(told["rows"])


def test_what_the_original_decides_of_a_worker_is_an_instant_of_its_life() -> None:
    drawn = {each["trace"]: each for each in findings() if each["rows"] and "phase" in each["rows"][0]}
    assert set(drawn) == {
        "am_decide(1, 2, 0, 0) = REAP",
        "am_decide(0, 2, 0, 0) = HOLD",
        "HTTP/1.1 2, later 00 OK: SPAWN",
        "silence: SPAWN",
        "reset: SPAWN",
        "HTTP/1.1 503 Busy: SPAWN",
        "no connection within 1 s: SPAWN",
    }
    reaped = drawn["am_decide(1, 2, 0, 0) = REAP"]["rows"][-1]
    assert (reaped["phase"], reaped["command"], reaped["why"]) == ("stopping", "reap", "the shipped code: SERVE")
    assert [row["generation"] for row in drawn["silence: SPAWN"]["rows"]] == [1, 1, 2]
    assert all(each["rows"][-1]["breaks"] == [each["claim"]] for each in drawn.values())
    assert all(said(lanes(each["rows"], "x"), "bad") for each in drawn.values())


def test_a_decision_that_is_another_is_no_finding() -> None:
    with pytest.raises(ValueError, match=r"is SERVE, expected REAP"):
        decided("am_decide(1, 1, 0, 0) = REAP", "never_reap_with_demand")


def test_a_trace_that_breaks_nothing_is_no_finding() -> None:
    with pytest.raises(ValueError, match="on no host"):
        played('admit("A", priority=1, work=1)', "no_live_job_vanishes")
    with pytest.raises(ValueError, match="on no host"):
        findings(
            "## Findings about the originals\n### nx_sched_qos\n"
            '| it is right (nx.nx:1) | `admit("A", priority=1, work=1)` | `conformance` | `t` |\n## Next\n'
        )


@pytest.mark.parametrize("trace", ["admit(", "1 + 1", 'admit("A"', "admit(name)"])
def test_what_is_no_history_is_refused(trace: str) -> None:
    with pytest.raises(ValueError, match=r"history|malformed"):
        history(trace)
