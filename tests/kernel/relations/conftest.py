"""Tests of relations run twice: with the short cuts for a handful of rows, and without."""

from __future__ import annotations

from kernel.operators.conftest import short_cuts

__all__ = ["short_cuts"]
