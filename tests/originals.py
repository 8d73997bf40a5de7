"""What is wrong with the originals: each fault with the shortest trace to it, and the claim that the trace breaks. The
tests have an engine find each by itself, and hold spec/README.md to this list."""

from __future__ import annotations

from typing import NamedTuple


class Finding(NamedTuple):
    """A fault, how an engine came to it, and what it breaks."""

    fault: str
    trace: str
    claim: str
    engine: str


def row(test: str, name: str, finding: Finding) -> str:
    """The line of spec/README.md. `test` is the file in which a test has the engine find it."""
    fault, trace, claim, engine = finding
    return f"| {fault} | `{trace}` | {claim} | `{test}::test_{engine}_finds[{name}]` |"


A, B, C = (f'admit("{name}", priority=1, work=1)' for name in "ABC")
CHAT_B, CHAT_C = (f'admit("{name}", priority=10, work=1)' for name in "BC")
VANISHES, NO_STEP = "`no_live_job_vanishes`", "`conformance`"

SCHEDULER = {
    "victim": Finding(
        "a full queue drops the preempted job (nx_sched_qos.nx:90)", f"{A}; {B}; {CHAT_C}", VANISHES, "explore"
    ),
    "arrival": Finding(
        "a full queue drops the arrival and reports it queued (nx_sched_qos.nx:93)",
        f"{A}; {B}; {C}",
        NO_STEP,
        "explore",
    ),
    "slot": Finding(
        "a completion ends whatever sits in the slot (nx_sched_qos.nx:100)",
        f'{A}; {B}; complete("B", run=-1)',
        VANISHES,
        "explore",
    ),
    "stranger": Finding(
        "and be it told of a job that never came (nx_sched_qos.nx:100)", f'{A}; complete("B")', VANISHES, "fuzz"
    ),
    "late": Finding(
        "a late completion of a preempted run ends the job that preempted it (nx_sched_qos.nx:100)",
        f'{A}; {CHAT_B}; complete("A")',
        VANISHES,
        "search",
    ),
    "twice": Finding(
        "a completion that comes twice ends the next job too (nx_sched_qos.nx:100)",
        f'{A}; {B}; complete("A"); complete("A")',
        VANISHES,
        "search",
    ),
    "free": Finding(
        "a completion of a free slot is answered as an end (nx_sched_qos.nx:101)",
        'complete("A")',
        "`a_job_that_leaves_is_live_no_more`",
        "search",
    ),
    "name": Finding(
        "completing by name, as its own test does, a late report ends the present run (nx_sched_qos.nx:154)",
        f'{A}; complete("A", run=-1)',
        NO_STEP,
        "explore",
    ),
    "outside": Finding(
        "completing by name what does not run writes before the arrays, at slot -1 (nx_sched_qos.nx:100)",
        'complete("A")',
        NO_STEP,
        "search",
    ),
    "again": Finding(
        "a live request is admitted a second time (nx_sched_qos.nx:81)",
        f"{A}; {A}",
        "`every_live_job_has_exactly_one_place`",
        "explore",
    ),
    "victim -1": Finding(
        "a preempted request of id -1 is reported as none (nx_sched_qos.nx:89)",
        "admit(-1, priority=1, work=1); admit(0, priority=2, work=1)",
        NO_STEP,
        "search",
    ),
    "heir -1": Finding(
        "an heir of id -1 is reported as none (nx_sched_qos.nx:114)",
        "admit(0, priority=1, work=1); admit(-1, priority=1, work=1); complete(0)",
        NO_STEP,
        "search",
    ),
    "work": Finding(
        "work below 1 is admitted (nx_sched_qos.nx:81)", "admit(0, priority=1, work=0)", "`every_job_has_work`", "fuzz"
    ),
    "cancel": Finding("no cancel", 'cancel("A")', NO_STEP, "explore"),
    "progress": Finding(
        "no progress: nothing lowers the work that a preempted job is said to keep (nx_sched_qos.nx:5)",
        f'{A}; progress("A", steps=0)',
        NO_STEP,
        "explore",
    ),
    "restart": Finding("no restart", "restart()", NO_STEP, "explore"),
}

PART, NO_MISTAKE, IS_2XX = "`savings_lie_between_0_and_1000`", "a mistake is no action", "warm means 2xx"
NEVER_TWO = "`never_spawn_while_warm`"

AUTOSCALE = {
    "count": Finding(
        "a demand of 2 is none, so a busy worker is reaped (nx_mesh_autoscale.nx:61)",
        "am_decide(1, 2, 0, 0) = REAP",
        "`never_reap_with_demand`",
        "proof",
    ),
    "cold count": Finding(
        "a demand of 2 is none, so a cold worker is not started (nx_mesh_autoscale.nx:61)",
        "am_decide(0, 2, 0, 0) = HOLD",
        "`spawn_at_once_when_cold_and_wanted`",
        "proof",
    ),
    "negative": Finding(
        "negative warm time saves more than all (nx_mesh_autoscale.nx:76)",
        "am_savings_permil(-1, 1) = 2000",
        PART,
        "proof",
    ),
    "overflow": Finding(
        "the product overflows, if i64 wraps around (nx_mesh_autoscale.nx:78)",
        "am_savings_permil(0, 9223372036854776) = -999",
        PART,
        "search",
    ),
    "bare": Finding(
        "a bare call runs the gate: green reads as HOLD (nx_mesh_autoscale.nx:223)", "exit 0 HOLD", NO_MISTAKE, "call"
    ),
    "red": Finding(
        "a bare call runs the gate: red reads as SPAWN (nx_mesh_autoscale.nx:179)",
        "am_decide(0, 1, 0, 60) = HOLD: exit 1 SPAWN",
        NO_MISTAKE,
        "gate",
    ),
    "usage": Finding(
        "a usage error exits with 2, which is SERVE (nx_mesh_autoscale.nx:194)",
        "decide: exit 2 SERVE",
        NO_MISTAKE,
        "call",
    ),
    "sign": Finding("-5 is read as 5 (nx_mesh_autoscale.nx:49)", "decide 1 0 -5 5: exit 3 REAP", NO_MISTAKE, "call"),
    "letter": Finding(
        "a letter is read as 0 (nx_mesh_autoscale.nx:49)", "decide 1 0 0 A: exit 3 REAP", NO_MISTAKE, "call"
    ),
    "wrap": Finding(
        "2**63 is read as -2**63, if i64 wraps around (nx_mesh_autoscale.nx:49)",
        "decide 1 0 0 9223372036854775808: exit 3 REAP",
        NO_MISTAKE,
        "call",
    ),
    "demand": Finding(
        "a demand of 2 is taken as an argument, and then as none (nx_mesh_autoscale.nx:196)",
        "decide 1 2 0 0: exit 3 REAP",
        NO_MISTAKE,
        "call",
    ),
    "warmth": Finding(
        "a warmth of 2 is never reaped (nx_mesh_autoscale.nx:195)", "decide 2 0 0 0: exit 0 HOLD", NO_MISTAKE, "call"
    ),
    "surplus": Finding(
        "further arguments are ignored (nx_mesh_autoscale.nx:194)",
        "decide 0 0 0 0 0: exit 0 HOLD",
        NO_MISTAKE,
        "call",
    ),
    "octets": Finding(
        "one to three octets are ignored: another host is asked (nx_mesh_autoscale.nx:214)",
        "tick 0 0 0 0: asks 192.168.8.193, exit 3 REAP",
        NO_MISTAKE,
        "call",
    ),
    "octet": Finding(
        "an octet beyond 255 is taken (nx_mesh_autoscale.nx:214)",
        "tick 0 0 0 0 0 0 256: asks 0.0.0.256, exit 3 REAP",
        NO_MISTAKE,
        "call",
    ),
    "anywhere": Finding(
        '"200" anywhere in the first line is success (nx_mesh_autoscale.nx:87)', "HTTP/1.0 100 200", IS_2XX, "line"
    ),
    "other 2xx": Finding(
        "2xx but 200 is missed, 204 among it (nx_mesh_autoscale.nx:87)", "HTTP/1.0 201", IS_2XX, "line"
    ),
    "one read": Finding(
        "what the first read does not bring is missed (nx_mesh_autoscale.nx:124)",
        "HTTP/1.1 2, later 00 OK: SPAWN",
        NEVER_TWO,
        "probe",
    ),
    "silence": Finding(
        "a worker too busy to answer is cold (nx_mesh_autoscale.nx:122)", "silence: SPAWN", NEVER_TWO, "probe"
    ),
    "reset": Finding("a reset is cold (nx_mesh_autoscale.nx:126)", "reset: SPAWN", NEVER_TWO, "probe"),
    "503": Finding(
        "any other status is cold (nx_mesh_autoscale.nx:127)", "HTTP/1.1 503 Busy: SPAWN", NEVER_TWO, "probe"
    ),
    "backlog": Finding(
        "a full backlog is cold (nx_mesh_autoscale.nx:109)", "no connection within 1 s: SPAWN", NEVER_TWO, "probe"
    ),
    "green": Finding(
        "`decision_table_green` is T1 alone (nx_mesh_autoscale.nx:170)",
        "am_decide(1, 1, 0, 60) = HOLD: decision_table_green 1",
        "the table says what the gate saw",
        "gate",
    ),
}
