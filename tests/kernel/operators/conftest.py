"""Every operator test runs twice: with the short cuts for a handful of rows, and without."""

from __future__ import annotations

from short_cuts import with_and_without

short_cuts = with_and_without(
    ("weir.kernel.operators.modifiers", "_PEEL"),
    ("weir.kernel.relations.coverage", "_DENSE"),
)
