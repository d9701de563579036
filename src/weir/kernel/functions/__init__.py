"""Every SPARQL 1.1 function and operator on terms, with SPARQL's rules for errors (section 17)."""

from weir.kernel.functions.aggregates import aggregate
from weir.kernel.functions.errors import ExpressionError
from weir.kernel.functions.evaluate import Context, apply, evaluate, holds, value_or_none
from weir.kernel.functions.ordering import Solution, canonical_key, order_key, solution_key

__all__ = [
    "Context",
    "ExpressionError",
    "Solution",
    "aggregate",
    "apply",
    "canonical_key",
    "evaluate",
    "holds",
    "order_key",
    "solution_key",
    "value_or_none",
]
