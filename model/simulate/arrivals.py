"""Reads arrival traces: CSV with TIMESTAMP, ContextTokens and GeneratedTokens, as the public Azure traces have them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from datetime import date
from typing import BinaryIO, NamedTuple, NoReturn

from model.simulate.ticks import SECOND

COLUMNS = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
MOST_TOKENS = 10**7
LONGEST_LINE = 10_000
"""In bytes."""
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?", re.ASCII)


class Arrival(NamedTuple):
    """One row: `at` in ticks since year 1, `generated` in tokens, `line` in its file, counted from 1."""

    at: int
    generated: int
    line: int


class TraceError(ValueError):
    """The first fault of a trace, as `FILE:LINE: what was wrong, what was expected; what to do`."""


def read(path: str) -> list[Arrival]:
    """The rows of the CSV file at `path`, in order of time. Raises TraceError."""
    try:
        with open(path, "rb") as file:
            return list(_rows(path, file))
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror}, expected a readable CSV file; check the path") from error


def _rows(path: str, file: BinaryIO) -> Iterator[Arrival]:
    lines = _lines(path, file)
    where, header = next(lines, (f"{path}:1", []))
    if not header:
        _fault(where, "the file is empty", f"a header with {', '.join(COLUMNS)}", "give a trace with a header and rows")
    for column in COLUMNS:
        if header.count(column) != 1:
            _fault(where, f"the header names {column} {header.count(column)} times", "once", "correct the header")
    places = [header.index(column) for column in COLUMNS]
    last = Arrival(-1, 0, 1)
    last_time = ""
    for where, row in lines:
        if len(row) != len(header):
            wrong = f"{len(row)} columns" if row else "a blank line"
            _fault(where, wrong, f"the {len(header)} columns of the header", "correct the row or remove it")
        time, context, generated = (row[place] for place in places)
        _tokens(where, "ContextTokens", context)
        arrival = Arrival(_ticks(where, time), _tokens(where, "GeneratedTokens", generated), last.line + 1)
        if arrival.at < last.at:
            _fault(where, f"{time} comes after {last_time}", "times that never go back", "sort the rows by TIMESTAMP")
        yield arrival
        last, last_time = arrival, time
    if last.at < 0:
        _fault(f"{path}:2", "no row follows the header", "at least one request", "give a trace with rows")


def _lines(path: str, file: BinaryIO) -> Iterator[tuple[str, list[str]]]:
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        where = f"{path}:{number}"
        if len(line) > LONGEST_LINE:
            _fault(where, f"a line of more than {LONGEST_LINE} bytes", "a row of a CSV file", "check that it is one")
        if b"\0" in line:
            _fault(where, "a NUL byte", "text in UTF-8", "save the file as UTF-8")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            yield where, next(csv.reader([text], strict=True)) if text.strip() else []
        except UnicodeDecodeError as error:
            _fault(where, f"the byte {line[error.start]:#04x}", "text in UTF-8", "save the file as UTF-8")
        except csv.Error as error:
            _fault(where, f"not a row of a CSV file ({error})", "fields between commas", "correct the row or remove it")


def _ticks(where: str, text: str) -> int:
    match = _TIME.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        year, month, day, hour, minute, second = map(int, match.groups()[:6])
        if hour > 23 or minute > 59 or second > 59:
            raise ValueError
        days = date(year, month, day).toordinal()
    except ValueError:
        expected = "a time as 2023-11-16 18:15:46.6805900, with 0 to 9 decimals"
        _fault(where, f"TIMESTAMP is {_clip(text)}", expected, "correct the row or remove it")
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    return seconds * SECOND + int((match[7] or "").ljust(9, "0"))


def _tokens(where: str, column: str, text: str) -> int:
    digits = text.lstrip("0") or text[:1]
    if not (
        digits.isascii() and digits.isdigit() and len(digits) <= len(str(MOST_TOKENS)) and int(digits) <= MOST_TOKENS
    ):
        expected = f"a whole number from 0 to {MOST_TOKENS}"
        _fault(where, f"{column} is {_clip(text)}", expected, "correct the row or remove it")
    return int(digits)


def _clip(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")


def _fault(where: str, wrong: str, expected: str, remedy: str) -> NoReturn:
    raise TraceError(f"{where}: {wrong}, expected {expected}; {remedy}")
