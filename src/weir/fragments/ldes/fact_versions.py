"""What a data set's event stream holds: every change of a fact's validity, in the order it was published.

A member never changes once it is there. It is a *version* of a fact: the triple and the validity that it
got at the time ``created``. A fact that is renewed or taken back before its time has one version more, and
the latest one counts. Times of creation never fall from one member to the next, so members are kept in
pages of equal length, of which only the last one grows. When there are too many, the oldest page goes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from weir.fragments.protocol.annotation import FOREVER, Fact
from weir.fragments.protocol.fact_columns import fact_columns, facts_of
from weir.storage import numbers, pack, unpack

PAGE = 250
"""Members of a page. Pages have addresses, so it is the same for ever."""
_KIND = "weir.fragments.members/1"

Change: TypeAlias = tuple[int, Fact]
"""A fact's number, and the fact with the validity that it has from now on."""


class Member(NamedTuple):
    """A version of the fact ``of``, numbered in the order of publication."""

    number: int
    created: int
    of: int
    fact: Fact


class Span(NamedTuple):
    """A page: its number, and the times of its first and its last member; ``full`` pages never change."""

    page: int
    first: int
    last: int
    full: bool


class _Packed(NamedTuple):
    first: int
    last: int
    data: bytes


class Members:
    """At most ``most`` members and those of one page more, none of them older than ``age`` µs by a page or
    more. With ``most`` 0 there is no event stream."""

    def __init__(self, most: int, age: int = FOREVER) -> None:
        self.most = most
        self.age = age
        self.oldest = 0
        self.latest = 0
        self._pages: deque[_Packed] = deque()
        self._open: list[Member] = []

    def __len__(self) -> int:
        return len(self._pages) * PAGE + len(self._open)

    @property
    def next_number(self) -> int:
        return self.oldest * PAGE + len(self)

    def record(self, changes: Sequence[Change], now: int) -> None:
        """Publish what changed."""
        if not self.most or not changes:
            return
        self.latest = max(self.latest, now)
        for of, fact in changes:
            self._open.append(Member(self.next_number, self.latest, of, fact))
            if len(self._open) == PAGE:
                self._pages.append(_Packed(self._open[0].created, self.latest, _packed(self._open)))
                self._open = []
        while self._pages and (len(self) - PAGE >= self.most or self._pages[0].last < self.latest - self.age):
            self._pages.popleft()
            self.oldest += 1

    def spans(self) -> list[Span]:
        """The pages that there are, in order of time."""
        spans = [Span(self.oldest + i, one.first, one.last, True) for i, one in enumerate(self._pages)]
        if self._open:
            spans.append(Span(self.oldest + len(spans), self._open[0].created, self.latest, False))
        return spans

    def page(self, number: int) -> list[Member] | None:
        """The members of a page; None where there is no such page, or none any more."""
        place = number - self.oldest
        if 0 <= place < len(self._pages):
            return _unpacked(unpack(self._pages[place].data, _KIND).table("members"), number)
        return list(self._open) if place == len(self._pages) and self._open else None

    def columns(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Every page, as columns to be kept."""
        for span in self.spans():
            yield span.page, _columns(self.page(span.page) or [])

    def restore(self, number: int, columns: Mapping[str, Any]) -> None:
        """Take back a page that was kept; they come in order, after ``oldest`` and ``latest`` were set."""
        members = _unpacked(columns, number)
        if len(members) == PAGE:
            self._pages.append(_Packed(members[0].created, members[-1].created, _packed(members)))
        else:
            self._open = members


def _columns(members: Sequence[Member]) -> dict[str, Any]:
    return {
        **fact_columns([member.fact for member in members]),
        "created": pa.array([member.created for member in members], pa.int64()),
        "of": pa.array([member.of for member in members], pa.int64()),
    }


def _packed(members: Sequence[Member]) -> bytes:
    data: bytes = pack(_KIND, {}, {"members": _columns(members)}, compression="zstd").to_pybytes()
    return data


def _unpacked(columns: Mapping[str, Any], page: int) -> list[Member]:
    created, of = (numbers(columns[name]).tolist() for name in ("created", "of"))
    rows = zip(created, of, facts_of(columns), strict=True)
    return [Member(page * PAGE + i, *row) for i, row in enumerate(rows)]
