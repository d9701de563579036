"""Every SPARQL 1.1 function and operator on terms, with SPARQL's rules for errors (section 17)."""

from weir.kernel.functions.operators import ExpressionError
from weir.kernel.functions.ordering import Solution, canonical_key, order_key, solution_key
from weir.kernel.functions.scalar import Context, apply, evaluate, holds, value_or_none
from weir.kernel.functions.setfunctions import aggregate

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
