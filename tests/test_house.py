"""The rules of the house, held by reading its source."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.prove.machines import MACHINES

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("spec", "impl", "model")
ALLOWED = {"spec": {"spec"}, "impl": {"impl"}, "model": {"spec", "impl", "model"}}
SOLVERS = {"z3", "cvc5"}
CONTROL = (
    ast.If,
    ast.IfExp,
    ast.BoolOp,
    ast.Match,
    ast.For,
    ast.While,
    ast.Assert,
    ast.comprehension,
    ast.Try,
    ast.In,
    ast.NotIn,
    ast.Is,
    ast.IsNot,
    ast.Not,
)


def files(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def imports(source: str) -> Iterator[str]:
    """The first name of each module that the source imports, wherever it does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0] if node.level == 0 else "relative"


def control_flow(source: str) -> Iterator[str]:
    """Python that decides something by the truth of a claim, which the symbolic reading could not follow."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, CONTROL):
            yield f"line {getattr(node, 'lineno', '?')}: {type(node).__name__}"
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            yield f"line {node.lineno}: chained comparison"


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_import_only_what_they_may(room: str) -> None:
    for path in files(room):
        foreign = {name for name in imports(path.read_text()) if name in {*ROOMS, "relative"}} - ALLOWED[room]
        assert not foreign, f"{path.name} imports {foreign}"


@pytest.mark.parametrize("room", ["spec", "impl"])
def test_spec_and_impl_need_the_standard_library_alone(room: str) -> None:
    for path in files(room):
        assert set(imports(path.read_text())) - set(sys.stdlib_module_names) <= {room, "__future__"}, path.name


def test_few_files_know_a_solver() -> None:
    known = {path.name for room in ROOMS for path in files(room) if SOLVERS & set(imports(path.read_text()))}
    assert known <= {"terms.py", "solvers.py", "execution.py", "encoder.py"}


@pytest.mark.parametrize(
    "path", [path for path in files("spec") if path.name != "logic.py"], ids=lambda path: path.name
)
def test_the_specification_joins_claims_by_connectives_alone(path: Path) -> None:
    assert list(control_flow(path.read_text())) == []


@pytest.mark.parametrize(
    "source",
    [
        "def step(s):\n    if s.waiting == 0:\n        return s\n",
        "x = a == 0 and b > 0",
        "x = p is Phase.WARM",
        "x = p in (1, 2)",
        "x = not p",
        "x = 1 <= n <= 3",
        "x = [j for j in jobs]",
        "x = a if b else c",
        "assert claim",
        "while claim: pass",
        "match claim:\n    case True: pass\n",
    ],
)
def test_the_rule_on_connectives_can_fail(source: str) -> None:
    assert list(control_flow(source))


def test_the_rule_on_imports_can_fail() -> None:
    assert set(imports("import spec.logic\ndef f():\n    from model import x\n")) == {"spec", "model"}


@pytest.mark.parametrize("name", MACHINES)
def test_every_property_is_complete(name: str) -> None:
    machine = MACHINES[name]
    stated = (ROOT / "spec" / "README.md").read_text()
    names = [each.name for each in machine.properties + machine.finite]
    assert len(names) == len(set(names))
    actions = {action.name for action in machine.actions}
    for each in machine.properties + machine.finite:
        assert each.sentence.endswith("."), f"{each.name} has no sentence"
        place = Path(inspect.getfile(each.claim)).name
        row = f"| `{each.name}` | {each.sentence} | `{place}` |"
        assert row in stated, f"spec/README.md misses the row {row}"
        assert each.witness is not None or each.about, f"{each.name} has no witness"
        assert set(each.about) <= actions
    for action in machine.actions:
        assert (action.step.__doc__ or "").strip(), f"{action.name} has no sentence"


def test_the_words_of_the_readme_name_what_exists() -> None:
    text = (ROOT / "spec" / "README.md").read_text()
    known = {each.name for machine in MACHINES.values() for each in machine.properties + machine.finite}
    listed = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert listed, "spec/README.md lists no property"
    assert listed <= known, f"spec/README.md lists {listed - known}, which no machine has"


def test_files_are_small() -> None:
    for room in ROOMS:
        for path in files(room):
            assert len(path.read_text().splitlines()) <= 500, f"{path} has grown too long for one idea"


def test_no_path_of_a_machine_is_named() -> None:
    for path in [*ROOT.glob("*.*"), *(ROOT / ".ci").iterdir(), *(p for room in (*ROOMS, "tests") for p in files(room))]:
        if path.is_file() and path.suffix in {".py", ".md", ".toml", ".txt", ".yml", ""}:
            assert not re.search(r"/(work|root|home)/\w", path.read_text()), path
