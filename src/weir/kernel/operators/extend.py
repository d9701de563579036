"""Extend: each solution with variables bound to the values of expressions. A row keeps its interval, or is
cut into pieces on which the value does not change.
"""

from __future__ import annotations

from collections.abc import Sequence

from weir.errors import EvaluationError
from weir.kernel.expressions import Compiled
from weir.kernel.operators.context import (
    _OCCURRENCE,
    Surroundings,
    _cut,
    _draw,
    _identified,
    _named,
    each_index,
)
from weir.kernel.operators.filter import Filter
from weir.kernel.operators.operator import Operator, Unary, informed
from weir.kernel.relations.matches import join
from weir.kernel.relations.relation import Relation
from weir.rdf.columns import Ids


def extend(relation: Relation, name: str, ids: Ids) -> Relation:
    """Each solution with ``name`` bound to its id, unbound where it is 0."""
    if name in relation.columns and relation.columns[name].any():
        raise EvaluationError(f"extend: ?{name} is already bound")
    return relation.having(name, ids, optional=not ids.all())


def extend_by(
    relation: Relation,
    bindings: Sequence[tuple[str, Compiled]],
    around: Surroundings,
    *,
    anonymous: bool = False,
) -> Relation:
    """A run of BINDs, in order: each solution with each variable bound to its value, unbound on error.

    The run matters to RAND and its like: all of it draws for the solution as it was before; ``anonymous``
    is for the keys of ORDER BY, where equal solutions draw alike.
    """
    names = relation.variables
    base = _named(names)
    if any(compiled.volatile for _, compiled in bindings):
        relation = each_index(relation) if anonymous else _identified(relation)
    for name, compiled in bindings:
        if compiled.volatile:
            ids = _draw(relation, compiled, base, around)
        elif compiled.plain:
            ids = compiled.ids(relation)
        else:
            relation = _cut(relation, compiled, around)
            ids = compiled.ids(relation)
            relation = relation.keep((*names, _OCCURRENCE))
        relation = extend(relation, name, ids)
        names = (*names, name)
    return relation.keep(names)


class Extend(Unary):
    """A run of BINDs, none of whose EXISTS parts looks at a variable that the run binds; ``anonymous`` for
    keys of ORDER BY."""

    def __init__(
        self, inner: Operator, bindings: Sequence[tuple[str, Filter]], *, anonymous: bool = False
    ) -> None:
        super().__init__(inner, (*inner.variables, *(name for name, _ in bindings)))
        self.bindings = tuple(bindings)
        self.anonymous = anonymous
        plain = all(check.steady for _, check in bindings)
        self.steady = inner.steady and plain
        self.linear = inner.linear and plain

    def run(self) -> Relation:
        return self._bound(self.inner.run(), self.bindings).keep(self.variables)

    def changes(self) -> Relation:
        return self._bound(self.inner.changes(), self.bindings).keep(self.variables)

    def _bound(self, rows: Relation, bindings: Sequence[tuple[str, Filter]]) -> Relation:
        for _, check in bindings:
            rows = check.marked(rows)
        compiled = [(name, check.compiled) for name, check in bindings]
        return extend_by(rows, compiled, bindings[0][1].around, anonymous=self.anonymous)

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self.inner.within(seed, key)
        for name, check in self.bindings:
            read = seed.variables if check.probes else check.compiled.variables
            known = informed(rows, seed, key, [each for each in read if each != name])
            rows = self._bound(known, [(name, check)]).keep([*rows.columns, name])
            if name in seed.columns:
                rows = join(rows, seed.keep([key, name]))
        return rows
