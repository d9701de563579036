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

__all__ = [
    "CheckpointError",
    "DataError",
    "EvaluationError",
    "RemoteError",
    "SyntaxError",
    "TranslationError",
    "UsageError",
    "WeirError",
]
