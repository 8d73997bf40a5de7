"""How random the tests are: a fresh seed each time, which is printed (`dev`), or always the same examples (`ci`)."""

from __future__ import annotations

from random import SystemRandom

import pytest
from hypothesis import settings

settings.register_profile("dev", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("dev")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed before the plugin of Hypothesis reads it; the processes of a parallel run are given the same."""
    if config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(SystemRandom().getrandbits(32))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how to see the same examples again."""
    if not settings().derandomize:
        terminalreporter.write_line(f"random examples: again by --hypothesis-seed={config.option.hypothesis_seed}")
