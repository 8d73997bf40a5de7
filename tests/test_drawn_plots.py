"""The plots of a replay: each point is a number of the record, and each number is that of the simulation."""

from __future__ import annotations

import json
import re
from functools import cache, partial
from typing import Any
from xml.etree import ElementTree

import pytest

from impl.autoscale import decide
from impl.jobs import CHAT, IMAGE, Job
from impl.scheduler import Scheduler
from model.commands.simulate import SAMPLE
from model.conform.events import apply
from model.draw.plots import LEAST, LEFT, RIGHT, WIDTH, stretch, vram, waits
from model.draw.series import LENGTHS, MOST_STAYS, MOST_UPS, PARTS, PERMIL, series
from model.draw.series import stretch as stretch_of
from model.simulate.comparison import Settings, compare
from model.simulate.figures import percentile
from model.simulate.simulation import Simulation
from model.simulate.ticks import SECOND
from model.simulate.workload import load
from tests.test_drawn import SVG, boxes, said, tree

RATES = {"chat": 10, "image": 1}


def replayed(*jobs: Job, slots: int = 1, ttl: int = 5, cold_start: int = 2) -> Simulation:
    meet = partial(apply, Scheduler(slots))
    simulation = Simulation(slots, RATES, ttl=ttl, cold_start=cold_start, exact=True, meet=meet, decide=decide)
    simulation.run(jobs)
    return simulation


def chat(name: str, at: float, work: int = 10) -> Job:
    return Job(name, CHAT, work, "chat", round(at * SECOND))


def image(name: str, at: float, work: int = 4) -> Job:
    return Job(name, IMAGE, work, "image", round(at * SECOND))


@cache
def sample() -> dict[str, Any]:
    """The result of `simulate` of the bundled arrivals."""
    found = {"policy": None, **compare(load(str(SAMPLE), None, 0), Settings())}
    return dict(json.loads(json.dumps(found)))


# Series


def test_stays_and_ups_are_told_by_the_tick() -> None:
    """A render from 0 s on a worker that is ready at 2 s; a chat at 3 s takes its slot for one second."""
    simulation = replayed(image("r", 0), chat("c", 3))
    assert [
        (stay.lease.request_id, stay.since / SECOND, stay.until / SECOND, stay.cut) for stay in simulation.stays
    ] == [
        ("r", 0.0, 3.0, True),
        ("c", 3.0, 4.0, False),
        ("r", 4.0, 7.0, False),
    ]
    assert [tuple(each / SECOND for each in up if each is not None) for up in simulation.ups] == [(0.0, 2.0, 12.0)]
    assert sum(up.until - up.since for up in simulation.ups) == simulation.resident
    assert series(simulation) == {
        "waits": [[permil, 0.0] for permil in PERMIL],
        "up": [[0.0, 2.0, 12.0]],
        "held": [],
        "window": 12.0,
    }


def test_the_stretch_has_who_runs_and_who_waits() -> None:
    found = stretch_of(replayed(image("r", 0), chat("c", 3)))
    assert found is not None
    assert [(stay["job"], stay["slot"], stay["since"], stay["until"], stay["cut"]) for stay in found["stays"]] == [
        ("r", 0, 0.0, 3.0, True),
        ("c", 0, 3.0, 4.0, False),
        ("r", 0, 4.0, 7.0, False),
        ("r", None, 3.0, 4.0, False),
    ]
    assert found["until"] - found["since"] == LENGTHS[0]


def test_without_a_preemption_there_is_no_stretch() -> None:
    assert stretch_of(replayed(chat("c", 0))) is None
    assert stretch({"drawn": {"stretch": None}}, "x") is None


def test_a_worker_that_never_was_ready_is_said_to_be_so() -> None:
    simulation = replayed(chat("c", 0), ttl=0, cold_start=10)
    assert [up.ready for up in simulation.ups] == [10 * SECOND]


def test_waits_are_the_percentiles_of_the_figures() -> None:
    waited = dict(sample()["drawn"]["judged"]["waits"])
    figures = sample()["shipped"]["chat"]["wait_sec"]
    assert {name: waited[permil] for name, permil in (("p50", 500), ("p95", 950), ("p99", 990), ("max", 1000))} == {
        name: pytest.approx(sec, abs=1e-4) for name, sec in figures.items()
    }
    assert percentile([SECOND], 100) == 1.0


def test_the_record_stays_small() -> None:
    found = sample()["drawn"]
    assert len(json.dumps(found)) < 40_000
    assert len(found["stretch"]["stays"]) <= 2 * MOST_STAYS
    jobs = [chat(f"c{number}", 9 * number) for number in range(3 * MOST_UPS)]
    busy = series(replayed(*jobs, ttl=1, cold_start=1))
    assert (busy["up"], len(busy["held"])) == ([], PARTS)
    assert set(busy["held"][1:-1]) <= set(range(320, 350)), "three seconds in nine"
    result = {"policy": None, "drawn": {"judged": busy, "first_come_first_served": series(replayed())}}
    result |= {side: {"worker": {"vram_sec": 1, "window_sec": 3}} for side in ("shipped", "first_come_first_served")}
    assert len(boxes(vram(result, "x"), "up")) == PARTS + 1


# Plots


def points(figure: str) -> list[list[tuple[float, float]]]:
    lines = [each.get("points", "") for each in tree(figure).iter(f"{SVG}polyline")]
    return [[(float(x), float(y)) for x, y in re.findall(r"([\d.]+),([\d.]+)", line)] for line in lines]


def test_the_curves_rise_from_none_to_all() -> None:
    ours, theirs = points(waits(sample(), "x"))
    for curve in (ours, theirs):
        assert curve == sorted(curve, key=lambda point: (point[0], -point[1]))
        assert curve[0][1] > curve[-1][1]
        assert all(LEFT <= x <= WIDTH - RIGHT for x, _ in curve)
    assert min(y for x, y in ours if x < WIDTH / 2) < min(y for x, y in theirs if x < WIDTH / 2), "ours waits less"


def test_the_axis_ends_behind_the_longest_wait() -> None:
    words = said(waits(sample(), "x"), "faint")
    assert words[5:] == [f"\N{LESS-THAN OR EQUAL TO} {LEAST * 1000:g} ms", "10 ms", "100 ms", "1 s", "10 s"]


def test_the_table_below_has_the_same_numbers() -> None:
    figure = waits(sample(), "x")
    folded = "".join(next(tree(figure).iter("pre")).itertext())
    for side in ("judged", "first_come_first_served"):
        for permil, sec in sample()["drawn"][side]["waits"]:
            if permil in (500, 950, 1000):
                assert f"{sec:.3f} s" in folded


def test_no_chats_have_no_waits() -> None:
    nothing: dict[str, Any] = {
        "policy": None,
        "drawn": {side: {"waits": []} for side in ("judged", "first_come_first_served")},
    }
    with pytest.raises(ValueError, match="no chats"):
        waits(nothing, "x")


@pytest.mark.parametrize(
    ("up", "kinds"),
    [
        ([[0.0, 10.0, 50.0]], ["half", "up"]),
        ([[0.0, None, 50.0]], ["half"]),
        ([[0.0, 10.0, 20.0], [40.0, 50.0, 60.0]], ["half", "up", "half", "up"]),
        ([], []),
    ],
)
def test_the_worker_is_drawn_while_it_is_up(up: list[list[float | None]], kinds: list[str]) -> None:
    side = {"up": up, "held": [], "window": 100.0}
    worker = {"worker": {"vram_sec": 50, "window_sec": 100}}
    result = {"policy": "mine/my.py", "drawn": {"judged": side, "first_come_first_served": side | {"up": []}}}
    result |= {"under_policy": worker, "first_come_first_served": worker}
    figure = vram(result, "x")
    drawn = [each for each in tree(figure).iter(f"{SVG}rect") if each.get("class") in ("half", "up")]
    assert [each.get("class") for each in drawn] == kinds
    span = WIDTH - 2 * RIGHT
    long = sum(float(each.get("width", 0)) for each in drawn)
    assert long == pytest.approx(span * sum((until or 0) - (since or 0) for since, _, until in up) / 100, abs=0.5)
    assert "my.py" in said(figure)


def test_a_preemption_has_a_thick_end() -> None:
    figure = stretch(sample(), "x")
    assert figure is not None
    found = sample()["drawn"]["stretch"]
    cuts = [stay for stay in found["stays"] if stay["cut"] and found["since"] <= stay["until"] < found["until"]]
    assert len(boxes(figure, "end-cut")) == len(cuts) > 5
    assert f"{len(cuts)} preemptions" in figure
    assert {"slot 0", "slot 1", "queue"} <= set(said(figure))
    titles = {each.text for each in tree(figure).iter(f"{SVG}title")}
    assert len(titles) > len(cuts)


def test_what_is_many_is_said_not_to_be_drawn() -> None:
    stays: list[dict[str, Any]] = [
        {"job": f"j{n}", "modality": "chat", "slot": n if n < 7 else None, "since": 0.0, "until": 9.0, "cut": False}
        for n in range(20)
    ]
    figure = stretch({"drawn": {"stretch": {"since": 0.0, "until": 10.0, "stays": stays}}}, "x")
    assert figure is not None
    assert "3 more slots are not drawn" in figure
    assert "Of the queue 6 places are drawn" in figure
    assert len(boxes(figure, "chat")) == 4 + 6


def test_every_drawing_is_well_formed_and_has_its_own_names() -> None:
    for draw in (waits, vram, stretch):
        root = tree(draw(sample(), "some-name") or "")
        assert root.get("class") == "drawn"
        assert {each.get("id") for each in root.iter() if each.get("id")} == {"some-name-title", "some-name-desc"}
        assert isinstance(root, ElementTree.Element)
