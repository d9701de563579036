"""The dialects: which features of the superset grammar each has, and what it leaves unsaid.

SPARQL has no windows and is evaluated once. RSP-QL is the W3C RSP community group's language, with Weir's
options (RSP-QL paper, section 5). CQELS-QL has windows in place and incremental output over bags (CQELS
paper, section 4.1). C-SPARQL and SPARQLstream merge all windows into the default graph (RSP-QL paper,
sections 3 and 4), the latter's being relative to NOW. Once a query is parsed and until it is written,
nothing asks which dialect it came from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from weir.language.algebra.query import R2S, Dialect, Previous
from weir.language.algebra.windows import Content, Report, Tick, TickKind, WindowKind, closes

_RSPQL, _CQELS, _CSPARQL, _SSTREAM = Dialect.RSPQL, Dialect.CQELS, Dialect.CSPARQL, Dialect.SPARQLSTREAM


class Feature(Enum):
    """What the stream dialects add to SPARQL 1.1: how an error names it, and the dialects that have it."""

    REGISTER_STREAM = "REGISTER STREAM", _RSPQL, _CSPARQL
    REGISTER_QUERY = "REGISTER QUERY", _CSPARQL
    REGISTER_OUTPUT = "REGISTER without STREAM or QUERY", _RSPQL
    REGISTER_FIRST = "REGISTER before the prefixes", _CSPARQL
    BARE_OUTPUT = "an output name that is no IRI", _CSPARQL
    COMPUTED_EVERY = "COMPUTED EVERY", _CSPARQL
    R2S_ON_FORM = "RSTREAM, ISTREAM or DSTREAM after SELECT or CONSTRUCT", _RSPQL, _SSTREAM
    FROM_WINDOW = "FROM WINDOW", _RSPQL
    FROM_STREAM = "FROM STREAM", _CSPARQL
    FROM_NAMED_STREAM = "FROM NAMED STREAM", _CSPARQL, _SSTREAM
    QUERY_OPTIONS = "PREVIOUS, EMIT AFTER", _RSPQL
    EMPTY = "EMPTY", _RSPQL, _CSPARQL
    WINDOW_PATTERN = "WINDOW in a pattern", _RSPQL
    STREAM_PATTERN = "STREAM in a pattern", _CQELS
    BARE_AGGREGATE = "an aggregate without brackets in SELECT", _CQELS
    RANGE = "[RANGE …]", _RSPQL, _CQELS, _CSPARQL
    TUMBLING = "TUMBLING", _CQELS, _CSPARQL
    STEP = "STEP", _RSPQL, _CQELS, _CSPARQL
    SLIDE = "SLIDE", _RSPQL, _CQELS, _SSTREAM
    STEP_MESSAGE = "STEP MESSAGE", _RSPQL
    NOW = "[NOW]", _RSPQL, _CQELS
    ALL = "[ALL]", _RSPQL, _CQELS
    TRIPLES = "[TRIPLES n]", _RSPQL, _CQELS, _SSTREAM
    RANGE_TRIPLES = "[RANGE TRIPLES n]", _CSPARQL
    ELEMENTS = "[ELEMENTS n]", _RSPQL
    COUNT_STEP = "STEP after TRIPLES or ELEMENTS", _RSPQL
    FROM_NOW = "[FROM NOW-… TO NOW-…]", _RSPQL
    NOW_MINUS = "[NOW - …]", _SSTREAM
    WINDOW_OPTIONS = "an option in the window brackets", _RSPQL
    XSD_DURATION = "a duration such as PT10M", _RSPQL
    UNIT_DURATION = "a duration such as 10m", _RSPQL, _CQELS, _CSPARQL, _SSTREAM
    SPACED_DURATION = "a duration such as 10 MIN", _CSPARQL, _SSTREAM
    BARE_DURATION = "a duration in bare milliseconds", _RSPQL

    def __init__(self, title: str, *dialects: Dialect) -> None:
        self.title = title
        self.dialects = dialects


_AT_CLOSE = Report(window_close=True)
_BATCH = Tick()


@dataclass(frozen=True, slots=True)
class Preset:
    """What a dialect leaves unsaid (docs/semantics.md, "Dialects").

    ``tumbling`` says what a RANGE without STEP is: a tumbling window, or one that moves with every message.
    """

    dialect: Dialect
    title: str
    r2s: R2S = R2S.RSTREAM
    report: Report = _AT_CLOSE
    tick: Tick = _BATCH
    content: Content = Content.GRAPH
    previous: Previous = Previous.EVALUATION
    tumbling: bool = True

    def report_of(self, kind: WindowKind, every: int | None = None) -> Report:
        """When a window of this kind reports; one without a close does so on content change. ``every`` is
        C-SPARQL's COMPUTED EVERY: at its multiples, of the window that closed last where windows close."""
        if every is not None:
            return Report(periodic=every, non_empty=self.report.non_empty, closed=closes(kind))
        if self.report.window_close and not closes(kind):
            return replace(self.report, window_close=False, content_change=True)
        return self.report


_IF_NOT_EMPTY = Report(window_close=True, non_empty=True)

SPARQL = Preset(Dialect.SPARQL, "SPARQL")
RSPQL = Preset(_RSPQL, "RSP-QL")
CQELS = Preset(
    _CQELS,
    "CQELS-QL",
    r2s=R2S.ISTREAM,
    report=Report(content_change=True, non_empty=True),
    tick=Tick(TickKind.CHANGE),
    content=Content.BAG,
    previous=Previous.INSTANT,
    tumbling=False,
)
CSPARQL = Preset(_CSPARQL, "C-SPARQL", report=_IF_NOT_EMPTY)
SPARQLSTREAM = Preset(_SSTREAM, "SPARQLstream", report=_IF_NOT_EMPTY)

PRESETS = {preset.dialect: preset for preset in (SPARQL, RSPQL, CQELS, CSPARQL, SPARQLSTREAM)}
