"""How deep and how long a query may be.

Everything that reads a tree or its algebra does so by recursion, and Python's stack ends at about a
thousand frames. What is only long is balanced where that keeps the meaning, and refused where not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a

BRACKETS = 100
"""Brackets of all kinds, one within another."""

CHAIN = 150
"""Operators in one chain whose tree leans to one side: paths, sums, the patterns of a group."""

DEPTH = 200
"""Operators of the algebra, one within another."""

BALANCE = 64
"""Operands of an associative operator beyond which its tree is balanced."""

_Node = TypeVar("_Node")


def folded(combine: Callable[[_Node, _Node], _Node], operands: tuple[_Node, ...]) -> _Node:
    """``a op b op …`` as a tree: leaning to the left, or balanced if it is long. ``op`` is associative."""
    if len(operands) > BALANCE:
        middle = len(operands) // 2
        return combine(folded(combine, operands[:middle]), folded(combine, operands[middle:]))
    tree = operands[0]
    for operand in operands[1:]:
        tree = combine(tree, operand)
    return tree


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
