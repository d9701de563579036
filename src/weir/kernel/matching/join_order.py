"""The join order of conjunctive queries: which pattern comes next, and what it must agree with.

A step is one pattern of a query: its machine in the automaton, and for each place of its triple the
earlier place that has the same variable, if any. All queries of a set are put in order at once. Two
queries that differ only in the names of their variables, or in the order of patterns that the rules
below tell apart, have the same steps: they are evaluated as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weir.plan.analysis.conjunctions import Conjunction
from weir.rdf.columns import Ids
from weir.rdf.compiled import njit
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
    """The chosen order: column d of each table is step d of every query, −1 where it has fewer.

    ``pattern`` numbers rows of ``Conjunctions.symbols``; ``links`` packs, a byte a place, 1 + 4·step +
    place of the earlier place that must be equal, 0 for none (see ``link``). ``columns`` gives, for every
    variable of a query, its rank among them by first occurrence: the place of its values in a solution;
    −1 beyond a query's variables.
    """

    pattern: NDArray[np.int64]
    links: NDArray[np.int64]
    columns: NDArray[np.int64]


def order_steps(queries: Conjunctions) -> Steps:
    """Most selective pattern first, then always one that shares a variable, if there is one.

    Selective is: more, and better placed, constants; then more variables already known. Ties fall to
    the pattern whose ids come first, so that the order in which a query was written does not matter.
    """
    width = int(np.diff(queries.offsets).max(initial=0))
    return Steps(*_ordered(queries.offsets, _ranks(queries), queries.variables, width))


@njit(cache=True)
def _ordered(offsets: Ids, ranks: Ids, variables: NDArray[np.int64], width: int) -> Any:
    count, bound = len(offsets) - 1, 1 + (variables.max() if variables.size else -1)
    pattern, links = np.full((count, width), -1), np.zeros((count, width), np.int64)
    columns, known = np.full((count, bound), -1), np.zeros(count, np.int64)
    first = np.zeros((count, bound), np.int64)  # 1 + 4·step + place of each variable's first occurrence
    left = np.ones(len(variables), np.bool_)
    for query in range(count):
        for step in range(offsets[query + 1] - offsets[query]):
            best, shares = -1, False
            for each in range(offsets[query], offsets[query + 1]):
                shared = False
                for variable in variables[each]:
                    shared = shared or (variable >= 0 and first[query, variable] > 0)
                better = best < 0 or (shared if shared != shares else ranks[each] < ranks[best])
                if left[each] and better:
                    best, shares = each, shared
            left[best] = False
            pattern[query, step] = best
            for place in range(PLACES):
                variable = variables[best, place]
                if variable >= 0 and first[query, variable]:
                    links[query, step] |= first[query, variable] << (_BITS * place)
                elif variable >= 0:
                    first[query, variable] = 1 + 4 * step + place
                    columns[query, variable] = known[query]
                    known[query] += 1
    return pattern, links, columns


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
