"""The soak in small, and that it would see what it looks for."""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from model.commands import soak
from model.commands.soak import MUST, NEVER
from model.conform import events
from model.exits import HOLDS, USAGE, VIOLATED
from model.soak.driver import Driver
from model.soak.hosted import wait
from model.soak.lane import Lane

HOSTS = Path(__file__).parent / "hosts"
SEED = 5

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="what is left is found by /proc")


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    soak.arguments(parser)
    return parser.parse_args(words)


def test_a_short_soak_loses_and_doubles_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = soak.run(options("--seconds", "9", "--seed", "7", "--json", "--keep", str(tmp_path / "kept")))
    found = json.loads(capsys.readouterr().out)
    assert code == HOLDS, found
    assert found["verdict"] == "tested"
    assert found["seed"] == 7
    assert not found["wrong"]
    counts = found["counts"]
    assert all(counts[name] for name in MUST)
    assert not any(counts[name] for name in NEVER)
    assert counts["ended"] + counts.get("refused", 0) == counts["requests"]
    assert sorted(place.name for place in (tmp_path / "kept").iterdir()) == ["lane-0", "lane-1", "lane-2", "lane-3"]


@pytest.mark.parametrize("words", [("--seconds", "0"), ("--seconds", "nan"), ("--lanes", "0"), ("--lanes", "65")])
def test_a_senseless_soak_is_a_usage_error(words: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert soak.run(options(*words)) == USAGE
    assert "must be" in capsys.readouterr().err


def test_a_folder_that_exists_is_not_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert soak.run(options("--keep", str(tmp_path))) == USAGE
    assert "exists" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("wrong", "code"), [([], HOLDS), (["lane-0: lost: chat-1"], VIOLATED)])
def test_logs_are_kept_of_a_fault_alone(
    wrong: list[str], code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    used: list[Path] = []

    def soaked(folder: Path, seed: int, seconds: float, lanes: int) -> dict[str, object]:
        used.append(folder)
        verdict = "refuted" if wrong else "tested"
        found = {"verdict": verdict, "seed": seed, "lanes": lanes, "elapsed_sec": 1}
        return {**found, "counts": {}, "never_seen": [], "wrong": wrong}

    monkeypatch.setattr(soak, "soak", soaked)
    assert soak.run(options("--seed", "3")) == code
    said = capsys.readouterr().out
    assert "seed 3" in said
    assert used[0].exists() is bool(wrong) is (str(used[0]) in said)
    if wrong:
        assert wrong[0] in said
        used[0].rmdir()


class Short(Lane):
    """With a worker that is killed again and again, and by the seed begins with one that has a descendant."""

    drain = 8.0
    faults = ("kill worker",)


class Forgetful(Driver):
    def restart(self) -> None:
        """What was in flight on a lost worker is taken to be in flight still."""


class ForgetsToRestart(Short):
    make = Forgetful

    def settle_down(self) -> None:
        """The last job is in flight when its worker is lost."""
        self.driver.admit("render", 100)
        wait(self.all_is_in_flight, "every job in flight")
        self.kill_the_worker()
        super().settle_down()

    def all_is_in_flight(self) -> bool:
        self.turn()
        return self.driver.in_flight == {self.driver.scheduler.lease_of(each) for each in self.driver.live}


class Dropping(Driver):
    def restart(self) -> None:
        """What was in flight on a lost worker is taken to have ended with it."""
        for run in self.scheduler.snapshot().running:
            if run is not None:
                self.tell(events.Complete(run.lease))


class DropsWhatWasInFlight(Short):
    make = Dropping


class EndsTwice(Short):
    worker = HOSTS / "doubling_worker.py"


class ConfirmsAtOnce(Short):
    program = (sys.executable, str(HOSTS / "planted.py"), "confirms_at_once")


class SeesOneProcessAlone(Short):
    program = (sys.executable, str(HOSTS / "planted.py"), "sees_one_process_alone")


class ForgetsTheLockFile(Short):
    program = (sys.executable, str(HOSTS / "planted.py"), "forgets_the_lock_file")
    faults = ("kill host",)


class LeavesTheWorkerBehind(Short):
    program = (sys.executable, str(HOSTS / "planted.py"), "leaves_the_worker_behind")
    faults = ("end host",)


CAUGHT: dict[type[Lane], tuple[str, ...]] = {
    ForgetsToRestart: ("lost",),
    DropsWhatWasInFlight: ("lost",),
    EndsTwice: ("doubled",),
    ConfirmsAtOnce: ("two workers at once",),
    SeesOneProcessAlone: ("two workers at once", "orphans"),
    ForgetsTheLockFile: ("workers forgotten",),
    LeavesTheWorkerBehind: ("orphans",),
}


def test_planted_faults_turn_it_red(tmp_path: Path) -> None:
    with ThreadPoolExecutor(len(CAUGHT)) as pool:
        found = list(pool.map(lambda bug: soak.soak(tmp_path / bug.__name__, SEED, 6.0, 1, bug), CAUGHT))
    for each, caught in zip(found, CAUGHT.values(), strict=True):
        assert each["verdict"] == "refuted", each
        assert all(each["counts"][name] for name in caught), each
