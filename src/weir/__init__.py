"""Weir: continuous SPARQL queries over RDF streams joined with Linked Data, on Apache Spark."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from weir.errors import (
    CheckpointError,
    DataError,
    EvaluationError,
    RemoteError,
    SyntaxError,
    TranslationError,
    UsageError,
    WeirError,
    WeirWarning,
)

if TYPE_CHECKING:
    from weir.engine import Engine
    from weir.explain import explanation
    from weir.fragments.client import follow
    from weir.language import Query, parse
    from weir.notebook import FrameStream, Live, Results, literal, live, query
    from weir.spark.continuous import continuous

__all__ = [
    "CheckpointError",
    "DataError",
    "Engine",
    "EvaluationError",
    "FrameStream",
    "Live",
    "Query",
    "RemoteError",
    "Results",
    "SyntaxError",
    "TranslationError",
    "UsageError",
    "WeirError",
    "WeirWarning",
    "continuous",
    "explanation",
    "follow",
    "literal",
    "live",
    "parse",
    "query",
]

_LATER = {
    "Engine": "weir.engine",
    "FrameStream": "weir.notebook",
    "Live": "weir.notebook",
    "Query": "weir.language",
    "Results": "weir.notebook",
    "continuous": "weir.spark.continuous",
    "explanation": "weir.explain",
    "follow": "weir.fragments.client",
    "literal": "weir.notebook",
    "live": "weir.notebook",
    "parse": "weir.language",
    "query": "weir.notebook",
}


def __getattr__(name: str) -> Any:
    """Everything is imported when it is asked for: ``weir.parse`` needs no Spark, and a command no more than
    its own."""
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'weir' has no attribute {name!r}")
