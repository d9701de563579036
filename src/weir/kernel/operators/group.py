"""GROUP BY and aggregates: a group's row is constant between the ends of its members' intervals.

The line of each group is cut at every start and end of its rows; each stretch with at least one row gives
one solution, and neighbouring stretches with equal outcomes are one row. Without keys there is always
one group: where no row is visible it yields the aggregates of nothing (18.5, section 11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions import ExpressionError, aggregate
from weir.kernel.operators.aggregates import compute, operand
from weir.kernel.relations.coverage import uncovered, unite
from weir.kernel.relations.keys import codes
from weir.kernel.relations.relation import Relation, union
from weir.kernel.relations.sweep import Sweep, changes
from weir.language.algebra.expressions import Aggregate, Aggregation
from weir.rdf.columns import Ids
from weir.rdf.ids.inline import Inline, make
from weir.rdf.terms import Literal, Term

_FEW = 6


@dataclass(frozen=True, slots=True)
class Measure:
    """``aggregate`` over the column ``operand`` (None for ``*``), to be bound to ``name``.

    The operand's expression is already evaluated: ``aggregate.operand`` itself is not looked at.
    """

    name: str
    aggregate: Aggregate
    operand: str | None = None


def group(
    relation: Relation, keys: Sequence[str], measures: Sequence[Measure], indices: int, terms: Terms
) -> Relation:
    """One solution per group and stretch of time, binding the keys and the measures."""
    if not len(relation):
        return _without_rows(relation, keys, measures, indices, terms)
    key_columns = [relation.columns[name] for name in keys if name in relation.columns]
    numbers, firsts = codes(key_columns, len(relation))
    if len(relation) <= _FEW:
        owner, start, end, results = _by_hand(relation, numbers, measures, terms)
    else:
        sweep = Sweep(numbers, relation.start, relation.end)
        first, last = sweep.ranges(numbers, relation.start, relation.end)
        alive = np.flatnonzero(sweep.counts(first, last))
        owner, start, end = sweep.intervals(alive)
        results = [_measure(sweep, numbers, relation, measure, terms)[alive] for measure in measures]
    new = changes(owner, start, end, results)
    if not new.all():
        heads = np.flatnonzero(new)
        tails = np.append(heads[1:], len(new)) - 1
        owner, start, end = owner[heads], start[heads], end[tails]
        results = [result[heads] for result in results]
    chosen = firsts[owner]
    columns: dict[str, Ids] = {}
    optional: set[str] = set()
    for name in keys:
        column = relation.columns.get(name)
        columns[name] = np.zeros(len(chosen), np.int64) if column is None else column[chosen]
        if column is None or name in relation.optional:
            optional.add(name)
    for measure, result in zip(measures, results, strict=True):
        columns[measure.name] = result
        if not result.all():
            optional.add(measure.name)
    grouped = Relation(columns, start, end, frozenset(optional))
    if keys:
        return grouped
    covered = unite(np.zeros(len(start), np.int64), start, end)
    empty = _nothing(measures, indices, terms)
    return union(grouped, empty.pieces(*uncovered(empty.start, empty.end, *covered)))


def _measure(sweep: Sweep, numbers: Ids, relation: Relation, measure: Measure, terms: Terms) -> Ids:
    spec = measure.aggregate
    if measure.operand is not None:
        ids = relation.columns[measure.operand]
    elif not spec.distinct:
        first, last = sweep.ranges(numbers, relation.start, relation.end)
        return make(Inline.INTEGER, sweep.counts(first, last))
    else:
        named = [column for name, column in relation.columns.items() if not name.startswith(".")]
        ids = codes(named, len(relation))[0] + 1
    values = operand(sweep, numbers, ids, relation.start, relation.end, distinct=spec.distinct)
    return compute(sweep, values, spec, terms)


def _by_hand(
    relation: Relation, numbers: Ids, measures: Sequence[Measure], terms: Terms
) -> tuple[Ids, Ids, Ids, list[Ids]]:
    """The same for a handful of rows, stretch by stretch with the scalar set functions."""
    rows = list(zip(numbers.tolist(), relation.start.tolist(), relation.end.tolist(), strict=True))
    operands = [_operand(relation, measure, terms) for measure in measures]
    pieces: list[tuple[int, int, int]] = []
    results: list[list[int]] = [[] for _ in measures]
    for number in range(max(numbers.tolist()) + 1):
        cuts = sorted({time for owner, start, end in rows if owner == number for time in (start, end)})
        for start, end in pairwise(cuts):
            here = [place for place, row in enumerate(rows) if row[0] == number and row[1] <= start < row[2]]
            if here:
                pieces.append((number, start, end))
                for measure, values, column in zip(measures, operands, results, strict=True):
                    column.append(_scalar(measure.aggregate, [values[place] for place in here], terms))
    table = np.array(pieces, np.int64)
    return table[:, 0], table[:, 1], table[:, 2], [np.array(column, np.int64) for column in results]


def _operand(relation: Relation, measure: Measure, terms: Terms) -> list[Term | None]:
    """The values of a few rows; for ``*`` one term for each distinct solution."""
    if measure.operand is not None:
        ids = relation.columns[measure.operand].tolist()
        return [terms.term(each) if each else None for each in ids]
    named = [column for name, column in relation.columns.items() if not name.startswith(".")]
    return [Literal(str(number)) for number in codes(named, len(relation))[0].tolist()]


def _scalar(spec: Aggregate, values: Sequence[Term | None], terms: Terms) -> int:
    try:
        return terms.encode(aggregate(spec, values))
    except ExpressionError:
        return 0


def _without_rows(
    relation: Relation, keys: Sequence[str], measures: Sequence[Measure], indices: int, terms: Terms
) -> Relation:
    if keys:
        return Relation.empty((*keys, *(measure.name for measure in measures)))
    return _nothing(measures, indices, terms)


def _nothing(measures: Sequence[Measure], indices: int, terms: Terms) -> Relation:
    """The one solution of the group that has no key and no member, visible always."""
    row = Relation.unit(indices)
    for measure in measures:
        row = row.having(
            measure.name,
            np.full(1, _scalar(measure.aggregate, [], terms), np.int64),
            optional=measure.aggregate.function in _NO_VALUE,
        )
    return row


_NO_VALUE = frozenset({Aggregation.MIN, Aggregation.MAX, Aggregation.SAMPLE})
