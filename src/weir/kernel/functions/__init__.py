"""Every SPARQL 1.1 function and operator on terms, with SPARQL's rules for errors (section 17)."""

from weir.kernel.functions.operators import ExpressionError
from weir.kernel.functions.scalar import Context, evaluate, holds, value_or_none
from weir.kernel.functions.set_functions import aggregate

__all__ = [
    "Context",
    "ExpressionError",
    "aggregate",
    "builtins",
    "evaluate",
    "extensions",
    "holds",
    "operators",
    "scalar",
    "set_functions",
    "value_or_none",
]
