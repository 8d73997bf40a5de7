"""The strongly connected components of a graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def components(nodes: Iterable[N], follow: Callable[[N], Iterable[N]]) -> Iterator[set[N]]:
    """Each once, those of a single node too; by Tarjan's algorithm, without recursion."""
    number: dict[N, int] = {}
    low: dict[N, int] = {}
    stack: list[N] = []
    stacked: set[N] = set()

    def enter(node: N) -> tuple[N, Iterator[N]]:
        number[node] = low[node] = len(number)
        stack.append(node)
        stacked.add(node)
        return node, iter(follow(node))

    for root in nodes:
        path = [enter(root)] if root not in number else []
        while path:
            node, following = path[-1]
            for after in following:
                if after not in number:
                    path.append(enter(after))
                    break
                if after in stacked:
                    low[node] = min(low[node], number[after])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == number[node]:
                    component = set(stack[stack.index(node) :])
                    del stack[len(stack) - len(component) :]
                    stacked -= component
                    yield component
