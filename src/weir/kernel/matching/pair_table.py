"""A hash table from pairs of integers to small dense integers, read and written a column at a time.

Open addressing with linear probing in plain arrays: a look-up of n pairs is a few gathers, and so is
the insertion of n pairs. Law: ``find`` after ``intern`` gives what ``intern`` gave, until ``remove``;
values in use are distinct, and those of removed pairs are given out again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weir.rdf.columns import Ids

_FREE, _REMOVED = -1, -2
STATE = np.uint64(0x9E3779B97F4A7C15)
SYMBOL = np.uint64(0xC2B2AE3D27D4EB4F)
MIX = np.uint64(0xD6E8FEB86659FD93)
_MIN_BITS = 6


class PairTable:
    """``(state, symbol) → value``, at most a quarter full so that most look-ups take one probe."""

    def __init__(self) -> None:
        self._reset(_MIN_BITS)
        self._used = 0  # buckets that are not free, removed ones among them
        self._next = 0
        self._spare: list[int] = []

    def __len__(self) -> int:
        return self._next - len(self._spare)

    @property
    def bound(self) -> int:
        """Every value is below this."""
        return self._next

    def find(self, states: Ids, symbols: Ids) -> Ids:
        """The value of each pair, −1 where it is absent."""
        buckets = self._buckets(states, symbols)
        found = self._values[buckets]
        same = (self._symbols[buckets] == symbols) & (self._states[buckets] == states)
        out = np.where(same & (found >= 0), found, -1)
        # A removed pair keeps its key, so a key that is met ends the search, whatever its value.
        pending = np.flatnonzero((found != _FREE) & ~same)
        buckets = buckets[pending]
        while len(pending):
            buckets = (buckets + 1) & self._mask
            found = self._values[buckets]
            same = (self._symbols[buckets] == symbols[pending]) & (self._states[buckets] == states[pending])
            hit = same & (found >= 0)
            out[pending[hit]] = found[hit]
            on = (found != _FREE) & ~same
            pending, buckets = pending[on], buckets[on]
        return out

    def intern(self, states: Ids, symbols: Ids) -> tuple[Ids, Ids]:
        """The value of each pair, made where it is absent, and the places of the pairs that made one."""
        if (self._used + len(states)) * 4 > self._mask + 1:
            self._grow(len(states))
        buckets = self._claim(states, symbols)
        values = self._values[buckets]
        fresh = np.flatnonzero(values < 0)
        if not len(fresh):
            return values, fresh
        _, first = np.unique(buckets[fresh], return_index=True)
        makers = np.sort(fresh[first])
        self._used += int(np.count_nonzero(values[makers] == _FREE))
        self._values[buckets[makers]] = self._draw(len(makers))
        return self._values[buckets], makers

    def remove(self, states: Ids, symbols: Ids) -> None:
        """Forget pairs that are present, each given once; their values become spare."""
        buckets = self._claim(states, symbols)
        self._spare += self._values[buckets].tolist()
        self._values[buckets] = _REMOVED

    def items(self) -> tuple[Ids, Ids, Ids]:
        """States, symbols and values of all pairs, in no particular order."""
        live = np.flatnonzero(self._values >= 0)
        return self._states[live], self._symbols[live], self._values[live]

    @property
    def buckets(self) -> NDArray[np.int64]:
        """By bucket the state, the symbol and the value, which is −1 where the bucket is free and −2 where
        its pair was removed; a pair is looked for from the bucket on that ``shift`` leaves of its hash."""
        return np.stack([self._states, self._symbols, self._values], axis=1)

    @property
    def shift(self) -> np.uint64:
        return self._shift

    def __getstate__(self) -> tuple[Ids, Ids, Ids, int, list[int]]:
        return *self.items(), self._next, self._spare

    def __setstate__(self, state: tuple[Ids, Ids, Ids, int, list[int]]) -> None:
        states, symbols, values, self._next, self._spare = state
        self._rebuild(states, symbols, values, len(values))

    def _claim(self, states: Ids, symbols: Ids) -> NDArray[np.int64]:
        """The bucket of each pair; one that is absent gets a bucket whose value is still negative.

        Pairs that want the same free bucket all write their key; the last writer has it, equal pairs
        with it, and the others go on to the next bucket.
        """
        buckets = self._buckets(states, symbols)
        out = buckets.copy()
        pending = np.arange(len(states))
        claimed = np.zeros(self._mask + 1, np.bool_) if len(states) > 1 else None
        while True:
            own_states, own_symbols = states[pending], symbols[pending]
            free = self._values[buckets] == _FREE
            if claimed is not None:
                free &= ~claimed[buckets]
                claimed[buckets[free]] = True
            self._states[buckets[free]] = own_states[free]
            self._symbols[buckets[free]] = own_symbols[free]
            same = (self._symbols[buckets] == own_symbols) & (self._states[buckets] == own_states)
            out[pending[same]] = buckets[same]
            on = np.flatnonzero(~same)
            if not len(on):
                return out
            pending, buckets = pending[on], (buckets[on] + 1) & self._mask

    def _draw(self, count: int) -> Ids:
        reused = self._spare[len(self._spare) - min(count, len(self._spare)) :]
        del self._spare[len(self._spare) - len(reused) :]
        fresh = count - len(reused)
        self._next += fresh
        return np.concatenate([np.array(reused, np.int64), np.arange(self._next - fresh, self._next)])

    def _grow(self, extra: int) -> None:
        states, symbols, values = self.items()
        self._rebuild(states, symbols, values, len(values) + extra)

    def _rebuild(self, states: Ids, symbols: Ids, values: Ids, room: int) -> None:
        self._reset(max(_MIN_BITS, (room * 4).bit_length()))
        self._values[self._claim(states, symbols)] = values
        self._used = len(values)

    def _reset(self, bits: int) -> None:
        self._mask = (1 << bits) - 1
        self._shift = np.uint64(64 - bits)
        self._states = np.zeros(1 << bits, np.int64)
        self._symbols = np.zeros(1 << bits, np.int64)
        self._values = np.full(1 << bits, _FREE, np.int64)

    def _buckets(self, states: Ids, symbols: Ids) -> NDArray[np.int64]:
        mixed = symbols.view(np.uint64) * SYMBOL
        mixed ^= states.view(np.uint64) * STATE
        mixed ^= mixed >> np.uint64(32)
        mixed *= MIX
        return (mixed >> self._shift).view(np.int64)
