"""Query forms and solution modifiers as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weir.language.algebra import patterns as a
from weir.language.algebra.expressions import Expression
from weir.language.algebra.query import Ask, Construct, Describe, Query, Select
from weir.language.writing.patterns import PatternWriter
from weir.rdf.terms import Variable


@dataclass(frozen=True, slots=True)
class _Parts:
    """A query taken apart again: what each clause of its text holds."""

    where: a.Pattern
    extensions: tuple[tuple[Variable, Expression], ...]
    group: a.Group | None
    having: Expression | None
    values: a.Values | None
    order: tuple[a.OrderKey, ...]


def _taken_apart(pattern: a.Pattern, variables: Sequence[Variable] = ()) -> _Parts:
    """Inverse of ``ModifierParser.modified``; ``variables`` is what SELECT projects."""
    order: tuple[a.OrderKey, ...] = ()
    if isinstance(pattern, a.OrderBy):
        order, pattern = pattern.keys, pattern.pattern
    below: a.Pattern = pattern
    extensions: tuple[tuple[Variable, Expression], ...] = ()
    if isinstance(below, a.Extend):
        extensions, below = below.bindings, below.pattern
    values: a.Values | None = None
    having: Expression | None = None
    if isinstance(below, a.Join) and isinstance(below.right, a.Values):
        values, below = below.right, below.left
    if isinstance(below, a.Filter):
        having, below = below.condition, below.pattern
    if isinstance(below, a.Group):
        return _Parts(below.pattern, extensions, below, having, values, order)
    peeled, rest = _peeled(pattern, variables)
    return _Parts(rest, peeled, None, None, None, order)


def _peeled(
    pattern: a.Pattern, names: Sequence[Variable]
) -> tuple[tuple[tuple[Variable, Expression], ...], a.Pattern]:
    """The topmost assignments that can stand in a clause listing ``names`` in this order."""
    if not isinstance(pattern, a.Extend):
        return (), pattern
    places = {name: place for place, name in enumerate(names)}
    bindings, limit = pattern.bindings, len(names)
    kept = len(bindings)
    while kept and places.get(bindings[kept - 1][0], limit) < limit:
        kept -= 1
        limit = places[bindings[kept][0]]
    rest = a.Extend(pattern.pattern, bindings[:kept]) if kept else pattern.pattern
    return bindings[kept:], rest


class QueryWriter(PatternWriter):
    """Writes forms; the dataset's clauses come from the dialect."""

    def dataset(self) -> None:
        """FROM clauses and options, written between the form and WHERE."""

    def body(self, query: Query, operator: str) -> None:
        """The query form with its pattern; ``operator`` is RSTREAM and its like, or nothing."""
        pattern, form = query.pattern, query.form
        if isinstance(form, Select):
            self.select(pattern, keyword=f"SELECT{operator}", top=True)
            return
        match form:
            case Construct(template):
                self.line(f"CONSTRUCT{operator} {{")
                for triple in template:
                    self.line(f"  {self.terms.triple(triple)}")
                self.line("}")
            case Ask():
                self.line("ASK")
            case Describe(targets):
                self.line(f"DESCRIBE {' '.join(map(self.terms.node, targets)) or '*'}")
        self.dataset()
        self._clauses(_taken_apart(pattern.pattern if isinstance(pattern, a.Slice) else pattern), pattern)

    def select(self, pattern: a.Pattern, *, keyword: str = "SELECT", top: bool = False) -> None:
        whole = pattern
        if isinstance(pattern, a.Slice):
            pattern = pattern.pattern
        if isinstance(pattern, a.Distinct | a.Reduced):
            keyword += " DISTINCT" if isinstance(pattern, a.Distinct) else " REDUCED"
            pattern = pattern.pattern
        if not isinstance(pattern, a.Project):
            raise TypeError(f"a SELECT query ends in a projection, not {type(pattern).__name__}")
        parts = _taken_apart(pattern.pattern, pattern.variables)
        if parts.group is not None:
            self.aggregates.update(parts.group.aggregates)
        self.line(f"{keyword} {self._listed(pattern.variables, parts.extensions) or '*'}")
        if top:
            self.dataset()
        self._clauses(parts, whole)

    def _listed(
        self, variables: Sequence[Variable], bindings: tuple[tuple[Variable, Expression], ...]
    ) -> str:
        """Variables of SELECT or GROUP BY, with what is assigned to them; an internal one has no name."""
        assigned = {
            variable: f"({self.expression(value)}{'' if variable.internal else f' AS {variable}'})"
            for variable, value in bindings
        }
        return " ".join(assigned.get(variable, str(variable)) for variable in variables)

    def _clauses(self, parts: _Parts, bounds: a.Pattern) -> None:
        """What follows the dataset; ``bounds`` is the whole, which LIMIT and OFFSET may cut."""
        if parts.group is None:
            self.braces("WHERE", parts.where)
        else:
            self.aggregates.update(parts.group.aggregates)
            keys, where = _peeled(parts.where, parts.group.keys)
            self.braces("WHERE", where)
            if parts.group.keys:
                self.line(f"GROUP BY {self._listed(parts.group.keys, keys)}")
            if parts.having is not None:
                self.line(f"HAVING ({self.expression(parts.having)})")
        if parts.order:
            self.line(f"ORDER BY {' '.join(map(self._order, parts.order))}")
        if isinstance(bounds, a.Slice) and bounds.limit is not None:
            self.line(f"LIMIT {bounds.limit}")
        if isinstance(bounds, a.Slice) and bounds.offset:
            self.line(f"OFFSET {bounds.offset}")
        if parts.values is not None:
            self.values(parts.values)

    def _order(self, key: a.OrderKey) -> str:
        if isinstance(key.expression, Variable) and key.expression not in self.aggregates:
            plain = self.expression(key.expression)
            return f"DESC({plain})" if key.descending else plain
        return f"{'DESC' if key.descending else 'ASC'}({self.expression(key.expression)})"
