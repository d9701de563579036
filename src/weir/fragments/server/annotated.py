"""What a pattern sees of annotated facts: the shapes of ``protocol.annotation`` matched against a store.

Annotation quads are never stored. A pattern's places, matched against a shape's, become constraints on
facts; the facts found are written out as that shape's quad. On intervals: at an instant τ (the present
for expirations, the instant asked for with intervals) the facts with ``start ≤ τ < end``; with
intervals and no instant, all facts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote, unquote_plus

import numpy as np

from weir.errors import DataError
from weir.fragments.protocol.annotation import (
    FOREVER,
    Annotation,
    Labeling,
    Method,
    Place,
    Quad,
    QuadPattern,
    Shape,
    Slot,
    TripleText,
    matches,
    read_time,
    time_text,
)
from weir.fragments.protocol.controls import text_of, value_of
from weir.fragments.server.facts import FactStore
from weir.fragments.server.quad_index import Column, Segment


class Part(NamedTuple):
    """A countable piece of a selection, in order."""

    length: int
    quads: Callable[[int, int], list[Quad]]
    labels: Callable[[int, int], list[Quad]] | None = None
    """The time labels of the facts in a range, where the quads are statements of facts."""


@lru_cache(maxsize=65_536)
def _quoted(text: str) -> str:
    return quote(value_of(text), safe="")


@dataclass(frozen=True, slots=True)
class Names:
    """How annotation nodes are written: ``prefix`` + kind + number, or the implicit graph of a triple,
    which is the address of its fragment where the data set lies at ``address``."""

    prefix: str
    address: str

    def number(self, text: str, kind: str) -> int | None:
        """The number in the name of a node; None where it is no such name."""
        head = f"<{self.prefix}{kind}:"
        digits = text[len(head) : -1]
        return int(digits) if text.startswith(head) and digits.isdecimal() and len(digits) < 19 else None

    def implicit(self, triple: TripleText) -> str:
        """The implicit graph of a triple."""
        s, p, o = map(_quoted, triple)
        return f"<{self.address}?subject={s}&predicate={p}&object={o}>"

    def triple(self, text: str) -> TripleText | None:
        """The triple whose implicit graph this is."""
        if not text.startswith(f"<{self.address}?subject="):
            return None
        fields = [pair.partition("=")[2] for pair in text[len(self.address) + 2 : -1].split("&")]
        parts = [text_of(unquote_plus(value)) for value in fields if value]
        if len(parts) != 3 or not all(isinstance(part, str) for part in parts):
            return None
        triple = (str(parts[0]), str(parts[1]), str(parts[2]))
        return triple if self.implicit(triple) == text else None


Wanted: TypeAlias = dict[Slot, Any]
"""What a pattern asks of facts: terms, times, and the number for a node."""

_TRIPLE = (Slot.SUBJECT, Slot.PREDICATE, Slot.OBJECT)
_KINDS = {Method.SINGLETON: "property", Method.GRAPHS: "graph", Method.REIFICATION: "statement"}


class View:
    """A store of facts seen through one annotation."""

    def __init__(self, store: FactStore, annotation: Annotation, names: Names) -> None:
        self.store = store
        self.annotation = annotation
        self.names = names

    def select(self, pattern: QuadPattern, now: int, instant: int | None) -> tuple[list[Part], int]:
        """The parts that match, and when the selection next changes by itself (``FOREVER``: never)."""
        parts: list[Part] = []
        changes = FOREVER
        for shape in self.annotation.shapes:
            wanted = self._wanted(shape, pattern)
            if wanted is None:
                continue
            found, boundary = self._find(wanted, shape, now, instant)
            changes = min(changes, boundary)
            parts.extend(found)
        return parts, changes

    def concerns(self, pattern: QuadPattern) -> bool:
        """Whether some fact could match a pattern, now or later."""
        return any(self._wanted(shape, pattern) is not None for shape in self.annotation.shapes)

    def _wanted(self, shape: Shape, pattern: QuadPattern) -> Wanted | None:
        asked: Wanted = {}
        for place, text in zip(shape, pattern, strict=True):
            if text is None:
                continue
            if not isinstance(place, Slot):
                if place != text:
                    return None
            elif place in _TRIPLE:
                asked[place] = text
            elif place is Slot.NODE and self.annotation.method is Method.IMPLICIT:
                triple = self.names.triple(text)
                if triple is None:
                    return None
                asked |= dict(zip(_TRIPLE, triple, strict=True))
            else:
                timed = place in (Slot.START, Slot.END)
                value = _exact_time(text) if timed else self.names.number(text, self._kind(place))
                if value is None:
                    return None
                asked[place if timed else Slot.NODE] = value
        return asked

    def _kind(self, place: Slot) -> str:
        """The kind of node that fills a place."""
        return "interval" if place is Slot.SPAN else _KINDS[self.annotation.method]

    def _find(self, wanted: Wanted, shape: Shape, now: int, instant: int | None) -> tuple[list[Part], int]:
        if self.annotation.labeling is Labeling.EXPIRATION:
            instant = now
        once = (
            instant is None
            and self.annotation.method is Method.IMPLICIT
            and Slot.NODE not in shape
            and Slot.SPAN not in shape
        )
        parts: list[Part] = []
        changes = FOREVER
        seen: set[TripleText] = set()
        reference = now if instant is None else instant
        segments = self.store.segments if instant is None else self.store.upcoming(instant)
        if Slot.NODE in wanted:
            segments = self.store.numbered(wanted[Slot.NODE])
        for segment in segments:
            rows = _rows(segment, wanted)
            if rows is None or not len(rows):
                continue
            start, end = segment.start[rows], segment.end[rows]
            if segment.max_end > reference:
                later = start[(start > reference) & (start < end)]
                valid = (start <= reference) & (end > reference)
                for times in (later, end[valid]):
                    if len(times):
                        changes = min(changes, int(times.min()))
            if instant is not None:
                rows = rows[(start <= instant) & (end > instant)]
            elif segment.withdrawn:
                rows = rows[start < end]
            if once:
                rows = _unseen(segment, rows, seen)
            if len(rows):
                parts.append(self._part(segment, rows, shape))
        return parts, changes

    def _part(self, segment: Segment, rows: Column, shape: Shape) -> Part:
        def quads(low: int, high: int) -> list[Quad]:
            return self._write(segment, rows[low:high], shape)

        def labels(low: int, high: int) -> list[Quad]:
            return [q for one in self.annotation.label for q in self._write(segment, rows[low:high], one)]

        return Part(len(rows), quads, labels if shape in self.annotation.statement else None)

    def _write(self, segment: Segment, rows: Column, shape: Shape) -> list[Quad]:
        triples = segment.index.quads(rows)
        columns = [self._column(place, segment, rows, triples) for place in shape]
        return list(zip(*columns, strict=True))

    def _column(self, place: Place, segment: Segment, rows: Column, triples: list[Quad]) -> list[str]:
        if not isinstance(place, Slot):
            return [place] * len(rows)
        if place in _TRIPLE:
            return list(map(itemgetter(_TRIPLE.index(place)), triples))
        if place in (Slot.START, Slot.END):
            times = segment.start[rows] if place is Slot.START else segment.end[rows]
            texts = {time: time_text(time) for time in np.unique(times).tolist()}
            return [texts[time] for time in times.tolist()]
        if place is Slot.NODE and self.annotation.method is Method.IMPLICIT:
            return [self.names.implicit(triple[:3]) for triple in triples]
        head = f"<{self.names.prefix}{self._kind(place)}:"
        return [f"{head}{number}>" for number in segment.number[rows].tolist()]


def _rows(segment: Segment, wanted: Wanted) -> Column | None:
    asked = [wanted.get(slot) for slot in _TRIPLE]
    if Slot.NODE in wanted:
        row = segment.row_of(wanted[Slot.NODE])
        rows = None if row is None else np.array([row], np.int32)
        if rows is None or not matches(segment.index.quads(rows)[0], (asked[0], asked[1], asked[2], None)):
            return None
    else:
        rows = segment.matching(*asked)
    for slot, times in ((Slot.START, segment.start), (Slot.END, segment.end)):
        if rows is not None and slot in wanted:
            rows = rows[times[rows] == wanted[slot]]
    return rows


def _unseen(segment: Segment, rows: Column, seen: set[TripleText]) -> Column:
    """The rows whose triple no row before has; they are seen then."""
    table = np.stack([column[rows] for column in segment.index.columns[:3]])
    rows = rows[np.sort(np.unique(table, axis=1, return_index=True)[1])]
    fresh = []
    for row, triple in zip(rows.tolist(), segment.index.quads(rows), strict=True):
        if triple[:3] not in seen:
            seen.add(triple[:3])
            fresh.append(row)
    return np.array(fresh, np.int32)


def _exact_time(text: str) -> int | None:
    """The time whose text this is, to the letter: a fragment matches terms, not values."""
    try:
        time = read_time(text)
    except DataError:
        return None
    return time if time_text(time) == text else None
