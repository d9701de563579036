"""How deep the algebra of a query is."""

from __future__ import annotations

from typing import Any

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a

_LEAVES = (a.BGP, a.Values)


def deeper_than(pattern: a.Pattern, limit: int) -> bool:
    """Whether patterns and expressions nest deeper than ``limit``; itself not recursive."""
    stack: list[tuple[Any, int]] = [(pattern, 1)]
    while stack:
        node, depth = stack.pop()
        if depth > limit:
            return True
        if isinstance(node, tuple):
            stack.extend((part, depth) for part in node)
        elif isinstance(node, _NODES) and not isinstance(node, _LEAVES):
            stack.extend((getattr(node, name), depth + 1) for name in node.__slots__)
    return False


_NODES: tuple[Any, ...] = tuple(
    kind
    for module in (a, e)
    for kind in vars(module).values()
    if isinstance(kind, type) and kind.__module__ == module.__name__ and hasattr(kind, "__slots__")
)
