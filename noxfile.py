"""Every command of the project: `nox -l` lists them. A session makes its own environment from `constraints.txt`."""

from __future__ import annotations

import nox

nox.needs_version = ">=2025.5.1"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.reuse_existing_virtualenvs = True

PYPROJECT = nox.project.load_toml("pyproject.toml")


COVERING = [
    *(f"tests/test_{name}.py" for name in ("autoscale", "command", "core", "golden", "host", "journal", "logic")),
    *(f"tests/test_{name}.py" for name in ("host_command", "probe", "specification", "specified")),
    *(f"tests/test_worker{name}.py" for name in ("", "_spec")),
    *(f"tests/test_scheduler{name}.py" for name in ("", "_checks", "_events", "_instants", "_snapshot")),
    "tests/test_host_survives.py::test_a_demand_file_with_rubbish_is_no_demand_and_no_lack_of_it",
    # Solvers are slow when traced, and where no file may grow, the measuring cannot write its own.
    "--deselect=tests/test_worker_spec.py::test_the_obligation_that_should_notice_does",
    "--deselect=tests/test_worker_spec.py::test_no_solver_proves_it",
    "--deselect=tests/test_command.py::test_a_full_disk_leaves_the_old_table",
]
"""The tests of impl/ and spec/ that suffice to run every line and branch of the two."""


def install(session: nox.Session, *groups: str) -> None:
    """Install dependency groups of pyproject.toml, in the versions of constraints.txt."""
    wanted = [each for group in groups for each in nox.project.dependency_groups(PYPROJECT, group)]
    session.install("-q", "-c", "constraints.txt", *wanted)


def engine(session: nox.Session, command: str) -> None:
    """Run one engine, with the arguments after --."""
    install(session, "suite")
    session.run("python", "-m", "model", command, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style and layout."""
    install(session, "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Static types, strict."""
    install(session, "types")
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """All tests; arguments after -- go to pytest."""
    install(session, "tests")
    session.run("python", "-m", "pytest", "-n", "3", *session.posargs)


@nox.session
def gates(session: nox.Session) -> None:
    """The self-tests of the two originals, on the shipped code. Needs nothing but Python."""
    session.run("python", "-m", "impl", "gate", *session.posargs)


@nox.session
def prove(session: nox.Session) -> None:
    """Every proof, by both solvers; arguments after -- go to `python -m model prove`."""
    engine(session, "prove")


@nox.session
def table(session: nox.Session) -> None:
    """The decision table of the shipped policies, or of a policy file, and what is proved of them."""
    engine(session, "table")


@nox.session
def diff(session: nox.Session) -> None:
    """What a policy does otherwise than another; arguments after -- go to `python -m model diff`."""
    engine(session, "diff")


@nox.session
def explore(session: nox.Session) -> None:
    """Every history of the shipped scheduler on a finite instance; arguments go to `python -m model explore`."""
    engine(session, "explore")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Random histories of the shipped scheduler; arguments after -- go to `python -m model fuzz`."""
    engine(session, "fuzz")


@nox.session
def simulate(session: nox.Session) -> None:
    """The bundled arrivals through the shipped code; arguments after -- go to `python -m model simulate`."""
    engine(session, "simulate")


@nox.session
def mutants(session: nox.Session) -> None:
    """Bugs on purpose, planted by name and systematic, and who catches them; arguments go to `model mutants`."""
    install(session, "mutants")
    session.run("python", "-m", "model", "mutants", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Every line and branch of impl/ and spec/ is run by their tests, in child processes too, or this fails."""
    install(session, "coverage")
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", "-q", "-n", "2", "--hypothesis-profile=ci", *COVERING)
    session.run("coverage", "combine", "-q")
    session.run("coverage", "report", *session.posargs)


@nox.session
def verify(session: nox.Session) -> None:
    """The main job: gates, proofs, every small history and many random ones, scenarios, planted bugs, simulation, and
    the report. Its steps stand in model/steps.py."""
    install(session, "tests")
    session.run("python", "-m", "model", "verify", *session.posargs)


@nox.session
def report(session: nox.Session) -> None:
    """What holds, how strongly and what shows it, as one page; arguments after -- go to `python -m model report`."""
    engine(session, "report")


@nox.session
def check(session: nox.Session) -> None:
    """Hold a journal or another system's log to the specification; arguments go to `python -m model check`."""
    engine(session, "check")


@nox.session
def bench(session: nox.Session) -> None:
    """What it costs, beside what else one could use; arguments after -- go to `python -m bench`."""
    install(session, "bench")
    session.run("python", "-m", "bench", *session.posargs)


@nox.session
def soak(session: nox.Session) -> None:
    """The loop on real processes, under kills, freezes and bursts; arguments go to `python -m model soak`."""
    engine(session, "soak")
