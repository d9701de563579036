"""Expressions over whole columns of ids, with the scalar functions for what columns cannot do."""

from weir.kernel.expressions.columnar import Solutions
from weir.kernel.expressions.compile import NOW, Compiled, Timestamp, compile

__all__ = ["NOW", "Compiled", "Solutions", "Timestamp", "compile", "numeric", "ranks", "term_cache", "vector"]
