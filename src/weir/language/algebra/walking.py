"""Every node of a pattern, an expression or whatever is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any


def walk(node: Any, closed: tuple[type, ...] = ()) -> Iterator[Any]:
    """The node, then what is in it, in the order of its fields; nothing inside those of a ``closed`` type."""
    if isinstance(node, tuple):
        for item in node:
            yield from walk(item, closed)
    elif is_dataclass(node) and not isinstance(node, type):
        yield node
        if not isinstance(node, closed):
            for item in fields(node):
                yield from walk(getattr(node, item.name), closed)
