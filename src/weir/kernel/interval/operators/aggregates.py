"""The set functions of section 18.5.1 on every segment of a sweep at once.

An operand is a column of ids, 0 being an error. COUNT and SAMPLE skip errors; any other aggregate is an
error (0) wherever one takes part (decisions on values, 5 to 8). DISTINCT unites the intervals of a group's
equal terms before anything is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.kernel.functions import ExpressionError, aggregate
from weir.kernel.interval.expressions.numbers import (
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    POWERS,
    Numbers,
    encode_numbers,
    numbers_of,
    reals,
    single,
)
from weir.kernel.interval.expressions.ordering import extreme_order, sample_order
from weir.kernel.interval.expressions.terms import EXOTIC, NOT_A_NUMBER, Terms
from weir.kernel.interval.keys import codes
from weir.kernel.interval.operators.coverage import unite
from weir.kernel.interval.operators.exactsum import real_sums
from weir.kernel.interval.operators.sweep import Sweep
from weir.language.expressions import Aggregate, Aggregation
from weir.rdf.columns import Ids
from weir.rdf.inline import Inline, make
from weir.rdf.xsd_numbers import Number, NumericError, NumericKind, bounded, divide, literal_of

_NONE = np.iinfo(np.int64).max
_SAFE = 2.0**62


@dataclass(frozen=True, slots=True)
class Operand:
    """The values of one aggregate as rows of a sweep: which segments each covers."""

    ids: Ids
    first: Ids
    last: Ids

    def where(self, mask: NDArray[np.bool_]) -> Operand:
        """The given rows."""
        return Operand(self.ids[mask], self.first[mask], self.last[mask])


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
        case Aggregation.SUM:
            out = _sum(sweep, values, terms, average=False)
        case Aggregation.AVG:
            out = _sum(sweep, values, terms, average=True)
        case Aggregation.MIN:
            out = _least(sweep, values, _least_first, terms)
        case Aggregation.MAX:
            out = _least(sweep, values, _greatest_first, terms)
        case _:
            out = _each_segment(sweep, values, spec, terms)
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


def _sum(sweep: Sweep, values: Operand, terms: Terms, *, average: bool) -> Ids:
    numbers = numbers_of(values.ids, terms)
    if (numbers.kind == EXOTIC).any():
        spec = Aggregate(Aggregation.AVG if average else Aggregation.SUM)
        return _each_segment(sweep, values, spec, terms)
    if len(numbers.kind) == 1:
        kind = np.full(sweep.segments, numbers.kind[0])
    else:
        kind = _highest_kind(sweep, values, numbers)
    counts = sweep.counts(values.first, values.last)
    exact = _exact_sums(sweep, values, numbers, kind)
    real = _real_sums(sweep, values, numbers, kind)
    if real is None or exact is None:
        spec = Aggregate(Aggregation.AVG if average else Aggregation.SUM)
        return _each_segment(sweep, values, spec, terms)
    digits, scale = exact
    kind = np.where(counts == 0, INTEGER, kind)
    if not average:
        if digits.dtype == object:
            return _encode_large(kind, digits, scale, real, terms)
        if scale:
            whole = kind != DECIMAL
            scales = np.where(whole, 0, scale)
            numbers = Numbers(kind, np.where(whole, digits // 10**scale, digits), scales, real)
        else:
            numbers = Numbers(kind, digits, real=real)
        return encode_numbers(numbers, sweep.segments, terms)
    return _averages(kind, digits, scale, real, counts, terms)


def _highest_kind(sweep: Sweep, values: Operand, numbers: Numbers) -> NDArray[np.int8]:
    """The type that all operands of a segment are promoted to; errors win."""
    kind = np.full(sweep.segments, INTEGER, np.int8)
    for level in (DECIMAL, FLOAT, DOUBLE, NOT_A_NUMBER):
        rows = np.flatnonzero(numbers.kind == level)
        if len(rows):
            kind[sweep.counts(values.first[rows], values.last[rows]) > 0] = level
    return kind


def _exact_sums(
    sweep: Sweep, values: Operand, numbers: Numbers, kind: NDArray[np.int8]
) -> tuple[NDArray[Any], int] | None:
    """Sums of integers and decimals as digits at one scale; Python's integers where 64 bits are few."""
    if not ((kind == INTEGER) | (kind == DECIMAL)).any():
        return np.zeros(sweep.segments, np.int64), 0
    # Rows of other kinds have no digits; segments they are in take none of these sums.
    exact = (numbers.kind == INTEGER) | (numbers.kind == DECIMAL)
    digits = np.where(exact, numbers.digits, 0)
    scale = np.where(exact, numbers.scale, 0)
    most = int(scale.max())
    factor = POWERS[most - scale]
    if float((np.abs(digits) * factor.astype(np.float64)).max()) * len(values.ids) < _SAFE:
        amounts: NDArray[Any] = digits * factor
    else:
        amounts = digits.astype(object) * factor.astype(object)
    return sweep.sums(values.first, values.last, np.broadcast_to(amounts, len(values.ids))), most


def _real_sums(
    sweep: Sweep, values: Operand, numbers: Numbers, kind: NDArray[np.int8]
) -> NDArray[np.float64] | None:
    """Sums of doubles, and of floats as doubles rounded to floats; None where 64 bits do not do."""
    out = np.zeros(sweep.segments)
    for level in (FLOAT, DOUBLE):
        chosen = kind == level
        if not chosen.any():
            continue
        operands, fits = reals(numbers)
        if not (fits | (numbers.kind == NOT_A_NUMBER)).all():
            return None
        operands = np.where(numbers.kind == NOT_A_NUMBER, 0.0, operands)
        if level == FLOAT:
            operands = single(operands)
        sums = real_sums(sweep, values.first, values.last, np.broadcast_to(operands, len(values.ids)))
        out[chosen] = (single(sums) if level == FLOAT else sums)[chosen]
    return out


def _encode_large(
    kind: NDArray[np.int8], digits: NDArray[Any], scale: int, real: NDArray[np.float64], terms: Terms
) -> Ids:
    out = np.zeros(len(kind), np.int64)
    inexact = np.flatnonzero(kind >= FLOAT)
    out[inexact] = encode_numbers(Numbers(kind[inexact], real=real[inexact]), len(inexact), terms)
    rows = np.flatnonzero((kind == INTEGER) | (kind == DECIMAL))
    results = [_exact_number(int(kind[row]), digits[row], scale) for row in rows.tolist()]
    out[rows] = terms.encode_all([None if number is None else literal_of(number) for number in results])
    return out


def _exact_number(kind: int, digits: int, scale: int) -> Number | None:
    if kind == INTEGER:
        value: int | Decimal = int(digits) // 10**scale
    else:
        sign = 1 if digits < 0 else 0
        value = Decimal((sign, tuple(map(int, str(abs(int(digits))))), -scale))
    try:
        return bounded(Number(NumericKind(kind), value))
    except NumericError:
        return None


def _averages(
    kind: NDArray[np.int8],
    digits: NDArray[Any],
    scale: int,
    real: NDArray[np.float64],
    counts: Ids,
    terms: Terms,
) -> Ids:
    """SUM / COUNT by the rules of ``/``, once per distinct sum and count."""
    out = np.zeros(len(kind), np.int64)
    inexact = np.flatnonzero(kind >= FLOAT)
    if len(inexact):
        means = real[inexact] / counts[inexact]
        means = np.where(kind[inexact] == FLOAT, single(means), means)
        out[inexact] = encode_numbers(Numbers(kind[inexact], real=means), len(inexact), terms)
    rows = np.flatnonzero((kind == INTEGER) | (kind == DECIMAL))
    means_of: dict[tuple[int, int, int], int] = {}
    results: list[Any] = []
    places: list[int] = []
    for row in rows.tolist():
        key = (int(kind[row]), int(digits[row]), int(counts[row]))
        place = means_of.get(key)
        if place is None:
            place = means_of[key] = len(results)
            results.append(_mean(*key, scale))
        places.append(place)
    out[rows] = terms.encode_all(results)[places] if results else 0
    return out


def _mean(kind: int, digits: int, count: int, scale: int) -> Any:
    number = _exact_number(kind, digits, scale)
    if number is None:
        return None
    if not count:
        return literal_of(number)
    try:
        return literal_of(divide(number, Number(NumericKind.INTEGER, count)))
    except NumericError:
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
