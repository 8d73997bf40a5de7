"""Tables of scenarios: a fault that was seen somewhere, on one line, in a notation short enough to be kept in mind.

A line is `ID | what happens | what comes of it`; one without an ID is a further case of the scenario above it, and one
that begins with `#` a remark. Steps and statements have `;` between them. `20 x {+1; Ci=10/1}` repeats what is in
braces, with the number of the round in place of the `i`. Nothing is skipped: what cannot be read raises ValueError with
its file and line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

Case = TypeVar("Case")

MOST = 1000
"""The largest number of rounds of a repetition."""


class Failed(Exception):
    """A scenario came out otherwise than its line says."""


class Line(NamedTuple):
    """One case of the scenario `name`; `where` is its file and line."""

    name: str
    where: str
    happens: str
    expected: str

    def __str__(self) -> str:
        return f"{self.name}, {self.where}: {self.happens} | {self.expected}"


class Said(NamedTuple):
    """A step or a statement: its text, and what it means to the run that it is applied to."""

    text: str
    meaning: Callable[[Any], Any]


def read(path: Path, case: Callable[[Line], Case]) -> dict[str, list[Case]]:
    """The cases of each scenario in the table at `path`, as `case` makes them of its lines. Raises ValueError."""
    scenarios: dict[str, list[Case]] = {}
    name = ""
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{path}:{number}"
        try:
            if text.strip() and not text.startswith("#"):
                known, happens, expected = _cells(text)
                name = known or name
                if known in scenarios or not name:
                    raise ValueError(f"the ID is {known!r}, expected a new one, or none below another case")
                scenarios.setdefault(name, []).append(case(Line(name, where, happens, expected)))
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    return scenarios


def _cells(text: str) -> list[str]:
    cells = [cell.strip() for cell in text.split("|")]
    if len(cells) != 3:
        raise ValueError(f"the line has {len(cells)} parts, expected 3: ID | what happens | what comes of it")
    if not re.fullmatch(r"([A-Z]\d+[a-z]?)?", cells[0]):
        raise ValueError(f"the ID is {cells[0]!r}, expected such as X01 or X08b")
    return cells


def begun(happens: str, usual: Mapping[str, int]) -> tuple[dict[str, int], str]:
    """The settings before the colon, `KEY=NUMBER` or `KEY` alone for 1, over the `usual` ones; and the rest."""
    head, colon, rest = happens.partition(":")
    settings = dict(usual)
    for word in head.split() if colon else (happens,):
        key, _, number = word.partition("=")
        if not colon or key not in usual or not (number or "1").isdecimal():
            raise ValueError(f"{word!r} is no setting, expected some of {' '.join(usual)} with numbers, then a colon")
        settings[key] = int(number or 1)
    return settings, rest


def parts(text: str) -> list[str]:
    """The steps or statements of a text, with every repetition written out, the inner ones first."""
    while found := re.search(r"(\d+) x {([^{}]*)}", text):
        if int(found[1]) > MOST:
            raise ValueError(f"{found[1]} rounds, expected at most {MOST}")
        rounds = (re.sub(r"\b([A-Z]\w*?)i\b", rf"\g<1>{number + 1}", found[2]) for number in range(int(found[1])))
        text = text[: found.start()] + "; ".join(rounds) + text[found.end() :]
    return [part.strip() for part in text.split(";")]


def _value(text: str) -> Any:
    """A value, good or bad."""
    try:
        return float(text) if text in ("nan", "inf", "-inf") else ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise ValueError(f"{text!r} is no value, expected one as Python writes it, or nan, inf, -inf") from None


def _instants(text: str) -> list[int]:
    """`t0 t3..t5` are 0, 3, 4 and 5."""
    instants: list[int] = []
    for span in text.split():
        found = re.fullmatch(r"t(\d+)(?:\.\.t(\d+))?", span)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if first > last:
            raise ValueError(f"{span!r} is no instant, expected such as t3 or t3..t5")
        instants += range(first, last + 1)
    return instants


SORTS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "NAME": (r"[A-Z]\w*", str),
    "NAMES": (r"[\w -]*", str.split),
    "NUMBER": (r"\d+", int),
    "LEVEL": (r"-?\d+", int),
    "VALUE": (r"\S+?", _value),
    "WORD": (r"[a-z]+", str),
    "TIMES": (r"t\d.*", _instants),
}
"""What a word in capitals stands for in a form: how it is written, and how it is read."""
SORT = re.compile(rf"\b({'|'.join(SORTS)})\b")


class Notation:
    """What can be said, each in its form. The meaning of a form takes the run and a value for each word in capitals."""

    def __init__(self, kind: str, forms: Mapping[str, Callable[..., Any]]) -> None:
        self.kind = kind
        self.forms = forms

    def read(self, text: str) -> Said:
        """What the text says. Raises ValueError if it has none of the forms."""
        for form, meaning in self.forms.items():
            plain_and_sorts = SORT.split(form)
            sorts = plain_and_sorts[1::2]
            pattern = "".join(f"({SORTS[word][0]})" if word in SORTS else re.escape(word) for word in plain_and_sorts)
            if found := re.fullmatch(pattern, text):
                values = [SORTS[sort][1](value) for sort, value in zip(sorts, found.groups(), strict=True)]
                return Said(text, partial(_apply, meaning, values))
        raise ValueError(f"{text!r} is no {self.kind}, expected one of: {'; '.join(self.forms)}")


def _apply(meaning: Callable[..., Any], values: list[Any], run: Any) -> Any:
    return meaning(run, *values)


def hold(statement: Said, run: Any) -> None:
    """Failed unless the statement is true of the run. Its meaning is what is found, and what should be."""
    found, expected = statement.meaning(run)
    if found != expected:
        raise Failed(f"expected {statement.text!r}, found {found!r}")


def refused(act: Callable[[], object], state: Callable[[], object]) -> None:
    """Failed unless the act is bad input, which raises ValueError and leaves the state as it was."""
    before = state()
    try:
        act()
    except ValueError:
        if state() != before:
            raise Failed("it was bad input, yet it changed the state") from None
    except Exception as error:
        raise Failed(f"it raised {error!r}, expected a ValueError") from error
    else:
        raise Failed("it was taken, expected a ValueError")


@contextmanager
def trying() -> Iterator[None]:
    """Whatever is raised within is a finding of its own: Failed. Nothing else is put right."""
    try:
        yield
    except Exception as error:
        raise Failed(f"it raised {error!r}") from error


@contextmanager
def noting(where: str) -> Iterator[None]:
    """Whatever is raised within says where it was."""
    try:
        yield
    except Exception as error:
        error.add_note(where)
        raise
