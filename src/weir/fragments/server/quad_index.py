"""Immutable quad indexes, and segments of dynamic facts: an index of triples with columns of validity.

An index is sorted columns of local ids, one copy per order that a pattern has needed.

Any pattern is a contiguous run of one of six orders, so a count is two binary searches and a page is a
slice. Ids are local to the index (int32, dense): dropping an index drops its terms with it, which is
what keeps a store of ever new facts bounded.

On intervals: row i of a segment holds in ``[start[i], end[i])``; a row whose ends are equal holds never
(withdrawn). Only the ends can change; the index never does.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weir.fragments.protocol.annotation import Fact, Quad, QuadPattern

Column: TypeAlias = NDArray[np.int32]
Times: TypeAlias = NDArray[np.int64]

_ORDERS: dict[str, tuple[int, int, int, int]] = {
    "spog": (0, 1, 2, 3),
    "posg": (1, 2, 0, 3),
    "ospg": (2, 0, 1, 3),
    "gspo": (3, 0, 1, 2),
    "gpos": (3, 1, 2, 0),
    "gosp": (3, 2, 0, 1),
}

_FEW = 8
_DEPTHS = {name: [places.index(place) for place in range(4)] for name, places in _ORDERS.items()}
"""At which depth of an order subject, predicate, object and graph lie."""


def _order_of(bound: int) -> str:
    names = {place for place in range(4) if bound >> place & 1}
    return next(order for order, places in _ORDERS.items() if set(places[: len(names)]) == names)


_CHOICE = tuple(
    (name, _ORDERS[name][: bound.bit_count()]) for bound, name in enumerate(map(_order_of, range(16)))
)
"""For each set of bound places: the order in which they come first, and they themselves in it."""


class Run(NamedTuple):
    """The matches of a pattern: rows ``low`` to ``high`` of an order."""

    order: str
    low: int
    high: int


class _Order(NamedTuple):
    columns: tuple[memoryview, memoryview, memoryview, memoryview]
    """The sorted columns, first key first; single numbers are read faster so than from an array."""
    offsets: memoryview
    """Where each id starts in the first column, and the length at the end."""
    rows: Column
    """The base row of each entry."""


class Index:
    """Quads in base order (as given), found by any pattern. ``terms[i]`` is the text of local id i."""

    def __init__(self, terms: Sequence[str], columns: Sequence[Column]) -> None:
        self.terms = terms
        self.place = {text: i for i, text in enumerate(terms)}
        self.columns = tuple(columns)
        self.length = len(columns[0])
        default = self.place.get("")
        self.named = default is None or bool(self.length and (self.columns[3] != default).any())
        self._orders: dict[str, _Order] = {}

    @staticmethod
    def build(quads: Iterable[Quad], *, distinct: bool = False) -> Index:
        """An index of quads; ``distinct`` drops repeated ones (facts with validity keep them)."""
        place: dict[str, int] = {"": 0}
        flat = [place.setdefault(text, len(place)) for quad in quads for text in quad]
        table = np.array(flat, np.int32).reshape(-1, 4)
        if distinct and len(table):
            order = np.lexsort(table.T[::-1])
            table = table[order]
            fresh = np.ones(len(table), bool)
            fresh[1:] = (table[1:] != table[:-1]).any(axis=1)
            table = table[fresh]
        return Index(list(place), [np.ascontiguousarray(table[:, i]) for i in range(4)])

    def find(self, pattern: QuadPattern) -> Run | None:
        """The run of a pattern's matches; None where there are none."""
        keys = [0, 0, 0, 0]
        bound = 0
        place = self.place
        for i, text in enumerate(pattern):
            if text is not None and (text or self.named):
                key = place.get(text)
                if key is None:
                    return None
                keys[i] = key
                bound |= 1 << i
        if not bound:
            return Run("spog", 0, self.length) if self.length else None
        name, places = _CHOICE[bound]
        order = self._orders.get(name) or self._build(name)
        first = keys[places[0]]
        low, high = order.offsets[first], order.offsets[first + 1]
        for depth in range(1, len(places)):
            column, key = order.columns[depth], keys[places[depth]]
            low = bisect_left(column, key, low, high)
            high = bisect_right(column, key, low, high)
        return Run(name, low, high) if low < high else None

    def rows(self, run: Run) -> Column:
        """The base rows of a run."""
        return (self._orders.get(run.order) or self._build(run.order)).rows[run.low : run.high]

    def quads(self, rows: Column | Sequence[int]) -> list[Quad]:
        """The quads of base rows."""
        terms = self.terms
        s, p, o, g = (column[rows].tolist() for column in self.columns)
        return [(terms[a], terms[b], terms[c], terms[d]) for a, b, c, d in zip(s, p, o, g, strict=True)]

    def slice(self, run: Run, low: int, high: int) -> list[Quad]:
        """The quads ``low`` to ``high`` of a run, in its order."""
        order = self._orders.get(run.order) or self._build(run.order)
        low, high = run.low + low, min(run.low + high, run.high)
        columns, terms = order.columns, self.terms
        if high - low <= _FEW:
            a, b, c, d = [columns[depth] for depth in _DEPTHS[run.order]]
            return [(terms[a[i]], terms[b[i]], terms[c[i]], terms[d[i]]) for i in range(low, high)]
        s, p, o, g = [columns[depth][low:high].tolist() for depth in _DEPTHS[run.order]]
        return [(terms[i], terms[j], terms[k], terms[m]) for i, j, k, m in zip(s, p, o, g, strict=True)]

    def _build(self, name: str) -> _Order:
        places = _ORDERS[name]
        keys = [self.columns[i] for i in places]
        rows = np.lexsort(keys[::-1]).astype(np.int32)
        sorted_keys = [column[rows] for column in keys]
        offsets = np.searchsorted(sorted_keys[0], np.arange(len(self.terms) + 1, dtype=np.int32))
        first, second, third, fourth = (column.data for column in sorted_keys)
        built = _Order((first, second, third, fourth), offsets.astype(np.int64).data, rows)
        self._orders[name] = built
        return built


def duration_class(fact: Fact) -> int:
    """Facts of one class live equally long up to a factor of four.

    Kept apart by class, the facts of a segment that are valid at an instant lie in a stretch of time not
    much longer than they live, so an instant meets few segments however long the history is.
    """
    return (fact.end - fact.start).bit_length() // 2


class Segment:
    """Facts numbered for ever (``number``, ascending)."""

    def __init__(self, facts: Sequence[Fact], numbers: Sequence[int]) -> None:
        self.index = Index.build((f.subject, f.predicate, f.object, "") for f in facts)
        self.start: Times = np.array([f.start for f in facts], np.int64)
        self.end: Times = np.array([f.end for f in facts], np.int64)
        self.number: Times = np.array(numbers, np.int64)
        self.kind = duration_class(facts[0])
        self.withdrawn = 0
        self.refresh()

    def __len__(self) -> int:
        return len(self.number)

    def refresh(self) -> None:
        """Recompute the bounds after ends were changed."""
        self.min_start = int(self.start.min())
        self.max_end = int(self.end.max())
        self.withdrawn = int((self.start >= self.end).sum())

    def row_of(self, number: int) -> int | None:
        """The base row of a fact's number."""
        row = int(self.number.searchsorted(number))
        return row if row < len(self.number) and self.number[row] == number else None

    def matching(self, subject: str | None, predicate: str | None, object: str | None) -> Column | None:
        """The base rows of a triple pattern, whatever their validity; None where there are none."""
        run = self.index.find((subject, predicate, object, None))
        return None if run is None else self.index.rows(run)

    def facts(self) -> list[Fact]:
        """All facts, withdrawn ones too, by base row."""
        quads = self.index.quads(np.arange(len(self), dtype=np.int32))
        times = zip(self.start.tolist(), self.end.tolist(), strict=True)
        return [Fact(s, p, o, a, b) for (s, p, o, _), (a, b) in zip(quads, times, strict=True)]


def merge(segments: Sequence[Segment], alive_at: int | None = None) -> Segment | None:
    """One segment of the facts of several of a class, by number, without those withdrawn.

    ``alive_at`` also leaves out those that ended by then.
    """
    rows: list[tuple[int, Fact]] = []
    for segment in segments:
        for number, fact in zip(segment.number.tolist(), segment.facts(), strict=True):
            if fact.start < fact.end and (alive_at is None or fact.end > alive_at):
                rows.append((number, fact))
    if not rows:
        return None
    rows.sort(key=lambda row: row[0])
    merged = Segment([fact for _, fact in rows], [number for number, _ in rows])
    merged.kind = segments[0].kind
    return merged
