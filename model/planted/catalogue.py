"""Everything that is wrong on purpose."""

from __future__ import annotations

from model.planted import autoscale, command, passes, probe, worker, worker_events
from model.planted.bugs import BUGS, SHIPPED, Bug, Code

__all__ = ["BUGS", "SHIPPED", "Bug", "Code", "autoscale", "command", "passes", "probe", "worker", "worker_events"]
