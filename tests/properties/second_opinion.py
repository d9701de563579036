"""What pyoxigraph says of one evaluation: the query without windows, over a store of what the windows held.

Every window and every graph becomes a graph of the store under a name of its own. ``GRAPH ?g`` and
``WINDOW ?w`` become the union over the names that there are, joined with the name (SPARQL 1.1, 18.5), so the
text that pyoxigraph parses and evaluates has constant names only.

Where pyoxigraph deviates from the specification, or its answer is one of several that the specification
allows, there is no opinion: ``NoOpinion`` says why, and the test counts the reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeAlias

import pyoxigraph as ox

from conformance.manifest import term
from conformance.results import numeric
from weir.kernel.reference.datasets import SDS
from weir.kernel.reference.query_forms import ANSWER
from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import walk
from weir.language.algebra.query import Ask, Query, Select
from weir.language.algebra.scope import visible
from weir.language.writing.dialects import write
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple, TripleTerm, Variable, triple_term
from weir.rdf.xsd.moments import civil_text
from weir.rdf.xsd.values import FALSE, TRUE

Solutions: TypeAlias = Counter[tuple[Term | None, ...]]
Names: TypeAlias = Mapping[Term, IRI]
"""The graphs of a dataset: the name in the store of each."""


class NoOpinion(Exception):
    """Why pyoxigraph is not asked."""


class Rewritten:
    """A query's pattern over the graphs of one store."""

    def __init__(self, sds: SDS, now: int) -> None:
        self.now = Literal(civil_text(now, 6) + "Z", XSD + "dateTime")
        self.store = ox.Store()
        self.sets = False
        """Whether a bag has equal triples, which are one in a graph of the store."""
        self.graphs = 0
        self._fill(ox.DefaultGraph(), sds.dataset.default.triples)
        self.static = {name: self._graph(graph.triples) for name, graph in sds.dataset.named.items()}
        self.windows = {
            name: self._graph(content.dataset.default.triples) for name, (content,) in sds.windows.items()
        }
        self.inside = {
            name: {each: self._graph(graph.triples) for each, graph in content.dataset.named.items()}
            for name, (content,) in sds.windows.items()
        }
        self.nameable = sds.nameable

    def _graph(self, triples: Iterable[Triple]) -> IRI:
        self.graphs += 1
        name = IRI(f"urn:x-graph:{self.graphs}")
        self.store.add_graph(ox.NamedNode(name.value))
        self._fill(ox.NamedNode(name.value), triples)
        return name

    def _fill(self, graph: Any, triples: Iterable[Triple]) -> None:
        held = list(triples)
        self.sets |= len(set(held)) < len(held)
        for triple in held:
            self.store.add(ox.Quad(*(_node(each) for each in triple), graph))

    def pattern(self, node: Any, names: Names) -> Any:
        """A pattern or expression where GRAPH sees ``names``."""
        match node:
            case a.Graph(IRI() as name, inner):
                return self._in(names.get(name), inner, names)
            case a.Graph(Variable() as variable, inner):
                return _any(self._named(variable, each, names[each], inner, names) for each in names)
            case a.Window(IRI(name), inner):
                return self._in(self.windows[name], inner, self.inside[name])
            case a.Window(Variable() as variable, inner):
                return _any(
                    self._named(variable, IRI(each), self.windows[each], inner, self.inside[each])
                    for each in self.nameable
                )
            case a.PathPattern(subject, path, target):
                _refuse_path(path, constant=not all(isinstance(end, Variable) for end in (subject, target)))
            case e.Exists(inner, _):
                # Its ends may stand for terms of the solution that is tested (18.6).
                for each in walk(inner):
                    if isinstance(each, a.PathPattern):
                        _refuse_path(each.path, constant=True)
            case a.Group(a.Extend(_, bindings), keys) if any(name in keys for name, _ in bindings):
                raise NoOpinion("pyoxigraph refuses some expressions in GROUP BY")
            case e.Compare(operator, left, right) if operator not in (e.Comparison.EQ, e.Comparison.NE):
                one, other = self.pattern(left, names), self.pattern(right, names)
                ordered = e.And(_has_order(one), _has_order(other))
                return e.If(ordered, e.Compare(operator, one, other), _ERROR)
            case Variable(name) if name.startswith(".b"):
                return Variable(f"blank{name[2:]}")
            case a.Slice():
                raise NoOpinion("LIMIT and OFFSET cut an order that SPARQL leaves open")
            case e.Aggregate(function) if function in _OPEN:
                raise NoOpinion(f"{function.value} depends on an order that SPARQL leaves open")
            case e.Aggregate(e.Aggregation.COUNT, operand) if not isinstance(operand, Variable | None):
                raise NoOpinion("COUNT leaves out errors (18.5.1.2), where pyoxigraph fails")
            case e.Call(e.Builtin.NOW):
                return self.now
            case e.Call(function) if function in e.VOLATILE:
                raise NoOpinion("RAND and its like are drawn")
        if isinstance(node, tuple):
            return tuple(self.pattern(item, names) for item in node)
        if is_dataclass(node) and not isinstance(node, type):
            changed = {f.name: self.pattern(getattr(node, f.name), names) for f in fields(node)}
            return type(node)(**changed)
        return node

    def _in(self, graph: IRI | None, inner: a.Pattern, names: Names) -> a.Pattern:
        return _NOTHING if graph is None else a.Graph(graph, self.pattern(inner, names))

    def _named(self, variable: Variable, name: Term, graph: IRI, inner: a.Pattern, names: Names) -> a.Pattern:
        assert isinstance(name, IRI)
        return a.Join(self._in(graph, inner, names), a.Values((variable,), ((name,),)))


def _refuse_path(path: a.Path, *, constant: bool) -> None:
    parts = list(walk(path))
    if any(isinstance(each, a.Alternative) for each in parts):
        raise NoOpinion("alternatives of a path are a union (18.4), of which pyoxigraph gives each pair once")
    if constant and any(isinstance(each, a.ZeroOrMore | a.ZeroOrOne) for each in parts):
        raise NoOpinion("a path of no length holds for any term (18.4), in pyoxigraph for those of the graph")


def _has_order(operand: e.Expression) -> e.Expression:
    """Only these values have an order (17.3): of others pyoxigraph finds that equal terms are equal."""
    kind = e.Call(e.Builtin.DATATYPE, (operand,))
    known = tuple(IRI(XSD + name) for name in ("string", "boolean", "dateTime"))
    return e.Or(e.Call(e.Builtin.ISNUMERIC, (operand,)), e.In(kind, known, False))


_ERROR = e.Negate(Literal(""))
_OPEN = (e.Aggregation.SAMPLE, e.Aggregation.GROUP_CONCAT)
_NOTHING = a.Values((), ())
_BASE = "http://base/"
"""Windows have relative names, which stand in no result of pyoxigraph's."""


def _any(patterns: Iterable[a.Pattern]) -> a.Pattern:
    found: a.Pattern | None = None
    for each in patterns:
        found = each if found is None else a.Union(found, each)
    return _NOTHING if found is None else found


def _node(each: Term) -> Any:
    match each:
        case IRI(value):
            return ox.NamedNode(value)
        case BlankNode(label):
            return ox.BlankNode(label)
        case Literal(lexical, _, str() as language, direction):
            toward = None if direction is None else ox.BaseDirection(direction)
            return ox.Literal(lexical, language=language, direction=toward)
        case TripleTerm(subject, predicate, target):
            return ox.Triple(_node(subject), _node(predicate), _node(target))
        case Literal(lexical, datatype):
            if numeric(each) != each:
                raise NoOpinion("a number that is not in canonical form: it keeps values, not terms")
            return ox.Literal(lexical, datatype=ox.NamedNode(datatype))


@dataclass(frozen=True)
class Opinion:
    """The solutions of a query's pattern, as values of the variables that have a name.

    LIMIT and OFFSET cut an order that SPARQL leaves open: ``cut`` are those of the query, and ``solutions``
    what they cut. Where equal triples of a bag became one, ``sets`` says that multiplicity means nothing.
    """

    names: tuple[str, ...]
    solutions: Solutions
    cut: tuple[int, int | None] | None = None
    sets: bool = False

    def agrees(self, found: Iterable[Mapping[str, Term]]) -> bool:
        """Whether solutions are what it says."""
        own = mine(self.names, found)
        if self.sets:
            return own.keys() == self.solutions.keys()
        if self.cut is None:
            return own == self.solutions
        offset, limit = self.cut
        rest = max(self.solutions.total() - offset, 0)
        return own <= self.solutions and own.total() == (rest if limit is None else min(limit, rest))


def opinion(query: Query, sds: SDS, now: int) -> Opinion:
    """What pyoxigraph says of the query over these graphs and windows."""
    rewritten = Rewritten(sds, now)
    whole, cut = query.pattern, None
    if isinstance(whole, a.Slice):
        whole, cut = whole.pattern, (whole.offset, whole.limit)
    if rewritten.sets and (cut or any(isinstance(each, a.Group) for each in walk(whole))):
        raise NoOpinion("groups and cuts of a bag with equal triples: its graphs are sets")
    pattern = rewritten.pattern(whole, rewritten.static)
    variables = tuple(each for each in dict.fromkeys(visible(query.pattern)) if not each.internal)
    if isinstance(query.form, Select):
        variables = query.form.variables
    else:
        pattern = a.Project(pattern, variables)
    text = write(Query(Select(variables), pattern))
    names = tuple(each.name for each in variables)
    found = _asked(rewritten.store, text)
    if isinstance(query.form, Ask):
        return Opinion((ANSWER,), Counter([(TRUE if found else FALSE,)]))
    solutions = Counter(tuple(_term(row, name) for name in names) for row in found)
    return Opinion(names, solutions, cut, rewritten.sets)


def _asked(store: ox.Store, text: str) -> list[Any]:
    try:
        return list(store.query(text, base_iri=_BASE))
    except RuntimeError as error:
        if "triple term that is not a valid" not in str(error):
            raise
        raise NoOpinion("a literal cannot be a triple term's subject, where pyoxigraph fails") from error


def _term(row: Any, name: str) -> Term | None:
    try:
        value = row[name]
    except KeyError:
        return None
    found = None if value is None else _settled(term(value))
    return IRI(found.value.removeprefix(_BASE)) if isinstance(found, IRI) else found


def _settled(found: Term | None) -> Term | None:
    """With numbers in canonical form, those inside triple terms among them."""
    if isinstance(found, TripleTerm):
        return triple_term(found.subject, found.predicate, _settled(found.object))
    return numeric(found)


def mine(names: tuple[str, ...], solutions: Iterable[Mapping[str, Term]]) -> Solutions:
    """Solutions in the same form."""
    return Counter(tuple(_settled(each.get(name)) for name in names) for each in solutions)
