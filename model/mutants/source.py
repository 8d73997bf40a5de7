"""Systematic mutants of the shipped modules, made with the operators of cosmic-ray and one more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

MODULES = ("core", "scheduler", "autoscale", "worker", "probe")
COMPARISONS: tuple[str, ...] = ("Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt")
COMPARISONS += ("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is")
ARITHMETIC = ("Add_Sub", "Sub_Add", "Mul_Add", "Div_Mul", "FloorDiv_Mul")
OTHERS: tuple[str, ...] = (
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_USub_UAdd",
    "AddNot",
    "ReplaceTrueWithFalse",
)
OTHERS += ("ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceBreakWithContinue")
OTHERS += ("ReplaceContinueWithBreak", "ExceptionReplacer", "NumberReplacer", "ZeroIterationForLoop")
OPERATORS = (
    *(f"ReplaceComparisonOperator_{name}" for name in COMPARISONS),
    *(f"ReplaceBinaryOperator_{name}" for name in ARITHMETIC),
    *OTHERS,
)
"""Those of cosmic-ray: boundaries, negations, arithmetic, swapped branches, changed constants, loops that never run."""
KEPT = {"import_name", "import_from", "string", "strings", "keyword", "global_stmt", "nonlocal_stmt", "assert_stmt"}


class Missing(Exception):
    """cosmic-ray is not installed."""


class Mutant(NamedTuple):
    """One change of a module: its name (module, function, operator, and which of several), where it is, and the whole
    source with it."""

    name: str
    module: str
    line: int
    path: str
    source: str


class DropStatement:
    """An operator as those of cosmic-ray are: a statement in a function becomes `pass`."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        """Simple statements of functions, but for docstrings and what has no effect."""
        if node.type == "simple_stmt" and owner(node) and node.children[0].type not in KEPT:
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, _index: int) -> Any:
        """The same place, with nothing done there."""
        return import_module("parso").parse(f"{node.get_first_leaf().prefix}pass\n")


def mutants() -> list[Mutant]:
    """All of them: module by module, operator by operator, in the order of the lines. Raises Missing."""
    return [mutant for module in MODULES for mutant in of_module(module)]


def of_module(module: str) -> Iterator[Mutant]:
    """Those of one module."""
    parso = import_module("parso") if available() else None
    path = Path(__file__).parents[2] / "impl" / f"{module}.py"
    source = path.read_text(encoding="utf-8")
    seen: Counter[str] = Counter()
    for name, operator in operators():
        tree = parso.parse(source)  # type: ignore[union-attr]
        for node in list(nodes(tree)):
            for index, (start, _) in enumerate(list(operator.mutation_positions(node))):
                label = f"{module}.{owner(node) or 'module'}:{name}"
                changed = replaced(tree, node, operator, index)
                if changed is not None:
                    yield Mutant(f"{label}.{seen[label]}", module, start[0], str(path), changed)
                    seen[label] += 1
        if tree.get_code() != source:
            raise AssertionError(f"{name} left {path.name} changed, expected it as it was")


def available() -> bool:
    """True; raises Missing if it is not so."""
    try:
        return bool(import_module("cosmic_ray.operators.provider"))
    except ImportError as error:
        raise Missing(
            f"systematic mutants need cosmic-ray, which is not installed ({error}); install it or give --named"
        ) from None


def operators() -> Iterator[tuple[str, Any]]:
    """Each operator under a short name."""
    provider = import_module("cosmic_ray.operators.provider").OperatorProvider()
    for name in OPERATORS:
        yield name.removeprefix("ReplaceComparisonOperator_").removeprefix("ReplaceBinaryOperator_"), provider[name]()
    yield "DropStatement", DropStatement()


def replaced(tree: Any, node: Any, operator: Any, index: int) -> str | None:
    """The source with the change at one node, which is then taken back; None if it would be no program."""
    kept = [(each, dict(state(each))) for each in (*nodes(node), node.parent) if each is not None]
    new = operator.mutate(node, index)
    if new is not node and node.parent is not None:
        node.parent.children[node.parent.children.index(node)] = new
    changed: str = tree.get_code()
    for each, was in kept:
        for name, value in was.items():
            setattr(each, name, list(value) if name == "children" else value)
    try:
        compile(changed, "mutant", "exec")
    except SyntaxError:
        return None
    return changed


def state(node: Any) -> Iterator[tuple[str, Any]]:
    """What an operator may change of a node."""
    for name in ("children", "value", "prefix"):
        if hasattr(node, name):
            value = getattr(node, name)
            yield name, list(value) if name == "children" else value


def nodes(tree: Any) -> Iterator[Any]:
    """The nodes of a tree, each before those below it."""
    yield tree
    for child in getattr(tree, "children", ()):
        yield from nodes(child)


def owner(node: Any) -> str:
    """The function that the node is in, with its classes; empty outside of any."""
    names: list[str] = []
    inside = False
    while node is not None:
        if node.type in ("funcdef", "classdef"):
            inside = inside or node.type == "funcdef"
            names.insert(0, node.name.value)
        node = node.parent
    return ".".join(names) if inside else ""
