"""Every planted bug whose outcomes show it is found in a journal of them, by a name that fits it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from impl.jobs import Job, Lease
from impl.journal import Journal
from impl.probe import Verdict
from impl.recorded import RecordedController, RecordedScheduler
from impl.worker_state import Phase, Settings
from model.commands.check import check
from model.planted.catalogue import BUGS, SHIPPED, Code

TARGETS = ("scheduler", "worker", "autoscale")
SEEDS = range(150)
UNSEEN = {
    "MiscountsTheWaiting": "only a snapshot counts",
    "asks_for_a_demand_of_one": "the controller asks with a demand of 0 or 1",
    "reloads_after_a_pause": "to the controller a wanted worker is never idle",
    "saves_more_than_all": "savings are no event",
    "saves_less_than_nothing": "savings are no event",
    "counts_the_warm_seconds": "savings are no event",
    "saves_all_of_nothing": "savings are no event",
    "ForgetsNothing": "a journal does not tell of memory",
    "SortsAtEveryEvent": "a journal does not tell of time",
    "TellsNoStranger": "the specification leaves the reason for HOLD open, but for what is late or early",
}
"""What no outcome shows, and why."""
SHOWS_AS = {
    "a_crash_loses_no_job": {"conformance"},
    "a_failed_start_backs_off_and_recovers": {"conformance"},
    "a_late_event_of_an_old_worker_changes_nothing": {"conformance"},
    "a_lost_worker_backs_off_unless_it_was_of_use": {"a_failed_start_backs_off_and_recovers"},
    "a_refusal_changes_nothing": {"conformance"},
    "a_restored_controller_goes_on": {"conformance"},
    "a_stale_event_changes_nothing": {"no_work_is_lost"},
    "a_stop_ends_in_cold": {"conformance", "trouble_raises_an_alarm"},
    "an_unknown_probe_alone_changes_nothing": {"a_stop_has_a_reason"},
    "bad_input_changes_nothing": {"conformance", "every_job_has_work"},
    "never_reap_before_the_ttl": {"a_stop_has_a_reason"},
    "never_reap_with_demand": {"never_reap_while_busy"},
    "never_serve_without_demand": {"conformance"},
    "never_spawn_while_warm": {"never_spawn_unless_cold"},
    "no_live_job_vanishes": {"conformance", "no_slot_idles_while_a_job_waits"},
    "nothing_is_alive_in_cold": {"never_spawn_unless_cold"},
    "only_a_failure_moves_a_wanted_worker_back": {"conformance", "trouble_raises_an_alarm"},
    "reap_once_idle_for_the_ttl": {"an_idle_worker_is_reaped_within_ttl_plus_one_tick"},
    "rest_at_zero": {"nothing_is_adopted_in_cold"},
    "serve_at_once_when_warm_and_wanted": {"conformance", "never_reap_while_busy"},
    "serve_only_when_warm": {"conformance"},
    "spawn_at_once_when_cold_and_wanted": {"conformance"},
    "the_back_off_stays_within_its_bounds": {"conformance"},
    "the_idle_clock_starts_when_demand_ends": {
        "a_stop_has_a_reason",
        "an_idle_worker_is_reaped_within_ttl_plus_one_tick",
    },
    "the_live_jobs_only_shrink": {"conformance"},
    "what_was_admitted_stays_fixed": {"conformance", "the_earliest_of_the_most_urgent_inherits"},
    "work_is_in_flight_only_on_a_warm_worker": {"conformance"},
}
"""A journal tells of outcomes, not of the state behind them: how what is wrong with the state comes to show."""


def jobs(journals: Iterator[Journal], random: Random, code: Code) -> None:
    """A scheduler under random events, old leases, unknown ids and jobs without work among them."""
    slots, capacity, reserve = random.choice((1, 2, 3)), random.choice((0, 1, 2, 3, 8)), random.randrange(3)
    recorded = RecordedScheduler(code.scheduler(slots, capacity=capacity, reserve=reserve), next(journals))
    leases = [Lease(0, 0, 0)]
    for _ in range(200):
        who = random.randrange(8)
        lease = recorded.lease_of(who) or random.choice(leases)
        match random.choice("aaaacccppppxro"):
            case "a":
                job = Job(who, random.choice((1, 1, 5, 9, 10)), random.randint(0, 20))
                if job.work or code.patches:
                    recorded.admit(job)
            case "c":
                recorded.complete(lease)
            case "p":
                recorded.progress(lease, random.randint(0, 3))
            case "x":
                recorded.cancel(who)
            case "r" if random.random() < 0.3:
                recorded.restart()
            case "o" if random.random() < 0.1:
                recorded = RecordedScheduler(code.scheduler.restore(recorded.snapshot()), next(journals))
        leases += filter(None, [recorded.lease_of(who)])


def loop(journals: Iterator[Journal], random: Random, code: Code) -> None:
    """A controller whose worker mostly does as it is told, under demand that stays for a while."""
    settings = Settings(
        ttl=random.choice((0, 2, 4, 10)),
        start_budget=random.choice((6, 9)),
        patience=random.choice((1, 2, 3)),
        alarm_after=random.choice((2, 6)),
        hang_budget=random.choice((0, 5)),
        longest_back_off=random.choice((1, 4, 8)),
    )
    recorded = RecordedController(code.controller(settings, 0), next(journals))
    demand: int | None = 0
    for _ in range(300):
        s = recorded.snapshot()
        old = random.randint(0, s.generation)
        rarely = random.random() < 0.3
        if random.random() < 0.15:
            demand = random.choice((0, 0, 0, 1, 2, None))
        match random.choice("ttttttttppppxgwjo"):
            case "t":
                back = code.controller.__name__ == "LetsTimeGoBack" and rarely
                recorded.tick(s.now - 1 if back else s.now + random.choice((1, 1, 1, 1, 2)), demand)
            case "p":
                usual = {Phase.STARTING: random.choice((Verdict.COLD, Verdict.WARM)), Phase.WARM: Verdict.WARM}
                verdict = random.choice(list(Verdict)) if rarely else usual.get(s.phase, Verdict.COLD)
                recorded.probed(verdict, s.generation if random.random() < 0.9 else old)
            case "x" if rarely:
                recorded.exited(random.choice((s.generation, s.generation, old)))
            case "g" if s.phase is Phase.STOPPING:
                recorded.gone(random.choice((s.generation, s.generation, old)), random.choice(list(Verdict)))
            case "w" if rarely:
                recorded.progressed(random.choice((s.generation, old)))
            case "j" if rarely:
                recorded.job_ended(random.choice((s.generation, old)))
            case "o" if random.random() < 0.1:
                recorded = RecordedController(code.controller.restore(s), next(journals))


def reopened(path: Path) -> Generator[Journal, None, None]:
    """The journal at the path, again and again; the one before is closed first."""
    while True:
        journal = Journal(path)
        try:
            yield journal
        finally:
            journal.close()


def journal_of(code: Code, target: str, seed: int, path: Path) -> Path:
    """What is recorded up to an error, if the code ends with one."""
    path.unlink(missing_ok=True)
    with code.in_place(), closing(reopened(path)) as journals:
        try:
            (jobs if target == "scheduler" else loop)(journals, Random(seed), code)
        except (KeyError, IndexError, ValueError):
            assert code is not SHIPPED
    return path


@pytest.mark.parametrize("target", ["scheduler", "worker"])
def test_the_shipped_code_is_right(target: str, tmp_path: Path) -> None:
    for seed in SEEDS[:40]:
        result = check(journal_of(SHIPPED, target, seed, tmp_path / "a.jsonl"))
        assert (result["verdict"], result["partial"]) == ("tested", False)


@pytest.mark.parametrize("name", [name for name, bug in BUGS.items() if bug.target in TARGETS])
def test_a_planted_bug_shows_in_its_journal(name: str, tmp_path: Path) -> None:
    bug = BUGS[name]
    fitting = {bug.property, *SHOWS_AS.get(bug.property, ())}
    found: set[str] = set()
    for seed in SEEDS[:20] if bug.name in UNSEEN else SEEDS:
        result = check(journal_of(bug.code, bug.target, seed, tmp_path / "a.jsonl"))
        if result["verdict"] == "refuted":
            found |= {result["violation"]["property"], *result["violation"]["also"]}
        if found & fitting:
            break
    assert bool(found & fitting) == (bug.name not in UNSEEN), (bug.name, sorted(found))


def test_the_list_of_what_is_not_seen_names_bugs_alone() -> None:
    assert set(UNSEEN) <= set(BUGS)
    assert set(SHOWS_AS) <= {bug.property for bug in BUGS.values()}
