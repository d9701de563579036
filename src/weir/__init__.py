"""Weir: continuous SPARQL queries over RDF streams joined with Linked Data, on Apache Spark."""

from weir.errors import (
    CheckpointError,
    DataError,
    EvaluationError,
    RemoteError,
    SyntaxError,
    TranslationError,
    UsageError,
    WeirError,
)
from weir.language import Query, parse

__all__ = [
    "CheckpointError",
    "DataError",
    "EvaluationError",
    "Query",
    "RemoteError",
    "SyntaxError",
    "TranslationError",
    "UsageError",
    "WeirError",
    "parse",
]
