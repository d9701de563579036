"""Queries of equal shape as one: a template with a table of constants.

The constants that stand as subject or object of a triple pattern, in the triples that a CONSTRUCT makes, or
beside an operator of an expression become parameters, and variables are renamed in the order in which they
occur. Queries that are equal after that have one *shape* and differ in a row of constants. The template of a
shape is an ordinary query that is joined with those rows and a column that numbers the queries; the rows are
data that it refers to (``plan.parameters``), so queries come and go while it stays. Law: its answers with
number n are, but for that column, exactly the answers of query n alone. Where that would not hold the query
is refused, with the reason: it is then evaluated by itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import rebuilt, walk
from weir.language.algebra.query import Construct, Query, Select, canonical
from weir.language.algebra.windows import TickKind
from weir.plan.parameters import ParameterTable
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, TripleTerm, Variable

NUMBER = Variable(".query")
"""The column of a template's answers that holds the number of the query, an xsd:integer."""


class Refused(Exception):
    """Why a query has no template."""


@dataclass(frozen=True, slots=True)
class Parameters(a.Values):
    """Inline data that is no part of the query: the columns of ``table`` at ``places``."""

    table: ParameterTable
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """What queries of one template have in common: equal shapes make one template."""

    query: Query
    parameters: tuple[Variable, ...]

    @property
    def key(self) -> str:
        """The same for equal shapes, in every process."""
        return digest(self)


def digest(node: object) -> str:
    """The same for equal nodes of the algebra, in every process."""
    return hashlib.blake2b(_spelt(node).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _spelt(node: Any) -> str:
    """Every type and value in a node, in the order of its fields."""
    if isinstance(node, tuple):
        return f"({','.join(map(_spelt, node))})"
    if isinstance(node, Enum):
        return f"{type(node).__name__}.{node.name}"
    if is_dataclass(node):
        inside = (_spelt(getattr(node, each.name)) for each in fields(node) if each.compare)
        return f"{type(node).__name__}({','.join(inside)})"
    return repr(node)


@dataclass(frozen=True, slots=True)
class Instance:
    """A query as its shape and row of constants; ``names`` are its own names of the shape's columns, none
    where it makes triples."""

    shape: Shape
    constants: tuple[Term, ...]
    names: tuple[tuple[str, str], ...] | None


def instance(query: Query) -> Instance | str:
    """The query as an instance of its shape, or why it has to be evaluated by itself."""
    try:
        plain = canonical(query)
        _check(plain)
        names = _Names()
        form, pattern = names.renamed(plain.form), names.renamed(plain.pattern)
        abstract = _Abstraction()
        pattern = abstract.pattern(pattern)
        if isinstance(form, Construct):
            form = abstract.construct(form)
        shape = replace(plain, form=form, pattern=pattern, output=None, text="", warnings=())
        found = Shape(shape, tuple(abstract.variables))
        # Building it once shows whether it can be built.
        template(found, ParameterTable(len(abstract.variables)))
    except Refused as refused:
        return str(refused)
    selected = None
    if isinstance(query.form, Select):
        selected = tuple((names.known[v].name, v.name) for v in query.form.variables)
    return Instance(found, tuple(abstract.constants), selected)


def template(shape: Shape, table: ParameterTable) -> Query:
    """The query that answers for all rows of ``table``, (number, constants), at once.

    A shape without parameters is its own template: its queries are identical, and there is no number.
    """
    if not shape.parameters:
        return shape.query
    carrier = _Carrier(shape.parameters, table)
    pattern, form = carrier.carried(shape.query.pattern), shape.query.form
    if isinstance(form, Construct):
        return replace(
            shape.query,
            form=Construct(form.template, (NUMBER,)),
            pattern=carrier.with_needs_of(form, pattern),
        )
    assert isinstance(form, Select)
    return replace(shape.query, form=Select((*form.variables, NUMBER)), pattern=pattern)


def _check(query: Query) -> None:
    """Refuse what depends on who asks: on a query's identity, or on the names of its variables."""
    if not isinstance(query.form, Select | Construct):
        raise Refused("neither a SELECT nor a CONSTRUCT")
    if query.semantics.report_empty:
        raise Refused("reports empty evaluations")
    if any(window.semantics.tick.kind is TickKind.TUPLE for window in query.dataset.windows):
        raise Refused("looked at message by message")
    if isinstance(query.form, Construct):
        for part in walk(query.form.template):
            if isinstance(part, BlankNode) or (isinstance(part, Variable) and part.internal):
                raise Refused("CONSTRUCT of blank nodes, which are seeded by the query")
    for node in walk(query.pattern):
        match node:
            case e.Call(function) if function in e.VOLATILE:
                raise Refused(f"{function.value}, which is seeded by the query")
            case a.OrderBy() | a.Slice():
                raise Refused("ORDER BY, LIMIT or OFFSET")
            case a.Service():
                raise Refused("SERVICE")


class _Names:
    """Variables in the order of first occurrence, as ``v0``, ``v1``, …; Weir's own keep their names."""

    def __init__(self) -> None:
        self.known: dict[Variable, Variable] = {}

    def renamed(self, node: Any) -> Any:
        if isinstance(node, Variable):
            if node.internal:
                return node
            return self.known.setdefault(node, Variable(f"v{len(self.known)}"))
        if isinstance(node, IRI | Literal | BlankNode | TripleTerm):
            return node
        return rebuilt(node, self.renamed)


class _Abstraction:
    """Replaces constants by parameters, numbered in the order of the pattern."""

    def __init__(self) -> None:
        self.variables: list[Variable] = []
        self.constants: list[Term] = []

    def pattern(self, pattern: a.Pattern) -> a.Pattern:
        match pattern:
            case a.BGP(triples):
                return a.BGP(tuple(self._triple(triple) for triple in triples))
            case a.Filter(condition, inner):
                return a.Filter(self._expression(condition), self.pattern(inner))
            case a.Extend(inner, bindings):
                inside = self.pattern(inner)
                return a.Extend(inside, tuple((v, self._side(value)) for v, value in bindings))
            case a.Minus(left, right):
                return a.Minus(self.pattern(left), right)
            case a.Join(left, right) | a.Union(left, right):
                return type(pattern)(self.pattern(left), self.pattern(right))
            case a.LeftJoin(left, right, condition):
                sides = self.pattern(left), self.pattern(right)
                return a.LeftJoin(*sides, None if condition is None else self._expression(condition))
            case a.PathPattern() | a.Values():
                return pattern
        return replace(pattern, pattern=self.pattern(pattern.pattern))

    def construct(self, form: Construct) -> Construct:
        """With parameters that are no internal variables, which would be blank nodes."""
        triples = []
        for each in form.template:
            ends = [self._node(node, "k") for node in (each.subject, each.object)]
            triples.append(replace(each, subject=ends[0], object=ends[1]))
        return Construct(tuple(triples))

    def _triple(self, triple: a.TriplePattern) -> a.TriplePattern:
        return replace(triple, subject=self._node(triple.subject), object=self._node(triple.object))

    def _node(self, node: a.Node, name: str = ".constant") -> a.Node:
        return node if isinstance(node, Variable | a.TripleTermPattern) else self._parameter(node, name)

    def _expression(self, expression: e.Expression) -> e.Expression:
        """With parameters for the constants beside operators. Those that functions are given, such as regular
        expressions, stay: they are prepared once."""
        match expression:
            case e.And(left, right) | e.Or(left, right):
                return type(expression)(self._expression(left), self._expression(right))
            case e.Not(operand):
                return e.Not(self._expression(operand))
            case e.Compare(operator, left, right):
                return e.Compare(operator, self._side(left), self._side(right))
            case e.Calculate(operator, left, right):
                return e.Calculate(operator, self._side(left), self._side(right))
        return expression

    def _side(self, side: e.Expression) -> e.Expression:
        constant = isinstance(side, IRI | Literal | TripleTerm)
        return self._parameter(side) if constant else self._expression(side)

    def _parameter(self, constant: Any, name: str = ".constant") -> Variable:
        self.variables.append(Variable(f"{name}{len(self.variables)}"))
        self.constants.append(constant)
        return self.variables[-1]


_NOTHING = {
    e.Aggregation.COUNT: Literal("0", XSD + "integer"),
    e.Aggregation.SUM: Literal("0", XSD + "integer"),
    e.Aggregation.AVG: Literal("0", XSD + "integer"),
    e.Aggregation.GROUP_CONCAT: Literal(""),
}
"""What aggregates give for no rows; the others are in error."""
_SOME = Variable(".some")


class _Carrier:
    """Makes patterns carry the number of the query in every solution.

    A part without parameters is the same for all queries; it stays as it is where what it is joined
    with carries the number.
    """

    def __init__(self, parameters: Sequence[Variable], table: ParameterTable) -> None:
        self._places = {variable: place for place, variable in enumerate(parameters, 1)}
        self._rows = table

    def carried(self, pattern: a.Pattern) -> a.Pattern:
        match pattern:
            case a.BGP() | a.PathPattern() | a.Values() | a.Window(_, a.BGP()) | a.Graph(_, a.BGP()):
                return a.Join(self._table(self._needs(pattern)), pattern)
            case a.Join(left, right):
                if not self._needs(right):
                    return a.Join(self.carried(left), right)
                if not self._needs(left):
                    return a.Join(left, self.carried(right))
                return a.Join(self.carried(left), self.carried(right))
            case a.LeftJoin(left, right, condition):
                optional = self.carried(right) if self._needs(right) else right
                if condition is not None:
                    optional = self.with_needs_of(condition, optional)
                return a.LeftJoin(self.carried(left), optional, condition)
            case a.Filter(condition, inner):
                if self._needs(condition) and not self._needs(inner):
                    return a.Filter(condition, self.with_needs_of(condition, inner))
                return a.Filter(condition, self.with_needs_of(condition, self.carried(inner)))
            case a.Extend(inner, bindings):
                return a.Extend(self.with_needs_of(bindings, self.carried(inner)), bindings)
            case a.Union(left, right):
                return a.Union(self.carried(left), self.carried(right))
            case a.Minus(left, right):
                return a.Minus(self.carried(left), right)
            case a.Group(inner, (), aggregates):
                return self._whole(inner, aggregates)
            case a.Group(inner, keys, aggregates):
                return a.Group(self.carried(inner), (NUMBER, *keys), aggregates)
            case a.Project(inner, variables):
                return a.Project(self.carried(inner), (*variables, NUMBER))
        return replace(pattern, pattern=self.carried(pattern.pattern))

    def with_needs_of(self, node: Any, pattern: a.Pattern) -> a.Pattern:
        """The pattern with the parameters that an expression or a form mentions."""
        needs = self._needs(node)
        return a.Join(pattern, self._table(needs)) if needs else pattern

    def _whole(self, inner: a.Pattern, aggregates: Sequence[tuple[Variable, e.Aggregate]]) -> a.Pattern:
        """Aggregates of everything: one solution for each query, also where it has no rows."""
        raw = {variable: Variable(f".all{place}") for place, (variable, _) in enumerate(aggregates)}
        named = tuple((raw[variable], aggregate) for variable, aggregate in aggregates)
        counted = (*named, (_SOME, e.Aggregate(e.Aggregation.COUNT)))
        found = a.LeftJoin(self._table(()), a.Group(self.carried(inner), (NUMBER,), counted), None)
        values: list[tuple[Variable, e.Expression]] = []
        for variable, aggregate in aggregates:
            nothing = (
                _NOTHING.get(aggregate.function) if isinstance(aggregate.function, e.Aggregation) else None
            )
            value: e.Expression = raw[variable]
            if nothing is not None:
                value = e.If(e.Bound(_SOME), value, nothing)
            values.append((variable, value))
        return a.Extend(found, tuple(values))

    def _table(self, needs: Sequence[Variable]) -> Parameters:
        places = (0, *(self._places[variable] for variable in needs))
        return Parameters((NUMBER, *needs), (), self._rows, places)

    def _needs(self, node: Any) -> tuple[Variable, ...]:
        """The parameters that a pattern or expression mentions."""
        mentioned = (part for part in walk(node) if isinstance(part, Variable) and part in self._places)
        return tuple(dict.fromkeys(mentioned))
