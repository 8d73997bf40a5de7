"""The bench runs, at the smallest size of each measurement; what it takes is not judged here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("minicheck", reason="the dependency group `bench` is not installed")

from bench.__main__ import MEASUREMENTS
from bench.fuzz import Empty
from bench.record import Bar, Figure, Measurement, Row, times
from model.fuzz.scheduler import SchedulerMachine

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a quick run writes and prints."""
    folder = tmp_path_factory.mktemp("bench")
    command = [
        sys.executable,
        "-m",
        "bench",
        "--quick",
        "--out",
        str(folder / "out"),
        "--json",
        str(folder / "it.json"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads((folder / "it.json").read_text())
    return record | {"printed": done.stdout, "plots": sorted(path.name for path in (folder / "out").glob("*.svg"))}


def test_every_measurement_says_something(told: dict[str, Any]) -> None:
    assert tuple(told["measurements"]) == MEASUREMENTS
    for name, each in told["measurements"].items():
        assert each["rows"] or "needs Linux" in "".join(each["notes"]), name
    assert told["plots"] == ["bugs.svg", "explore.svg"]


def test_the_machine_is_named(told: dict[str, Any]) -> None:
    assert {"processor", "cores", "python", "versions", "revision", "seed", "command", "quick"} <= set(told)
    assert told["quick"] is True
    assert "--quick" in told["command"]
    assert {"hypothesis", "z3-solver", "cvc5", "simpy", "minicheck", "crosshair-tool"} <= set(told["versions"])


def test_every_ratio_is_that_of_the_figures_shown(told: dict[str, Any]) -> None:
    rows = [row for each in told["measurements"].values() for row in each["rows"]]
    assert any(row["ratio"] for row in rows)
    for row in rows:
        if row["beside"] is None or not row["beside"]["best"]:
            assert row["ratio"] is None
        else:
            assert row["ratio"] == float(f"{row['ours']['best'] / row['beside']['best']:.3g}"), row
            assert row["ours"]["unit"] == row["beside"]["unit"], row


def test_every_row_is_printed(told: dict[str, Any]) -> None:
    for each in told["measurements"].values():
        assert f"### {each['title']}" in told["printed"]
        for row in each["rows"]:
            ratio = "" if row["ratio"] is None else times(row["ratio"])
            assert f"| {row['what']} | {ratio} | {row['ours']['subject']}: " in told["printed"]


def test_the_empty_machine_has_the_same_rules_and_draws() -> None:
    assert _rules(Empty) == _rules(SchedulerMachine)


def _rules(machine: Any) -> list[tuple[str, list[tuple[str, str]], tuple[str, ...], int]]:
    state = machine.setup_state()
    return sorted(
        (
            rule.function.__name__,
            sorted((name, repr(drawn)) for name, drawn in rule.arguments.items()),
            rule.targets,
            len(rule.preconditions),
        )
        for rule in (*state.rules, *state.initializers)
    )


def test_a_bar_says_whether_it_is_met() -> None:
    row = Row("a cycle", Figure("ours", 3.0, 3.5, "us", 5), Figure("theirs", 2.0, 2.0, "us", 5))
    assert row.ratio == 1.5
    assert Bar(1.5).text(row) == "at most 1.5x: met"
    assert Bar(1.49).text(row) == "at most 1.49x: NOT MET"
    assert Bar(1.6, least=True).text(row) == "at least 1.6x: NOT MET"
    assert Bar(3, of="best").text(row) == "at most 3 us: met"
    assert Bar(1).met(Row("alone", row.ours)) is False


def test_a_ratio_reads_well_however_small_it_is() -> None:
    assert [times(ratio) for ratio in (2.5, 0.6, 0.1, 0.025, 4.92e-5)] == ["2.5x", "0.6x", "0.1x", "1/40", "1/20,300"]


def test_a_row_without_another_has_no_ratio() -> None:
    found = Measurement("It")
    found.add("alone", Figure("ours", 1234.5, 1234.5, "B"))
    assert "| alone |  | ours: 1,234.5 B |  |  |" in list(found.markdown())


def test_what_is_no_measurement_is_a_usage_error() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--only", "weather"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "invalid choice: 'weather'" in done.stderr
