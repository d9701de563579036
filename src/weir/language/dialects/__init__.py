"""The dialects as values: a preset of semantics and a set of grammar features each."""

from weir.language.algebra.query import Dialect
from weir.language.dialects.cqels import CQELS
from weir.language.dialects.csparql import CSPARQL
from weir.language.dialects.preset import Feature, Preset
from weir.language.dialects.rspql import RSPQL
from weir.language.dialects.sparql import SPARQL
from weir.language.dialects.sparqlstream import SPARQLSTREAM

PRESETS: dict[Dialect, Preset] = {
    preset.dialect: preset for preset in (SPARQL, RSPQL, CQELS, CSPARQL, SPARQLSTREAM)
}

__all__ = ["CQELS", "CSPARQL", "PRESETS", "RSPQL", "SPARQL", "SPARQLSTREAM", "Feature", "Preset"]
