"""Reads a journal in blocks of whole lines, and holds its sequence and its digest.

A digest covers all bytes before it (`impl.journal`), so that the last one of a block vouches for the whole block; only
in a block where it fails each line is looked at.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from errno import EINVAL
from hashlib import sha256
from pathlib import Path
from time import sleep
from typing import Any, BinaryIO, NamedTuple

from msgspec import MsgspecError, convert
from msgspec.json import Decoder

from impl.journal import DIGITS, LONGEST
from model.check.lines import BLOCK, DECODER, AnyLine, Reopened
from model.check.map import Map, Translator

SUFFIX = len(',"digest":""}\n') + DIGITS
"""Bytes of a line that its own digest does not cover."""
ANY: Decoder[Any] = Decoder()
UNREADABLE = (MsgspecError, ValueError, RecursionError)
"""What a line raises that cannot be decoded."""
PAUSE = 0.2
"""Seconds between two looks at a log that is followed."""


class Wrong(NamedTuple):
    """What is wrong with a line, counted from 1: the name and sentence of a claim, all the claims that the same line
    broke, in what way, and the jobs of which it speaks."""

    line: int
    claim: str
    sentence: str
    detail: str
    claims: tuple[str, ...]
    jobs: tuple[Any, ...] = ()


SENTENCES = {
    "sequence": "The lines are numbered one by one.",
    "digest": "The digest of each line is that of all bytes before it.",
    "schema": "Every line is one of the schema.",
}


def integrity(line: int, claim: str, detail: str) -> Wrong:
    """What is wrong with the log itself."""
    return Wrong(line, claim, SENTENCES[claim], detail, (claim,))


class Log:
    """The file at `path`. `wrong` is what ended the reading, if anything did. `numbered` and `sealed` say whether its
    lines carry `seq` and `digest`, None before the first; `torn` whether the last line is not whole; `notes` what else
    there is to say."""

    def __init__(self, path: str | Path, mapped: Map | None = None) -> None:
        self.path = path
        self.mapped = mapped
        self.lines = 0
        self.digest = ""
        self.numbered: bool | None = None
        self.sealed: bool | None = None
        self.torn = False
        self.wrong: Wrong | None = None
        self.notes: list[str] = []
        self._hash = sha256()

    def read(self, follow: bool = False) -> Iterator[tuple[int, Sequence[AnyLine]]]:
        """The lines, some at a time with the number of the first, up to what is wrong; with `follow` it waits for more.

        A line of another system may mean none of ours, or several, which then all have its number.
        """
        translator = self.mapped and self.mapped.translator()
        for block in self.blocks(follow):
            whole = block.endswith(b"\n")
            if translator:
                yield from self._translate(translator, block.splitlines(), whole)
            elif whole:
                found = self._take(block)
                self.lines += len(found)
                yield self.lines - len(found) + 1, found
            elif self.sealed:
                self.torn = True
            else:
                yield from self._last(block)
            if self.wrong:
                return
        if translator:
            yield from translator.rest()

    def _translate(
        self, translator: Translator, texts: list[bytes], whole: bool
    ) -> Iterator[tuple[int, Sequence[AnyLine]]]:
        for text in texts:
            try:
                yield from translator.take(self.lines + 1, ANY.decode(text))
            except UNREADABLE as error:
                self.torn = not whole
                self.wrong = None if self.torn else integrity(self.lines + 1, "schema", f"{error}: {text[:80]!a}.")
                return
            self.lines += 1

    def blocks(self, follow: bool = False) -> Iterator[bytes]:
        """Whole lines, as many as were written; what is behind the last of them comes last, unless it is followed."""
        with opened(self.path) as file:
            end = 0
            while True:
                file.seek(end)
                piece = file.read(BLOCK)
                while piece and b"\n" not in piece and len(piece) < LONGEST and (more := file.read(len(piece))):
                    piece += more
                whole, newline, rest = piece.rpartition(b"\n")
                if newline:
                    end += len(whole) + 1
                    yield whole + newline
                elif len(rest) >= LONGEST:
                    self.wrong = integrity(self.lines + 1, "schema", f"The line is longer than {LONGEST} bytes.")
                    return
                elif not follow:
                    if rest:
                        yield rest
                    return
                else:
                    if file.seek(0, 2) < end:
                        self.wrong = integrity(
                            self.lines, "sequence", f"The log was cut to {file.tell()} bytes of {end}."
                        )
                        return
                    if not self._is_still(file):
                        self.notes.append(f"after line {self.lines} another file took the place of the log")
                        return
                    sleep(PAUSE)

    def _is_still(self, file: BinaryIO) -> bool:
        """The path still leads to this file, or to none yet."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(file.fileno()))
        except FileNotFoundError:
            return True

    def _take(self, block: bytes) -> Sequence[AnyLine]:
        try:
            found = DECODER.decode_lines(block)
        except UNREADABLE:
            return self._one_by_one(block)
        if self.numbered is None:
            self.numbered = any(line.seq is not None for line in found)
            self.sealed = any(line.digest is not None for line in found)
        first = self.lines
        count: list[int | None] = list(range(first, first + len(found))) if self.numbered else [None] * len(found)
        if [line.seq for line in found] != count:
            return self._one_by_one(block)
        if not self.sealed:
            if any(line.digest is not None for line in found):
                return self._one_by_one(block)
            return found if len(found) == block.count(b"\n") else self._one_by_one(block)
        if found:
            if b'"event":"reopened"' in block:
                return self._one_by_one(block)
            running = self._hash.copy()
            running.update(block[:-SUFFIX])
            if running.hexdigest()[:DIGITS] != found[-1].digest:
                return self._one_by_one(block)
            running.update(block[-SUFFIX:])
            self._hash, self.digest = running, found[-1].digest
        return found

    def _one_by_one(self, block: bytes) -> list[AnyLine]:
        """The lines up to the first that is wrong."""
        texts = block[:-1].split(b"\n")
        if self.numbered is None:
            self.numbered = any(b'"seq":' in text for text in texts)
            self.sealed = any(b'"digest":' in text for text in texts)
        found: list[AnyLine] = []
        for number, text in enumerate(texts, self.lines + 1):
            try:
                line = decode(text)
            except UNREADABLE as error:
                self.wrong = integrity(number, "schema", f"{error}: {text[:80]!a}.")
                return found
            self.wrong = self._misnumbered(number, line) or self._unsealed(number, line, text)
            if self.wrong:
                return found
            found.append(line)
        return found

    def _misnumbered(self, number: int, line: AnyLine) -> Wrong | None:
        expected = number - 1 if self.numbered else None
        if line.seq == expected:
            return None
        told = "no number" if line.seq is None else f"number {line.seq}"
        if expected is None:
            return integrity(number, "sequence", f"The line has {told}, and none before it had one.")
        missing = "" if line.seq is None or line.seq < expected else ": lines are missing"
        again = "" if missing or line.seq is None else ": it comes again, or out of order"
        return integrity(number, "sequence", f"The line has {told}, expected {expected}{missing}{again}.")

    def _unsealed(self, number: int, line: AnyLine, text: bytes) -> Wrong | None:
        if not self.sealed:
            late = line.digest is not None
            return integrity(number, "digest", "The line has a digest, and none before it had one.") if late else None
        if isinstance(line, Reopened):
            self._hash = sha256(self.digest.encode())
        covered, rest = text[: 1 - SUFFIX], text[1 - SUFFIX :] + b"\n"
        self._hash.update(covered)
        expected = self._hash.hexdigest()[:DIGITS]
        if line.digest != expected:
            return integrity(number, "digest", f"The digest of the line is {line.digest}, expected {expected}.")
        self._hash.update(rest)
        self.digest = expected
        return None

    def _last(self, text: bytes) -> Iterator[tuple[int, Sequence[AnyLine]]]:
        """A log that no recorder of ours wrote may well end without the end of a line."""
        try:
            line = decode(text)
        except UNREADABLE:
            self.torn = True
            return
        self.torn = line.digest is not None
        if self.torn:
            return
        self.lines += 1
        self.wrong = self._misnumbered(self.lines, line) if self.numbered else None
        if not self.wrong:
            yield self.lines, [line]


def opened(path: str | Path) -> BinaryIO:
    """The file, which has to be one that can be read from the beginning again. Raises OSError."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(EINVAL, "No regular file", str(path))
    return open(path, "rb")


def decode(text: bytes) -> AnyLine:
    """One line. A text with half a surrogate pair is one to Python, though not to msgspec."""
    try:
        return DECODER.decode(text)
    except MsgspecError:
        if b"\\ud" not in text.lower():
            raise
        line: AnyLine = convert(json.loads(text), AnyLine)
        return line
