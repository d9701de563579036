"""What a query wants of its streams: the triples its patterns can match, and the texts it may need.

Both are upper bounds: a triple too many costs time, one too few an answer. Where a query can look at
everything (DESCRIBE, paths of length zero, ``f:timestamp``), it wants everything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import parts, path_predicates, walk
from weir.language.algebra.query import Construct, Describe, Query, Select
from weir.language.algebra.scope import ITSELF, may_be_empty, required
from weir.language.algebra.windows import Triples, WindowDeclaration
from weir.rdf.terms import IRI, Term, Variable


@dataclass(frozen=True, slots=True)
class Wanted:
    """A triple pattern on a stream: constants, None for anything; ``texts`` marks the places (subject,
    predicate, object, graph) whose terms may have to be written out. With ``names`` it asks for the names of
    graphs: any one triple of each named graph (or of ``graph``) in each message will do."""

    subject: Term | None = None
    predicate: Term | None = None
    object: Term | None = None
    graph: Term | None = None
    texts: tuple[bool, bool, bool, bool] = (True, True, True, True)
    names: bool = False


@dataclass(frozen=True, slots=True)
class _Scope:
    """The windows whose content is the active graph, and the graph within them.

    ``fixed`` are variables that a filter above holds to one IRI: no solution comes of a triple that gives
    them another value. Only ``inside`` ``WINDOW`` are the graphs of messages seen."""

    windows: tuple[WindowDeclaration, ...]
    graph: Term | Variable | None = None
    fixed: Mapping[Variable, Term] = field(default_factory=dict)
    inside: bool = False


def demands(
    query: Query, streams: Iterable[str], *, every_text: bool = False
) -> dict[str, tuple[Wanted, ...]]:
    """The patterns wanted of each stream that the query reads.

    ``streams`` are the registered ones, over which a variable stream ranges. ``every_text`` is for an
    evaluator that works on terms instead of ids.
    """
    registered = tuple(streams)
    found: dict[str, dict[Wanted, None]] = {
        stream: {} for window in query.dataset.windows for stream in streams_of(window, registered)
    }
    lean = None if every_text else written_variables(query)
    if isinstance(query.form, Describe) or _calls_timestamp(query.pattern):
        return {stream: (Wanted(),) for stream in found}
    for window, wanted in _walk(query.pattern, _Scope(query.dataset.default_windows), query, lean):
        if every_text:
            wanted = replace(wanted, texts=Wanted().texts)
        for stream in streams_of(window, registered):
            found[stream][wanted] = None
    return {stream: tuple(wanted) for stream, wanted in found.items()}


def streams_of(window: WindowDeclaration, registered: Iterable[str]) -> tuple[str, ...]:
    """The streams of a window: its own, or all registered ones."""
    return tuple(registered) if isinstance(window.stream, Variable) else (window.stream,)


def written_variables(query: Query) -> frozenset[Variable] | None:
    """The variables whose terms results, expressions or endpoints may need; None for all.

    The rest only take part in joins, where ids are enough.
    """
    needed: set[Variable] = set()
    match query.form:
        case Select(variables):
            needed.update(variables)
        case Construct(template):
            needed.update(node for node in walk(template) if isinstance(node, Variable))
            if any(variable.internal for variable in needed):
                return None
        case Describe():
            return None
    for node in walk(query.pattern):
        read: object = None
        match node:
            case a.Slice() | a.OrderBy():
                return None
            case e.Call(function) if function in e.VOLATILE:
                return None
            case a.Service(name, pattern):
                read = name, pattern
            case a.Filter(condition, _) | a.LeftJoin(_, _, condition):
                read = condition
            case a.Extend(_, bindings):
                read = tuple(expression for _, expression in bindings)
            case e.Aggregate() | a.TripleTermPattern():
                read = node
        needed.update(part for part in walk(read) if isinstance(part, Variable))
    return frozenset(needed)


def _walk(
    pattern: Any, scope: _Scope, query: Query, lean: frozenset[Variable] | None
) -> Iterator[tuple[WindowDeclaration, Wanted]]:
    """Every triple pattern with each window that is its active graph."""
    match pattern:
        case a.BGP(triples):
            for triple in triples:
                s, p, o, g = (_place(node, scope, lean) for node in (*triple.nodes, scope.graph))
                wanted = Wanted(s[0], p[0], o[0], g[0], (s[1], p[1], o[1], g[1]))
                yield from ((window, wanted) for window in scope.windows)
        case a.PathPattern(_, path, _):
            # A path that may be empty holds between any node and itself.
            for predicate in (None,) if may_be_empty(path) else path_predicates(path) or (None,):
                everything = Wanted(predicate=predicate, graph=a.constant(scope.graph))
                yield from ((window, everything) for window in scope.windows)
        case a.Window(name, inner):
            if isinstance(name, Variable):
                chosen = query.dataset.named_windows
            else:
                chosen = tuple(w for w in query.dataset.windows if w.name == name.value)
            yield from _walk(inner, _Scope(chosen, fixed=scope.fixed, inside=True), query, lean)
        case a.Graph(name, inner):
            within = replace(scope, graph=name) if scope.inside else _Scope(())
            if ITSELF not in required(inner, ITSELF):
                yield from _names(within, lean)
            yield from _walk(inner, within, query, lean)
        case a.Service():
            return
        case a.Filter(condition, inner):
            yield from _walk(condition, replace(scope, fixed={}), query, lean)
            held = {**scope.fixed, **dict(_equalities(condition))}
            yield from _walk(inner, replace(scope, fixed=held), query, lean)
        case a.Join(left, right) | a.Union(left, right):
            yield from _walk(left, scope, query, lean)
            yield from _walk(right, scope, query, lean)
        case a.Project(inner, variables):
            held = {name: term for name, term in scope.fixed.items() if name in variables}
            yield from _walk(inner, replace(scope, fixed=held), query, lean)
        case _:
            for child in parts(pattern):
                yield from _walk(child, replace(scope, fixed={}), query, lean)


def _names(scope: _Scope, lean: frozenset[Variable] | None) -> Iterator[tuple[WindowDeclaration, Wanted]]:
    """The names of the graphs of a scope. A window that counts triples may show any of a message without the
    others, so it wants all."""
    name, text = _place(scope.graph, scope, lean)
    for window in scope.windows:
        counts = isinstance(window.kind, Triples)
        yield window, Wanted(graph=name, texts=(False, False, False, text), names=not counts)


def _equalities(condition: Any) -> Iterator[tuple[Variable, IRI]]:
    """What a condition holds variables to; only an IRI is equal to nothing but itself."""
    match condition:
        case e.And(left, right):
            yield from _equalities(left)
            yield from _equalities(right)
        case e.Compare(e.Comparison.EQ, Variable() as name, IRI() as term):
            yield name, term
        case e.Compare(e.Comparison.EQ, IRI() as term, Variable() as name):
            yield name, term


def _place(node: a.Node | None, scope: _Scope, lean: frozenset[Variable] | None) -> tuple[Term | None, bool]:
    """The constant at one place of a pattern, None for anything, and whether its text may be needed."""
    if isinstance(node, Variable):
        return scope.fixed.get(node), lean is None or node in lean
    return a.constant(node), isinstance(node, a.TripleTermPattern)


def _calls_timestamp(pattern: a.Pattern) -> bool:
    return any(isinstance(n, e.FunctionCall) and n.function.value == e.TIMESTAMP for n in walk(pattern))


@dataclass(frozen=True, slots=True)
class Reading:
    """How a query reads one stream: with the largest lateness of its windows there, and the least AHEAD;
    ``distinct`` says that one of them promises strictly increasing times."""

    stream: str
    lateness: int
    ahead: int
    distinct: bool = False
    windows: tuple[WindowDeclaration, ...] = field(compare=False, default=())


def readings(query: Query, streams: Iterable[str]) -> tuple[Reading, ...]:
    """One reading per stream of the query, in the order of declaration."""
    registered = tuple(streams)
    by_stream: dict[str, list[WindowDeclaration]] = {}
    for window in query.dataset.windows:
        for stream in streams_of(window, registered):
            by_stream.setdefault(stream, []).append(window)
    return tuple(
        Reading(
            stream,
            max(w.semantics.lateness for w in windows),
            min(w.semantics.ahead for w in windows),
            any(w.semantics.times_distinct for w in windows),
            tuple(windows),
        )
        for stream, windows in by_stream.items()
    )
