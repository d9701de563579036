"""RSP-QL, the W3C RSP community group's language, with Weir's options (RSP-QL paper, section 5)."""

from __future__ import annotations

from weir.language.algebra.query import Dialect
from weir.language.dialects.preset import Feature, Preset

RSPQL = Preset(
    dialect=Dialect.RSPQL,
    title="RSP-QL",
    features=frozenset(
        {
            Feature.REGISTER_STREAM,
            Feature.REGISTER_OUTPUT,
            Feature.R2S_ON_FORM,
            Feature.FROM_WINDOW,
            Feature.QUERY_OPTIONS,
            Feature.EMPTY,
            Feature.WINDOW_PATTERN,
            Feature.RANGE,
            Feature.STEP,
            Feature.SLIDE,
            Feature.STEP_MESSAGE,
            Feature.NOW,
            Feature.ALL,
            Feature.TRIPLES,
            Feature.ELEMENTS,
            Feature.COUNT_STEP,
            Feature.FROM_NOW,
            Feature.WINDOW_OPTIONS,
            Feature.XSD_DURATION,
            Feature.UNIT_DURATION,
            Feature.BARE_DURATION,
        }
    ),
)
