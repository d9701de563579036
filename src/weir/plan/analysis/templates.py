"""Queries of equal shape as one: a template with a table of constants.

The constants that stand as subject or object of a triple pattern, or on one side of a comparison in a
FILTER, become parameters, and variables are renamed in the order in which they occur. Queries that are equal
after that have one *shape* and differ in a row of constants. The template of a shape is an ordinary query
in which those rows are inline data beside a column that numbers the queries. Law: its answers with number n
are, but for that column, exactly the answers of query n alone. Where that would not hold the query is
refused, with the reason: it is then evaluated by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from weir.language.algebra import expressions as e
from weir.language.algebra import patterns as a
from weir.language.algebra.fold import rebuilt, walk
from weir.language.algebra.query import Query, Select, canonical
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term, TripleTerm, Variable

NUMBER = Variable(".query")
"""The column of a template's answers that holds the number of the query, an xsd:integer."""


class Refused(Exception):
    """Why a query has no template."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What queries of one template have in common: equal shapes make one template."""

    query: Query
    parameters: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Instance:
    """A query as its shape and row of constants; ``names`` are its own names of the shape's columns."""

    shape: Shape
    constants: tuple[Term, ...]
    names: tuple[tuple[str, str], ...]


def instance(query: Query) -> Instance | str:
    """The query as an instance of its shape, or why it has to be evaluated by itself."""
    try:
        if not isinstance(query.form, Select):
            raise Refused("not a SELECT")
        if query.semantics.report_empty:
            raise Refused("reports empty evaluations")
        plain = canonical(query)
        _check(plain.pattern)
        names = _Names()
        form, pattern = names.renamed(plain.form), names.renamed(plain.pattern)
        abstract = _Abstraction()
        pattern = abstract.pattern(pattern)
        shape = replace(plain, form=form, pattern=pattern, output=None, text="", warnings=())
        found = Shape(shape, tuple(abstract.variables))
        # Building it once shows whether it can be built.
        template(found, [(0, tuple(abstract.constants))])
    except Refused as refused:
        return str(refused)
    selected = [(names.known[v].name, v.name) for v in query.form.variables]
    return Instance(found, tuple(abstract.constants), tuple(selected))


def template(shape: Shape, rows: Sequence[tuple[int, tuple[Term, ...]]]) -> Query:
    """The query that answers for all ``rows``, (number, constants), at once.

    A shape without parameters is its own template: its queries are identical, and there is no number.
    """
    if not shape.parameters:
        return shape.query
    assert isinstance(shape.query.form, Select)
    carrier = _Carrier(shape.parameters, rows)
    return replace(
        shape.query,
        form=Select((*shape.query.form.variables, NUMBER)),
        pattern=carrier.carried(shape.query.pattern),
    )


def _check(pattern: a.Pattern) -> None:
    """Refuse what depends on who asks: on a query's identity, or on the names of its variables."""
    for node in walk(pattern):
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
                return a.BGP(
                    tuple(
                        replace(triple, subject=self._node(triple.subject), object=self._node(triple.object))
                        for triple in triples
                    )
                )
            case a.Filter(condition, inner):
                return a.Filter(self._condition(condition), self.pattern(inner))
            case a.Minus(left, right):
                return a.Minus(self.pattern(left), right)
            case a.Join(left, right) | a.Union(left, right):
                return type(pattern)(self.pattern(left), self.pattern(right))
            case a.LeftJoin(left, right, condition):
                return a.LeftJoin(self.pattern(left), self.pattern(right), condition)
            case a.PathPattern() | a.Values():
                return pattern
        return replace(pattern, pattern=self.pattern(pattern.pattern))

    def _node(self, node: a.Node) -> a.Node:
        return node if isinstance(node, Variable | a.TripleTermPattern) else self._parameter(node)

    def _condition(self, condition: e.Expression) -> e.Expression:
        match condition:
            case e.And(left, right) | e.Or(left, right):
                return type(condition)(self._condition(left), self._condition(right))
            case e.Not(operand):
                return e.Not(self._condition(operand))
            case e.Compare(operator, left, right):
                return e.Compare(operator, self._side(left), self._side(right))
        return condition

    def _side(self, side: e.Expression) -> e.Expression:
        return self._parameter(side) if isinstance(side, IRI | Literal | TripleTerm) else side

    def _parameter(self, constant: Term) -> Variable:
        self.variables.append(Variable(f".k{len(self.variables)}"))
        self.constants.append(constant)
        return self.variables[-1]


class _Carrier:
    """Makes patterns carry the number of the query in every solution.

    A part without parameters is the same for all queries; it stays as it is where what it is joined
    with carries the number.
    """

    def __init__(self, parameters: Sequence[Variable], rows: Sequence[tuple[int, tuple[Term, ...]]]) -> None:
        self._places = {variable: place for place, variable in enumerate(parameters)}
        self._rows = rows

    def carried(self, pattern: a.Pattern) -> a.Pattern:
        match pattern:
            case a.BGP() | a.PathPattern() | a.Values():
                return a.Join(self._table(self._needs(pattern)), pattern)
            case a.Join(left, right):
                if not self._needs(right):
                    return a.Join(self.carried(left), right)
                if not self._needs(left):
                    return a.Join(left, self.carried(right))
                return a.Join(self.carried(left), self.carried(right))
            case a.LeftJoin(left, right, condition):
                return a.LeftJoin(
                    self.carried(left), self.carried(right) if self._needs(right) else right, condition
                )
            case a.Filter(condition, inner):
                found = self.carried(inner)
                needs = self._needs(condition)
                return a.Filter(condition, a.Join(found, self._table(needs)) if needs else found)
            case a.Union(left, right):
                return a.Union(self.carried(left), self.carried(right))
            case a.Minus(left, right):
                return a.Minus(self.carried(left), right)
            case a.Group(inner, keys, aggregates):
                if not keys:
                    raise Refused("aggregates without GROUP BY")
                return a.Group(self.carried(inner), (NUMBER, *keys), aggregates)
            case a.Project(inner, variables):
                return a.Project(self.carried(inner), (*variables, NUMBER))
        return replace(pattern, pattern=self.carried(pattern.pattern))

    def _table(self, needs: Sequence[Variable]) -> a.Values:
        places = [self._places[variable] for variable in needs]
        return a.Values(
            (NUMBER, *needs),
            tuple(
                (Literal(str(number), XSD + "integer"), *(constants[place] for place in places))
                for number, constants in self._rows
            ),
        )

    def _needs(self, node: Any) -> tuple[Variable, ...]:
        """The parameters that a pattern or expression mentions."""
        mentioned = (part for part in walk(node) if isinstance(part, Variable) and part in self._places)
        return tuple(dict.fromkeys(mentioned))
