"""Rows of numbers as paths down a tree that shares their common beginnings, and the hash table beneath it.

A node is a pair (node above, symbol). Law: equal rows end at equal nodes, until the last of them is dropped;
nodes in use are distinct, and those that nothing uses any more are given out again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.rdf.columns import Ids
from weir.rdf.compiled import njit

ROOT = -1
"""What is above the first nodes."""

FREE = -1
_REMOVED, _CLAIMED = -2, -3
_STATE = np.uint64(0x9E3779B97F4A7C15)
_SYMBOL = np.uint64(0xC2B2AE3D27D4EB4F)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_MIN_BITS = 6

Buckets = NDArray[np.int64]
"""By bucket the state, the symbol and the value, which is negative where there is none."""


@njit(over=(), cache=True, inline="always")
def bucket_of(buckets: Any, shift: Any, state: Any, symbol: Any) -> Any:
    """The bucket that has a pair or, where it is absent, could have it. A removed pair keeps its key."""
    mixed = (np.uint64(symbol) * _SYMBOL) ^ (np.uint64(state) * _STATE)
    mixed ^= mixed >> np.uint64(32)
    mixed *= _MIX
    bucket: Any = np.int64(mixed >> shift)
    while buckets[bucket, 2] != FREE and not (buckets[bucket, 1] == symbol and buckets[bucket, 0] == state):
        bucket += 1
        if bucket == len(buckets):
            bucket = 0
    return bucket


@njit(over=("states",), cache=True)
def _claim(buckets: Buckets, shift: np.uint64, states: Ids, symbols: Ids) -> tuple[Ids, Ids, int]:
    """The bucket of each pair, the first row of each pair that had no value, and how many of these took a
    free bucket."""
    found, makers = np.empty(len(states), np.int64), np.empty(len(states), np.int64)
    made, taken = 0, 0
    for row in range(len(states)):
        bucket = bucket_of(buckets, shift, states[row], symbols[row])
        found[row] = bucket
        if buckets[bucket, 2] == FREE or buckets[bucket, 2] == _REMOVED:
            taken += buckets[bucket, 2] == FREE
            buckets[bucket, 0], buckets[bucket, 1], buckets[bucket, 2] = states[row], symbols[row], _CLAIMED
            makers[made] = row
            made += 1
    return found, makers[:made], taken


class PairTable:
    """``(state, symbol) → value``, small dense numbers: open addressing with linear probing, at most a
    quarter full so that most look-ups (``bucket_of``) take one probe."""

    def __init__(self) -> None:
        self._used = 0  # buckets that are not free, removed ones among them
        self._spare: list[int] = []
        self.bound = 0
        """Every value is below this."""
        self._resize(0)

    def __len__(self) -> int:
        return self.bound - len(self._spare)

    def intern(self, states: Ids, symbols: Ids) -> tuple[Ids, Ids]:
        """The value of each pair, made where it is absent, and the places of the pairs that made one."""
        if (self._used + len(states)) * 4 > len(self.buckets):
            self._resize(len(states))
        places, makers, taken = self._claim(states, symbols)
        self._used += taken
        self.buckets[places[makers], 2] = self._draw(len(makers))
        return self.buckets[places, 2], makers

    def remove(self, states: Ids, symbols: Ids) -> None:
        """Forget pairs that are present, each given once; their values become spare."""
        places, _, _ = self._claim(states, symbols)
        self._spare += self.buckets[places, 2].tolist()
        self.buckets[places, 2] = _REMOVED

    def values(self) -> Ids:
        """The values of all pairs, ascending."""
        found = self.buckets[:, 2]
        return np.sort(found[found >= 0])

    def _claim(self, states: Ids, symbols: Ids) -> tuple[Ids, Ids, int]:
        columns = np.ascontiguousarray(states), np.ascontiguousarray(symbols)
        found: tuple[Ids, Ids, int] = _claim(self.buckets, self.shift, *columns)
        return found

    def _draw(self, count: int) -> Ids:
        reused = self._spare[len(self._spare) - min(count, len(self._spare)) :]
        del self._spare[len(self._spare) - len(reused) :]
        fresh = count - len(reused)
        self.bound += fresh
        return np.concatenate([np.array(reused, np.int64), np.arange(self.bound - fresh, self.bound)])

    def _resize(self, extra: int) -> None:
        """Room for the pairs there are, without removed ones, and as many more."""
        kept = self.buckets[self.buckets[:, 2] >= 0] if self._used else np.empty((0, 3), np.int64)
        bits = max(_MIN_BITS, ((len(kept) + extra) * 4).bit_length())
        self.shift = np.uint64(64 - bits)
        self.buckets: Buckets = np.full((1 << bits, 3), FREE)
        places, _, self._used = self._claim(kept[:, 0], kept[:, 1])
        self.buckets[places, 2] = kept[:, 2]


class PrefixTree:
    """By node the one above, its symbol and its depth; it lives while a row ends at it or below it."""

    def __init__(self) -> None:
        self.table = PairTable()
        self.parent = self.symbol = self.depth = self._uses = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self.table)

    @property
    def bound(self) -> int:
        """Every node is below this."""
        return self.table.bound

    def descend(self, parents: Ids, symbols: Ids, depth: int) -> tuple[Ids, Ids]:
        """The node below each parent by its symbol, and the rows that made one."""
        nodes, makers = self.table.intern(parents, symbols)
        self.parent, self.symbol, self.depth, self._uses = (
            enlarged(each, self.bound) for each in (self.parent, self.symbol, self.depth, self._uses)
        )
        made, above = nodes[makers], parents[makers]
        self.parent[made], self.symbol[made], self.depth[made] = above, symbols[makers], depth
        self._uses[made] = 0
        self.hold(above[above != ROOT])
        return nodes, makers

    def hold(self, nodes: Ids) -> None:
        """One reference more to each."""
        np.add.at(self._uses, nodes, 1)

    def drop(self, ends: Ids) -> Ids:
        """Give back one reference per node, as ``hold`` took them; the nodes that go."""
        gone, nodes = [], ends
        while len(nodes):
            np.subtract.at(self._uses, nodes, 1)
            nodes = np.unique(nodes)
            nodes = nodes[self._uses[nodes] == 0]
            self.table.remove(self.parent[nodes], self.symbol[nodes])
            gone.append(nodes)
            nodes = self.parent[nodes]
            nodes = nodes[nodes != ROOT]
        return np.concatenate([np.empty(0, np.int64), *gone])

    def path(self, end: int) -> Ids:
        """The nodes from the first to ``end``."""
        found = []
        while end != ROOT:
            found.append(end)
            end = int(self.parent[end])
        return np.array(found[::-1], np.int64)


def enlarged(array: NDArray[Any], bound: int) -> NDArray[Any]:
    """The array with room for ``bound`` rows at least, new ones 0."""
    if bound <= len(array):
        return array
    out = np.zeros((max(bound, 2 * len(array)), *array.shape[1:]), array.dtype)
    out[: len(array)] = array
    return out
