"""Which part of a claim is false, and of whom: an executed claim taken apart along its connectives."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from spec import logic

JOINS = {"both", "either", "implies", "negate", "every", "some", "ite"}


@dataclass(frozen=True)
class Part:
    """A part of a formula that decides its falsehood, as it is written, and the members for which it is so."""

    text: str
    members: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        names = ", ".join(f"{name} = {value!r}" for name, value in self.members)
        return f"{self.text} is false" + (f" for {names}" if names else "")


def explain(claim: Callable[..., logic.Claim], *arguments: Any) -> list[Part]:
    """The smallest parts of an executed claim that make it false; empty if it is true."""
    claim = inspect.unwrap(claim)
    source = textwrap.dedent(inspect.getsource(claim))
    function = ast.parse(source).body[0]
    if not isinstance(function, ast.FunctionDef):
        return [] if claim(*arguments) else [Part(source.strip(), ())]
    bound = inspect.signature(claim).bind(*arguments)
    bound.apply_defaults()
    names = {**claim.__globals__, **inspect.getclosurevars(claim).nonlocals, **bound.arguments}
    for statement in function.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            names[statement.targets[0].id] = _value(statement.value, names)
        if isinstance(statement, ast.Return) and statement.value is not None and not _value(statement.value, names):
            return list(dict.fromkeys(_parts(statement.value, names, (), source)))
    return []


def _value(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<claim>", "eval"), names)


def _parts(node: ast.expr, names: dict[str, Any], members: tuple[tuple[str, Any], ...], source: str) -> Iterator[Part]:
    """The parts of a false formula."""
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    arguments = node.args if isinstance(node, ast.Call) else []
    match called:
        case "both" | "either":
            for argument in arguments:
                if not _value(argument, names):
                    yield from _parts(argument, names, members, source)
        case "implies":
            yield from _parts(arguments[1], names, members, source)
        case "ite":
            chosen = arguments[1] if _value(arguments[0], names) else arguments[2]
            yield from _parts(chosen, names, members, source)
        case "every" if isinstance(arguments[1], ast.Lambda):
            name = arguments[1].args.args[0].arg
            for member in _value(arguments[0], names):
                inner = {**names, name: member}
                if not _value(arguments[1].body, inner):
                    yield from _parts(arguments[1].body, inner, (*members, (name, member)), source)
        case _:
            text = " ".join((ast.get_source_segment(source, node) or ast.unparse(node)).split())
            yield Part(text, members)
