"""A batch of dynamic facts: one immutable index of their triples, and the columns of their validity.

On intervals: row i holds in ``[start[i], end[i])``; a row whose ends are equal holds never (withdrawn).
Only the ends can change; the index never does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from weir.fragments.protocol.annotation import Fact
from weir.fragments.server.index import Column, Index

Times = NDArray[np.int64]


def duration_class(fact: Fact) -> int:
    """Facts of one class live equally long up to a factor of four.

    Kept apart by class, the facts of a segment that are valid at an instant lie in a stretch of time not
    much longer than they live, so an instant meets few segments however long the history is.
    """
    return (fact.end - fact.start).bit_length() // 2


class Segment:
    """Facts numbered for ever (``number``, ascending); ``first`` marks the first fact of each triple."""

    def __init__(self, facts: Sequence[Fact], numbers: Sequence[int], first: Sequence[bool]) -> None:
        self.index = Index.build((f.subject, f.predicate, f.object, "") for f in facts)
        self.start: Times = np.array([f.start for f in facts], np.int64)
        self.end: Times = np.array([f.end for f in facts], np.int64)
        self.number: Times = np.array(numbers, np.int64)
        self.first: NDArray[np.bool_] = np.array(first, bool)
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

    def fact(self, row: int) -> Fact:
        s, p, o, _ = self.index.quads([row])[0]
        return Fact(s, p, o, int(self.start[row]), int(self.end[row]))

    def facts(self) -> list[Fact]:
        """All facts, withdrawn ones too, by base row."""
        quads = self.index.quads(np.arange(len(self), dtype=np.int32))
        times = zip(self.start.tolist(), self.end.tolist(), strict=True)
        return [Fact(s, p, o, a, b) for (s, p, o, _), (a, b) in zip(quads, times, strict=True)]


def merge(segments: Sequence[Segment], alive_at: int | None = None) -> Segment | None:
    """One segment of the facts of several of a class, by number, without those withdrawn.

    ``alive_at`` also leaves out those that ended by then.
    """
    rows: list[tuple[int, Fact, bool]] = []
    for segment in segments:
        numbers, first = segment.number.tolist(), segment.first.tolist()
        for number, fact, is_first in zip(numbers, segment.facts(), first, strict=True):
            if fact.start < fact.end and (alive_at is None or fact.end > alive_at):
                rows.append((number, fact, is_first))
    if not rows:
        return None
    rows.sort(key=lambda row: row[0])
    merged = Segment([f for _, f, _ in rows], [n for n, _, _ in rows], [i for _, _, i in rows])
    merged.kind = segments[0].kind
    return merged
