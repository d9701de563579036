"""C-SPARQL (RSP-QL paper, sections 3 and 4): all windows merged into the default graph."""

from __future__ import annotations

from weir.language.algebra.query import Dialect
from weir.language.algebra.windows import Report
from weir.language.dialects.preset import Feature, Preset

CSPARQL = Preset(
    dialect=Dialect.CSPARQL,
    title="C-SPARQL",
    features=frozenset(
        {
            Feature.REGISTER_STREAM,
            Feature.REGISTER_QUERY,
            Feature.REGISTER_FIRST,
            Feature.BARE_OUTPUT,
            Feature.COMPUTED_EVERY,
            Feature.FROM_STREAM,
            Feature.FROM_NAMED_STREAM,
            Feature.EMPTY,
            Feature.RANGE,
            Feature.STEP,
            Feature.TUMBLING,
            Feature.RANGE_TRIPLES,
            Feature.UNIT_DURATION,
            Feature.SPACED_DURATION,
        }
    ),
    report=Report(window_close=True, non_empty=True),
)
