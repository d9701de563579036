"""CQELS-QL (CQELS paper, section 4.1): windows in place, incremental output over bags."""

from __future__ import annotations

from weir.language.algebra.query import R2S, Dialect, Previous
from weir.language.algebra.windows import Content, Report
from weir.language.dialects.preset import Feature, Preset

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
    content=Content.BAG,
    previous=Previous.INSTANT,
    tumbling=False,
)
