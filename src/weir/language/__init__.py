"""Text → AST → algebra: one superset grammar, one small file per dialect, semantics as values."""

from weir.language.frontend import parse
from weir.language.query import Dialect, Query

__all__ = ["Dialect", "Query", "parse"]
