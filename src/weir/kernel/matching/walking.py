"""The automaton walked triple by triple in a compiled loop: what ``Matcher.match`` does a level at a time.

All transitions lie in one array, so that a look-up touches one line of the processor's cache. Law: ``walk``
gives the pairs that the levels give, by row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from weir.kernel.matching.table import MIX, STATE, SYMBOL
from weir.rdf.columns import Ids

FEW = 1 << 10
"""Fewer triples are matched a level at a time: a process that sees no more need not load this."""

_LEVELS = 4
_MOST = 1 << _LEVELS


class Transitions(NamedTuple):
    """The tables of the four levels one behind the other: by slot the state, the symbol and the value of a
    transition. ``first`` and ``shift`` are those of each level's table; ``wild`` has, from ``wild_first`` on,
    the ``?`` transition of each state of a level. ``constants`` says where there are others."""

    slots: NDArray[np.int64]
    first: Ids
    shift: NDArray[np.uint64]
    wild: Ids
    wild_first: Ids
    constants: NDArray[np.bool_]


def walked(
    transitions: Transitions, subject: Ids, predicate: Ids, target: Ids, graph: Ids
) -> tuple[Ids, Ids]:
    """``walk``, compiled once, whether columns may be written to or are views of what came by a file."""
    columns = [np.ascontiguousarray(column).view() for column in (subject, predicate, target, graph)]
    for column in columns:
        column.flags.writeable = False
    found: tuple[Ids, Ids] = walk(transitions, columns[0], columns[1], columns[2], columns[3])
    return found


@njit(cache=True)
def walk(transitions: Transitions, subject: Ids, predicate: Ids, target: Ids, graph: Ids) -> tuple[Ids, Ids]:
    """Every (row, machine) pair that matches, by row; a graph column without rows is one of 0."""
    slots, first, shift, wild, wild_first, constants = transitions
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
                slot = begin + np.int64(mixed >> shift[level])
                # A free slot has the value −1, a removed pair keeps its key and has −2.
                while slots[slot, 2] != -1:
                    if slots[slot, 1] == symbol and slots[slot, 0] == state:
                        if slots[slot, 2] >= 0:
                            states[level + 1, found] = slots[slot, 2]
                            found += 1
                        break
                    slot += 1
                    if slot == end:
                        slot = begin
            active = found
            if not active:
                break
        if count + active > room:
            room *= 2
            rows, machines = _enlarged(rows, count, room), _enlarged(machines, count, room)
        for place in range(active):
            rows[count], machines[count] = row, states[_LEVELS, place]
            count += 1
    return rows[:count], machines[:count]


@njit(cache=True)
def _enlarged(column: Ids, count: int, room: int) -> Ids:
    out = np.empty(room, np.int64)
    out[:count] = column[:count]
    return out
