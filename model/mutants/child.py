"""One process for one mutant: the code is changed, then every engine that reads it is asked."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

from model.engines.watch import raised_by_the_code


@dataclass(frozen=True)
class Task:
    """A mutant: a planted bug by its name, or the module `impl.<module>` with another source. `target` says which
    engines are asked, and `engines` their names."""

    name: str
    target: str
    engines: tuple[str, ...]
    module: str = ""
    path: str = ""
    source: str = ""


def attempt(task: Task, limit: float, connection: Connection) -> None:
    """Send one outcome an engine, as plain values: name, verdict, killers, seconds, detail."""
    threading.excepthook = lambda _: None  # what fails in a thread is seen by what is missing
    if task.source:
        change(task)
    try:
        from model.engines.engine import ask, engines_of
        from model.planted.catalogue import BUGS, SHIPPED

        engines = engines_of(task.target)
        code = SHIPPED if task.source else BUGS[task.name].code
    except Exception as error:
        if not task.source or not raised_by_the_code(error.__traceback__):
            raise
        for name in task.engines:
            connection.send((name, "killed", ("it_ends_without_error",), 0.0, f"{type(error).__name__}: {error}"))
        return
    for name in task.engines:
        found = ask(engines[name], code, limit)
        connection.send((name, found.verdict.value, found.killers, found.seconds, found.detail))


def change(task: Task) -> None:
    """From now on the module has the other source, for all who import it."""
    for name in [name for name in sys.modules if name.split(".")[0] in ("impl", "model")]:
        if name not in ("model", __name__, "model.engines.watch"):
            del sys.modules[name]
    sys.meta_path.insert(0, Changed(task))


class Changed(MetaPathFinder, SourceLoader):  # type: ignore[misc]  # the standard library calls it so itself
    """Finds one module, with the source that the task gives it."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Its own module alone."""
        return spec_from_loader(fullname, self) if fullname == f"impl.{self.task.module}" else None

    def get_filename(self, _fullname: str) -> str:
        """Where the true source lies."""
        return self.task.path

    def get_data(self, _path: Any) -> bytes:
        """The other source."""
        return self.task.source.encode()
