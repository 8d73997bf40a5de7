"""The part of Python that a symbolic run can follow. Whatever lies outside is refused by its line, never misread.

A function that is followed, and each one that it calls, consists of `if`, `for`, `while`, `match`, assignments to its
own variables, whole-number arithmetic, comparisons, tuples, calls of Python functions by their global name and of a few
built-in ones. So it cannot change anything that outlives the call. It reads immutable globals alone; that no other code
rebinds these between two calls is taken for granted where no `global` or `nonlocal` statement of its file says so.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import os
import warnings
from collections.abc import Callable, Iterator
from enum import Enum, EnumType
from functools import cache
from inspect import getclosurevars
from types import CodeType, FunctionType, ModuleType
from typing import Any, NoReturn

BUILTINS = (abs, all, any, bool, divmod, isinstance, len, max, min, sum)
"""What works on symbolic numbers as on plain ones."""

STATEMENTS = (
    *(ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.While, ast.For, ast.Pass, ast.Break),
    *(ast.Continue, ast.Assert, ast.Raise, ast.Expr, ast.Match, ast.match_case, ast.MatchValue, ast.MatchSingleton),
    *(ast.MatchSequence, ast.MatchStar, ast.MatchAs, ast.MatchOr),
)
EXPRESSIONS = (
    *(ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, ast.Name, ast.Attribute, ast.Constant),
    *(ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Subscript, ast.Slice, ast.Starred, ast.NamedExpr, ast.keyword),
    *(ast.GeneratorExp, ast.ListComp, ast.comprehension, ast.JoinedStr, ast.FormattedValue),
    *(ast.expr_context, ast.boolop, ast.cmpop, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Div),
    *(ast.Not, ast.USub, ast.UAdd),
)
_UNKNOWN = object()


class Unfollowable(BaseException):
    """The code cannot be followed: where, and why. Not even `except Exception` of that code may swallow this."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}")
        self.where = where
        self.why = why


def place(file: str, line: int) -> str:
    """File, line number and line."""
    shown = os.path.relpath(file) if os.path.abspath(file).startswith(os.getcwd() + os.sep) else file
    return f"{shown}:{line}: `{linecache.getline(file, line).strip()}`"


def start_of(function: Callable[..., Any]) -> str:
    """Where the function begins, so far as that can be known."""
    code = getattr(function, "__code__", None)
    return (
        place(code.co_filename, code.co_firstlineno) if isinstance(code, CodeType) else f"a {type(function).__name__}"
    )


def followed(function: Callable[..., Any]) -> frozenset[CodeType]:
    """The code of the function and of all that it can call. Raises Unfollowable."""
    found: dict[int, Callable[..., Any]] = {}
    pending = [function]
    while pending:
        each = pending.pop()
        if id(each) not in found:
            found[id(each)] = each
            try:
                pending += _Reader(each).calls
            except RecursionError:
                raise Unfollowable(start_of(each), "it is nested too deeply") from None
    return frozenset(code for each in found.values() for code in _nested(each.__code__))


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


@cache
def _parsed(text: str) -> tuple[ast.Module, frozenset[CodeType], frozenset[str]]:
    """The module, its code, and the names that some function of it rebinds for others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
        codes = frozenset(_nested(compile(text, "", "exec", dont_inherit=True)))
    rebound = (each.names for each in ast.walk(tree) if isinstance(each, ast.Global | ast.Nonlocal))
    return tree, codes, frozenset(name for names in rebound for name in names)


def _is_constant(value: object) -> bool:
    """It is the same for ever, and so is all that can be reached from it."""
    match value:
        case None:
            return True
        case tuple() | frozenset() if type(value) in (tuple, frozenset):
            return all(map(_is_constant, value))
        case Enum():
            return _is_constant(value.value)
        case EnumType():
            return all(map(_is_constant, value))
        case type():
            return value.__module__ == "builtins"
    return type(value) in (int, bool, float, complex, str, bytes) or any(value is each for each in BUILTINS)


class _Reader(ast.NodeVisitor):
    """Reads one function; `calls` are the functions that it can call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.calls: list[FunctionType] = []
        self.where = start_of(function)
        if not isinstance(function, FunctionType):
            self.refuse("a plain Python function was expected")
        code = function.__code__
        self.file, self.line = code.co_filename, code.co_firstlineno
        try:
            tree, codes, self.rebound = _parsed("".join(linecache.getlines(self.file, function.__globals__)))
        except (SyntaxError, ValueError):
            self.refuse("its source cannot be parsed")
        if code not in codes:
            self.refuse("its source is not at hand, or is no longer the one that was loaded")
        named = [each for each in ast.walk(tree) if _starts(each) == (code.co_name, code.co_firstlineno)]
        if len(named) != 1:
            self.refuse("two functions begin on this line; one a line was expected")
        try:
            enclosing = getclosurevars(function).nonlocals
        except ValueError:
            self.refuse("a variable of an enclosing function has no value yet")
        self.around = {**function.__globals__, **enclosing}
        self.names = {**vars(builtins), **self.around}
        self.own = {name for each in _nested(code) for name in (*each.co_varnames, *each.co_cellvars)}
        loops = [each.target for each in ast.walk(named[0]) if isinstance(each, ast.comprehension)]
        self.scoped = {each.id for loop in loops for each in ast.walk(loop) if isinstance(each, ast.Name)}
        for default in [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]:
            if not _is_constant(default):
                self.refuse(f"the default {default!r} may change between two calls; a tuple or a number was expected")
        body: Any = getattr(named[0], "body", [])
        if not isinstance(named[0], ast.FunctionDef | ast.Lambda):
            self.refuse("an async function")
        for statement in body if isinstance(body, list) else [body]:
            self.visit(statement)

    def refuse(self, why: str) -> NoReturn:
        raise Unfollowable(self.where, why)

    def visit(self, node: ast.AST) -> None:
        if line := getattr(node, "lineno", None):
            self.where = place(self.file, line)
        super().visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        if not isinstance(node, STATEMENTS + EXPRESSIONS):
            self.refuse(f"{type(node).__name__} is outside the part of Python that can be followed")
        super().generic_visit(node)

    def resolve(self, node: ast.AST) -> Any:
        """What a global name, or an attribute of one, stands for; _UNKNOWN if it is neither."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, _UNKNOWN) if node.id not in self.own else _UNKNOWN
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            return getattr(owner, node.attr, _UNKNOWN) if isinstance(owner, ModuleType | type | Enum) else _UNKNOWN
        return _UNKNOWN

    def visit_Name(self, node: ast.Name) -> None:
        ours = node.id in self.own and not (node.id in self.scoped and node.id in self.around)
        if isinstance(node.ctx, ast.Load) and not ours:
            self.read(node, node.id, self.names.get(node.id))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.refuse(f"`{ast.unparse(node)}` is written to, which may outlive the call")
        if node.attr.startswith("_"):
            self.refuse(f"`{ast.unparse(node)}` shows how the value is made")
        owner: ast.expr = node
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        if isinstance(owner, ast.Name) and owner.id in self.names and owner.id not in self.own:
            self.read(node, owner.id, self.resolve(node))
        else:
            self.visit(owner)

    def read(self, node: ast.expr, name: str, value: object) -> None:
        """Let a global be read only if it is the same at each call."""
        if name in self.rebound or not _is_constant(value):
            self.refuse(f"`{ast.unparse(node)}` may change between two calls; a constant was expected")

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.refuse(f"`{ast.unparse(node)}` is written to, which may outlive the call")
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        for part in (node.target, node.value):
            if part is not None:
                self.visit(part)

    def visit_For(self, node: ast.For) -> None:
        self.iterate(node.iter)
        for part in (node.target, *node.body, *node.orelse):
            self.visit(part)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.iterate(node.iter)
        for part in (node.target, *node.ifs):
            self.visit(part)

    def iterate(self, node: ast.expr) -> None:
        """A range may be looped over, where each step is counted, and is good for nothing else."""
        if isinstance(node, ast.Call) and self.resolve(node.func) is range and not node.keywords:
            for argument in node.args:
                self.visit(argument)
        else:
            self.visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        match node:
            case ast.BinOp(ast.Constant(int(base)), ast.Pow(), ast.Constant(int(power))) if max(base, power) <= 64:
                return
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
            if isinstance(operator, ast.Is | ast.IsNot) and not (self.is_unique(left) or self.is_unique(right)):
                self.refuse("`is` between numbers cannot be seen; `==` was expected")
        self.generic_visit(node)

    def is_unique(self, node: ast.expr) -> bool:
        """None and enum members are what they are; an equal number may be another object."""
        found = node.value if isinstance(node, ast.Constant) else self.resolve(node)
        return found is None or isinstance(found, Enum | type)

    def visit_Call(self, node: ast.Call) -> None:
        called = self.resolve(node.func)
        if isinstance(called, FunctionType):
            self.calls.append(called)
        elif not (_is_error(called) or (any(called is each for each in BUILTINS) and not node.keywords)):
            self.refuse(f"the call `{ast.unparse(node)}` cannot be followed")
        for argument in (*node.args, *node.keywords):
            self.visit(argument)

    def visit_Raise(self, node: ast.Raise) -> None:
        for part in (node.exc, node.cause):
            if part is not None and not _is_error(self.resolve(part)):
                self.visit(part)


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def _starts(node: ast.AST) -> tuple[str, int] | None:
    """Name and first line of a function as its code has them: that of its first decorator, if any."""
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name, min([node.lineno, *(each.lineno for each in node.decorator_list)])
    return None
