"""The worker of the soak, but it does not remember what had ended, and every request is done once more."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from model.soak import worker as soak_worker


class Doubling(soak_worker.Worker):
    """A request that had ended is begun anew when it is handed again, or when any other is."""

    def hand(self, runs: list[tuple[str, int, int]]) -> list[str]:
        """Do these runs, whatever was before."""
        self.ended = set()
        return super().hand(runs)

    def step(self) -> None:
        """Whatever ends by this step, ends twice."""
        again: dict[str, Any] = {request: run for request, run in self.runs.items() if run[1] <= 1}
        super().step()
        for request, (run, _) in again.items():
            self.runs[request] = run, 0
        super().step()


if __name__ == "__main__":
    soak_worker.Worker = Doubling  # type: ignore[misc]
    soak_worker.main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
