"""What a dialect is: the features of the superset grammar that it has, and what it leaves unsaid.

A dialect file is a value of ``Preset``; nothing else in Weir asks which dialect a query came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from weir.language.algebra.query import R2S, Dialect, Previous
from weir.language.algebra.windows import Content, Report, Tick


class Feature(Enum):
    """What the stream dialects add to SPARQL 1.1; the value is how an error names it."""

    REGISTER_STREAM = "REGISTER STREAM"
    REGISTER_QUERY = "REGISTER QUERY"
    REGISTER_OUTPUT = "REGISTER without STREAM or QUERY"
    REGISTER_FIRST = "REGISTER before the prefixes"
    BARE_OUTPUT = "an output name that is no IRI"
    COMPUTED_EVERY = "COMPUTED EVERY"
    R2S_ON_FORM = "RSTREAM, ISTREAM or DSTREAM after SELECT or CONSTRUCT"
    FROM_WINDOW = "FROM WINDOW"
    FROM_STREAM = "FROM STREAM"
    FROM_NAMED_STREAM = "FROM NAMED STREAM"
    QUERY_OPTIONS = "PREVIOUS, EMIT AFTER"
    EMPTY = "EMPTY"
    WINDOW_PATTERN = "WINDOW in a pattern"
    STREAM_PATTERN = "STREAM in a pattern"
    BARE_AGGREGATE = "an aggregate without brackets in SELECT"
    RANGE = "[RANGE …]"
    TUMBLING = "TUMBLING"
    STEP = "STEP"
    SLIDE = "SLIDE"
    STEP_MESSAGE = "STEP MESSAGE"
    NOW = "[NOW]"
    ALL = "[ALL]"
    TRIPLES = "[TRIPLES n]"
    RANGE_TRIPLES = "[RANGE TRIPLES n]"
    ELEMENTS = "[ELEMENTS n]"
    COUNT_STEP = "STEP after TRIPLES or ELEMENTS"
    FROM_NOW = "[FROM NOW-… TO NOW-…]"
    NOW_MINUS = "[NOW - …]"
    WINDOW_OPTIONS = "an option in the window brackets"
    XSD_DURATION = "a duration such as PT10M"
    UNIT_DURATION = "a duration such as 10m"
    SPACED_DURATION = "a duration such as 10 MIN"
    BARE_DURATION = "a duration in bare milliseconds"


_AT_CLOSE = Report(window_close=True)
_BATCH = Tick()


@dataclass(frozen=True, slots=True)
class Preset:
    """``report`` applies to windows that close; the others report on content change
    (docs/semantics.md, "Dialects").

    ``tumbling`` says what a RANGE without STEP is: a tumbling window, or one that moves with every
    message. ``in_default`` says whether windows live in the default graph where the text does not.
    """

    dialect: Dialect
    title: str
    features: frozenset[Feature]
    r2s: R2S = R2S.RSTREAM
    report: Report = _AT_CLOSE
    tick: Tick = _BATCH
    content: Content = Content.GRAPH
    previous: Previous = Previous.EVALUATION
    tumbling: bool = True
