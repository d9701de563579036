"""The small form of a recorded run: what the page needs and a reader can check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST = 60
"""Lists of more numbers than this are kept as their count, least, median and most."""


def small(value: Any) -> Any:
    """A report with numbers of four digits and long lists summed up; of its own result, the same."""
    if isinstance(value, Mapping):
        return {key: small(item) for key, item in value.items()}
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    if isinstance(value, float):
        return float(f"{value:.4g}")
    items = list(value)
    if len(items) <= MOST:
        return [small(item) for item in items]
    if all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in items):
        ordered = sorted(items)
        middle = ordered[len(ordered) // 2]
        return small({"count": len(items), "least": ordered[0], "median": middle, "most": ordered[-1]})
    return [small(item) for item in items[:: -(-len(items) // MOST)]]
