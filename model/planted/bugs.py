"""The list of all planted bugs: what each is wrong in, what finds it, and where the like of it was reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar
from unittest.mock import patch

import impl.command
import impl.worker
from impl.autoscale import decide, savings_permil
from impl.core import Core
from impl.scheduler import Scheduler
from impl.worker import Controller
from model.planted.registry import PLANTED

Function: TypeAlias = Callable[..., Any]
F = TypeVar("F", bound=Function)
C = TypeVar("C", bound=type[Controller])
K = TypeVar("K", bound=type[Core])


@dataclass(frozen=True)
class Code:
    """What the engines are asked about: the shipped code, or the same with one part wrong on purpose. Each of `patches`
    is an object or a dict, the name of its attribute or the key, and what stands there instead."""

    scheduler: type[Scheduler] = Scheduler
    decide: Function = decide
    savings: Function = savings_permil
    controller: type[Controller] = Controller
    patches: tuple[tuple[Any, str, Any], ...] = ()

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The wrong part stands where the shipped one is called from other modules."""
        decides = ((impl.worker, "decide", self.decide), (impl.command, "decide", self.decide))
        saves = (impl.command, "savings_permil", self.savings)
        with ExitStack() as stack:
            for where, name, part in (*decides, saves, *self.patches):
                how = patch.dict(where, {name: part}) if isinstance(where, dict) else patch.object(where, name, part)
                stack.enter_context(how)
            yield


SHIPPED = Code()


@dataclass(frozen=True)
class Bug:
    """`target` is the module of `impl` that it is in, `property` the claim that it breaks ("conformance" where it only
    takes a step that the specification does not know), and `source` the public reports that it is modelled on, each as
    repository#number."""

    name: str
    target: str
    property: str
    source: str
    sentence: str
    code: Code


BUGS: dict[str, Bug] = {}
"""Every planted bug by its name."""


def enter(part: Any, target: str, claim: str, source: str, **code: Any) -> None:
    """Put the wrong part into the list, under its own name."""
    name = part.__name__
    if name in BUGS:
        raise ValueError(f"two planted bugs are named {name}, expected one; rename the later")
    BUGS[name] = Bug(name, target, claim, source, (part.__doc__ or "").strip(), replace(SHIPPED, **code))


def wrong_decide(claim: str, source: str) -> Callable[[F], F]:
    """Enter the function as a `decide`."""

    def accept(function: F) -> F:
        enter(function, "autoscale", claim, source, decide=function)
        return function

    return accept


def wrong_savings(claim: str, source: str) -> Callable[[F], F]:
    """Enter the function as a `savings_permil`."""

    def accept(function: F) -> F:
        enter(function, "autoscale", claim, source, savings=function)
        return function

    return accept


def wrong_controller(claim: str, source: str) -> Callable[[C], C]:
    """Enter the class as a controller."""

    def accept(controller: C) -> C:
        enter(controller, "worker", claim, source, controller=controller)
        return controller

    return accept


def wrong_piece(target: str, where: Any, name: str, claim: str, source: str) -> Callable[[F], F]:
    """Enter the function as the attribute `name` of a module or class, or under that key of a dict."""

    def accept(function: F) -> F:
        enter(function, target, claim, source, patches=((where, name, function),))
        return function

    return accept


def wrong_core(claim: str, source: str) -> Callable[[K], K]:
    """Enter the class as the core of a scheduler."""

    def accept(core: K) -> K:
        scheduler = type(core.__name__, (Scheduler,), {"core": core, "__doc__": core.__doc__})
        enter(core, "scheduler", claim, source, scheduler=scheduler)
        return core

    return accept


for each in PLANTED.values():
    enter(each.scheduler, "scheduler", each.claim, each.report, scheduler=each.scheduler)
