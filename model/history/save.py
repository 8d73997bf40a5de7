"""Counterexamples on disk: a test that is green once the fault is fixed, and the trace for other tools."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from model.history import itf, regression
from model.history.happenings import Trace
from model.history.lanes import faults
from model.history.play import Step

FOLDER = Path("tests", "regressions")
"""Where tests are saved, from the present folder."""


def save(
    trace: Trace,
    steps: Sequence[Step],
    claim: str,
    *,
    found: str,
    seed: int | None = None,
    folder: Path = FOLDER,
) -> tuple[Path, Path]:
    """Write `test_<claim>.py` and `<claim>.itf.json` and return their paths.

    `steps` are the play of the trace, whose last one broke the claim; `found` is the command that found it. A policy is
    named by its path from the folder, where there is one. No file is changed: if it holds the same trace it stays, and
    if it holds another the new ones are numbered. Raises OSError, and ValueError if the last step broke no such claim.
    """
    broken = next((fault for fault in faults(steps[-1]) if fault.claim == claim and not fault.waived), None)
    if broken is None:
        raise ValueError(f"the last step does not break {claim}, expected one that does")
    folder.mkdir(parents=True, exist_ok=True)
    trace = replace(trace, history=trace.history[: steps[-1].number], policy=_from(folder, trace.policy))
    name = re.sub(r"\W", "_", claim)
    about = {"description": broken.sentence, "property": claim, "source": found}
    object_ = itf.to_itf(trace, steps, about if seed is None else {**about, "seed": seed})
    test = regression.text(trace, name, broken.sentence, found if seed is None else f"{found} (seed {seed})")
    for number in count(1):
        numbered = name if number == 1 else f"{name}_{number}"
        paths = (folder / f"test_{numbered}.py", folder / f"{numbered}.itf.json")
        if all(not path.exists() or _holds(path, trace) for path in paths):
            break
    for path, content in zip(paths, (test, json.dumps(object_, indent=1) + "\n"), strict=True):
        if not path.exists():
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(content)
    return paths


def read(path: Path) -> Trace:
    """The trace in a saved test or ITF file; its policy is named from the folder of the file. Raises OSError, and
    ValueError if it holds none."""
    content = path.read_bytes().decode("utf-8-sig")
    if path.suffix == ".py":
        return regression.read(content)
    try:
        return itf.from_itf(json.loads(content))
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply for a trace") from None


def _holds(path: Path, trace: Trace) -> bool:
    try:
        return read(path) == trace
    except (OSError, ValueError):
        return False


def _from(folder: Path, policy: str | None) -> str | None:
    """The path of the policy from the folder."""
    if policy is None:
        return None
    try:
        return Path(os.path.relpath(Path(policy).resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return Path(policy).resolve().as_posix()
