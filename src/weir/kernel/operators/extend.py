"""Extend: each solution with variables bound to the values of expressions. A row keeps its interval, or is
cut into pieces on which the value does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
from weir.kernel.operators.operator import (
    Operator,
    Unary,
    informed,
)
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
    """A run of BINDs without EXISTS; ``anonymous`` for keys of ORDER BY."""

    def __init__(
        self,
        inner: Operator,
        bindings: Sequence[tuple[str, Compiled]],
        around: Callable[[], Surroundings],
        *,
        anonymous: bool = False,
    ) -> None:
        super().__init__(inner, (*inner.variables, *(name for name, _ in bindings)))
        self.bindings = tuple(bindings)
        self.around = around
        self.anonymous = anonymous
        self.linear = inner.linear and all(compiled.plain for _, compiled in bindings)

    @property
    def steady(self) -> bool:
        return self.inner.steady and all(compiled.plain for _, compiled in self.bindings)

    def run(self) -> Relation:
        return extend_by(self.inner.run(), self.bindings, self.around(), anonymous=self.anonymous)

    def changes(self) -> Relation:
        return extend_by(self.inner.changes(), self.bindings, self.around())

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self.inner.within(seed, key)
        for name, compiled in self.bindings:
            known = informed(rows, seed, key, compiled.variables)
            known = extend_by(known, [(name, compiled)], self.around())
            rows = known.keep([*rows.columns, name])
            if name in seed.columns:
                rows = join(rows, seed.keep([key, name]))
        return rows


class ExtendExists(Unary):
    """A run of BINDs with EXISTS parts, none of which looks at a variable that the run binds."""

    def __init__(self, inner: Operator, bindings: Sequence[tuple[str, Filter]]) -> None:
        super().__init__(inner, (*inner.variables, *(name for name, _ in bindings)))
        self.bindings = tuple(bindings)

    @property
    def steady(self) -> bool:
        return self.inner.steady and all(check.steady for _, check in self.bindings)

    def run(self) -> Relation:
        return self._marked(self.inner.run()).keep(self.variables)

    def _marked(self, rows: Relation) -> Relation:
        for _, check in self.bindings:
            rows = check.marked(rows)
        compiled = [(name, check.compiled) for name, check in self.bindings]
        return extend_by(rows, compiled, self.bindings[0][1].around())

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self.inner.within(seed, key)
        names = [name for name, _ in self.bindings]
        outer = [name for name in seed.columns if name not in names]
        known = informed(rows, seed, key, outer)
        found = self._marked(known).keep([*rows.columns, *names])
        fixed = [name for name in names if name in seed.columns]
        return join(found, seed.keep([key, *fixed])) if fixed else found
