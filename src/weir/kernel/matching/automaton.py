"""The automaton of all registered triple patterns: CTP-automata's TPM stage on whole columns.

Every pattern is a path of transitions subject, predicate, object (and graph, where it names one), each
on a constant or on ``?``. Patterns share states as far as their transitions are equal, so a batch is
matched level by level: the active (row, state) pairs follow their constant and their ``?`` transitions
in two look-ups, whatever the number of patterns (Qin et al., section 2.2). Large batches go through a
compiled loop triple by triple, with the same outcome. Variable names do not count here; what equal names
in one query demand is resolved later (``resolve``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from weir.kernel.matching.pair_table import MIX, STATE, SYMBOL, PairTable
from weir.rdf.columns import Ids, Mask

ANY = 0
"""``?``: the id that no term has. In the graph place it stands for every graph and none."""

_LEVELS = 4
_GRAPH = 3
_MOST = 1 << _LEVELS

FEW = 1 << 10
"""Fewer triples are matched a level at a time: it saves loading the compiled loop."""


class Transitions(NamedTuple):
    """The tables of the four levels one behind the other: by bucket the state, the symbol and the value of a
    transition. ``first`` and ``shift`` are those of each level's table; ``wild`` has, from ``wild_first`` on,
    the ``?`` transition of each state of a level. ``constants`` says where there are others."""

    buckets: NDArray[np.int64]
    first: Ids
    shift: NDArray[np.uint64]
    wild: Ids
    wild_first: Ids
    constants: NDArray[np.bool_]


class Matcher:
    """All triple patterns of a query set. Equal patterns are one *machine* with one id.

    ``add`` and ``drop`` touch only the transitions of their own patterns. Ids are small and dense;
    those of machines that nobody refers to any more are given out again.
    """

    def __init__(self) -> None:
        self._levels = tuple(_Level() for _ in range(_LEVELS))
        self._origin = [np.zeros(1, np.int64) for _ in range(_LEVELS)]
        self._symbol = [np.zeros(1, np.int64) for _ in range(_LEVELS)]
        self._uses = [np.zeros(1, np.int64) for _ in range(_LEVELS)]
        self._walked: Transitions | None = None

    def __len__(self) -> int:
        """The number of machines: distinct patterns."""
        return len(self._levels[-1].table)

    @property
    def bound(self) -> int:
        """Every machine's id is below this."""
        return self._levels[-1].table.bound

    @property
    def states(self) -> int:
        """Initial, internal and final states; a machine without a graph is final after its object."""
        last = self._levels[_GRAPH]
        return 1 + sum(len(level.table) for level in self._levels[:_GRAPH]) + last.constants

    def add(self, patterns: Sequence[Sequence[int]] | NDArray[np.int64]) -> Ids:
        """The machines of ``patterns``: rows of three or four ids, 0 for ``?``; one reference more each."""
        rows = _rows(patterns)
        self._walked = None
        states = np.zeros(len(rows), np.int64)
        for depth, level in enumerate(self._levels):
            symbols = np.ascontiguousarray(rows[:, depth])
            origins, (states, makers) = states, level.table.intern(states, symbols)
            self._reserve(depth, level.table.bound)
            made = states[makers]
            self._origin[depth][made] = origins[makers]
            self._symbol[depth][made] = symbols[makers]
            self._uses[depth][made] = 0
            if depth:
                np.add.at(self._uses[depth - 1], origins[makers], 1)
            wild = symbols[makers] == ANY
            level.wild[origins[makers[wild]]] = made[wild]
            level.constants += int(np.count_nonzero(~wild))
            if depth + 1 < _LEVELS:
                self._levels[depth + 1].extend(level.table.bound)
                self._levels[depth + 1].wild[made] = -1
        np.add.at(self._uses[-1], states, 1)
        return states

    def drop(self, machines: Ids) -> None:
        """Give back one reference per id, as ``add`` gave them; states that nothing uses go."""
        self._walked = None
        states = np.unique(machines)
        np.subtract.at(self._uses[-1], machines, 1)
        for depth in range(_LEVELS - 1, -1, -1):
            states = states[self._uses[depth][states] == 0]
            if not len(states):
                return
            level = self._levels[depth]
            origins, symbols = self._origin[depth][states], self._symbol[depth][states]
            level.table.remove(origins, symbols)
            wild = symbols == ANY
            level.wild[origins[wild]] = -1
            level.constants -= int(np.count_nonzero(~wild))
            if depth:
                np.subtract.at(self._uses[depth - 1], origins, 1)
                states = np.unique(origins)

    def match(self, subject: Ids, predicate: Ids, object: Ids, graph: Ids | None = None) -> tuple[Ids, Ids]:
        """Every (row, machine) pair that matches, by row, each once."""
        if len(subject) >= FEW:
            graphs = np.empty(0, np.int64) if graph is None else graph
            return _walked(self._transitions, subject, predicate, object, graphs)
        rows = np.arange(len(subject))
        states = np.zeros(len(subject), np.int64)
        for depth, column in enumerate((subject, predicate, object, graph)):
            rows, states = self._levels[depth].step(rows, states, column)
        order = np.argsort(rows, kind="stable")
        return rows[order], states[order]

    @property
    def _transitions(self) -> Transitions:
        """The levels as the compiled loop takes them."""
        if self._walked is None:
            buckets = [level.table.buckets for level in self._levels]
            wild = [level.wild for level in self._levels]
            self._walked = Transitions(
                np.concatenate(buckets),
                np.cumsum([0, *map(len, buckets)]),
                np.array([level.table.shift for level in self._levels], np.uint64),
                np.concatenate(wild),
                np.cumsum([0, *map(len, wild)]),
                np.array([level.constants > 0 for level in self._levels]),
            )
        return self._walked

    def mask(self, subject: Ids, predicate: Ids, object: Ids, graph: Ids | None = None) -> Mask:
        """Which rows any machine matches."""
        out = np.zeros(len(subject), np.bool_)
        out[self.match(subject, predicate, object, graph)[0]] = True
        return out

    def pattern(self, machine: int) -> tuple[int, int, int, int]:
        """The subject, predicate, object and graph of a machine, 0 for ``?``."""
        symbols = []
        state = machine
        for depth in range(_LEVELS - 1, -1, -1):
            symbols.append(int(self._symbol[depth][state]))
            state = int(self._origin[depth][state])
        graph, object, predicate, subject = symbols
        return subject, predicate, object, graph

    def _reserve(self, depth: int, bound: int) -> None:
        for arrays in (self._origin, self._symbol, self._uses):
            arrays[depth] = _enlarged(arrays[depth], bound)


class _Level:
    """The transitions out of the states of one depth; ``wild`` is the ``?`` transition of each, or −1."""

    __slots__ = ("constants", "table", "wild")

    def __init__(self) -> None:
        self.table = PairTable()
        self.wild: Ids = np.full(1, -1, np.int64)
        self.constants = 0

    def extend(self, bound: int) -> None:
        self.wild = _enlarged(self.wild, bound)

    def step(self, rows: Ids, states: Ids, column: Ids | None) -> tuple[Ids, Ids]:
        """The active pairs after one more transition; no column is a column of 0."""
        following = self.wild[states]
        onward = np.flatnonzero(following >= 0)
        by_any = rows[onward], following[onward]
        if not self.constants or column is None:
            return by_any
        symbols = column[rows]
        following = self.table.find(states, symbols)
        onward = np.flatnonzero((following >= 0) & (symbols != ANY))
        return np.concatenate([rows[onward], by_any[0]]), np.concatenate([following[onward], by_any[1]])


def _rows(patterns: Sequence[Sequence[int]] | NDArray[np.int64]) -> NDArray[np.int64]:
    rows = np.asarray(patterns, np.int64)
    out = np.zeros((len(rows), _LEVELS), np.int64)
    if len(rows):
        out[:, : rows.shape[1]] = rows
    return out


def _enlarged(array: Ids, bound: int) -> Ids:
    if bound <= len(array):
        return array
    out = np.zeros(max(bound, 2 * len(array)), np.int64)
    out[: len(array)] = array
    return out


def _walked(
    transitions: Transitions, subject: Ids, predicate: Ids, target: Ids, graph: Ids
) -> tuple[Ids, Ids]:
    """``_walk``, compiled once, whether columns may be written to or are views of what came by a file."""
    columns = [np.ascontiguousarray(column).view() for column in (subject, predicate, target, graph)]
    for column in columns:
        column.flags.writeable = False
    found: tuple[Ids, Ids] = _walk(transitions, columns[0], columns[1], columns[2], columns[3])
    return found


@njit(cache=True)
def _walk(transitions: Transitions, subject: Ids, predicate: Ids, target: Ids, graph: Ids) -> tuple[Ids, Ids]:
    """Every (row, machine) pair that matches, by row; a graph column without rows is one of 0."""
    buckets, first, shift, wild, wild_first, constants = transitions
    count, room = 0, 4 * len(subject) + _MOST
    rows, machines = np.empty(room, np.int64), np.empty(room, np.int64)
    states = np.zeros((_LEVELS + 1, _MOST), np.int64)
    symbols = np.zeros(_LEVELS, np.int64)
    for row in range(len(subject)):
        symbols[0], symbols[1], symbols[2] = subject[row], predicate[row], target[row]
        if len(graph):
            symbols[3] = graph[row]
        active = 1
        for level in range(_LEVELS):
            symbol: Any = symbols[level]
            found = 0
            for place in range(active):
                state = states[level, place]
                following = wild[wild_first[level] + state]
                if following >= 0:
                    states[level + 1, found] = following
                    found += 1
                if symbol == 0 or not constants[level]:
                    continue
                mixed = (np.uint64(symbol) * SYMBOL) ^ (np.uint64(state) * STATE)
                mixed ^= mixed >> np.uint64(32)
                mixed *= MIX
                begin, end = first[level], first[level + 1]
                bucket = begin + np.int64(mixed >> shift[level])
                # A free bucket has the value −1, a removed pair keeps its key and has −2.
                while buckets[bucket, 2] != -1:
                    if buckets[bucket, 1] == symbol and buckets[bucket, 0] == state:
                        if buckets[bucket, 2] >= 0:
                            states[level + 1, found] = buckets[bucket, 2]
                            found += 1
                        break
                    bucket += 1
                    if bucket == end:
                        bucket = begin
            active = found
            if not active:
                break
        if count + active > room:
            room *= 2
            rows, machines = _grown(rows, count, room), _grown(machines, count, room)
        for place in range(active):
            rows[count], machines[count] = row, states[_LEVELS, place]
            count += 1
    return rows[:count], machines[:count]


@njit(cache=True)
def _grown(column: Ids, count: int, room: int) -> Ids:
    out = np.empty(room, np.int64)
    out[:count] = column[:count]
    return out
