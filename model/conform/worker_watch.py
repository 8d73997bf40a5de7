"""The shipped controller under observation: whatever it does is held to the specification at once."""

from __future__ import annotations

from collections import Counter

from impl.worker import Controller
from impl.worker_state import Command, Settings
from model.conform.worker_events import Adopted, Event, apply
from model.conform.worker_monitor import Monitor
from spec.worker_state import State


class Watch:
    """A controller under observation: whatever it does is judged at once, and Violation ends the run.

    `history` holds every event so far, the one that was wrong last; `actions` counts what the specification calls them.
    """

    def __init__(self, settings: Settings, now: int = 0, make: type[Controller] = Controller) -> None:
        self.history: list[Event] = []
        self.controller = make(settings, now)
        self._make = make
        self._monitor = Monitor(self.controller.snapshot())

    @property
    def actions(self) -> Counter[str]:
        """What the specification calls the steps so far, and how often each was taken."""
        return self._monitor.taken

    @property
    def state(self) -> State:
        """The present state, as the specification has it."""
        return self._monitor.state

    def meet(self, event: Event) -> Command | None:
        """Let the controller meet the event. Raises Violation."""
        self.history.append(event)
        if isinstance(event, Adopted):
            before = self.controller.snapshot()
            self.controller = self._make.adopt(
                before.settings, before.now, event.generation, living=event.living, stopping=event.stopping
            )
        command = apply(self.controller, event)
        self._monitor.judge(event, command, self.controller.snapshot())
        return command
