"""SPARQLstream (RSP-QL paper, sections 3 and 4): windows relative to NOW, merged into the default graph."""

from __future__ import annotations

from weir.language.algebra.query import Dialect
from weir.language.algebra.windows import Report
from weir.language.dialects.preset import Feature, Preset

SPARQLSTREAM = Preset(
    dialect=Dialect.SPARQLSTREAM,
    title="SPARQLstream",
    features=frozenset(
        {
            Feature.R2S_ON_FORM,
            Feature.FROM_NAMED_STREAM,
            Feature.NOW_MINUS,
            Feature.SLIDE,
            Feature.TRIPLES,
            Feature.SPACED_DURATION,
            Feature.UNIT_DURATION,
        }
    ),
    report=Report(window_close=True, non_empty=True),
)
