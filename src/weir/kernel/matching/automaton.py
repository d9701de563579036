"""The automaton of all registered triple patterns: CTP-automata's TPM stage on whole columns.

Every pattern is a path of transitions subject, predicate, object (and graph, where it names one), each
on a constant or on ``?``. Patterns share states as far as their transitions are equal (``PrefixTree``), so a
triple follows at most two transitions out of each state it has come to, one look-up each, whatever the number
of patterns (Qin et al., section 2.2). Variable names do not count here; what equal names in one query demand
is resolved later (``resolve``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weir.kernel.matching.prefix_tree import ROOT, Buckets, PrefixTree, bucket_of, enlarged
from weir.rdf.columns import Ids, Mask
from weir.rdf.compiled import njit

ANY = 0
"""``?``: the id that no term has. In the graph place it stands for every graph and none."""

_LEVELS = 4
_GRAPH = 3
_MOST = 1 << _LEVELS
_NO_GRAPHS = np.empty(0, np.int64)


class Matcher:
    """All triple patterns of a query set. Equal patterns are one *machine*, known by its final state.

    ``add`` and ``drop`` touch only the transitions of their own patterns. States are small numbers; those
    that nobody refers to any more are given out again.
    """

    def __init__(self) -> None:
        self._tree = PrefixTree()
        self._wild: Ids = np.zeros(1, np.int64)  # 1 + the ``?`` transition of state s at s + 1, 0 for none
        self._machines = 0
        self._constants: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        """The number of machines: distinct patterns."""
        return self._machines

    @property
    def bound(self) -> int:
        """Every machine's id is below this."""
        return self._tree.bound

    @property
    def states(self) -> int:
        """Initial, internal and final states; a machine without a graph is final after its object."""
        live = self._tree.table.values()
        anywhere = (self._tree.depth[live] == _GRAPH) & (self._tree.symbol[live] == ANY)
        return 1 + len(live) - int(np.count_nonzero(anywhere))

    def add(self, patterns: Sequence[Sequence[int]] | NDArray[np.int64]) -> Ids:
        """The machines of ``patterns``: rows of three or four ids, 0 for ``?``; one reference more each."""
        rows = np.asarray(patterns, np.int64)
        states = np.full(len(rows), ROOT, np.int64)
        self._constants = None
        for depth in range(_LEVELS if len(rows) else 0):
            symbols = rows[:, depth] if depth < rows.shape[1] else np.zeros(len(rows), np.int64)
            origins, (states, makers) = states, self._tree.descend(states, symbols, depth)
            made, wild = states[makers], makers[symbols[makers] == ANY]
            self._wild = enlarged(self._wild, self._tree.bound + 1)
            self._wild[made + 1] = 0
            self._wild[origins[wild] + 1] = states[wild] + 1
            if depth == _GRAPH:
                self._machines += len(made)
        self._tree.hold(states)
        return states

    def drop(self, machines: Ids) -> None:
        """Give back one reference per id, as ``add`` gave them; states that nothing uses go."""
        self._constants = None
        gone = self._tree.drop(machines)
        wild = gone[self._tree.symbol[gone] == ANY]
        self._wild[self._tree.parent[wild] + 1] = 0
        self._machines -= int(np.count_nonzero(self._tree.depth[gone] == _GRAPH))

    def match(self, subject: Ids, predicate: Ids, object: Ids, graph: Ids | None = None) -> tuple[Ids, Ids]:
        """Every (row, machine) pair that matches, by row, each once."""
        given = (subject, predicate, object, _NO_GRAPHS if graph is None else graph)
        columns = [np.ascontiguousarray(column).view() for column in given]
        for column in columns:  # The loop is compiled once, for columns that may not be written to.
            column.flags.writeable = False
        table = self._tree.table
        found: tuple[Ids, Ids] = _walk(
            table.buckets, table.shift, self._wild, self._levels_with_constants(), *columns
        )
        return found

    def _levels_with_constants(self) -> NDArray[np.bool_]:
        """At which levels there are transitions on constants."""
        if self._constants is None:
            live = self._tree.table.values()
            self._constants = np.zeros(_LEVELS, np.bool_)
            self._constants[self._tree.depth[live[self._tree.symbol[live] != ANY]]] = True
        return self._constants

    def mask(self, subject: Ids, predicate: Ids, object: Ids, graph: Ids | None = None) -> Mask:
        """Which rows any machine matches."""
        out = np.zeros(len(subject), np.bool_)
        out[self.match(subject, predicate, object, graph)[0]] = True
        return out

    def pattern(self, machine: int) -> tuple[int, ...]:
        """The subject, predicate, object and graph of a machine, 0 for ``?``."""
        return tuple(self._tree.symbol[self._tree.path(machine)].tolist())


@njit(over=("subject",), cache=True)
def _walk(
    buckets: Buckets,
    shift: np.uint64,
    wild: Ids,
    constants: NDArray[np.bool_],
    subject: Ids,
    predicate: Ids,
    target: Ids,
    graph: Ids,
) -> tuple[Ids, Ids]:
    """Every (row, machine) pair that matches, by row; a graph column without rows is one of 0."""
    count = 0
    rows = np.empty(4 * len(subject) + _MOST, np.int64)
    machines = np.empty_like(rows)
    states = np.full((_LEVELS + 1, _MOST), ROOT, np.int64)
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
                following = wild[state + 1] - 1
                if following >= 0:
                    states[level + 1, found] = following
                    found += 1
                if symbol != 0 and constants[level]:
                    following = buckets[bucket_of(buckets, shift, state, symbol), 2]
                    if following >= 0:
                        states[level + 1, found] = following
                        found += 1
            active = found
            if not active:
                break
        if count + active > len(rows):
            rows = np.concatenate((rows, np.empty_like(rows)))
            machines = np.concatenate((machines, np.empty_like(machines)))
        for place in range(active):
            rows[count], machines[count] = row, states[_LEVELS, place]
            count += 1
    return rows[:count], machines[:count]
