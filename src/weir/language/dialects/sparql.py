"""Plain SPARQL 1.1 Query: no windows, evaluated once."""

from __future__ import annotations

from weir.language.dialects.preset import Preset
from weir.language.query import Dialect

SPARQL = Preset(dialect=Dialect.SPARQL, title="SPARQL", features=frozenset())
