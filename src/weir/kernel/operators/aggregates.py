"""The set functions of section 18.5.1 on every segment of a sweep at once.

An operand is a column of ids, 0 being an error. COUNT and SAMPLE skip errors; any other aggregate is an
error (0) wherever one takes part (decision semantics-values, 5 to 8). DISTINCT unites the intervals of a
group's equal terms before anything is counted.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weir.kernel.expressions.ranks import extreme_order, sample_order
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.functions import ExpressionError, aggregate
from weir.kernel.functions.builtins import str_
from weir.kernel.operators.sums import sums
from weir.kernel.relations.coverage import unite
from weir.kernel.relations.keys import codes
from weir.kernel.relations.sweep import Operand, Sweep
from weir.language.algebra.expressions import Aggregate, Aggregation
from weir.rdf.columns import Ids
from weir.rdf.ids.inline import Inline, make
from weir.rdf.terms import Literal


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
            return count(sweep, values)
        case Aggregation.SAMPLE:
            return _least(sweep, values.where(values.ids != 0), sample_order, terms)
    failed = values.ids == 0
    broken = sweep.counts(values.first[failed], values.last[failed]) > 0 if failed.any() else None
    match spec.function:
        case Aggregation.SUM | Aggregation.AVG:
            summed = sums(sweep, values, terms, average=spec.function is Aggregation.AVG)
            out = _each_segment(sweep, values, spec, terms) if summed is None else summed
        case Aggregation.MIN:
            out = _least(sweep, values, _least_first, terms)
        case Aggregation.MAX:
            out = _least(sweep, values, _greatest_first, terms)
        case Aggregation.GROUP_CONCAT:
            out = _concatenate(sweep, values, spec.separator, terms)
    return out if broken is None else np.where(broken, 0, out)


def count(sweep: Sweep, values: Operand) -> Ids:
    """COUNT of the values without error."""
    bound = values.ids != 0
    if not bound.all():
        values = values.where(bound)
    return make(Inline.INTEGER, sweep.counts(values.first, values.last))


def _least_first(ids: Ids, terms: Terms) -> tuple[Ids, Ids]:
    return extreme_order(ids, terms, greatest=False)


def _greatest_first(ids: Ids, terms: Terms) -> tuple[Ids, Ids]:
    return extreme_order(ids, terms, greatest=True)


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
    joined: dict[str, int] = {}
    place = np.full(sweep.segments, -1, np.int64)
    for segment, row in sweep.members(first, last):
        heads = np.flatnonzero(np.diff(segment, prepend=-1))
        parts = np.split(texts[ranks[row]], heads[1:])
        for where, part in zip(segment[heads].tolist(), parts, strict=True):
            words = part.tolist()
            if None not in words:
                place[where] = joined.setdefault(separator.join(words), len(joined))
    ids = terms.encode_all([*map(Literal, joined), None])
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
    ordered = Operand(values.ids[by_id], values.first[by_id], values.last[by_id])
    for segment, row in sweep.members(ordered.first, ordered.last):
        heads = np.flatnonzero(np.diff(segment, prepend=-1))
        for bag_ids, where in zip(
            np.split(ordered.ids[row], heads[1:]), segment[heads].tolist(), strict=True
        ):
            bag = tuple(bag_ids.tolist())
            found = known.get(bag)
            if found is None:
                found = known[bag] = _scalar(plain, bag, terms)
            out[where] = found
    return out


def _scalar(spec: Aggregate, bag: tuple[int, ...], terms: Terms) -> int:
    try:
        term = aggregate(spec, [terms.term(identifier) if identifier else None for identifier in bag])
    except ExpressionError:
        return 0
    return terms.encode(term)
