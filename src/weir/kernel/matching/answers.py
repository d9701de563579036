"""The results of many queries: each kept once, however many queries share it, and handed out per query.

Queries that are equal up to the names of their variables have one *channel*. A result belongs to a channel;
its columns are the variables in the order in which the channel's steps first meet them. What a query
calls them, and which it selects, is its *header*. So nothing is copied per query until it is asked for.
Of queries of one shape that run as one (``plan.analysis.templates``) the *number* is the channel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from weir.kernel.contract import Answers
from weir.kernel.matching.resolve import Rows
from weir.rdf.columns import Ids
from weir.rdf.compiled import njit

_NONE = np.empty(0, np.int64)
TRIPLE = ("subject", "predicate", "object")
"""The columns of queries that make triples."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Results whose values are at hand: a row per column, 0 behind the last."""

    channel: Ids
    at: Ids
    values: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.at)

    def columns(self) -> NDArray[np.int64]:
        return self.values

    def take(self, rows: Ids) -> Listed:
        return Listed(self.channel[rows], self.at[rows], self.values[:, rows])

    def tally(self, counts: Ids) -> None:
        counts += np.bincount(self.channel, minlength=len(counts))


@dataclass(frozen=True, slots=True)
class Matched:
    """Results as the triples that made them: ``near`` refers to ``times`` and to ``terms``, which are read
    through the ``origins`` of their node; ``plain`` gives the channel of a node."""

    node: Small
    near: Near
    terms: NDArray[np.int64]
    times: Ids
    plain: Ids
    origins: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.node)

    @property
    def channel(self) -> Ids:
        channel: Ids = self.plain[self.node]
        return channel

    @property
    def at(self) -> Ids:
        return self.times[self.near.index]

    def columns(self) -> NDArray[np.int64]:
        return gather(self.terms, self.near.rows, self.origins, self.node.astype(np.int32))

    def take(self, rows: Ids) -> Matched:
        near = Near.of(self.near.index[rows], self.near.rows[rows])
        return replace(self, node=self.node[rows], near=near)

    def tally(self, counts: Ids) -> None:
        by_node = np.bincount(self.node, minlength=len(self.plain))
        some = np.flatnonzero(by_node)
        np.add.at(counts, self.plain[some], by_node[some])


Results: TypeAlias = Listed | Matched
"""Results of some channels at some times."""


@njit(cache=True)
def gather(terms: NDArray[np.int64], rows: Rows, origins: Any, node: Rows) -> NDArray[np.int64]:
    """The values of combinations: column c of one that ends at ``node`` is at ``origins[node, c]``, which is
    4·step + place; 0 where that is negative."""
    width = origins.shape[1]
    columns = np.zeros((width, len(rows)), np.int64)
    for number in range(len(rows)):
        for column in range(width):
            origin = origins[node[number], column]
            if origin >= 0:
                columns[column, number] = terms[origin & 3, rows[number, origin >> 2]]
    return columns


@dataclass(frozen=True, slots=True)
class Header:
    """How a query reads its channel: for each selected variable the column, −1 where it is never bound."""

    channel: int
    columns: Mapping[str, int]


@dataclass(frozen=True)
class SetAnswers:
    """What a set of queries answered in one slab. ``headers`` is by query name. Results are solutions, or the
    triples that queries make."""

    headers: Mapping[str, Header]
    members: Ids  # the number of queries of each channel
    parts: Sequence[Results] = ()
    evaluations: int = 0
    through: int = field(default=0, compare=False)
    makes_triples: bool = False

    def __len__(self) -> int:
        """The number of results, once per channel."""
        return sum(len(part) for part in self.parts)

    @cached_property
    def _by_channel(self) -> Ids:
        """The number of results of each channel."""
        found = np.zeros(len(self.members), np.int64)
        for part in self.parts:
            part.tally(found)
        return found

    @property
    def delivered(self) -> int:
        """The number of results, once per query that gets them."""
        return int((self._by_channel * self.members).sum())

    def counts(self) -> dict[str, int]:
        """The number of results of every query."""
        found = self._by_channel.tolist()
        return {name: found[header.channel] for name, header in self.headers.items()}

    @cached_property
    def table(self) -> tuple[Ids, Ids, NDArray[np.int64]]:
        """All results by (channel, time): channel, time, and values, a row per column."""
        if not self.parts:
            return _NONE, _NONE, np.empty((0, 0), np.int64)
        channel = np.concatenate([part.channel for part in self.parts])
        at = np.concatenate([part.at for part in self.parts])
        blocks = [part.columns() for part in self.parts]
        width = max(len(block) for block in blocks)
        values = np.zeros((width, len(at)), np.int64)
        first = 0
        for block in blocks:
            values[: len(block), first : first + block.shape[1]] = block
            first += block.shape[1]
        order = np.lexsort((at, channel))
        return channel[order], at[order], values[:, order]

    def only(self, queries: Iterable[str]) -> SetAnswers:
        """What some of the queries get, without touching the results of the others."""
        headers = {name: self.headers[name] for name in queries if name in self.headers}
        wanted = np.zeros(len(self.members), np.bool_)
        wanted[[header.channel for header in headers.values()]] = True
        members = np.bincount([h.channel for h in headers.values()], minlength=len(self.members))
        parts = []
        for part in self.parts:
            rows = np.flatnonzero(wanted[part.channel])
            if len(rows):
                parts.append(part.take(rows))
        return replace(self, headers=headers, members=members, parts=parts)

    def of(self, query: str) -> Answers:
        """One query's answers, in the order of time."""
        header = self.headers[query]
        channel, at, values = self.table
        low, high = np.searchsorted(channel, [header.channel, header.channel + 1])
        none = np.zeros(high - low, np.int64)
        columns = {
            name: values[column, low:high] if 0 <= column < len(values) else none
            for name, column in header.columns.items()
        }
        return Answers(at[low:high], columns, evaluations=self.evaluations)

    def items(self) -> Iterator[tuple[str, Answers]]:
        """The answers of every query that has any."""
        present = np.zeros(len(self.members), np.bool_)
        present[self.table[0]] = True
        for name, header in self.headers.items():
            if present[header.channel]:
                yield name, self.of(name)


@dataclass(frozen=True, slots=True)
class SingleAnswers:
    """What a query answered that is evaluated by itself."""

    name: str
    answers: Answers

    @property
    def evaluations(self) -> int:
        return self.answers.evaluations

    def __len__(self) -> int:
        """The number of results."""
        return len(self.answers.at)

    @property
    def delivered(self) -> int:
        return len(self)

    def counts(self) -> dict[str, int]:
        return {self.name: len(self)}

    def of(self, query: str) -> Answers:
        return self.answers

    def items(self) -> Iterator[tuple[str, Answers]]:
        if len(self.answers.at) or len(self.answers.empty):
            yield self.name, self.answers


Small = NDArray[np.signedinteger[Any]]
_WIDTHS = (np.int8, np.int16, np.int32)


@dataclass(frozen=True, slots=True)
class Near:
    """Results as small numbers, a byte each where windows are small; it gives back what it was made of.

    Results come in the order of their first triple, and their other triples are a window away at most. So
    ``columns`` has a row of steps of the time's number and a row of steps of the first triple, both from the
    result before, and for each further triple a row of distances from the first, the least number where there
    is none. ``begin`` are the time's number and the first triple of the first result.
    """

    begin: tuple[int, int]
    columns: Small

    @staticmethod
    def of(index: Rows, rows: Rows) -> Near:
        """Results by the number of their time and of their triples, −1 behind the last."""
        if not len(index):
            return Near((0, 0), np.empty((rows.shape[1] + 1, 0), np.int8))
        begin = int(index[0]), int(rows[0, 0])
        for width in _WIDTHS:
            columns = np.empty((rows.shape[1] + 1, len(index)), width)
            if _shrink(index, rows, columns, np.iinfo(width).max):
                break
        return Near(begin, columns)

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    @property
    def index(self) -> Rows:
        """The number of each result's time."""
        return np.cumsum(self.columns[0], dtype=np.int32) + np.int32(self.begin[0])

    @property
    def rows(self) -> Rows:
        """The triples of each result, −1 behind the last."""
        first = np.cumsum(self.columns[1], dtype=np.int32) + np.int32(self.begin[1])
        none = np.iinfo(self.columns.dtype).min
        others = [np.where(column == none, np.int32(-1), column + first) for column in self.columns[2:]]
        return np.stack([first, *others], axis=1)


@njit(cache=True)
def _shrink(index: Rows, rows: Rows, columns: Any, most: int) -> bool:
    """Fill ``columns``; False where a number is larger than ``most``. The least one stands for no triple."""
    before, first = index[0], rows[0, 0]
    for place in range(len(index)):
        step, move = index[place] - before, rows[place, 0] - first
        if abs(step) > most or abs(move) > most:
            return False
        before, first = index[place], rows[place, 0]
        columns[0, place], columns[1, place] = step, move
        for further in range(1, rows.shape[1]):
            other = rows[place, further]
            distance = other - first if other >= 0 else -most - 1
            if distance > most or (distance < -most and other >= 0):
                return False
            columns[further + 1, place] = distance
    return True
