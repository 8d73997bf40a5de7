"""A fault as it is shown: the smallest history that an engine's finding shrinks to, drawn, and saved if wished."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.conform.events import Event
from model.conform.monitor import Violation
from model.draw.rows import Row, rows
from model.explore.breadth import Found
from model.explore.shapes import Setting
from model.fuzz.scheduler import SchedulerMachine
from model.history.happenings import Happening, History, Trace
from model.history.lanes import picture
from model.history.play import Step, play
from model.history.retell import from_events, from_found
from model.history.save import save
from model.history.shrink import shrink


@dataclass(frozen=True)
class Shown:
    """The history of a fault, event by event, and its picture. `minimal`: no event can be dropped, no number lowered.
    `files`: where it was saved; `rows`: the same for a drawing, if it plays from the start."""

    claim: str
    sentence: str
    history: History
    minimal: bool
    drawn: str
    files: tuple[Path, ...] = ()
    rows: Sequence[Row] = ()

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "sentence": self.sentence,
            "history": [happening.as_json() for happening in self.history],
            "minimal": self.minimal,
            "files": [path.as_posix() for path in self.files],
            "rows": list(self.rows),
        }


@dataclass(frozen=True)
class Finder:
    """Who found a fault, and how it is told: on which scheduler, by which command, under which seed and policy file,
    and into which folder it is to be saved."""

    setting: Setting
    command: str
    policy: str | None = None
    folder: Path | None = None
    seed: int | None = None

    def found(self, claim: str, sentence: str, found: Found) -> Shown:
        """What an exploration found."""
        return self._show(claim, sentence, from_found(self.setting, found))

    def met(self, claim: str, sentence: str, events: Sequence[Event]) -> Shown:
        """What a scheduler met before it broke the claim."""
        return self._show(claim, sentence, from_events(events, self.setting.fresh()))

    def _play(self, history: Sequence[Happening]) -> list[Step]:
        setting = self.setting
        return play(history, setting.fresh(), setting.urgency, owed=setting.owed, waives=setting.waives)

    def _show(self, claim: str, sentence: str, history: History) -> Shown:
        try:
            smallest, minimal = shrink(history, claim, self._play)
        except ValueError:  # it depends on names or run numbers that no history from the start can have
            told = "It shows from a restored snapshot alone, not when its history is played from the start."
            return Shown(claim, sentence, history, False, "\n".join([told, *map(str, history)]))
        steps = self._play(smallest)
        files: tuple[Path, ...] = ()
        if self.folder is not None:
            size = self.setting.fresh().snapshot()
            trace = Trace(smallest, self.setting.slots, size.capacity, size.reserve, self.policy)
            files = save(trace, steps, claim, found=self.command, seed=self.seed, folder=self.folder)
        again = f"python -m model replay {files[0]}" if files else self.command
        drawn = picture(steps, seed=self.seed, again=again)
        return Shown(claim, sentence, smallest, minimal, drawn, files, rows(steps))


def met(
    machine: type[SchedulerMachine],
    violation: Violation,
    command: str,
    policy: str | None,
    folder: Path | None,
    seed: int,
) -> Shown:
    """What the latest run of a state machine met, under whichever of its urgencies it shows."""
    size, *events = machine.told
    for urgency in machine.urgencies:
        setting = Setting(
            len(size.running),
            (),
            size.capacity,
            size.reserve,
            urgency=urgency,
            scheduler=machine.scheduler_type,
            owed=machine.owed,
            waives=machine.waives,
        )
        shown = Finder(setting, command, policy, folder, seed).met(violation.claim, violation.sentence, events)
        if shown.minimal:
            break
    return shown


def command() -> str:
    """The command that this process runs, for people to repeat."""
    return shlex.join(["python", "-m", "model", *sys.argv[1:]])
