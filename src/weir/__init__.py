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
)
from weir.language import Query, parse

if TYPE_CHECKING:
    from weir.engine import Engine
    from weir.fragments.client import follow
    from weir.spark.continuous import continuous

__all__ = [
    "CheckpointError",
    "DataError",
    "Engine",
    "EvaluationError",
    "Query",
    "RemoteError",
    "SyntaxError",
    "TranslationError",
    "UsageError",
    "WeirError",
    "continuous",
    "follow",
    "parse",
]

_LATER = {
    "Engine": "weir.engine",
    "continuous": "weir.spark.continuous",
    "follow": "weir.fragments.client",
}


def __getattr__(name: str) -> Any:
    """What needs Spark or a network is imported when asked for, so that ``weir.parse`` alone stays light."""
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module 'weir' has no attribute {name!r}")
