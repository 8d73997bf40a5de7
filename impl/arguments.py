"""How arguments are read: strictly, for a mistake that passes would be read as an action; and by hand, for argparse
takes as long to start as the interpreter itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

I64_MAX = 2**63 - 1


class UsageError(Exception):
    """An argument is wrong: the message says which and what was expected. Exit code 64."""


def split(argv: Sequence[str], *options: str) -> tuple[list[str], dict[str, str]]:
    """The words apart from the options, which may stand anywhere but after `--`: each at most once and never shortened.

    Each of `options` takes a value, `--port 80` or `--port=80`; the flag `--json`, which every command has, takes none.
    """
    words: list[str] = []
    given: dict[str, str] = {}
    rest = iter(argv)
    for word in rest:
        option, equals, value = word.partition("=")
        if word == "--":
            words += rest
        elif not word.startswith("--"):
            words.append(word)
        elif option not in (*options, "--json"):
            raise UsageError(f"there is no option {shown(option)}, expected one of {', '.join((*options, '--json'))}")
        elif option in given:
            raise UsageError(f"{option} is given twice, expected once")
        elif option == "--json":
            if equals:
                raise UsageError(f"--json is given the value {shown(value)}, expected none")
            given[option] = ""
        else:
            given[option] = value if equals else next(rest, "--")
            if given[option].startswith("--") and not equals:
                raise UsageError(f"{option} is given no value, expected one behind it")
    return words, given


def numbers(words: Sequence[str], most: Mapping[str, int]) -> Iterator[int]:
    """One number from 0 for each name in `most`, which says the largest allowed."""
    if len(words) != len(most):
        raise UsageError(f"{len(words)} numbers are given, expected {len(most)}: {' '.join(most)}")
    return (number(name, word, 0, largest) for word, (name, largest) in zip(words, most.items(), strict=True))


def number(name: str, text: str, least: int, most: int) -> int:
    """A number from `least` to `most`, within i64, in ASCII digits alone: the original reads "-5" as 5 and "x" as 0
    (nx_mesh_autoscale.nx:49)."""
    digits = text.lstrip("0") or "0"
    # A number of thousands of digits is turned away by its length: int() itself refuses to read it.
    if text.isascii() and text.isdigit() and len(digits) <= 19 and least <= int(digits) <= most:
        return int(digits)
    span = f"{least} or {most}" if most == least + 1 else f"a number from {least} to {most}"
    raise UsageError(f"{name} is {shown(text)}, expected {span} in the digits 0-9 alone")


def exit_base(text: str) -> int:
    """What is added to the action to give the exit code: nothing, or beyond every code that means a failure."""
    base = number("--exit-base", text, 0, 120)
    if 0 < base < 71:
        raise UsageError(f"--exit-base is {base}, expected 0 or 71 to 120")
    return base


def name(option: str, text: str) -> str:
    """A host or a model: something printable without blanks."""
    if not text or not text.isprintable() or " " in text:
        raise UsageError(f"{option} is {shown(text)}, expected a name without blanks or unprintable characters")
    return text


def choice(name: str, text: str, *allowed: str) -> str:
    """One of the words `allowed`."""
    if text not in allowed:
        raise UsageError(f"{name} is {shown(text)}, expected {' or '.join(allowed)}")
    return text


def shown(text: str) -> str:
    """The text quoted in ASCII, cut when it is long."""
    return ascii(text if len(text) <= 60 else f"{text[:57]}...")
