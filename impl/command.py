"""The commands: each reads its arguments, says its answer and returns its exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from impl.arguments import I64_MAX, UsageError, choice, exit_base, name, number, numbers, split
from impl.autoscale import Action, decide, savings_permil
from impl.output import OutputError, complain, replace, say

HELP = """\
usage: python -m impl gate [scheduler|autoscale] [--status FILE] [--json]
       python -m impl decide WARM DEMAND IDLE_SEC TTL_SEC [--exit-base N] [--json]
       python -m impl tick DEMAND IDLE_SEC TTL_SEC [A B C D] [--host H] [--port P]
                           [--model ID] [--timeout-means cold|unknown]
                           [--exit-base N] [--json]
       python -m impl savings WARM_SEC WINDOW_SEC [--json]
       python -m impl host --worker CMD --ttl SEC (--demand-file FILE | --demand-command CMD)
                           [--host H] [--port P] [--model ID] [--tick SEC] [--grace SEC]
                           [--start-budget SEC] [--hang-budget SEC] [--alarm-after SEC]
                           [--lock FILE] [--log FILE] [--once] [--json]

gate     the self-tests of the scheduler and of the scale-to-zero policy
decide   the action for a worker: WARM is 1 when the model is in VRAM, DEMAND is 1
         when anything is queued or in flight (else both are 0), IDLE_SEC counts from
         the last demand, and a warm worker that idles for TTL_SEC is stopped
tick     the same, but the worker is asked whether it is warm; while that is unknown
         the action is HOLD
savings  VRAM seconds saved against a worker that is always up, in permil
host     the loop on real processes: at each tick the demand is read, the worker probed,
         and done what is decided. SIGTERM, SIGINT and SIGHUP stop the worker, then the
         host; after a kill -9 of the host the next one goes on with the living worker

--status FILE    the status table (default: knowledge/status/mesh_autoscale.tsv,
                 where that folder exists)
A B C D          the worker's IPv4 address, as four numbers instead of --host
--host H         the worker's name or address (default: 127.0.0.1)
--port P         the worker's port (default: 7861)
--model ID       warm means that the worker lists this model
--timeout-means  what a connection that times out says (default: unknown on
                 loopback, else cold)
--exit-base N    added to the action to give the exit code: 0, or 71 to 120
--json           print one JSON object instead, host one a line

--worker CMD       starts the worker, and is the worker: it stays in the foreground. It
                   is split into words as by a shell, but no shell runs it
--ttl SEC          a worker that nobody wants for so long is stopped
--demand-file FILE, --demand-command CMD
                   says how much is queued and in flight: one number from 0. Anything
                   else, or nothing within 3 s, is unknown: HOLD
--tick SEC         time between two ticks (default: 1); 0.25 s while it starts or stops
--grace SEC        time between SIGTERM and SIGKILL (default: 10)
--start-budget SEC a worker that is not ready by then is stopped (default: 300)
--hang-budget SEC  a worker is replaced when there was demand for so long that never fell,
                   which alone tells that jobs end (default: 0, never)
--alarm-after SEC  the same, and a stop that takes so long, is said (default: 30)
--lock FILE        keeps a second host away, and says what is to be adopted (default:
                   named by host and port, in XDG_RUNTIME_DIR or the temporary folder:
                   name one where that differs, as between a terminal and cron)
--log FILE         a journal of all that was told and decided: impl/journal.py
--once             a single tick, for a timer such as cron; the worker stays as it is,
                   and the next host goes on with all that is known

Exit codes: decide and tick exit with the action, HOLD 0, SPAWN 1, SERVE 2, REAP 3,
which counts only together with the printed action; gate with 0 when all tests hold,
else 1; savings with 0; host with 0 after an orderly end or a single tick, with 75 when
another host has the lock file. Everywhere 64 is help or a usage error; 70 an internal
error, a standard output that is closed or full, or a file that cannot be used or
written; 130 an interruption. A running host says on standard error what needs a look,
such as a log or a standard output that is full, and goes on.
"""

DEFAULT_STATUS = "knowledge/status/mesh_autoscale.tsv"
MOMENT = {"DEMAND": 1, "IDLE_SEC": I64_MAX, "TTL_SEC": I64_MAX}


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code: its own, 64 for help or a usage error, 70 when the output fails."""
    options = argv[: argv.index("--")] if "--" in argv else argv
    try:
        if "-h" in options or "--help" in options:
            say(HELP)
            return 64
        if not argv:
            raise UsageError(f"no command is given, expected {' or '.join(COMMANDS)}")
        return COMMANDS[choice("the command", argv[0], *COMMANDS)](argv[1:])
    except UsageError as error:
        complain(f"python -m impl: {error}.\nNothing was done; python -m impl --help says more.\n")
        return 64
    except OutputError as error:
        complain(f"python -m impl: {error}.\n")
        return 70


def run_decide(argv: Sequence[str]) -> int:
    """The policy alone, nothing probed (nx_mesh_autoscale.nx:192)."""
    words, options = split(argv, "--exit-base")
    base = exit_base(options.get("--exit-base", "0"))
    warm, *moment = numbers(words, {"WARM": 1, **MOMENT})
    action = decide(warm, *moment)
    return _answer("decide", warm, moment, action, base, json="--json" in options)


def run_tick(argv: Sequence[str]) -> int:
    """Probe the worker, then decide (nx_mesh_autoscale.nx:208). A worker of unknown warmth is left alone: HOLD."""
    words, options = split(argv, "--exit-base", "--host", "--port", "--model", "--timeout-means")
    base = exit_base(options.get("--exit-base", "0"))
    moment = tuple(numbers(words[:3], MOMENT))
    host = name("--host", options.get("--host", "127.0.0.1"))
    if words[3:]:
        if "--host" in options:
            raise UsageError("both --host and an address of numbers are given, expected one of them")
        host = ".".join(map(str, numbers(words[3:], {"A": 255, "B": 255, "C": 255, "D": 255})))
    port = number("--port", options.get("--port", "7861"), 1, 65535)
    model = name("--model", options["--model"]) if "--model" in options else None
    meaning = choice("--timeout-means", options.get("--timeout-means", "cold"), "cold", "unknown")

    from impl.probe import Verdict, probe

    answer = probe(host, port, model=model, timeout_means=Verdict(meaning) if "--timeout-means" in options else None)
    warm = {Verdict.WARM: 1, Verdict.COLD: 0}.get(answer.verdict)
    action = Action.HOLD if warm is None else decide(warm, *moment)
    return _answer(
        "tick", warm, moment, action, base, json="--json" in options, host=host, port=port, reason=answer.reason
    )


def run_savings(argv: Sequence[str]) -> int:
    """VRAM seconds saved against a worker that is always up."""
    words, options = split(argv)
    warm, window = numbers(words, {"WARM_SEC": I64_MAX, "WINDOW_SEC": I64_MAX})
    permil = savings_permil(warm, window)
    if "--json" in options:
        _say_json({"warm_sec": warm, "window_sec": window, "permil": permil})
    else:
        say(f"savings warm={warm}s window={window}s -> PERMIL={permil}\n")
    return 0


def run_gate(argv: Sequence[str]) -> int:
    """The self-tests of the originals on the shipped code: 0 when every row holds, else 1.

    The default status table belongs to the autoscale gate, as in the original (nx_mesh_autoscale.nx:167). A table that
    cannot be written is exit code 70, green or red: an old table beside a new verdict would mislead.
    """
    words, options = split(argv, "--status")
    if len(words) > 1:
        raise UsageError(f"{len(words)} gates are named, expected at most one")
    gate = choice("the gate", words[0], "scheduler", "autoscale") if words else None
    status = options.get("--status")
    if status == "":
        raise UsageError("--status is empty, expected the path of a file")

    from impl.gate import autoscale_report, scheduler_report
    from impl.scheduler import Scheduler

    gates = {
        "autoscale": lambda: autoscale_report(decide, savings_permil),
        "scheduler": lambda: scheduler_report(Scheduler),
    }
    reports = [gates[each]() for each in ([gate] if gate else gates)]
    if status is None and gate != "scheduler" and os.path.isdir(os.path.dirname(DEFAULT_STATUS)):
        status = DEFAULT_STATUS
    code = 0 if all(report.green for report in reports) else 1
    if "--json" in options:
        found = {
            report.name: {"green": report.green, "rows": [row._asdict() for row in report.rows]} for report in reports
        }
        _say_json({"gates": found, "green": code == 0, "exit": code, "status": status})
    else:
        say("".join(f"{line}\n" for report in reports for line in report.lines))
    if status is not None:
        replace(status, "".join(report.table for report in reports))
    return code


def _answer(
    command: str,
    warm: int | None,
    moment: Sequence[int],
    action: Action,
    base: int,
    *,
    json: bool,
    **more: object,
) -> int:
    demand, idle, ttl = moment
    code = base + action
    if json:
        state = {"warm": warm, "demand": demand, "idle_sec": idle, "ttl_sec": ttl}
        _say_json({**state, "action": action.name, "exit": code, **more})
    else:
        warmth = "unknown" if warm is None else warm
        say(f"{command} warm={warmth} demand={demand} idle={idle}s ttl={ttl}s -> ACTION={action.name}\n")
    return code


def _say_json(answer: Mapping[str, object]) -> None:
    import json

    say(f"{json.dumps(answer)}\n")


def run_host(argv: Sequence[str]) -> int:
    """The loop on real processes (nx_mesh_autoscale.nx:6)."""
    from impl.host_command import run_host as run

    return run(argv)


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "gate": run_gate,
    "decide": run_decide,
    "tick": run_tick,
    "savings": run_savings,
    "host": run_host,
}
