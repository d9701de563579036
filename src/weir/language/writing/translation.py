"""``translate``: a query in another dialect, or as a network of C-SPARQL queries (RSP-QL paper, section 4).

C-SPARQL merges all windows into the default graph. Where a query tells windows apart, each window's
pattern becomes a query of its own that registers a stream of its solutions, a blank node per solution
with one triple per variable; a last query joins the newest rows of those streams. A row stamped with a
close c lies in the next downstream window, so the network's results come one step later and are
otherwise the same, provided that it is registered without a default graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weir.language.algebra import patterns as a
from weir.language.algebra.fold import mapped, patterns, walk
from weir.language.algebra.query import (
    Construct,
    Dataset,
    Dialect,
    Query,
    Semantics,
    names_are_bound,
)
from weir.language.algebra.scope import certain, required, visible
from weir.language.algebra.windows import Range, Report, WindowDeclaration
from weir.language.frontend import dialect_named
from weir.language.presets import CSPARQL
from weir.language.writing.dialects import write
from weir.language.writing.obstacles import Obstacle, query_obstacles, refuse, window_obstacles
from weir.language.writing.windows import report_text
from weir.rdf.terms import IRI, Variable

COLUMN = "urn:weir:column:"
ROW = IRI("urn:weir:row")
_KIND = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_REPORT = Report(window_close=True, non_empty=True)


def translate(query: Query, dialect: str | Dialect) -> str | list[tuple[str, str]]:
    """The query's text in a dialect (raises ``weir.TranslationError`` with all that is missing).

    Where C-SPARQL cannot keep windows apart, the answer is the network of the RSP-QL paper's section 4:
    a list of (name, text), each query reading streams that those before it register.
    """
    target = dialect if isinstance(dialect, Dialect) else dialect_named(dialect) or query.dialect
    if target is Dialect.CSPARQL and len(_uses(query)) > 1:
        return network(query)
    return write(query, target)


def network(query: Query) -> list[tuple[str, str]]:
    """The queries in the order of their registration (raises ``weir.TranslationError``)."""
    return [
        (f"query{place}" if part.output is None else part.output, write(part, Dialect.CSPARQL))
        for place, part in enumerate(_parts(query), 1)
    ]


def _parts(query: Query) -> tuple[Query, ...]:
    """The network as queries: one per use of a window, then the one that joins them."""
    refuse(Dialect.CSPARQL, _obstacles(query))
    windows = {window.name: window for window in query.dataset.windows}
    producers: list[Query] = []
    sources: list[WindowDeclaration] = []

    def produce(pattern: a.Pattern) -> a.Pattern:
        if not isinstance(pattern, a.Window):
            return mapped(pattern, produce)
        assert isinstance(pattern.name, IRI)
        place = len(producers) + 1
        window = windows[pattern.name.value]
        named = f"w{place}" if window.unnamed else window.name
        taken = {producer.output for producer in producers} | {query.output, window.stream}
        stream = f"{named}Stream"
        while stream in taken:
            stream += "_"
        producers.append(_producer(query, window, pattern.pattern, stream))
        sources.append(_source(window, stream, place))
        return _rows(pattern.pattern, Variable(f"row{place}"))

    joined = produce(query.pattern)
    dataset = replace(query.dataset, windows=tuple(sources))
    return (*producers, replace(query, pattern=joined, dataset=dataset, dialect=Dialect.CSPARQL))


def _obstacles(query: Query) -> Iterator[Obstacle]:
    """What the network would not answer alike."""
    yield from query_obstacles(query, Dialect.CSPARQL)
    if query.semantics.report_empty:
        yield Obstacle("EMPTY over several windows", "a query of the network is silent about an empty window")
    if names_are_bound(query):
        yield Obstacle("WINDOW with a variable", "its windows have no names that could be bound")
    windows = query.dataset.windows
    for window in windows:
        if window.in_default or isinstance(window.stream, Variable):
            yield Obstacle(
                "a named window beside one in the default graph or on every stream",
                "each window becomes a query of its own, on one stream",
            )
        own = CSPARQL.report_of(window.kind)
        if replace(window.semantics.report, non_empty=True) == own:
            # Joined with the others, an empty window tells nothing either way.
            window = replace(window, semantics=replace(window.semantics, report=own))
        yield from window_obstacles(window, CSPARQL, None)
    steps = {window.kind.step for window in windows if isinstance(window.kind, Range)}
    step = next(iter(steps), None)
    if len(steps) != 1 or step is None or any(not _aligned(window, step) for window in windows):
        yield Obstacle(
            "windows whose closes do not fall together", "the last query joins what was counted at one close"
        )
    if _reads_default(query.pattern) or query.dataset.default:
        yield Obstacle(
            "patterns on the default graph beside several windows", "the network's streams are merged into it"
        )
    if any(isinstance(inner, a.Graph) for window in _uses(query) for inner in patterns(window.pattern)):
        yield Obstacle("GRAPH inside a window", "all its windows are merged into the default graph")
    missing = {window.name for window in windows} - required(query.pattern)
    if missing:
        yield Obstacle(
            f"a report when the window <{min(missing)}> is empty",
            f"its windows always report {report_text(_REPORT)} (RSP-QL paper, section 3)",
        )


def _uses(query: Query) -> list[a.Window]:
    return [pattern for pattern in patterns(query.pattern) if isinstance(pattern, a.Window)]


def _aligned(window: WindowDeclaration, step: int) -> bool:
    return isinstance(window.kind, Range) and window.kind.range % step == 0


def _producer(query: Query, window: WindowDeclaration, pattern: a.Pattern, stream: str) -> Query:
    row = Variable(".t0")
    template = [a.TriplePattern(row, IRI(COLUMN + v.name), v) for v in _columns(pattern)]
    if not any(variable.name in certain(pattern) for variable in _columns(pattern)):
        template.insert(0, a.TriplePattern(row, _KIND, ROW))
    own = replace(window, name=".1", in_default=True, semantics=replace(window.semantics, report=_REPORT))
    return Query(
        Construct(tuple(template)),
        pattern,
        Dataset(windows=(own,)),
        Semantics(),
        stream,
        Dialect.CSPARQL,
        query.text,
    )


def _source(window: WindowDeclaration, stream: str, place: int) -> WindowDeclaration:
    assert isinstance(window.kind, Range) and window.kind.step is not None
    step = window.kind.step
    semantics = replace(window.semantics, report=_REPORT)
    return WindowDeclaration(f".{place}", stream, Range(step, step), semantics, True)


def _columns(pattern: a.Pattern) -> tuple[Variable, ...]:
    return tuple(variable for variable in visible(pattern) if not variable.internal)


def _rows(pattern: a.Pattern, row: Variable) -> a.Pattern:
    """The solutions of ``pattern`` read back from the stream of its query."""
    cells = {v.name: a.TriplePattern(row, IRI(COLUMN + v.name), v) for v in _columns(pattern)}
    sure = certain(pattern)
    full = [cell for name, cell in cells.items() if name in sure]
    rows: a.Pattern = a.BGP(tuple(full or [a.TriplePattern(row, _KIND, ROW)]))
    for name, cell in cells.items():
        if name not in sure:
            rows = a.LeftJoin(rows, a.BGP((cell,)))
    return rows


def _reads_default(pattern: a.Pattern) -> bool:
    """Whether a triple pattern is matched against the default graph."""
    elsewhere = (a.Graph, a.Window, a.Service)
    return any(isinstance(node, a.TriplePattern | a.PathPattern) for node in walk(pattern, closed=elsewhere))
