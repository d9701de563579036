"""All that a dialect cannot express of a query, each with the reason (RSP-QL paper, sections 3 and 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from weir.errors import TranslationError
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import patterns
from weir.language.algebra.query import R2S, Construct, Dialect, Previous, Query, Select, names_are_bound
from weir.language.algebra.windows import Report, WindowDeclaration, WindowSemantics
from weir.language.presets import PRESETS, Feature, Preset
from weir.language.writing.windows import bracket, report_text, tick_text
from weir.rdf.terms import IRI, Variable

_OPERATOR = {
    Dialect.SPARQL: "it is evaluated once and streams nothing",
    Dialect.RSPQL: "without SELECT, CONSTRUCT or REGISTER there is no place to name the operator",
    Dialect.CQELS: "it always streams what is new, ISTREAM (RSP-QL paper, section 4)",
    Dialect.CSPARQL: "it always streams the whole result, RSTREAM (RSP-QL paper, section 4)",
    Dialect.SPARQLSTREAM: "the operator stands after SELECT or CONSTRUCT alone",
}
_MERGED = "all its windows are merged into the default graph (RSP-QL paper, section 4)"
_IN_PLACE = (
    "a window is declared where it is used and has no name of its own, so its content cannot be part of "
    "the default graph (RSP-QL paper, section 4)"
)
_NO_OPTION = "it has no such option"
_WINDOW_OPTIONS = (
    (
        "start",
        "STARTING AT",
        "its engine decides when the first window opens (RSP-QL paper, section 3)",
    ),
    ("times_distinct", "TIMES DISTINCT", _NO_OPTION),
    ("lateness", "LATENESS", _NO_OPTION),
    ("ahead", "AHEAD", _NO_OPTION),
    ("bounds", "BOUNDS", _NO_OPTION),
)
_DEFAULT = WindowSemantics(Report())


class Obstacle(NamedTuple):
    """A feature that a dialect lacks, and why."""

    feature: str
    reason: str


def refuse(dialect: Dialect, found: Iterable[Obstacle]) -> None:
    """Raise ``TranslationError`` if anything was found; what several windows have in common counts once."""
    distinct = tuple(dict.fromkeys(found))
    if distinct:
        raise TranslationError(PRESETS[dialect].title, distinct)


def obstacles(query: Query, dialect: Dialect) -> Iterator[Obstacle]:
    """What keeps a query from being written in a dialect, in the order of its text."""
    yield from query_obstacles(query, dialect)
    windows = query.dataset.windows
    if dialect is Dialect.SPARQL:
        if windows:
            yield Obstacle("windows on streams", "it knows no streams")
        return
    if names_are_bound(query) and dialect is Dialect.CQELS:
        yield Obstacle("WINDOW with a variable", "its windows have no names that could be bound")
    uses = Counter(
        pattern.name
        for pattern in patterns(query.pattern)
        if isinstance(pattern, a.Window) and isinstance(pattern.name, IRI)
    )
    every = computed_every(query) if dialect is Dialect.CSPARQL else None
    for window in windows:
        yield from _place_obstacles(window, dialect, uses[IRI(window.name)])
        if dialect is not Dialect.RSPQL:
            yield from window_obstacles(window, PRESETS[dialect], every)


def computed_every(query: Query) -> int | None:
    """C-SPARQL's COMPUTED EVERY, which only a registered query has and all windows share."""
    periods = {window.semantics.report.periodic for window in query.dataset.windows}
    return periods.pop() if len(periods) == 1 and query.output is not None else None


def query_obstacles(query: Query, dialect: Dialect) -> Iterator[Obstacle]:
    """What stands outside the windows: REGISTER, the operator and the options of the query."""
    preset, semantics, windows = PRESETS[dialect], query.semantics, query.dataset.windows

    def has(feature: Feature) -> bool:
        return dialect in feature.dialects

    if query.output is not None and not has(Feature.REGISTER_STREAM):
        yield Obstacle("REGISTER", "its queries give their output no name")
    on_form = has(Feature.R2S_ON_FORM) and isinstance(query.form, Select | Construct)
    on_register = has(Feature.REGISTER_OUTPUT) and query.output is not None
    usual = preset.r2s if windows else R2S.RSTREAM
    if semantics.r2s is not usual and not on_form and not on_register:
        yield Obstacle(semantics.r2s.name, _OPERATOR[dialect])
    if not has(Feature.QUERY_OPTIONS):
        if semantics.previous is not (preset.previous if windows else Previous.EVALUATION):
            yield Obstacle(f"PREVIOUS {semantics.previous.value}", _NO_OPTION)
        if semantics.emit_after:
            yield Obstacle("EMIT AFTER", _NO_OPTION)
    if semantics.report_empty and not has(Feature.EMPTY):
        yield Obstacle("EMPTY", "an evaluation without results cannot be reported")


def _place_obstacles(window: WindowDeclaration, dialect: Dialect, uses: int) -> Iterator[Obstacle]:
    """Whether the window can be where it is: on its stream, in the default graph or with its patterns."""
    if isinstance(window.stream, Variable) and dialect is not Dialect.CQELS:
        yield Obstacle(
            f"a window on every registered stream (STREAM {window.stream})", "a window is on one stream"
        )
    if dialect in (Dialect.CSPARQL, Dialect.SPARQLSTREAM) and not window.in_default:
        yield Obstacle("patterns on a window of their own", _MERGED)
    if dialect is Dialect.CQELS and window.in_default:
        yield Obstacle("a window in the default graph", _IN_PLACE)
    elif dialect is Dialect.CQELS and uses != 1:
        times = "in two places" if uses else "nowhere"
        yield Obstacle(f"a window that is used {times}", "a window is declared where it is used")


def window_obstacles(window: WindowDeclaration, preset: Preset, every: int | None) -> Iterator[Obstacle]:
    """Kind and semantics that differ from what a dialect can write; it has no options."""
    semantics = window.semantics
    if bracket(window.kind, preset.dialect) is None:
        yield Obstacle(f"the window {bracket(window.kind, Dialect.RSPQL)}", "it has no such window")
    expected = preset.report_of(window.kind, every)
    if semantics.report != expected:
        yield Obstacle(
            f"REPORT {report_text(semantics.report)}",
            f"its windows always report {report_text(expected)} (RSP-QL paper, section 3)",
        )
    if semantics.content is not preset.content:
        yield Obstacle(
            f"CONTENT {semantics.content.value}", f"its windows are always a {preset.content.value.lower()}"
        )
    if semantics.tick != preset.tick:
        yield Obstacle(f"TICK {tick_text(semantics.tick)}", f"its tick is always {tick_text(preset.tick)}")
    for name, feature, reason in _WINDOW_OPTIONS:
        if getattr(semantics, name) != getattr(_DEFAULT, name):
            yield Obstacle(f"{feature} of a window", reason)
