"""Group: a group's row is constant between the ends of its members' intervals.

The line of each group is cut at every start and end of its rows; each stretch with at least one row gives
one solution, and neighbouring stretches with equal outcomes are one row. Without keys there is always
one group: where no row is visible it yields the aggregates of nothing (SPARQL 18.5, section 11).

The set functions of 18.5.1 run on every segment of a sweep at once. An operand is a column of ids, 0 being an
error. COUNT and SAMPLE skip errors; any other aggregate is an error (0) wherever one takes part (decision
semantics-values, 5 to 8). DISTINCT unites the intervals of a group's equal terms before anything is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import DecimalException
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.kernel.expressions.ranks import extreme_order, sample_order
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions import ExpressionError, aggregate
from weir.kernel.functions.builtins import str_
from weir.kernel.functions.set_functions import joined
from weir.kernel.operators.filter import exists
from weir.kernel.operators.inputs.input import Present
from weir.kernel.operators.inputs.window_input import WindowInput
from weir.kernel.operators.operator import Operator, Unary
from weir.kernel.operators.running_totals import Groups, Makers, Values, has_totals
from weir.kernel.operators.staged_sums import parts_of_sums, sums_of_parts
from weir.kernel.operators.sums import sums
from weir.kernel.relations.coverage import Operand, Sweep, changes, uncovered, unite
from weir.kernel.relations.keys import codes
from weir.kernel.relations.matches import join
from weir.kernel.relations.relation import Relation, union
from weir.language.algebra.expressions import Aggregate, Aggregation, StagedSum
from weir.rdf.columns import Ids
from weir.rdf.ids.inline import Inline, make
from weir.rdf.terms import Literal, Term

_NO_VALUE = frozenset({Aggregation.MIN, Aggregation.MAX, Aggregation.SAMPLE})

FEW_INSTANTS = 8
"""For so many at a time totals are kept; more of them are one sweep."""

_MOST_CHANGES, _MOST_ROWS = 256, 1 << 17
"""Rows that come and go, and rows there are, for which totals pay."""


def operand(sweep: Sweep, group: Ids, ids: Ids, start: Ids, end: Ids, *, distinct: bool) -> Operand:
    """Values of rows, each once at a time in its group if ``distinct``."""
    if distinct and len(ids) > 1:
        numbers, firsts = codes((group, ids), len(ids))
        if len(firsts) < len(ids):
            owner, start, end = unite(numbers, start, end)
            group, ids = group[firsts][owner], ids[firsts][owner]
    return Operand(ids, *sweep.ranges(group, start, end))


def compute(sweep: Sweep, values: Operand, spec: Aggregate, terms: Terms) -> Ids:
    """The aggregate's id in each segment, 0 for an error; only segments with rows mean anything."""
    match spec.function:
        case Aggregation.COUNT:
            bound = values.where(values.ids != 0)
            return make(Inline.INTEGER, sweep.counts(bound.first, bound.last))
        case Aggregation.SAMPLE:
            return _least(sweep, values.where(values.ids != 0), sample_order, terms)
    failed = values.ids == 0
    broken = sweep.counts(values.first[failed], values.last[failed]) > 0 if failed.any() else None
    match spec.function:
        case Aggregation.SUM | Aggregation.AVG:
            summed = sums(sweep, values, terms, average=spec.function is Aggregation.AVG)
            out = _each_segment(sweep, values, spec, terms) if summed is None else summed
        case Aggregation.MIN:
            out = _least(sweep, values, partial(extreme_order, greatest=False), terms)
        case Aggregation.MAX:
            out = _least(sweep, values, partial(extreme_order, greatest=True), terms)
        case Aggregation.GROUP_CONCAT:
            out = _concatenate(sweep, values, spec.separator, terms)
        case StagedSum.PART | StagedSum.WHOLE:
            staged = parts_of_sums if spec.function is StagedSum.PART else sums_of_parts
            summed = staged(sweep, values, terms)
            out = _each_segment(sweep, values, spec, terms) if summed is None else summed
    return out if broken is None else np.where(broken, 0, out)


def _least(
    sweep: Sweep, values: Operand, ordering: Callable[[Ids, Terms], tuple[Ids, Ids]], terms: Terms
) -> Ids:
    if not len(values.ids):
        return np.zeros(sweep.segments, np.int64)
    ranks, by_rank = ordering(values.ids, terms)
    least = sweep.least(values.first, values.last, ranks, len(by_rank))
    return np.append(by_rank, 0)[least]


def _concatenate(sweep: Sweep, values: Operand, separator: str, terms: Terms) -> Ids:
    """GROUP_CONCAT: rows are put in canonical order once, so each segment's come sorted."""
    ranks, by_rank = sample_order(values.ids, terms)
    texts = np.array([_text(identifier, terms) for identifier in by_rank.tolist()], object)
    order = np.argsort(ranks, kind="stable")
    ranks, first, last = ranks[order], values.first[order], values.last[order]
    distinct: dict[str, int] = {}
    place = np.full(sweep.segments, -1, np.int64)
    for where, words in _bags(sweep, first, last, texts[ranks]):
        if None not in words:
            with suppress(ExpressionError):
                place[where] = distinct.setdefault(joined(words, separator), len(distinct))
    ids = terms.encode_all([*map(Literal, distinct), None])
    return ids[place]


def _text(identifier: int, terms: Terms) -> str | None:
    """STR of a term, None for an error."""
    try:
        return str_(terms.term(identifier)).lexical if identifier else None
    except ExpressionError:
        return None


def _each_segment(sweep: Sweep, values: Operand, spec: Aggregate, terms: Terms) -> Ids:
    """The scalar way: the bag of each segment in turn, computed once per distinct bag."""
    out = np.zeros(sweep.segments, np.int64)
    known: dict[tuple[int, ...], int] = {}
    plain = Aggregate(spec.function, spec.operand, separator=spec.separator)
    by_id = np.argsort(values.ids, kind="stable")
    for where, ids in _bags(sweep, values.first[by_id], values.last[by_id], values.ids[by_id]):
        bag = tuple(ids)
        found = known.get(bag)
        if found is None:
            values_of = [terms.term(each) if each else None for each in bag]
            found = known[bag] = _aggregate_of(plain, values_of, terms)
        out[where] = found
    return out


def _bags(sweep: Sweep, first: Ids, last: Ids, values: NDArray[Any]) -> Iterator[tuple[int, list[Any]]]:
    """The values of each segment that has any, in the order in which they stand."""
    for segment, row in sweep.members(first, last):
        heads = np.flatnonzero(np.diff(segment, prepend=-1))
        for where, bag in zip(segment[heads].tolist(), np.split(values[row], heads[1:]), strict=True):
            yield where, bag.tolist()


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
        names = (*keys, *(measure.name for measure in measures))
        return Relation.empty(names) if keys else _nothing(measures, indices, terms)
    key_columns = [relation.columns[name] for name in keys if name in relation.columns]
    numbers, firsts = codes(key_columns, len(relation))
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


def _aggregate_of(spec: Aggregate, values: Sequence[Term | None], terms: Terms) -> int:
    try:
        return terms.encode(aggregate(spec, values))
    except ExpressionError:
        return 0


def _nothing(measures: Sequence[Measure], indices: int, terms: Terms) -> Relation:
    """The one solution of the group that has no key and no member, visible always."""
    row = Relation.unit(indices)
    for measure in measures:
        row = row.having(
            measure.name,
            np.full(1, _aggregate_of(measure.aggregate, [], terms), np.int64),
            optional=measure.aggregate.function in _NO_VALUE,
        )
    return row


class Group(Unary):
    """GROUP BY. Operands that are expressions have become columns below.

    Where few evaluations come at a time, totals are kept from one to the next (``running_totals``).
    """

    def __init__(
        self,
        inner: Operator,
        keys: tuple[str, ...],
        measures: Sequence[Measure],
        present: Present,
        terms: Terms,
    ) -> None:
        super().__init__(inner, (*keys, *(measure.name for measure in measures)))
        self.keys = keys
        self.measures = tuple(measures)
        self.present = present
        self.terms = terms
        self.linear = inner.linear and all(has_totals(each.aggregate) for each in measures)
        self._groups: Groups | None = None
        self._until: int | None = None

    def required(self) -> list[WindowInput]:
        return self.inner.required() if self.keys else []

    def _kept(self, rows: Relation) -> Relation:
        return group(rows, self.keys, self.measures, len(self.present), self.terms)

    def changes(self) -> Relation:
        groups, until = self._groups, self._until
        # What goes wrong on the way leaves no totals behind.
        self.forget()
        if not self.linear or len(self.present) > FEW_INSTANTS:
            return self.run()
        at = self.present.at.time
        self._until = at.item(-1)
        if groups is not None and self.present.follows and until == at.item(0):
            rows = self.inner.changes()
            if len(rows) <= _MOST_CHANGES:
                with suppress(DecimalException):
                    found = self._changed(groups, rows)
                    self._groups = groups
                    return found
        rows = self.inner.run()
        if until is not None and len(rows) <= _MOST_ROWS:
            operands = [each.operand for each in self.measures]
            groups = Groups(self.keys, operands, self._makers)
            with suppress(DecimalException):
                groups.add(rows, np.flatnonzero(rows.end == len(at)))
                self._groups = groups
        return self._kept(rows)

    def forget(self) -> None:
        """The next evaluation does not go on from totals."""
        self._groups = self._until = None

    @cached_property
    def _makers(self) -> Makers:
        return Makers([each.aggregate for each in self.measures], self.terms)

    def _changed(self, groups: Groups, rows: Relation) -> Relation:
        """The rows of the groups that change."""
        nothing: Values | None = None
        if not self.keys:
            row = _nothing(self.measures, 1, self.terms)
            nothing = tuple([row.columns[each.name].item(0) for each in self.measures])
        found: list[tuple[int, ...]] = []
        for key, values in groups.changes(rows, len(self.present)):
            ends = [index for index, _ in values[1:]] + [len(self.present)]
            for (start, some), end in zip(values, ends, strict=True):
                some = nothing if some is None else some
                if some is not None:
                    found.append((start, end, *key, *some))
        if not found:
            return Relation.empty(self.variables)
        start, *columns = np.array(found, np.int64).T.copy()
        end, *columns = columns
        named = dict(zip((*self.keys, *(each.name for each in self.measures)), columns, strict=True))
        optional = frozenset(name for name, column in named.items() if not column.all())
        return Relation(named, start, end, optional)

    def within(self, seed: Relation, key: str) -> Relation:
        rows = self.inner.within(seed, key)
        count = len(self.present)
        found = group(rows, (key, *self.keys), self.measures, count, self.terms)
        if self.keys:
            return found
        rest = exists(seed.keep([key]), found, negated=True)
        return union(found, join(rest, _nothing(self.measures, count, self.terms)))
