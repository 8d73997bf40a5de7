"""`python -m impl host`: reads its arguments, joins the pieces of the loop, and returns the exit code."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from queue import SimpleQueue
from time import monotonic

from impl import host_process
from impl.arguments import UsageError, name, number, split
from impl.host import Host, Plan
from impl.host_demand import Demand, Source, from_command, from_file
from impl.host_lock import Held, Lock, Record, default_path
from impl.journal import Journal
from impl.output import OutputError, complain
from impl.recorded import RecordedController
from impl.worker import Controller
from impl.worker_state import Settings

HELD = 75
"""The exit code when another host has the lock: nothing was done, try later (EX_TEMPFAIL of sysexits.h)."""
LONGEST_S = 10**9
"""The longest time that can be given, in seconds."""
TIMES = {"--ttl": 0, "--tick": 1, "--start-budget": 1, "--hang-budget": 0, "--alarm-after": 1, "--grace": 0}
"""The least that can be given, in seconds."""
TEXTS = ("--worker", "--host", "--port", "--model", "--demand-file", "--demand-command", "--lock", "--log")


def run_host(argv: Sequence[str]) -> int:
    """0 after an orderly end, HELD if another host has the lock."""
    words, options = split([word for word in argv if word != "--once"], *TEXTS, *TIMES)
    if words:
        raise UsageError(f"{words[0]!a} is given, expected options alone; quote the command of the worker as one word")
    times = {option: number(option, options[option], TIMES[option], LONGEST_S) for option in TIMES if option in options}
    if "--ttl" not in times:
        raise UsageError("--ttl is not given, expected the seconds after which an idle worker is stopped")
    plan, settings, source = _plan(options, times), _settings(times), _source(options)
    path = _filled(options, "--lock") or default_path(plan.host, plan.port)
    log = _filled(options, "--log")
    host_process.fill_descriptors()
    requests = _requests()
    with ExitStack() as stack:
        try:
            lock = Lock(path)
        except Held as error:
            complain(f"python -m impl host: {error}.\n")
            return HELD
        stack.callback(lock.close)
        known = _controller(settings, lock.found)
        controller: Controller | RecordedController = known
        journal = _journal(log) if log else None
        if journal:
            stack.callback(journal.close)
            controller = RecordedController(known, journal)
        host_process.become_subreaper()
        host = Host(plan, controller, lock, Demand(source), requests, partial(_trouble, journal, log))
        if "--once" in argv:
            host.step()
            host.leave()
        else:
            host.run()
    return 0


def _plan(options: Mapping[str, str], times: Mapping[str, int]) -> Plan:
    command = _command(options, "--worker")
    if command is None:
        raise UsageError("--worker is not given, expected the command that starts the worker, as one word")
    return Plan(
        command,
        name("--host", options.get("--host", "127.0.0.1")),
        number("--port", options.get("--port", "7861"), 1, 65535),
        name("--model", options["--model"]) if "--model" in options else None,
        tick=times.get("--tick", 1),
        grace=times.get("--grace", 10),
        as_json="--json" in options,
    )


def _settings(times: Mapping[str, int]) -> Settings:
    known = {field.name for field in fields(Settings)}
    given = {option[2:].replace("-", "_"): seconds for option, seconds in times.items()}
    return Settings(**{each: seconds for each, seconds in given.items() if each in known})


def _source(options: Mapping[str, str]) -> Source:
    path, command = _filled(options, "--demand-file"), _command(options, "--demand-command")
    if (path is None) == (command is None):
        raise UsageError("expected --demand-file or --demand-command, and not both")
    return partial(from_command, command) if command else partial(from_file, path or "")


def _command(options: Mapping[str, str], option: str) -> list[str] | None:
    """The words of a command, as a shell would split it; no shell runs it."""
    text = _filled(options, option)
    if text is None:
        return None
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"{option} is {text!a}, expected a command: {error}") from error
    if not words:
        raise UsageError(f"{option} is {text!a}, expected a command")
    return words


def _filled(options: Mapping[str, str], option: str) -> str | None:
    if options.get(option) == "":
        raise UsageError(f"{option} is empty, expected something")
    return options.get(option)


def _controller(settings: Settings, found: Record | None) -> Controller:
    """One that goes on, adopts or begins, as the lock file tells."""
    now = int(monotonic())
    if found is None:
        return Controller(settings, now)
    if found.snapshot is not None:
        return Controller.restore(replace(found.snapshot, settings=settings))
    living = found.worker is not None and bool(host_process.members(found.worker))
    return Controller.adopt(settings, now, found.generation, living=living, stopping=found.stop_began is not None)


def _journal(path: str) -> Journal:
    try:
        return Journal(path)
    except OSError as error:
        raise OutputError(f"cannot open the log {path!a}: {error.strerror}; choose another") from error
    except ValueError as error:
        raise UsageError(f"--log is no journal: {error}") from error


def _trouble(journal: Journal | None, path: str | None) -> str | None:
    """Why the log is not kept now."""
    if journal is None or journal.trouble is None:
        return None
    return f"the log {path!a} does not take what is written: {journal.trouble.strerror}; make room; the loop goes on"


def _requests() -> SimpleQueue[object]:
    """What gets an item when this process is asked to end, by a signal that is not ignored."""
    requests: SimpleQueue[object] = SimpleQueue()
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, lambda *which: requests.put(which))
    return requests
