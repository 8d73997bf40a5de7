"""The installed command: what the wheel holds, and how `slotproof` behaves in an environment that has nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from multiprocessing import get_all_start_methods
from pathlib import Path
from zipfile import ZipFile

import pytest

from model.__main__ import COMMANDS
from model.launcher import VERIFY

ROOT = Path(__file__).resolve().parent.parent
NAME = "slotproof"
ROOMS = ("spec", "impl", "model")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SUITE = os.pathsep.join({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
"""Where this interpreter has what the extra `verify` would install."""
SPAWN = b"decide warm=0 demand=1 idle=0s ttl=60s -> ACTION=SPAWN\n"
FULL = Path("/dev/full")
DECIDE = ("impl", "decide", "0", "1", "0", "60")
PROVE = ("prove", "--property", "rest_at_zero", "--seeds", "1")

Ended = subprocess.CompletedProcess[bytes]


@dataclass(frozen=True)
class Installed:
    """An environment that holds the wheel and nothing else, and the two ways to start the command there."""

    folder: Path

    @property
    def scripts(self) -> Path:
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    @property
    def packages(self) -> Path:
        return Path(sysconfig.get_path("purelib", "venv", {"base": str(self.folder)}))

    @property
    def script(self) -> list[str]:
        return [str(self.scripts / "slotproof")]

    def python(self, *words: str) -> list[str]:
        return [str(self.scripts / "python"), *words]


def start(line: list[str], cwd: Path, path: str = "", stdout: int = subprocess.PIPE) -> Ended:
    """Run the line to its end in the folder, with `path` as the only word that Python takes from the environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONPATH": path} if path else {}
    nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
    return subprocess.run(
        line, cwd=cwd, env=environment, stdin=nothing, stdout=stdout, stderr=pipe, timeout=120, check=False
    )


def build(project: Path, folder: Path, *targets: str) -> None:
    """Build with hatchling, as pip and uv do, but in the running environment: nothing is fetched."""
    options = [word for target in targets for word in ("-t", target)]
    ended = start([sys.executable, "-m", "hatchling", "build", *options, "-d", str(folder)], project)
    assert ended.returncode == 0, ended.stderr.decode()


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("built")
    build(ROOT, folder, "wheel", "sdist")
    return folder


@pytest.fixture(scope="session")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    place = Installed(tmp_path_factory.mktemp("installed"))
    venv.create(place.folder)
    pip = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "--python", *place.python()]
    ended = start([*pip, "install", "-q", "--no-index", "--no-deps", str(wheel)], place.folder)
    assert ended.returncode == 0, ended.stderr.decode()
    return place


@pytest.fixture(params=["console script", "python -m", "python -P -m", "python -I -m"])
def command(request: pytest.FixtureRequest, installed: Installed) -> list[str]:
    """Each way to start the command."""
    return installed.script if request.param == "console script" else installed.python(*request.param.split()[1:], NAME)


# What the distributions hold.


def contents(wheel: Path) -> list[str]:
    with ZipFile(wheel) as archive:
        return sorted(archive.namelist())


def test_the_wheel_holds_all_of_the_rooms_and_no_test(wheel: Path) -> None:
    names = contents(wheel)
    expected = {path.relative_to(ROOT).as_posix() for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    assert {"spec/__init__.py", "impl/__init__.py", "model/__init__.py"} <= expected
    rooms = {name.removeprefix("slotproof/rooms/") for name in names if name.startswith("slotproof/rooms/")}
    assert {name for name in rooms if name.endswith(".py") and not name.startswith("examples/")} == expected
    assert {name.partition("/")[0] for name in rooms} == {*ROOMS, "examples"}
    assert {"examples/sample.csv", "spec/README.md"} <= rooms
    assert {name.partition("/")[0] for name in names} == {
        "slotproof",
        f"slotproof-{PROJECT['project']['version']}.dist-info",
    }
    assert not [name for name in names if name.endswith(".pyc")]


def test_the_wheel_is_the_same_when_built_from_the_source_distribution(
    built: Path, wheel: Path, tmp_path: Path
) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(tmp_path, filter="data")
    (project,) = tmp_path.iterdir()
    build(project, tmp_path / "again", "wheel")
    (again,) = (tmp_path / "again").iterdir()
    assert again.name == wheel.name
    assert contents(again) == contents(wheel)
    assert (project / "tests" / "test_install.py").exists()


def test_the_wheel_describes_itself_and_asks_for_nothing_without_the_extra(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        header, _, readme = archive.read(name).decode().partition("\n\n")
    assert readme == (ROOT / "README.md").read_text()
    fields = [line.split(": ", 1) for line in header.splitlines()]
    assert ["License-Expression", "MIT"] in fields
    wanted = [value for field, value in fields if field == "Requires-Dist"]
    assert len(wanted) == len(VERIFY)
    assert all(value.endswith("; extra == 'verify'") for value in wanted)


def test_the_extra_is_what_the_suite_needs() -> None:
    extra = PROJECT["project"]["optional-dependencies"]["verify"]
    assert extra == PROJECT["dependency-groups"]["suite"]
    providers = packages_distributions()
    assert sorted(providers[name][0].lower() for name in VERIFY) == sorted(each.partition(">=")[0] for each in extra)


# Without the extra.


def test_nothing_but_slotproof_can_be_imported(installed: Installed, tmp_path: Path) -> None:
    version = PROJECT["project"]["version"]
    assert {path.name for path in installed.packages.iterdir()} == {NAME, f"slotproof-{version}.dist-info"}
    for room in (*ROOMS, "examples", "tests"):
        ended = start(installed.python("-c", f"import slotproof.__main__, {room}"), tmp_path)
        assert ended.returncode == 1
        assert f"ModuleNotFoundError: No module named '{room}'" in ended.stderr.decode()


def test_the_shipped_policies_decide(command: list[str], tmp_path: Path) -> None:
    ended = start([*command, *DECIDE], tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, SPAWN, b"")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("decide 1 1 0 60", 2, "decide warm=1 demand=1 idle=0s ttl=60s -> ACTION=SERVE\n"),
        ("decide 1 0 60 60 --exit-base 71", 74, "decide warm=1 demand=0 idle=60s ttl=60s -> ACTION=REAP\n"),
        ("tick 1 0 60 --port 1", 1, "tick warm=0 demand=1 idle=0s ttl=60s -> ACTION=SPAWN\n"),
        ("savings 30 100", 0, "savings warm=30s window=100s -> PERMIL=700\n"),
        ("decide 2 1 0 60", 64, ""),
        ("prove", 64, ""),
        ("", 64, ""),
    ],
)
def test_impl_has_its_own_exit_codes(words: str, code: int, said: str, installed: Installed, tmp_path: Path) -> None:
    ended = start([*installed.script, "impl", *words.split()], tmp_path)
    assert (ended.returncode, ended.stdout.decode()) == (code, said), ended.stderr.decode()


def test_the_gates_are_green(installed: Installed, tmp_path: Path) -> None:
    ended = start([*installed.script, "impl", "gate"], tmp_path)
    assert ended.returncode == 0
    assert b"MESHAUTOSCALEGATE verdict=GREEN" in ended.stdout
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", ["", "decide 0 1 0 60", "Impl decide 0 1 0 60", "--json", "--help impl", "-h"])
def test_a_mistake_reads_neither_as_an_action_nor_as_a_verdict(
    words: str, installed: Installed, tmp_path: Path
) -> None:
    ended = start([*installed.script, *words.split()], tmp_path)
    usage, other = (ended.stdout, ended.stderr) if words.startswith(("--help", "-h")) else (ended.stderr, ended.stdout)
    assert (ended.returncode, other) == (64, b"")
    assert b"usage: slotproof impl COMMAND" in usage
    assert all(name in usage.decode() for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_model_names_the_extra(name: str, installed: Installed, tmp_path: Path) -> None:
    ended = start([*installed.script, name, "--policy", "my.py"], tmp_path)
    said = f"{', '.join(VERIFY)} not found; install slotproof[verify] instead of slotproof.\n"
    assert (ended.returncode, ended.stdout) == (70, b"")
    assert ended.stderr.decode() == f"slotproof {name} needs the extra `verify`: {said}"


def fake(folder: Path, *names: str) -> str:
    """A path on which modules of these names are found, but fail when they are imported."""
    folder.mkdir()
    for name in names:
        (folder / f"{name}.py").write_text("raise ImportError('broken on purpose')\n")
    return str(folder)


def test_model_names_what_is_missing_and_nothing_else(installed: Installed, tmp_path: Path) -> None:
    ended = start([*installed.script, *PROVE], tmp_path, fake(tmp_path / "fake", *({*VERIFY} - {"cvc5"})))
    assert ended.returncode == 70
    assert b"needs the extra `verify`: cvc5 not found; " in ended.stderr


def test_a_dependency_that_is_broken_is_not_called_missing(installed: Installed, tmp_path: Path) -> None:
    ended = start([*installed.script, *PROVE], tmp_path, fake(tmp_path / "fake", *VERIFY))
    assert (ended.returncode, ended.stdout) == (70, b"")
    assert b"broken on purpose" in ended.stderr
    assert b"verify" not in ended.stderr


def test_a_missing_room_is_no_action(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    shutil.copy(installed.packages / NAME / "__main__.py", tmp_path / NAME)
    ended = start(installed.python(str(tmp_path / NAME / "__main__.py"), *DECIDE), tmp_path)
    assert (ended.returncode, ended.stdout) == (70, b"")
    assert b"this is an internal error; nothing was decided" in ended.stderr


# Modules of the user that have the names of the rooms.


@pytest.fixture
def namesakes(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    fake(folder, *ROOMS)
    return folder


@pytest.mark.parametrize("words", [DECIDE, PROVE], ids=" ".join)
def test_modules_of_the_user_do_not_shadow_the_rooms(
    words: tuple[str, ...], installed: Installed, namesakes: Path
) -> None:
    for line in (installed.script, installed.python("-m", NAME)):
        ended = start([*line, *words], namesakes, os.pathsep.join([str(namesakes), SUITE]))
        assert ended.returncode == (1 if words is DECIDE else 0), ended.stderr.decode()


def test_a_launcher_that_puts_the_rooms_last_would_be_caught(installed: Installed, namesakes: Path) -> None:
    shutil.copytree(installed.packages / NAME, namesakes / NAME)
    launcher = namesakes / NAME / "__main__.py"
    for planted, code in [("sys.path.insert(0, ROOMS)", 1), ("sys.path.append(ROOMS)", 70)]:
        launcher.write_text(launcher.read_text().replace("sys.path.insert(0, ROOMS)", planted))
        assert planted in launcher.read_text()
        assert start(installed.python("-m", NAME, *DECIDE), namesakes).returncode == code


# With the extra.


@pytest.mark.parametrize("method", [each for each in get_all_start_methods() if each != "fork"])
def test_proofs_find_the_rooms_in_processes_that_start_afresh(
    method: str, installed: Installed, tmp_path: Path
) -> None:
    """A forked process has the path of its parent; macOS, Windows and Python 3.14 start others."""
    hooks, started = tmp_path / "hooks", tmp_path / "started"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(
        f"import multiprocessing, sys\nmultiprocessing.set_start_method({method!r})\n"
        f"with open({str(started)!r}, 'a') as file: print(sys.orig_argv, file=file)\n"
    )
    for line in (installed.script, installed.python("-m", NAME)):
        ended = start([*line, *PROVE], tmp_path, os.pathsep.join([str(hooks), SUITE]))
        assert ended.returncode == 0, ended.stderr.decode()
        assert b" proved, 0 reachable, 0 not " in ended.stdout
        assert f"from multiprocessing.{method} import " in started.read_text()
        started.unlink()


@pytest.mark.parametrize(("ttl", "code", "said"), [("ttl_sec", 0, b"\nholds: "), ("ttl_sec - 1", 1, b"\nviolated: ")])
def test_a_policy_alone_in_its_folder_is_judged(
    ttl: str, code: int, said: bytes, installed: Installed, tmp_path: Path
) -> None:
    lines = [
        "def decide(warm, demand, idle_sec, ttl_sec):",
        "    if demand == 1:",
        "        return 2 if warm == 1 else 1",
        f"    return 3 if warm == 1 and idle_sec >= {ttl} else 0",
    ]
    (tmp_path / "my.py").write_text("\n".join(lines) + "\n")
    ended = start([*installed.script, "table", "--policy", "my.py"], tmp_path, SUITE)
    assert ended.returncode == code, ended.stderr.decode()
    assert said in ended.stdout


def test_the_sample_is_found(installed: Installed, tmp_path: Path) -> None:
    ended = start([*installed.script, "simulate"], tmp_path, SUITE)
    assert ended.returncode == 0, ended.stderr.decode()
    assert ended.stdout.startswith(b"chats    bundled sample: ")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
def test_a_full_standard_output_is_no_verdict(installed: Installed, tmp_path: Path) -> None:
    with FULL.open("wb") as full:
        for words in (PROVE, DECIDE):
            assert start([*installed.script, *words], tmp_path, SUITE, full.fileno()).returncode == 70


def test_model_has_its_own_exit_codes(installed: Installed, tmp_path: Path) -> None:
    assert start([*installed.script, "prove", "--help"], tmp_path, SUITE).returncode == 0
    assert start([*installed.script, "prove", "--propperty"], tmp_path, SUITE).returncode == 2
