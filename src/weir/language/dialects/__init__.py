"""The dialects as values: a preset of semantics and a set of grammar features each."""

from weir.language.dialects.preset import Feature, Preset
from weir.language.dialects.presets import CSPARQL, PRESETS, SPARQL

__all__ = ["CSPARQL", "PRESETS", "SPARQL", "Feature", "Preset"]
