"""The paths through a function as a decision table: few rules, in words, no two of which apply to the same input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from model.symbolic.execution import Explorer, Path, Sample, words
from model.symbolic.subset import Unfollowable
from spec.logic import Claim, both, either, negate


@dataclass(frozen=True)
class Rule:
    """If all of `when` holds, the function ends as `then` says; `sample` is an input for which it does."""

    when: tuple[str, ...]
    then: str
    sample: Mapping[str, Any]

    @property
    def condition(self) -> str:
        """All of `when`."""
        return " and ".join(self.when) or "always"

    def as_json(self) -> dict[str, object]:
        """The rule for programs."""
        return {"when": list(self.when), "then": self.then, "sample": dict(self.sample)}


def rules(
    explorer: Explorer, domain: Iterable[Claim], paths: Iterable[Path], show: Callable[[Any], str]
) -> tuple[Rule, ...]:
    """One rule for each region that has a result of its own, as `show` puts it."""
    given = list(domain)
    regions = [_Region(path.conditions, path.error or show(path.result), path.sample) for path in paths]
    while (merged := _merged(explorer, given, regions)) is not None:
        regions = merged
    return tuple(Rule(tuple(_words(explorer, given, region)), region.then, region.sample) for region in regions)


@dataclass(frozen=True)
class _Region:
    conditions: tuple[Claim, ...]
    then: str
    sample: Sample


def _merged(explorer: Explorer, given: list[Claim], regions: Sequence[_Region]) -> list[_Region] | None:
    """The same with two regions of one result made one, if what they have in common is enough."""
    for place, one in enumerate(regions):
        for other in regions[place + 1 :]:
            if one.then != other.then:
                continue
            texts = {words(condition) for condition in other.conditions}
            common = tuple(condition for condition in one.conditions if words(condition) in texts)
            neither = negate(either(both(True, *one.conditions), both(True, *other.conditions)))
            if _never(explorer, [*given, *common, neither]):
                rest = [region for region in regions if region is not one and region is not other]
                return [*rest[:place], replace(one, conditions=common), *rest[place:]]
    return None


def _words(explorer: Explorer, given: list[Claim], region: _Region) -> list[str]:
    """The conditions in words: first which inputs have a fixed value, then what that does not say already."""
    kept = [
        claim
        for claim in explorer.fixed(region.sample)
        if _never(explorer, [*given, *region.conditions, negate(claim)])
    ] + [*region.conditions]
    for claim in reversed(region.conditions):
        others = [each for each in kept if each is not claim]
        if _never(explorer, [*given, *others, negate(claim)]):
            kept = others
    return [words(claim) for claim in kept]


def _never(explorer: Explorer, claims: Iterable[Claim]) -> bool:
    """No input satisfies the claims; if the solver cannot tell, the words stay as they were."""
    try:
        return not explorer.possible(claims)
    except Unfollowable:
        return False
