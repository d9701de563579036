"""Dynamic facts indexed by time, so that an instant costs the same however long the history is.

On intervals: a fact holds in ``[start, end)``; equal triples never overlap (section 4.1), so a pushed
fact that overlaps an equal one only stretches it. Facts live in segments of bounded size; those that an
instant can meet are found by their least start and greatest end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weir.fragments.ldes import Change, Members
from weir.fragments.protocol.annotation import BEGINNING, FOREVER, Fact, TripleText
from weir.fragments.server.quad_index import Column, Segment, duration_class, merge

SEGMENT_ROWS = 8192
_MERGE_EXPIRED = 16
_MERGE_LIVE = 64


@dataclass(frozen=True, slots=True)
class Retention:
    """What history is kept: none but the present, or at most so many facts and so long (µs) back.

    Facts go a segment at a time, a sixteenth of the number at most.
    """

    history: bool = False
    facts: int = 20_000_000
    age: int = FOREVER


class FactStore:
    """All dynamic facts of a data set. ``version`` rises with every change; ``members`` has what changed.

    ``withdrawn`` gathers the predicates of facts that ended before their time, for whoever empties it.
    """

    def __init__(self, retention: Retention, members: Members | None = None) -> None:
        self.retention = retention
        self.members = Members(0) if members is None else members
        self.withdrawn: set[str] = set()
        self._changes: list[Change] = []
        self.segment_rows = min(SEGMENT_ROWS, max(2, retention.facts // 16))
        self.segments: list[Segment] = []
        self.version = 0
        self.predicate_versions: dict[str, int] = {}
        self.next_number = 1
        self._refresh()

    def __len__(self) -> int:
        return sum(map(len, self.segments))

    def add(self, facts: Iterable[Fact], now: int) -> int:
        """Add facts; one that overlaps an equal one stretches it. How many were new."""
        near: dict[tuple[int, int], list[Segment]] = {}
        fresh: list[Fact] = []
        for fact in _coalesced(facts):
            span = fact.start, fact.end
            segments = near.get(span)
            if segments is None:
                segments = near[span] = self._overlapping(*span)
            if not segments or not (taken := self._stretch(fact, segments)):
                fresh.append(fact)
            elif taken > 1:
                near.clear()
        by_class: dict[int, list[Fact]] = {}
        for fact in fresh:
            by_class.setdefault(duration_class(fact), []).append(fact)
        for group in by_class.values():
            for begin in range(0, len(group), self.segment_rows):
                self._append(group[begin : begin + self.segment_rows])
        self._publish(now)
        self.forget(now)
        self._merge_small(now)
        return len(fresh)

    def supersede(self, facts: Iterable[Fact]) -> int:
        """End every fact with the subject and predicate of a new one, but another object, where that
        one starts; later ones are withdrawn. How many were ended; ``add`` publishes that, too."""
        ended = 0
        for fact in facts:
            for segment in self._overlapping(fact.start, FOREVER):
                rows = segment.matching(fact.subject, fact.predicate, None)
                same = segment.matching(*fact.triple)
                if rows is not None and same is not None:
                    rows = rows[~np.isin(rows, same)]
                ended += self._end(segment, rows, fact.start, fact.predicate)
        if ended:
            self._refresh()
        return ended

    def end(self, triples: Iterable[TripleText], at: int, now: int) -> int:
        """End the facts of these triples at an instant; those that start later are withdrawn."""
        ended = 0
        for triple in triples:
            for segment in self._overlapping(at, FOREVER):
                ended += self._end(segment, segment.matching(*triple), at, triple[1])
        if ended:
            self._refresh()
            self._publish(now)
        return ended

    def _publish(self, now: int) -> None:
        self.members.record(self._changes, now)
        self._changes = []

    def restore(self, segment: Segment) -> None:
        """Take back a segment of a store that was written out, numbers and all."""
        self.segments.append(segment)
        self._refresh()

    def upcoming(self, instant: int) -> Iterator[Segment]:
        """The segments that may hold a fact valid at an instant, or one that starts later."""
        return (self.segments[i] for i in np.flatnonzero(self._max_end > instant))

    def numbered(self, number: int) -> Iterator[Segment]:
        """The segments that may hold the fact of a number."""
        found = (self._min_number <= number) & (self._max_number >= number)
        return (self.segments[i] for i in np.flatnonzero(found))

    def forget(self, now: int) -> None:
        """Drop what retention no longer covers."""
        horizon = now
        if self.retention.history:
            horizon = now - self.retention.age if self.retention.age < FOREVER else BEGINNING
        gone = [segment for segment in self.segments if segment.max_end <= horizon]
        excess = len(self) - sum(map(len, gone)) - self.retention.facts
        if excess > 0:
            for segment in sorted(self.segments, key=lambda one: one.max_end):
                if segment not in gone:
                    gone.append(segment)
                    excess -= len(segment)
                if excess <= 0:
                    break
        if gone:
            self._replace(gone, None)
            for segment in gone:
                for predicate in np.unique(segment.index.columns[1]).tolist():
                    self._touch(segment.index.terms[predicate])

    def _stretch(self, fact: Fact, segments: Iterable[Segment]) -> int:
        """0 where no equal triple overlaps a fact, 1 where one held as long already, 2 where overlapping
        ones took it in."""
        found: list[tuple[Segment, int]] = []
        for segment in segments:
            rows = segment.matching(*fact.triple)
            if rows is not None:
                overlap = (segment.start[rows] < fact.end) & (segment.end[rows] > fact.start)
                overlap &= segment.start[rows] < segment.end[rows]
                found.extend((segment, int(row)) for row in rows[overlap])
        if not found:
            return 0
        start = min(fact.start, *(int(segment.start[row]) for segment, row in found))
        end = max(fact.end, *(int(segment.end[row]) for segment, row in found))
        segment, row = found[0]
        if (segment.start[row], segment.end[row]) != (start, end):
            segment.start[row], segment.end[row] = start, end
            segment.refresh()
            self._changes.append((int(segment.number[row]), Fact(*fact.triple, start, end)))
            for other, extra in found[1:]:
                other.end[extra] = other.start[extra]
                other.refresh()
            self._touch(fact.predicate)
            self._refresh()
            return 2
        return 1

    def _overlapping(self, start: int, end: int) -> list[Segment]:
        found = (self._max_end > start) & (self._min_start < end)
        return [self.segments[i] for i in np.flatnonzero(found)]

    def _end(self, segment: Segment, rows: Column | None, at: int, predicate: str) -> int:
        if rows is None:
            return 0
        rows = rows[(segment.end[rows] > at) & (segment.start[rows] < segment.end[rows])]
        if not len(rows):
            return 0
        segment.end[rows] = np.maximum(segment.start[rows], at)
        segment.refresh()
        self._touch(predicate)
        self.withdrawn.add(predicate)
        times = zip(segment.start[rows].tolist(), segment.end[rows].tolist(), strict=True)
        facts = zip(segment.index.quads(rows), times, strict=True)
        self._changes += zip(
            segment.number[rows].tolist(), (Fact(*quad[:3], *span) for quad, span in facts), strict=True
        )
        return len(rows)

    def _append(self, facts: Sequence[Fact]) -> None:
        numbers = range(self.next_number, self.next_number + len(facts))
        self.next_number += len(facts)
        for fact in facts:
            self._touch(fact.predicate)
        self._changes += zip(numbers, facts, strict=True)
        self.segments.append(Segment(facts, numbers))
        self._refresh()

    def _merge_small(self, now: int) -> None:
        """Merge small segments of a class: expired ones first, so that the present stays in small ones."""
        small: dict[int, list[Segment]] = {}
        for segment in self.segments:
            if len(segment) <= self.segment_rows // 2:
                small.setdefault(segment.kind, []).append(segment)
        for group in small.values():
            expired = [segment for segment in group if segment.max_end <= now]
            if len(expired) < _MERGE_EXPIRED:
                if len(group) < _MERGE_LIVE:
                    continue
                expired = group
            for taken in self._groups(expired):
                self._replace(taken, merge(taken, None if self.retention.history else now))

    def _groups(self, segments: Sequence[Segment]) -> Iterator[list[Segment]]:
        """Neighbours in time that make one segment: small, and ending near enough to be forgotten whole."""
        group: list[Segment] = []
        for segment in sorted(segments, key=lambda one: one.min_start):
            rows = sum(map(len, group)) + len(segment)
            ends = [one.max_end for one in (*group, segment)]
            if group and (rows > self.segment_rows or max(ends) - min(ends) > self.retention.age // 8):
                if len(group) > 1:
                    yield group
                group = []
            group.append(segment)
        if len(group) > 1:
            yield group

    def _replace(self, gone: Sequence[Segment], merged: Segment | None) -> None:
        out = set(map(id, gone))
        self.segments = [segment for segment in self.segments if id(segment) not in out]
        if merged is not None:
            self.segments.append(merged)
        self.version += 1
        self._refresh()

    def _touch(self, predicate: str) -> None:
        self.version += 1
        self.predicate_versions[predicate] = self.version

    def _refresh(self) -> None:
        def column(values: Iterable[int]) -> NDArray[np.int64]:
            return np.fromiter(values, np.int64, len(self.segments))

        self._min_start = column(s.min_start for s in self.segments)
        self._max_end = column(s.max_end for s in self.segments)
        self._min_number = column(int(s.number[0]) for s in self.segments)
        self._max_number = column(int(s.number[-1]) for s in self.segments)


def _coalesced(facts: Iterable[Fact]) -> list[Fact]:
    """Facts whose equal ones do not overlap: those that do become one. Empty ones go."""
    by_triple: dict[TripleText, list[Fact]] = {}
    for fact in facts:
        if fact.start < fact.end:
            by_triple.setdefault(fact.triple, []).append(fact)
    out: list[Fact] = []
    for group in by_triple.values():
        last: Fact | None = None
        for fact in sorted(group, key=lambda one: one.start):
            if last is not None and fact.start < last.end:
                last = last._replace(end=max(last.end, fact.end))
                out[-1] = last
            else:
                out.append(last := fact)
    return out
