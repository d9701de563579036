"""Filter, EXISTS and Extend: the pieces of a row's interval in which a condition is true, or on which a value
does not change.

EXISTS holds while compatible rows of the inner pattern cover the row. ``inner`` is the inner pattern's
relation. Substituting the current solution into a pattern (SPARQL 18.6) is the same as joining with it
where every variable of the pattern is bound by each of its solutions: no OPTIONAL, MINUS, FILTER, BIND or
VALUES inside that sees an outer variable which its own group leaves unbound. Where it is not, the inner
pattern is evaluated *for* the outer rows: ``outer_rows`` numbers the distinct values of the variables
concerned, every leaf of the inner pattern is joined with them, and the number takes part in every operator
inside as one more shared column; ``exists`` is then asked with the inner relation's number column alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weir.kernel.expressions import Compiled
from weir.kernel.expressions.vector import FALSE_ID, TRUE_ID
from weir.kernel.operators.context import Surroundings, extend_by, filter_by
from weir.kernel.operators.operator import Operator, Unary, informed
from weir.kernel.relations.coverage import uncovered, unite
from weir.kernel.relations.keys import codes
from weir.kernel.relations.matches import join, matches
from weir.kernel.relations.relation import Relation, distinct, union
from weir.language.algebra.expressions import Not
from weir.rdf.columns import Ids
from weir.rdf.terms import Variable


def exists(relation: Relation, inner: Relation, *, negated: bool = False, sharing: bool = False) -> Relation:
    """What is visible of each row while ``[NOT] EXISTS`` holds for it; ``sharing`` as in ``matches``."""
    found = _coverage(relation, inner, sharing)
    return relation.pieces(*(uncovered(relation.start, relation.end, *found) if negated else unite(*found)))


def mark_exists(relation: Relation, inner: Relation, name: str, true: int, false: int) -> Relation:
    """The rows cut into pieces at which EXISTS holds or not, with the answer as the column ``name``."""
    found = unite(*_coverage(relation, inner))
    rest = uncovered(relation.start, relation.end, *found)
    holds, fails = relation.pieces(*found), relation.pieces(*rest)
    return union(
        holds.having(name, np.full(len(holds), true)), fails.having(name, np.full(len(fails), false))
    )


def outer_rows(relation: Relation, variables: Sequence[str], name: str) -> tuple[Relation, Relation]:
    """The relation with the number of each row's values of ``variables`` as the column ``name``,
    and the distinct values with their numbers, visible while any row has them."""
    kept = [variable for variable in variables if variable in relation.columns]
    numbers, firsts = codes([relation.columns[variable] for variable in kept], len(relation))
    pieces = unite(numbers, relation.start, relation.end)
    chosen = relation.keep(kept).pieces(firsts[pieces.owner], pieces.start, pieces.end)
    # Numbers count from 1: 0 would read as unbound.
    return relation.having(name, numbers + 1), chosen.having(name, pieces.owner + 1)


def _coverage(relation: Relation, inner: Relation, sharing: bool = False) -> tuple[Ids, Ids, Ids]:
    partners = distinct(inner.keep(relation.variables))
    found = matches(relation, partners, sharing=sharing, operator="minus" if sharing else "exists")
    return found.left, found.start, found.end


@dataclass(frozen=True, slots=True)
class Exists:
    """An EXISTS: ``outer`` are the variables to put into its plan, None where a join with them will do."""

    name: str
    plan: Operator
    outer: tuple[str, ...] | None

    def asked(self, relation: Relation) -> tuple[Relation, Relation]:
        """The relation and its partners, such that ``exists`` on the two answers."""
        if self.outer is None and not self.plan.flows:
            return relation, self.plan.run()
        names = self.outer
        if names is None:
            names = tuple(name for name in self.plan.variables if name in relation.columns)
        if not names:
            return relation, self.plan.run().keep(())
        key = f"{self.name}.row"
        numbered, seed = outer_rows(relation, names, key)
        return numbered, self.plan.within(seed, key).keep([key])


class Filter:
    """A condition: an expression whose EXISTS parts are decided by ``probes``, and which ``reads`` variables;
    ``steady`` if the same row always gets the same answer.

    ``anonymous`` is for OPTIONAL and ORDER BY, where equal solutions draw alike (RAND and its like).
    """

    def __init__(
        self,
        compiled: Compiled,
        probes: Sequence[Exists],
        around: Surroundings,
        reads: frozenset[str] = frozenset(),
        *,
        anonymous: bool = False,
    ) -> None:
        self.compiled = compiled
        self.reads = reads
        self.probes = tuple(probes)
        self.around = around
        self.anonymous = anonymous
        self.steady = compiled.plain and all(probe.plan.steady for probe in self.probes)
        expression = compiled.expression
        self._direct: tuple[Exists, bool] | None = None
        for probe in self.probes:
            if expression == Variable(probe.name):
                self._direct = (probe, False)
            elif expression == Not(Variable(probe.name)):
                self._direct = (probe, True)

    def keep(self, relation: Relation) -> Relation:
        """The rows, or pieces of them, for which the condition is true."""
        if not len(relation):
            return relation
        if not self.probes:
            return filter_by(relation, self.compiled, self.around, anonymous=self.anonymous)
        if self._direct is not None:
            probe, negated = self._direct
            asking, partners = probe.asked(relation)
            return exists(asking, partners, negated=negated).keep(relation.variables)
        marked = self.marked(relation)
        kept = filter_by(marked, self.compiled, self.around, anonymous=self.anonymous)
        return kept.keep(relation.variables)

    def marked(self, relation: Relation) -> Relation:
        """The rows cut where an EXISTS changes, with its answer as a column."""
        for probe in self.probes:
            names = (*relation.variables, probe.name)
            asking, partners = probe.asked(relation)
            relation = mark_exists(asking, partners, probe.name, TRUE_ID, FALSE_ID).keep(names)
        return relation


class Extend(Unary):
    """A run of BINDs, none of whose EXISTS parts looks at a variable that the run binds."""

    def __init__(self, inner: Operator, bindings: Sequence[tuple[str, Filter]]) -> None:
        super().__init__(inner, (*inner.variables, *(name for name, _ in bindings)))
        self.bindings = tuple(bindings)
        plain = all(check.steady for _, check in bindings)
        self.steady = inner.steady and plain
        self.linear = inner.linear and plain

    def _kept(self, rows: Relation) -> Relation:
        return self._bound(rows, self.bindings).keep(self.variables)

    def _bound(self, rows: Relation, bindings: Sequence[tuple[str, Filter]]) -> Relation:
        for _, check in bindings:
            rows = check.marked(rows)
        compiled = [(name, check.compiled) for name, check in bindings]
        _, check = bindings[0]
        return extend_by(rows, compiled, check.around, anonymous=check.anonymous)

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self.inner.within(seed, key)
        for name, check in self.bindings:
            read = seed.variables if check.probes else check.compiled.variables
            known = informed(rows, seed, key, [each for each in read if each != name])
            rows = self._bound(known, [(name, check)]).keep([*rows.columns, name])
            if name in seed.columns:
                rows = join(rows, seed.keep([key, name]))
        return rows
