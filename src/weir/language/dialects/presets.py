"""The dialects as values of ``Preset``, and what they leave unsaid.

SPARQL has no windows and is evaluated once. RSP-QL is the W3C RSP community group's language, with Weir's
options (RSP-QL paper, section 5). CQELS-QL has windows in place and incremental output over bags (CQELS
paper, section 4.1). C-SPARQL and SPARQLstream merge all windows into the default graph (RSP-QL paper,
sections 3 and 4), the latter's being relative to NOW.
"""

from __future__ import annotations

from weir.language.algebra.query import R2S, Dialect, Previous
from weir.language.algebra.windows import Content, Report, Tick, TickKind
from weir.language.dialects.preset import Feature, Preset

SPARQL = Preset(dialect=Dialect.SPARQL, title="SPARQL", features=frozenset())

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

CQELS = Preset(
    dialect=Dialect.CQELS,
    title="CQELS-QL",
    features=frozenset(
        {
            Feature.STREAM_PATTERN,
            Feature.BARE_AGGREGATE,
            Feature.RANGE,
            Feature.STEP,
            Feature.SLIDE,
            Feature.TUMBLING,
            Feature.NOW,
            Feature.ALL,
            Feature.TRIPLES,
            Feature.UNIT_DURATION,
        }
    ),
    r2s=R2S.ISTREAM,
    report=Report(content_change=True, non_empty=True),
    tick=Tick(TickKind.CHANGE),
    content=Content.BAG,
    previous=Previous.INSTANT,
    tumbling=False,
)

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

PRESETS: dict[Dialect, Preset] = {
    preset.dialect: preset for preset in (SPARQL, RSPQL, CQELS, CSPARQL, SPARQLSTREAM)
}
