"""What a fragments server refuses to spend on one request, one push or one data set."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Every bound is checked before the work is done."""

    query_string: int = 65_536
    """Bytes of a query string; beyond it, 414."""
    term: int = 8_192
    """Characters of one term in a pattern; beyond it, 414."""
    bindings: int = 512
    """Solution mappings of one bindings-restricted request; beyond it, 400."""
    page: int = 1_000_000
    """The greatest page number; beyond it, 400."""
    overlap: int = 100_000
    """Quads put together for one request whose bindings overlap each other; beyond it, 413."""
    push_bytes: int = 16 * 2**20
    """Bytes of a pushed document; beyond it, 413."""
    push_facts: int = 200_000
    """Facts of one push; beyond it, 413."""
    cache_bytes: int = 64 * 2**20
    """Bytes of serialised fragments kept."""
    ahead: int = 366 * 86_400_000_000
    """How far (µs) beyond the present a pushed fact may start; beyond it, 400: a wrong clock."""
