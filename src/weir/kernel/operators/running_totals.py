"""Group kept from one evaluation to the next: it pays for the rows that come and go, not for those there are.

A sweep over all rows is the way for many evaluations at once. Where they come one by one, each group has
totals: counts, sums in exact arithmetic, terms with how often each is there. What changed since the last
evaluation is added and taken away, and only groups that it touches are looked at. A total has the value that
the set function has for the same rows, however it came about: sums are exact and rounded once, in the type
that the operands of the moment have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache, partial
from typing import Protocol, TypeAlias

import numpy as np

from weir.kernel.expressions.ranks import extreme_order, sample_order
from weir.kernel.expressions.term_cache import Terms
from weir.kernel.operators.sums import rounded
from weir.kernel.relations.relation import Relation
from weir.language.algebra.expressions import Aggregate, Aggregation
from weir.rdf.columns import Ids
from weir.rdf.ids.inline import Inline, make
from weir.rdf.terms import Literal
from weir.rdf.xsd.numbers import (
    EXACT,
    Number,
    NumericError,
    NumericKind,
    bounded,
    divide,
    literal_of,
    to_double,
    to_float,
)
from weir.rdf.xsd.values import value_of

Key: TypeAlias = tuple[int, ...]
Values: TypeAlias = tuple[int, ...]
"""A group's results, 0 for an error."""

_POWER = 1074
"""Every finite double is an integer over 2 to this power."""


class Total(Protocol):
    """One aggregate of one group."""

    def change(self, id: int, by: int) -> None:
        """The operand of a row that comes (1) or goes (-1); 0 is an error."""
        ...

    def value(self) -> int:
        """The aggregate's id, 0 for an error. There is at least one row."""
        ...


class Count:
    """COUNT of operands that are no errors."""

    def __init__(self) -> None:
        self.count = 0

    def change(self, id: int, by: int) -> None:
        self.count += by if id else 0

    def value(self) -> int:
        return int(make(Inline.INTEGER, np.array([self.count]))[0])


class _Real:
    """The exact sum of floats or doubles, and how many are NaN or infinite."""

    def __init__(self) -> None:
        self._sum = self._nan = self._above = self._below = 0

    def change(self, value: float, scaled: int | None, by: int) -> None:
        """``scaled`` is the value times a power of two, None where it is not finite."""
        if scaled is not None:
            self._sum += by * scaled
        elif value != value:
            self._nan += by
        elif value > 0:
            self._above += by
        else:
            self._below += by

    def value(self) -> float:
        """The sum, rounded to the nearest double."""
        if self._nan or (self._above and self._below):
            return float("nan")
        if self._above or self._below:
            return float("inf") if self._above else float("-inf")
        return rounded(self._sum, -_POWER)


Operand: TypeAlias = tuple[NumericKind, Decimal, float, int | None, float, int | None]
"""A number as each sum takes it: its type, exactly, as a float and as a double, both also scaled."""


class Sum:
    """SUM, or AVG: all operands in each type that they may be promoted to."""

    def __init__(self, operand: Callable[[int], Operand | None], terms: Terms, *, average: bool) -> None:
        self._operand, self._terms, self._average = operand, terms, average
        self._kinds = [0, 0, 0, 0]
        self._errors = 0
        self._exact = Decimal(0)
        self._single, self._double = _Real(), _Real()

    def change(self, id: int, by: int) -> None:
        found = self._operand(id)
        if found is None:
            self._errors += by
            return
        kind, exact, single, scaled_single, double, scaled_double = found
        self._kinds[kind] += by
        self._exact = (EXACT.add if by > 0 else EXACT.subtract)(self._exact, exact)
        self._single.change(single, scaled_single, by)
        self._double.change(double, scaled_double, by)

    def value(self) -> int:
        if self._errors:
            return 0
        try:
            found = self._number()
            if self._average:
                found = divide(found, Number(NumericKind.INTEGER, sum(self._kinds)))
        except NumericError:
            return 0
        return self._terms.encode(literal_of(found))

    def _number(self) -> Number:
        if self._kinds[NumericKind.DOUBLE]:
            return Number(NumericKind.DOUBLE, self._double.value())
        if self._kinds[NumericKind.FLOAT]:
            return Number(NumericKind.FLOAT, to_float(self._single.value()))
        if self._kinds[NumericKind.DECIMAL]:
            return bounded(Number(NumericKind.DECIMAL, self._exact))
        return bounded(Number(NumericKind.INTEGER, int(self._exact)))


class Least:
    """MIN, MAX or SAMPLE: the first in an order of those there are."""

    def __init__(
        self, order: Callable[[Ids, Terms], tuple[Ids, Ids]], terms: Terms, *, skips_errors: bool
    ) -> None:
        self._order, self._terms, self._skips = order, terms, skips_errors
        self._there: Counter[int] = Counter()
        self._least: int | None = None

    def change(self, id: int, by: int) -> None:
        there = self._there
        count = there[id] = there[id] + by
        if not count:
            del there[id]
            if id == self._least:
                self._least = None
        elif by > 0 and count == 1 and id and self._least is not None:
            self._least = self._first([self._least, id])

    def value(self) -> int:
        if 0 in self._there and not self._skips:
            return 0
        if self._least is None:
            self._least = self._first([id for id in self._there if id])
        return self._least

    def _first(self, ids: Sequence[int]) -> int:
        return int(self._order(np.array(ids, np.int64), self._terms)[1][0]) if ids else 0


class Once:
    """DISTINCT: a total of each term once, while there is any."""

    def __init__(self, total: Total) -> None:
        self._total = total
        self._there: Counter[int] = Counter()

    def change(self, id: int, by: int) -> None:
        before = self._there[id]
        self._there[id] = before + by
        if not before or not self._there[id]:
            self._total.change(id, by)
        if not self._there[id]:
            del self._there[id]

    def value(self) -> int:
        return self._total.value()


class Makers:
    """Makes the totals of a group; a number is taken apart once."""

    def __init__(self, aggregates: Sequence[Aggregate], terms: Terms) -> None:
        self._operand = lru_cache(1 << 14)(partial(_operand_of, terms))
        self._makers = [self._maker(each, terms) for each in aggregates]

    def make(self) -> list[Total]:
        """The totals of no row."""
        return [maker() for maker in self._makers]

    def _maker(self, spec: Aggregate, terms: Terms) -> Callable[[], Total]:
        plain: Callable[[], Total]
        match spec.function:
            case Aggregation.COUNT:
                plain = Count
            case Aggregation.SUM | Aggregation.AVG:
                average = spec.function is Aggregation.AVG
                plain = partial(Sum, self._operand, terms, average=average)
            case Aggregation.SAMPLE:
                return partial(Least, sample_order, terms, skips_errors=True)
            case Aggregation.MIN | Aggregation.MAX:
                order = partial(extreme_order, greatest=spec.function is Aggregation.MAX)
                return partial(Least, order, terms, skips_errors=False)
            case _:
                raise ValueError(f"no totals are kept for {spec.function}")
        return (lambda: Once(plain())) if spec.distinct else plain


def has_totals(spec: Aggregate) -> bool:
    """Whether totals can be kept for an aggregate."""
    kept = Aggregation.COUNT, Aggregation.SUM, Aggregation.AVG, Aggregation.SAMPLE
    return spec.function in (*kept, Aggregation.MIN, Aggregation.MAX) and (
        spec.operand is not None or not spec.distinct
    )


def _operand_of(terms: Terms, id: int) -> Operand | None:
    term = terms.term(id) if id else None
    number = value_of(term) if isinstance(term, Literal) else None
    if not isinstance(number, Number):
        return None
    double = to_double(number.value)
    single = to_float(double)
    exact = Decimal(0) if isinstance(number.value, float) else Decimal(number.value)
    return number.kind, exact, single, _scaled(single), double, _scaled(double)


def _scaled(value: float) -> int | None:
    if value - value != 0:
        return None
    top, bottom = value.as_integer_ratio()
    return top << (_POWER + 1 - bottom.bit_length())


class Groups:
    """The totals of all groups at one time. ``keys`` and ``operands`` are the columns of rows; None stands
    for the row itself."""

    def __init__(self, keys: Sequence[str], operands: Sequence[str | None], makers: Makers) -> None:
        self._keys, self._operands, self._makers = keys, operands, makers
        self._rows: Counter[Key] = Counter()
        self._totals: dict[Key, list[Total]] = {}

    def add(self, rows: Relation, chosen: Ids) -> None:
        """Rows more that are there."""
        for key, operands in self._read(rows.take(chosen)):
            self._change(key, operands, 1)

    def changes(self, rows: Relation, indices: int) -> Iterator[tuple[Key, list[tuple[int, Values | None]]]]:
        """Go on to the last of so many indices, index 0 being the time of the totals, with the rows that come
        and go on the way: the groups they touch, each with its values from some indices on, None where it has
        no row."""
        events: list[tuple[int, int, int]] = []
        for row, (start, end) in enumerate(zip(rows.start.tolist(), rows.end.tolist(), strict=True)):
            if start > 0:
                events.append((start, row, 1))
            if end < indices:
                events.append((end, row, -1))
        events.sort()
        read = list(self._read(rows))
        touched: dict[Key, list[tuple[int, Values | None]]] = {
            key: [(0, self._values(key))] for key, _ in read
        }
        place = 0
        while place < len(events):
            index, here = events[place][0], set()
            while place < len(events) and events[place][0] == index:
                _, row, by = events[place]
                key, operands = read[row]
                self._change(key, operands, by)
                here.add(key)
                place += 1
            for key in here:
                touched[key].append((index, self._values(key)))
        for key in touched:
            if not self._rows[key]:
                del self._rows[key]
                self._totals.pop(key, None)
        return iter(touched.items())

    def _read(self, rows: Relation) -> Iterator[tuple[Key, Sequence[int]]]:
        """The key and the operands of each row."""
        count = len(rows)

        def column(name: str | None) -> list[int]:
            if name is None:
                return [1] * count
            found = rows.columns.get(name)
            return [0] * count if found is None else found.tolist()

        keys = zip(*map(column, self._keys), strict=True) if self._keys else iter([()] * count)
        operands = zip(*map(column, self._operands), strict=True) if self._operands else iter([()] * count)
        return zip(keys, operands, strict=True)

    def _change(self, key: Key, operands: Sequence[int], by: int) -> None:
        self._rows[key] += by
        totals = self._totals.get(key)
        if totals is None:
            totals = self._totals[key] = self._makers.make()
        for total, operand in zip(totals, operands, strict=True):
            total.change(operand, by)

    def _values(self, key: Key) -> Values | None:
        if not self._rows[key]:
            return None
        return tuple([total.value() for total in self._totals[key]])
