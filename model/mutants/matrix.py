"""The kill matrix, mutant x property x engine, and what follows from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from impl.autoscale import decide, savings_permil
from impl.gate import autoscale_rows, scheduler_rows
from impl.scheduler import Scheduler
from model.engines import command as engines_command
from model.engines import edges as engines_edges
from model.engines import probe as engines_probe
from model.engines import worker as engines_worker
from model.engines.engine import ENDS, NAMES, Verdict
from model.exits import HOLDS, UNDETERMINED, VIOLATED
from model.mutants.run import Trial
from spec import autoscale, scheduler_claims, worker_claims

GENERAL = ("conformance", "equals_the_specification", "it_ends_without_error")
"""Claims that any other one implies: what they kill alone, no named property sees."""
OF_THE_CHECKER = {"what_was_served_and_what_remains_are_the_work"}
"""True of the books that the checker keeps itself, so that no code can break it."""


def properties(targets: Iterable[str]) -> list[str]:
    """Every property that has to kill something, of these targets."""
    rows = {"scheduler": scheduler_rows(Scheduler), "autoscale": autoscale_rows(decide, savings_permil)}
    named = {
        "scheduler": [each.name for each in scheduler_claims.ALWAYS + scheduler_claims.STEPS]
        + list(engines_edges.NAMES),
        "autoscale": [each.name for each in autoscale.ALWAYS],
        "worker": [each.name for each in worker_claims.ALWAYS + worker_claims.STEPS] + list(engines_worker.NAMES),
        "probe": list(engines_probe.NAMES),
        "command": list(engines_command.NAMES),
    }
    wanted = []
    for target in targets:
        wanted += [f"{target}_{row.name}" for row in rows.get(target, ())]
        wanted += [name for name in named.get(target, ()) if name not in OF_THE_CHECKER]
    return wanted


@dataclass(frozen=True)
class Matrix:
    """All trials. `equivalent` are the mutants that no engine can kill, each with the reason; `planted` is
    the property that each planted bug breaks; `wanted` are the properties that have to kill something, which is asked
    only when all planted bugs were tried. `whole`: the trials are all the mutants that there are."""

    trials: tuple[Trial, ...]
    equivalent: Mapping[str, str]
    wanted: tuple[str, ...] = ()
    planted: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False

    def killers(self, trial: Trial) -> dict[str, list[str]]:
        """The engines by the property with which they killed the mutant."""
        found: dict[str, list[str]] = {}
        for engine, outcome in trial.outcomes.items():
            for claim in outcome.killers if outcome.verdict is Verdict.KILLED else ():
                found.setdefault(claim, []).append(engine)
        return found

    def killed(self, trial: Trial) -> bool:
        """Some engine killed the mutant."""
        return bool(self.killers(trial))

    def open(self, trial: Trial) -> bool:
        """No engine killed it, and some have no verdict."""
        explained = self.killed(trial) or trial.task.name in self.equivalent
        return not explained and any(outcome.verdict is not Verdict.SURVIVED for outcome in trial.outcomes.values())

    @property
    def undetermined(self) -> list[Trial]:
        """Mutants without a verdict."""
        return [trial for trial in self.trials if self.open(trial)]

    @property
    def survivors(self) -> list[Trial]:
        """Mutants that every engine took for right, and that nobody has explained."""
        return [
            trial
            for trial in self.trials
            if not self.killed(trial) and not self.open(trial) and trial.task.name not in self.equivalent
        ]

    @property
    def not_equivalent(self) -> list[Trial]:
        """Mutants that were said to be equivalent, and were killed."""
        return [trial for trial in self.trials if trial.task.name in self.equivalent and self.killed(trial)]

    @property
    def missed(self) -> list[Trial]:
        """Planted bugs that were killed, but not by the property that they break."""
        return [
            trial
            for trial in self.trials
            if self.killed(trial) and self.planted.get(trial.task.name, ENDS) not in (*self.killers(trial), ENDS)
        ]

    @property
    def stale(self) -> list[str]:
        """Mutants that were said to be equivalent, and do not exist."""
        known = {trial.task.name for trial in self.trials}
        return sorted(set(self.equivalent) - known) if self.whole else []

    @property
    def useless(self) -> list[str]:
        """Properties that killed nothing."""
        kills = self.kills()
        return [name for name in self.wanted if not kills[name]]

    @property
    def never_first(self) -> list[str]:
        """Properties that some other one always noticed before: never the sole killer of a bug, never what an
        explorer or a scenario showed first, never what an engine that looks at each by itself, or ends at the first
        wrong step, showed at all."""
        first = set(self.sole())
        for trial in self.trials:
            for engine, outcome in trial.outcomes.items():
                if outcome.verdict is Verdict.KILLED:
                    first.update(outcome.killers[: 1 if engine in ("explore", "scenario") else None])
        return [name for name in self.wanted if name not in first]

    def kills(self) -> Counter[str]:
        """How many mutants each property killed."""
        return Counter(claim for trial in self.trials for claim in self.killers(trial))

    def sole(self) -> dict[str, list[str]]:
        """The mutants that one property alone killed, by that property. What is GENERAL counts where it is alone."""
        found: dict[str, list[str]] = {}
        for trial in self.trials:
            killers = self.killers(trial)
            named = [claim for claim in killers if claim not in GENERAL] or list(killers)
            if len(named) == 1:
                found.setdefault(named[0], []).append(trial.task.name)
        return found

    @property
    def redundant(self) -> list[str]:
        """Properties that killed, but never alone."""
        sole = self.sole()
        return [name for name in sorted(self.kills()) if name not in sole]

    @property
    def code(self) -> int:
        """The exit code."""
        if self.survivors or self.not_equivalent or self.stale or self.missed or self.useless or self.never_first:
            return VIOLATED
        return UNDETERMINED if self.undetermined else HOLDS

    @property
    def verdict(self) -> str:
        """The same in a word."""
        return {HOLDS: "holds", VIOLATED: "violated", UNDETERMINED: "undetermined"}[self.code]

    def as_json(self) -> dict[str, object]:
        """The matrix for programs."""
        return {
            "mutants": [row(trial, self.equivalent) for trial in self.trials],
            "kills": dict(sorted(self.kills().items())),
            "sole_killers": self.sole(),
            "redundant": self.redundant,
            "useless": self.useless,
            "never_first": self.never_first,
            "survivors": [trial.task.name for trial in self.survivors],
            "equivalent_but_killed": [trial.task.name for trial in self.not_equivalent],
            "equivalent_but_unknown": self.stale,
            "missed": [trial.task.name for trial in self.missed],
            "undetermined": [trial.task.name for trial in self.undetermined],
            "verdict": self.verdict,
        }

    def text(self) -> Iterator[str]:
        """The matrix for people: a line a mutant, then a line a property, then what is wrong."""
        yield f"{'':60}" + "".join(f"{name:>10}" for name in NAMES) + "  first kill"
        for trial in self.trials:
            cells = "".join(f"{cell(trial, name):>10}" for name in NAMES)
            yield f"{trial.task.target + '.' + trial.task.name:60}{cells}  {first_kill(trial)}"
        yield ""
        yield f"{'property':60}" + "".join(f"{name:>10}" for name in NAMES) + "     all    sole"
        sole, kills = self.sole(), self.kills()
        for claim in sorted({*kills, *self.wanted}):
            of = Counter(engine for trial in self.trials for engine in self.killers(trial).get(claim, ()))
            cells = "".join(f"{of[name] or '-':>10}" for name in NAMES)
            yield f"{claim:60}{cells}{kills[claim]:8}{len(sole.get(claim, ())):8}"
        yield ""
        yield from (f"survived: {trial.task.name}" for trial in self.survivors)
        yield from (f"listed as equivalent, and killed: {trial.task.name}" for trial in self.not_equivalent)
        yield from (f"listed as equivalent, and no mutant: {name}" for name in self.stale)
        for trial in self.missed:
            yield f"killed, but not by {self.planted[trial.task.name]}: {trial.task.name}"
        yield from (f"kills nothing: {name}" for name in self.useless)
        yield from (f"notices nothing first: {name}" for name in self.never_first if name not in self.useless)
        for trial in self.undetermined:
            said = [f"{name} {o.verdict}: {o.detail}" for name, o in trial.outcomes.items() if o.detail]
            yield f"undetermined: {trial.task.name} ({'; '.join(said)})"
        yield f"redundant (never the sole killer): {', '.join(self.redundant) or 'none'}"
        killed = sum(map(self.killed, self.trials))
        explained = sum(trial.task.name in self.equivalent and not self.killed(trial) for trial in self.trials)
        counts = f"{killed} killed, {explained} equivalent, {len(self.survivors)} survived"
        yield f"{len(self.trials)} mutants, {counts}, {len(self.undetermined)} undetermined; verdict: {self.verdict}"


def row(trial: Trial, equivalent: Mapping[str, str]) -> dict[str, object]:
    """One mutant for programs."""
    engines = {
        name: {"verdict": each.verdict, "killers": list(each.killers), "seconds": round(each.seconds, 3)}
        | ({"detail": each.detail} if each.detail else {})
        for name, each in trial.outcomes.items()
    }
    told: dict[str, object] = {"name": trial.task.name, "target": trial.task.target, "engines": engines}
    return told | ({"equivalent": equivalent[trial.task.name]} if trial.task.name in equivalent else {})


def cell(trial: Trial, engine: str) -> str:
    """How many properties killed, or why none did."""
    outcome = trial.outcomes.get(engine)
    if outcome is None:
        return "-"
    return str(len(outcome.killers)) if outcome.verdict is Verdict.KILLED else outcome.verdict.value


def first_kill(trial: Trial) -> str:
    """The engine that killed in the least time, and the time."""
    kills = [(each.seconds, name) for name, each in trial.outcomes.items() if each.verdict is Verdict.KILLED]
    return f"{min(kills)[0]:.3f} s by {min(kills)[1]}" if kills else ""
