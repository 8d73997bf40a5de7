"""What is required of the two policies, in the words of whoever depends on them, and the properties that carry it."""

from __future__ import annotations

from typing import NamedTuple


class Requirement(NamedTuple):
    """`properties` are named `machine.property`."""

    name: str
    text: str
    properties: tuple[str, ...]


def _of(machine: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{machine}.{name}" for name in names)


REQUIREMENTS = (
    Requirement(
        "no-work-lost",
        "No work is lost: what a render has done survives every preemption, restart and crash, and a job leaves only "
        "by ending or being cancelled.",
        _of("scheduler", "no_work_is_lost", "no_live_job_vanishes", "every_live_job_has_exactly_one_place")
        + _of("worker", "a_crash_loses_no_job", "what_was_served_and_what_remains_are_the_work"),
    ),
    Requirement(
        "chat-first",
        "Chat is never queued while a job of lower priority runs, and never refused for want of room while one of the "
        "lowest level runs.",
        _of(
            "scheduler",
            "chat_never_waits_behind_an_image",
            "no_job_waits_behind_a_less_urgent_one",
            "chat_is_never_refused_while_an_image_runs",
        ),
    ),
    Requirement(
        "right-victim",
        "Only strictly less urgent work is preempted, the least urgent first, and nothing while a slot is free.",
        _of(
            "scheduler",
            "only_strictly_less_urgent_work_is_preempted",
            "the_least_urgent_running_job_is_the_victim",
            "nothing_is_preempted_while_a_slot_is_free",
        ),
    ),
    Requirement(
        "fair-among-equals",
        "A freed slot goes to the most urgent waiting job, among equals to the one that has waited longest.",
        _of("scheduler", "the_earliest_of_the_most_urgent_inherits", "equals_keep_their_order"),
    ),
    Requirement(
        "work-conserving",
        "No slot idles while a job waits, and without arrivals everything that was admitted ends.",
        _of(
            "scheduler",
            "no_slot_idles_while_a_job_waits",
            "a_job_runs_while_any_is_live",
            "the_live_jobs_only_shrink",
            "a_job_that_leaves_is_live_no_more",
        ),
    ),
    Requirement(
        "bounded-queue",
        "The queue is bounded, and whoever does not fit is told so; nothing that was admitted is shed.",
        _of("scheduler", "the_queue_stays_within_its_bound", "a_refusal_changes_nothing", "no_live_job_vanishes"),
    ),
    Requirement(
        "late-events",
        "Late, doubled and mistaken events change nothing.",
        _of(
            "scheduler",
            "a_stale_event_changes_nothing",
            "runs_are_never_reused",
            "a_run_that_starts_has_a_new_number",
            "a_cancel_touches_only_its_job",
        )
        + _of("worker", "a_late_event_of_an_old_worker_changes_nothing"),
    ),
    Requirement(
        "fixed-terms",
        "What a job was admitted with stays as it was.",
        _of("scheduler", "what_was_admitted_stays_fixed"),
    ),
    Requirement(
        "no-reap-while-busy",
        "A worker is never reaped while anything is queued or in flight, nor before it has been idle for the ttl.",
        _of("autoscale", "never_reap_with_demand", "never_reap_before_the_ttl")
        + _of("worker", "never_reap_while_busy", "the_idle_clock_starts_when_demand_ends", "a_stop_has_a_reason"),
    ),
    Requirement(
        "no-second-worker",
        "A second worker is never started beside a living one.",
        _of("autoscale", "never_spawn_while_warm")
        + _of("worker", "never_two_workers", "never_spawn_unless_cold", "nothing_is_adopted_in_cold"),
    ),
    Requirement(
        "scale-to-zero",
        "An idle worker is reaped once the ttl is over, and a cold one that nobody wants is left alone.",
        _of("autoscale", "reap_once_idle_for_the_ttl", "rest_at_zero", "savings_lie_between_0_and_1000")
        + _of("worker", "an_idle_worker_is_reaped_within_ttl_plus_one_tick"),
    ),
    Requirement(
        "served-when-wanted",
        "What is wanted is served: a cold worker is started at once, a warm one used at once, failures are overcome.",
        _of("autoscale", "spawn_at_once_when_cold_and_wanted", "serve_at_once_when_warm_and_wanted")
        + _of(
            "worker",
            "demand_is_served_once_starts_succeed",
            "only_a_failure_moves_a_wanted_worker_back",
            "a_failed_start_backs_off_and_recovers",
            "a_lost_worker_backs_off_unless_it_was_of_use",
            "the_back_off_stays_within_its_bounds",
            "a_stop_ends_in_cold",
        ),
    ),
    Requirement(
        "only-when-warm",
        "Nothing is dispatched to a worker that is not warm, or when nothing is wanted.",
        _of("autoscale", "serve_only_when_warm", "never_serve_without_demand")
        + _of("worker", "work_progresses_only_on_a_warm_worker", "work_is_in_flight_only_on_a_warm_worker"),
    ),
    Requirement(
        "ignorance-is-no-licence",
        "Nothing is decided on an unknown, and trouble is told.",
        _of(
            "worker",
            "no_decision_rests_on_an_unknown",
            "an_unknown_probe_alone_changes_nothing",
            "trouble_raises_an_alarm",
        ),
    ),
    Requirement(
        "always-an-answer",
        "Whatever happens, there is exactly one answer.",
        _of(
            "scheduler",
            "every_admission_has_an_outcome",
            "every_completion_has_an_outcome",
            "every_report_of_progress_has_an_outcome",
            "every_cancel_has_an_outcome",
            "an_admission_has_only_one_outcome",
            "a_completion_has_only_one_outcome",
            "a_report_of_progress_has_only_one_outcome",
            "a_cancel_has_only_one_outcome",
            "the_slot_is_unique",
            "the_victim_is_unique",
            "the_heir_is_unique",
        )
        + _of("autoscale", "every_view_has_a_decision", "a_view_has_only_one_decision")
        + _of(
            "worker",
            "every_tick_has_an_outcome",
            "a_tick_has_only_one_outcome",
            "every_probe_has_an_outcome",
            "a_probe_has_only_one_outcome",
            "every_exit_has_an_outcome",
            "an_exit_has_only_one_outcome",
            "every_confirmation_has_an_outcome",
        ),
    ),
    Requirement(
        "code-is-the-spec",
        "The shipped code takes the steps that the specification allows, and no other.",
        ("scheduler.conformance", "autoscale.equals_the_specification", "worker.conformance"),
    ),
)

NOT_CLAIMED = (
    "That the specification says what you want: read it. Each claim stands below as it stands in the source.",
    "Anything of larger instances where the code is explored, or of histories that were not drawn where it is tested: "
    "the scheduler and the controller are not proved as code, they are held to a proved specification.",
    "That a job of a middle level is never refused: only newcomers above the lowest level are protected, and only "
    "while one of the lowest runs.",
    "That whoever runs the jobs has emptied a slot before the next job starts there, that a process told dead is dead, "
    "that memory of the GPU is free when its owner is gone: these are owed, and named as assumptions.",
    "Anything of the network beyond what a probe can see of it, of clocks that run backwards, or of a disk.",
    "That the tools of the trusted base are right.",
    "Speed: this report has no measurement of it.",
)
"""Beside what spec/README.md says is not claimed."""
