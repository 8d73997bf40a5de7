"""What every state machine of Hypothesis counts here, so that what was never seen fails the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar

from hypothesis.stateful import RuleBasedStateMachine

from model.conform.monitor import Violation

M = TypeVar("M", bound="Counting")


class Counting(RuleBasedStateMachine):
    """A machine that counts, in all its runs."""

    rules_fired: ClassVar[Counter[str]] = Counter()
    """How often each rule fired."""
    actions: ClassVar[Counter[str]] = Counter()
    """How often each action of the specification was seen."""
    witnesses: ClassVar[set[str]] = set()
    """Which witnesses were seen."""
    waives: ClassVar[frozenset[str]] = frozenset()
    """The claims to which it is not held."""
    waived: ClassVar[Counter[str]] = Counter()
    """How often each waived claim was broken."""
    told: ClassVar[list[Any]] = []
    """Of the latest run: how it began, then each event that it met."""

    @classmethod
    def retold(cls, violation: Violation) -> tuple[list[str], Violation]:
        """The latest run as people are told of it, and the violation that ended it; or a smaller run, and how it breaks
        the same claim."""
        return list(map(str, cls.told)), violation


def counted(method: Callable[..., Any]) -> Callable[..., Any]:
    """The rule, which counts how often it fires."""

    @wraps(method)
    def fire(self: Counting, **drawn: Any) -> Any:
        self.rules_fired[method.__name__] += 1
        return method(self, **drawn)

    fire.is_counted = True  # type: ignore[attr-defined]
    return fire


def rules_of(machine: type[Counting]) -> list[str]:
    """The names of the rules that are counted."""
    return [name for name in dir(machine) if getattr(getattr(machine, name), "is_counted", False)]


def fresh(machine: type[M], **of: Any) -> type[M]:
    """The same machine with other class attributes, which has seen nothing yet."""
    seen: dict[str, Any] = {
        "rules_fired": Counter(),
        "actions": Counter(),
        "witnesses": set(),
        "waived": Counter(),
        "told": [],
    }
    return type(machine.__name__, (machine,), seen | of)
