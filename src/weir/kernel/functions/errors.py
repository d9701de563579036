"""The error of an expression: SPARQL's type error, which filters, COALESCE and BIND absorb (section 17.2)."""

from __future__ import annotations


class ExpressionError(Exception):
    """An expression has no value for this solution. Never leaves the evaluation of a query."""
