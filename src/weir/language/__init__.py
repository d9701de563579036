"""Text → AST → algebra: one superset grammar, one small file per dialect, semantics as values."""

from weir.language.algebra.query import Dialect, Query
from weir.language.frontend import parse
from weir.language.translation import translate
from weir.language.writing.dialects import write

__all__ = ["Dialect", "Query", "parse", "translate", "write"]
