"""The processes of a worker: started as a session of their own, found again wherever they went, and signalled.

Whatever has a process of the worker as its parent, or is in a session with one, is the worker's too, from its roots on
(`impl.host_system`). So a descendant that left the group is found, by a new host too, unless all of this holds: it left
every session, lost every parent, wiped the mark from its environment, and the host that started it has ended. What
is in the session of this host is never taken for the worker's, for no process can enter another session.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from impl.host_system import MARK, Linux, Posix, Process, System, Worker

SYSTEM: System = Linux() if os.path.exists("/proc/self/stat") else Posix()
PR_SET_CHILD_SUBREAPER = 36
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def become_subreaper() -> None:
    """Have descendants that lose their parent become children of this process, where the system can (Linux), and the
    exits of children told, though whoever started this process may have ignored them."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def fill_descriptors() -> None:
    """Where standard input, output or error is closed, open the null device there: else the next file to be opened,
    such as the lock file, would take the number, and the worker would write into it."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def start(words: Sequence[str], mark: str) -> Worker:
    """Start the command in a session of its own, its output on standard error; OSError if that cannot be."""
    pid = os.posix_spawnp(
        words[0],
        list(words),
        {**os.environ, MARK: mark},
        file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, 2, 1)],
        setsid=True,
        setsigdef=IGNORED_BY_PYTHON,
    )
    process = SYSTEM.find(pid)
    return Worker(mark, pid, process.started if process else "")


def recover(worker: Worker) -> Worker:
    """The worker with the process that was started, by its mark, if its host was killed before it could say which."""
    if worker.pid:
        return worker
    leaders = [process for process in members(worker) if process.pid == process.session]
    first = min(leaders, key=lambda process: (len(process.started), process.started), default=None)
    return worker._replace(pid=first.pid, started=first.started) if first else worker


def runs(worker: Worker) -> bool:
    """Whether the process that was started still runs."""
    process = SYSTEM.find(worker.pid)
    return process is not None and process.lives and process.started == worker.started


def members(worker: Worker) -> list[Process]:
    """Every living process of the worker, wherever it went."""
    everybody = SYSTEM.processes()
    own = {process.session for process in everybody if process.pid == os.getpid()}
    rest = [process for process in everybody if process.lives and process.session not in own]
    found: list[Process] = []
    more = [process for process in rest if SYSTEM.is_root(process, worker)]
    while more:
        found += more
        rest = [process for process in rest if process not in more]
        pids, sessions = {each.pid for each in more}, {each.session for each in more}
        more = [each for each in rest if each.parent in pids or each.session in sessions]
    return found


def send(number: signal.Signals, processes: Sequence[Process]) -> None:
    """Signal each. What has ended meanwhile, or may not be signalled, is left to the next look."""
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, number)


def reap() -> dict[int, int]:
    """Each child that had ended, with its exit code, negative if by a signal. None is a zombie any more."""
    codes: dict[int, int] = {}
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            codes[ended[0]] = os.waitstatus_to_exitcode(ended[1])
    return codes
