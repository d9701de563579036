"""Going through the algebra: the parts of a node, every node below it, and a node with its parts replaced.

Patterns, expressions and query forms are frozen dataclasses and tuples of them, so three functions serve them
all, and whatever is made of them. A rewrite that reaches everywhere calls itself from ``change``.

All of them go down by recursion, and Python's stack ends at about a thousand frames. What is only long is
balanced where that keeps the meaning; what is deep is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from operator import is_
from typing import Any, TypeVar

from weir.language.algebra import patterns as a
from weir.rdf.terms import IRI, BlankNode, Literal, Variable

DEPTH = 200
"""Operators of the algebra, one within another."""

BALANCE = 64
"""Operands of an associative operator beyond which its tree is balanced."""

_Node = TypeVar("_Node")
_KNOWN: dict[type, tuple[str, ...] | None] = dict.fromkeys((IRI, Literal, BlankNode, Variable), ())


def _fields(kind: type) -> tuple[str, ...] | None:
    """The names of a node's fields, None for what is no node. Nothing is inside a term or a variable."""
    if kind not in _KNOWN:
        _KNOWN[kind] = tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None
    return _KNOWN[kind]


def parts(node: Any) -> Iterator[Any]:
    """The values right inside a node or a tuple, in the order of its fields."""
    if isinstance(node, tuple):
        yield from node
    else:
        for name in _fields(type(node)) or ():
            yield getattr(node, name)


def walk(node: Any, closed: tuple[type, ...] = ()) -> Iterator[Any]:
    """The node, then every node below it, by fields; nothing inside a node of a ``closed`` type."""
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(reversed(node))
            continue
        names = _fields(type(node))
        if names is None:
            continue
        yield node
        if names and not isinstance(node, closed):
            stack.extend([getattr(node, name) for name in reversed(names)])


def rebuilt(node: Any, change: Callable[[Any], Any]) -> Any:
    """The node with ``change`` applied to the values right inside it; the same object where none changed."""
    if isinstance(node, tuple):
        after = tuple([change(part) for part in node])
        return node if all(map(is_, after, node)) else after
    changed = {}
    for name in _fields(type(node)) or ():
        before = getattr(node, name)
        new = change(before)
        if new is not before:
            changed[name] = new
    return replace(node, **changed) if changed else node


def mapped(pattern: a.Pattern, change: Callable[[a.Pattern], a.Pattern]) -> a.Pattern:
    """The pattern with ``change`` applied to the patterns right inside it, those of EXISTS included."""

    def inside(part: Any) -> Any:
        return change(part) if isinstance(part, a.Pattern) else rebuilt(part, inside)

    found: a.Pattern = rebuilt(pattern, inside)
    return found


def patterns(pattern: a.Pattern) -> Iterator[a.Pattern]:
    """The pattern and all patterns below it, those of EXISTS included."""
    return (node for node in walk(pattern) if isinstance(node, a.Pattern))


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
        if not isinstance(node, _LEAVES):
            stack.extend((part, depth if isinstance(node, tuple) else depth + 1) for part in parts(node))
    return False


def path_predicates(path: a.Path) -> tuple[IRI, ...] | None:
    """The predicates that a path can follow, each once; None for any."""
    steps = list(walk(path))
    if any(isinstance(step, a.NegatedSet) for step in steps):
        return None
    return tuple(dict.fromkeys(step.iri for step in steps if isinstance(step, a.Link)))
