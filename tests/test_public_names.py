"""The public names: whoever adds or drops one means to."""

from __future__ import annotations

import weir

NAMES = [
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


def test_public_names_are_pinned() -> None:
    assert sorted(weir.__all__) == NAMES


def test_every_public_name_is_there() -> None:
    missing = [name for name in weir.__all__ if getattr(weir, name, None) is None]
    assert not missing
