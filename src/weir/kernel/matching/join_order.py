"""The join order of conjunctive queries: which pattern comes next, and what it must agree with.

A step is one pattern of a query: its machine in the automaton, and for each place of its triple the
earlier place that has the same variable, if any. All queries of a set are put in order at once. Two
queries that differ only in the names of their variables, or in the order of patterns that the rules
below tell apart, have the same steps: they are evaluated as one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weir.plan.analysis.conjunctions import Conjunction
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import Variable

PLACES = 3
_BITS = 8
_WEIGHTS = np.array([8, 1, 4])
"""How much a constant subject, predicate or object narrows a pattern down."""


class Conjunctions(NamedTuple):
    """A set of queries as columns: query q has the patterns ``offsets[q]`` to ``offsets[q + 1]``.

    ``symbols`` has a row of three term ids a pattern, 0 for a variable; ``variables`` the numbers of its
    variables, counted from 0 in each query, −1 for a constant.
    """

    offsets: Ids
    symbols: NDArray[np.int64]
    variables: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


def encode(
    queries: Sequence[Conjunction], dictionary: Dictionary
) -> tuple[Conjunctions, list[dict[Variable, int]]]:
    """The queries as columns, and the number of each variable in each query."""
    texts: list[str] = []
    wanted: list[int] = []
    flat: list[int] = []
    offsets = [0]
    numbers: list[dict[Variable, int]] = []
    for query in queries:
        known: dict[Variable, int] = {}
        for triple in query.patterns:
            for node in (triple.subject, triple.predicate, triple.object):
                if isinstance(node, Variable):
                    flat.append(known.setdefault(node, len(known)))
                else:
                    wanted.append(len(flat))
                    texts.append(str(node))
                    flat.append(-1)
        offsets.append(len(flat) // 3)
        numbers.append(known)
    symbols = np.zeros(len(flat), np.int64)
    symbols[wanted] = dictionary.encode_texts(texts)
    variables = np.array(flat, np.int64).reshape(-1, 3)
    return Conjunctions(np.array(offsets), symbols.reshape(-1, 3), variables), numbers


class Steps(NamedTuple):
    """The chosen order: column d of each table is step d of every query.

    ``pattern`` numbers rows of ``Conjunctions.symbols``, −1 where a query has fewer; ``links`` packs, a byte
    a place, 1 + 4·step + place of the earlier place that must be equal, 0 for none (see ``link``).
    ``columns`` gives, for every variable of a query, its rank among them by first occurrence: the place of
    its values in a solution.
    """

    pattern: NDArray[np.int64]
    links: NDArray[np.int64]
    columns: Sequence[Mapping[int, int]]


def order_steps(queries: Conjunctions) -> Steps:
    """Most selective pattern first, then always one that shares a variable, if there is one.

    Selective is: more, and better placed, constants; then more variables already known. Ties fall to
    the pattern whose ids come first, so that the order in which a query was written does not matter.
    """
    ranks, variables = _ranks(queries).tolist(), queries.variables.tolist()
    offsets = queries.offsets.tolist()
    pattern: list[list[int]] = []
    links: list[list[int]] = []
    columns: list[dict[int, int]] = []
    for first, end in pairwise(offsets):
        left = sorted(range(first, end), key=ranks.__getitem__)
        places: dict[int, int] = {}  # 1 + 4·step + place of each variable's first occurrence
        pattern.append([])
        links.append([])
        while left:
            connected = (each for each in left if not places.keys().isdisjoint(variables[each]))
            chosen = next(connected, left[0])
            left.remove(chosen)
            linked = 0
            for place, variable in enumerate(variables[chosen]):
                if variable >= 0:
                    here = 1 + 4 * len(pattern[-1]) + place
                    found = places.setdefault(variable, here)
                    linked |= found << (_BITS * place) if found != here else 0
            pattern[-1].append(chosen)
            links[-1].append(linked)
        columns.append({variable: rank for rank, variable in enumerate(places)})
    return Steps(_table(pattern, -1), _table(links, 0), columns)


def _table(rows: Sequence[Sequence[int]], missing: int) -> NDArray[np.int64]:
    """Rows of different lengths as a table."""
    out = np.full((len(rows), max(map(len, rows), default=0)), missing, np.int64)
    for place, row in enumerate(rows):
        out[place, : len(row)] = row
    return out


def link(links: NDArray[np.int64], place: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The (step, place) that ``place`` must equal, step −1 where it is free."""
    code = (links >> (_BITS * place)) & 0xFF
    return np.where(code == 0, -1, (code - 1) >> 2), np.where(code == 0, 0, (code - 1) & 3)


def _ranks(queries: Conjunctions) -> Ids:
    """The patterns' place in the order of selectivity, then of their ids; equal for equal patterns."""
    constants = queries.symbols != 0
    score = constants @ _WEIGHTS
    keys = (*(queries.symbols[:, place] for place in (2, 0, 1)), -score)
    order = np.lexsort(keys)
    new = np.zeros(len(order), np.bool_)
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    out = np.empty(len(order), np.int64)
    out[order] = np.cumsum(new)
    return out
