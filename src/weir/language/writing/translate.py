"""``translate``: a query in another dialect, or as a network of C-SPARQL queries (RSP-QL paper, section 4).

C-SPARQL merges all windows into the default graph. Where a query tells windows apart, each window's
pattern becomes a query of its own that registers a stream of its solutions, a blank node per solution
with one triple per variable; a last query joins the newest rows of those streams. A row stamped with a
close c lies in the next downstream window, so the network's results come one step later and are
otherwise the same, provided that it is registered without a default graph.
"""

from __future__ import annotations

from dataclasses import replace

from weir.errors import TranslationError
from weir.language.algebra import patterns as a
from weir.language.algebra.canonical import names_are_bound
from weir.language.algebra.expressions import Aggregation, Expression
from weir.language.algebra.fold import mapped, patterns
from weir.language.algebra.query import R2S, Construct, Dataset, Dialect, Previous, Query, Semantics
from weir.language.algebra.scope import visible
from weir.language.algebra.windows import Range, Report, WindowDeclaration
from weir.language.dialects import CSPARQL
from weir.language.frontend import dialect_named
from weir.language.writing.dialects import write
from weir.language.writing.windows import check_semantics
from weir.rdf.terms import IRI, Literal, Variable

COLUMN = "urn:weir:column:"
ROW = IRI("urn:weir:row")
_KIND = IRI("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_REPORT = Report(window_close=True, non_empty=True)


def translate(query: Query, dialect: str | Dialect) -> str | list[tuple[str, str]]:
    """The query's text in a dialect (raises ``weir.TranslationError`` with the missing feature).

    Where C-SPARQL cannot keep windows apart, the answer is the network of the RSP-QL paper's section 4:
    a list of (name, text), each query reading streams that those before it register.
    """
    target = dialect if isinstance(dialect, Dialect) else dialect_named(dialect) or query.dialect
    if target is Dialect.CSPARQL and needs_network(query):
        return network(query)
    return write(query, target)


def needs_network(query: Query) -> bool:
    """Whether the query tells at least two windows apart."""
    return sum(isinstance(pattern, a.Window) for pattern in patterns(query.pattern)) > 1


def network(query: Query) -> list[tuple[str, str]]:
    """The queries in the order of their registration (raises ``weir.TranslationError``)."""
    return [(_name(part, place), write(part, Dialect.CSPARQL)) for place, part in enumerate(_parts(query), 1)]


def _name(query: Query, place: int) -> str:
    return f"query{place}" if query.output is None else query.output


def _parts(query: Query) -> tuple[Query, ...]:
    """The network as queries: one per use of a window, then the one that joins them."""
    _check(query)
    windows = {window.name: window for window in query.dataset.windows}
    producers: list[Query] = []
    sources: list[WindowDeclaration] = []

    def produce(pattern: a.Pattern) -> a.Pattern:
        if not isinstance(pattern, a.Window):
            return mapped(pattern, produce)
        assert isinstance(pattern.name, IRI)
        place = len(producers) + 1
        window = windows[pattern.name.value]
        named = f"w{place}" if window.name.startswith(".") else window.name
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


def _refuse(feature: str, hint: str | None = None) -> TranslationError:
    return TranslationError(feature, CSPARQL.title, hint=hint)


def _check(query: Query) -> None:
    """Refuse what the network would not answer alike."""
    semantics = query.semantics
    if semantics != Semantics():
        raise _refuse(
            semantics.r2s.name
            if semantics.r2s is not R2S.RSTREAM
            else f"PREVIOUS {Previous.INSTANT.value}, EMIT AFTER or EMPTY over several windows"
        )
    if names_are_bound(query):
        raise _refuse("WINDOW with a variable")
    windows = query.dataset.windows
    for window in windows:
        if window.in_default or isinstance(window.stream, Variable):
            raise _refuse("a named window beside one in the default graph or on every stream")
        reported = replace(window.semantics, report=replace(window.semantics.report, non_empty=True))
        check_semantics(replace(window, semantics=reported), CSPARQL, None)
    steps = {window.kind.step for window in windows if isinstance(window.kind, Range)}
    step = next(iter(steps), None)
    if len(steps) != 1 or step is None or any(not _aligned(window, step) for window in windows):
        raise _refuse("windows whose closes do not fall together")
    if _reads_default(query.pattern) or query.dataset.default:
        raise _refuse("patterns on the default graph beside several windows")
    for pattern in patterns(query.pattern):
        if isinstance(pattern, a.Window) and any(isinstance(p, a.Graph) for p in patterns(pattern.pattern)):
            raise _refuse("GRAPH inside a window")
    missing = {window.name for window in windows} - _required(query.pattern, None)
    if missing:
        raise _refuse(f"a report when the window <{min(missing)}> is empty")


def _aligned(window: WindowDeclaration, step: int) -> bool:
    return isinstance(window.kind, Range) and window.kind.range % step == 0


def _producer(query: Query, window: WindowDeclaration, pattern: a.Pattern, stream: str) -> Query:
    row = Variable(".t0")
    template = [a.TriplePattern(row, IRI(COLUMN + v.name), v) for v in _columns(pattern)]
    if not _certain(pattern):
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
    certain = _certain(pattern)
    sure = [a.TriplePattern(row, IRI(COLUMN + v.name), v) for v in _columns(pattern) if v in certain]
    rows: a.Pattern = a.BGP(tuple(sure or [a.TriplePattern(row, _KIND, ROW)]))
    for variable in _columns(pattern):
        if variable not in certain:
            rows = a.LeftJoin(rows, a.BGP((a.TriplePattern(row, IRI(COLUMN + variable.name), variable),)))
    return rows


def _certain(pattern: a.Pattern) -> frozenset[Variable]:
    """Variables bound in every solution, internal ones left out."""
    match pattern:
        case a.BGP() | a.PathPattern():
            return frozenset(v for v in visible(pattern) if not v.internal)
        case a.Join(left, right):
            return _certain(left) | _certain(right)
        case a.Union(left, right):
            return _certain(left) & _certain(right)
        case a.LeftJoin(left, _) | a.Minus(left, _):
            return _certain(left)
        case a.Extend(inner, variable, expression):
            known = _certain(inner)
            return known | {variable} if _assigns(expression, inner, known) else known
        case a.Group(inner, keys, _):
            return _certain(inner) & frozenset(keys)
        case a.Project(inner, variables):
            return _certain(inner) & frozenset(variables)
        case a.Filter(_, inner) | a.OrderBy(inner) | a.Distinct(inner) | a.Reduced(inner) | a.Slice(inner):
            return _certain(inner)
    return frozenset()


def _assigns(expression: Expression, inner: a.Pattern, known: frozenset[Variable]) -> bool:
    """Whether an assignment cannot leave its variable unbound; a count never does."""
    if isinstance(expression, IRI | Literal):
        return True
    if not isinstance(expression, Variable):
        return False
    while isinstance(inner, a.Extend | a.Filter):
        inner = inner.pattern
    counts = inner.aggregates if isinstance(inner, a.Group) else ()
    counted = {variable for variable, found in counts if found.function is Aggregation.COUNT}
    return expression in known or expression in counted


def _reads_default(pattern: a.Pattern) -> bool:
    """Whether a triple pattern is matched against the default graph."""
    if isinstance(pattern, a.Graph | a.Window | a.Service):
        return False
    if isinstance(pattern, a.BGP | a.PathPattern):
        return pattern != a.BGP(())
    found = False

    def look(inner: a.Pattern) -> a.Pattern:
        nonlocal found
        found = found or _reads_default(inner)
        return inner

    mapped(pattern, look)
    return found


def _required(pattern: a.Pattern, window: str | None) -> frozenset[str]:
    """Windows without whose content the pattern has no solution."""
    match pattern:
        case a.BGP(triples):
            return frozenset({window} if triples and window is not None else ())
        case a.Window(IRI(name), inner):
            return _required(inner, name)
        case a.Join(left, right):
            return _required(left, window) | _required(right, window)
        case a.Union(left, right):
            return _required(left, window) & _required(right, window)
        case a.LeftJoin(left, _) | a.Minus(left, _):
            return _required(left, window)
        case a.Group(inner, keys, _):
            return _required(inner, window) if keys else frozenset()
        case a.Filter(_, inner):
            return _required(inner, window)
        case a.Extend(inner) | a.Project(inner) | a.OrderBy(inner) | a.Distinct(inner) | a.Reduced(inner):
            return _required(inner, window)
        case a.Slice(inner):
            return _required(inner, window)
    return frozenset()
