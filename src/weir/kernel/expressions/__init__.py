"""Expressions over whole columns of ids, with the scalar functions for what columns cannot do."""

from weir.kernel.expressions.compile import NOW, Compiled, compile
from weir.kernel.expressions.ranks import canonical_ranks, order_ranks
from weir.kernel.expressions.termcache import Terms
from weir.kernel.expressions.vector import FALSE_ID, TRUE_ID

__all__ = ["FALSE_ID", "NOW", "TRUE_ID", "Compiled", "Terms", "canonical_ranks", "compile", "order_ranks"]
