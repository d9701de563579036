"""Plain SPARQL 1.1 Query: no windows, evaluated once."""

from __future__ import annotations

from weir.language.algebra.query import Dialect
from weir.language.dialects.preset import Preset

SPARQL = Preset(dialect=Dialect.SPARQL, title="SPARQL", features=frozenset())
