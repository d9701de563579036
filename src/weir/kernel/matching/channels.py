"""Who gets the combinations of a node: channels, and the queries that read them.

Queries that end at one node and select all of its variables read one *plain* channel: its results are the
node's combinations. A query that leaves variables out, or asks for DISTINCT, sees a different multiset
of solutions; those that leave out the same share a channel of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weir.kernel.matching.answers import Header
from weir.kernel.matching.automaton import Matcher
from weir.kernel.matching.join_order import encode, order_steps
from weir.kernel.matching.trie import Trie, offsets_of
from weir.plan.analysis.conjunctions import Conjunction
from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.dictionary import Dictionary

_SHAPE = np.array([1, 2, 4])
_ALL = -1


@dataclass(frozen=True, slots=True)
class ByNode:
    """What evaluation needs of channels, by node of the tree.

    ``plain`` is a node's plain channel, −1 where it has none; ``whole`` tells the nodes that have others:
    their combinations are all needed, old ones too. These others are ``special``, from ``offsets`` on for
    each node; ``kept`` tells which columns each keeps. ``origins`` says where the columns of a node's
    solutions are in its combinations (``answers.gather``); ``steps`` is the most steps that a query has.
    """

    plain: Ids
    whole: Mask
    special: Ids
    offsets: Ids
    kept: NDArray[np.bool_]
    distinct: Mask
    origins: NDArray[np.int8]
    steps: int


@dataclass(frozen=True, slots=True)
class _Registered:
    query: Conjunction
    end: int
    machines: Ids
    key: tuple[int, int, bool]
    header: Header


class Channels:
    """The queries of a set: their machines, their tree of steps, their channels.

    ``as_set`` says that windows are sets, where solutions with all variables are distinct anyway.
    """

    def __init__(self, *, as_set: bool) -> None:
        self.matcher = Matcher()
        self.trie = Trie()
        self._as_set = as_set
        self._queries: dict[str, _Registered] = {}
        self._numbers: dict[tuple[int, int, bool], int] = {}
        self._members: list[int] = []
        self._spare: list[int] = []
        self._by_node: ByNode | None = None

    def __len__(self) -> int:
        return len(self._queries)

    def __contains__(self, name: str) -> bool:
        return name in self._queries

    @property
    def queries(self) -> dict[str, Conjunction]:
        """The queries by name."""
        return {name: each.query for name, each in self._queries.items()}

    @property
    def ends(self) -> Ids:
        """The node at which each query ends."""
        return np.array([each.end for each in self._queries.values()], np.int64)

    @property
    def headers(self) -> dict[str, Header]:
        """How each query reads its channel."""
        return {name: each.header for name, each in self._queries.items()}

    @property
    def members(self) -> Ids:
        """The number of queries of each channel."""
        return np.array(self._members, np.int64)

    def add(self, queries: Sequence[tuple[str, Conjunction]], dictionary: Dictionary) -> None:
        """Register queries under names that are not in use."""
        encoded, variables = encode([query for _, query in queries], dictionary)
        machines = self.matcher.add(encoded.symbols)
        steps = order_steps(encoded)
        shapes = (encoded.symbols != 0) @ _SHAPE
        present = steps.pattern >= 0
        ends = self.trie.add(
            np.where(present, machines[steps.pattern], -1),
            steps.links,
            np.where(present, shapes[steps.pattern], 0),
        )
        widths = self.trie.width(ends).tolist()
        offsets, places = encoded.offsets.tolist(), steps.columns.tolist()
        for number, (name, query) in enumerate(queries):
            columns = {
                variable.name: places[number][variables[number][variable]]
                if variable in variables[number]
                else -1
                for variable in query.variables
            }
            key = self._key(int(ends[number]), widths[number], columns.values(), query.distinct)
            header = Header(self._join(key), columns)
            own = machines[offsets[number] : offsets[number + 1]]
            self._queries[name] = _Registered(query, int(ends[number]), own, key, header)
        self._by_node = None

    def drop(self, names: Sequence[str]) -> None:
        """Forget queries."""
        gone = [self._queries.pop(name) for name in names]
        for each in gone:
            channel = each.header.channel
            self._members[channel] -= 1
            if not self._members[channel]:
                del self._numbers[each.key]
                self._spare.append(channel)
        if gone:
            self.trie.drop(np.array([each.end for each in gone], np.int64))
            self.matcher.drop(np.concatenate([each.machines for each in gone]))
        self._by_node = None

    def _key(self, end: int, width: int, columns: Iterable[int], distinct: bool) -> tuple[int, int, bool]:
        kept = sum(1 << column for column in columns if column >= 0)
        everything = kept == (1 << width) - 1
        if everything and (self._as_set or not distinct):
            return end, _ALL, False
        return end, kept, distinct

    def _join(self, key: tuple[int, int, bool]) -> int:
        channel = self._numbers.get(key)
        if channel is None:
            channel = self._spare.pop() if self._spare else len(self._members)
            if channel == len(self._members):
                self._members.append(0)
            self._numbers[key] = channel
        self._members[channel] += 1
        return channel

    @property
    def by_node(self) -> ByNode:
        """Made again after a change."""
        if self._by_node is None:
            self._by_node = self._made_by_node()
        return self._by_node

    def _made_by_node(self) -> ByNode:
        bound = self.trie.bound
        plain, whole = np.full(bound, -1, np.int64), np.zeros(bound, np.bool_)
        ends = np.array([end for end, _, _ in self._numbers], np.int64)
        width = int(self.trie.width(ends).max(initial=0))
        special = []
        for (end, kept, distinct), channel in self._numbers.items():
            if kept == _ALL:
                plain[end] = channel
            else:
                special.append((end, channel, [(kept >> column) & 1 for column in range(width)], distinct))
        special.sort()
        nodes = np.array([each[0] for each in special], np.int64)
        whole[nodes] = True
        return ByNode(
            plain,
            whole,
            np.array([each[1] for each in special], np.int64),
            offsets_of(nodes, bound),
            np.array([each[2] for each in special], np.bool_).reshape(len(special), width),
            np.array([each[3] for each in special], np.bool_),
            np.ascontiguousarray(self.trie.origins[:, :width]),
            int(self.trie.steps(ends).max(initial=1)),
        )
