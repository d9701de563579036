"""Text → algebra → text: one superset grammar, the dialects as presets, semantics as values."""

from weir.language.algebra.query import Dialect, Query
from weir.language.frontend import parse
from weir.language.writing.dialects import declared_prefixes, write
from weir.language.writing.translation import translate

__all__ = ["Dialect", "Query", "declared_prefixes", "frontend", "parse", "translate", "update", "write"]
