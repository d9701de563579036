"""R2S: what is sent out of a relation over instants, as multisets (docs/semantics.md, "What is sent out").

RSTREAM lists a row at every evaluation that its interval covers. ISTREAM at index k is where the
multiplicity of a solution rises from k−1 to k, DSTREAM where it falls: what starts there less what ends
there, and the other way round. Of equal rows the earlier go.
"""

from __future__ import annotations

import numpy as np

from weir.kernel.relations.coverage import expand
from weir.kernel.relations.keys import codes, turns
from weir.kernel.relations.relation import Relation
from weir.kernel.windows.instants import Instants
from weir.language.algebra.query import R2S
from weir.rdf.columns import Ids, Mask

_NONE = np.empty(0, np.int64)


def sent(relation: Relation, at: Instants, operator: R2S) -> tuple[Ids, Ids | None]:
    """Pairs (index, row) in the order of indices, and of rows within one; no rows mean all, in order.

    Where index 0 lies before everything, the relation must not show there (``relation.clip``).
    """
    if not len(relation):
        return _NONE, None
    if operator is R2S.RSTREAM:
        return _listed(relation, at.emitted)
    padded = np.zeros(len(at) + 1, np.bool_)
    padded[1:-1] = at.emitted[1:]
    start, end = relation.start, relation.end
    if operator is R2S.DSTREAM:
        start, end = end, start
    beginning, ceasing = padded[start], padded[end]
    if beginning.all():
        if not ceasing.any() and _ascends(start):
            return start, None
        rows = np.arange(len(start))
        index = start
    else:
        rows = beginning.nonzero()[0]
        if not len(rows):
            return _NONE, None
        index = start[rows]
    others = ceasing.nonzero()[0]
    if len(others):
        kept = _surplus(relation, rows, index, others, end[others])
        rows, index = rows[kept], index[kept]
    return _by_index(index, rows)


def _ascends(index: Ids) -> bool:
    return len(index) < 2 or bool((index[1:] >= index[:-1]).all())


def _by_index(index: Ids, rows: Ids) -> tuple[Ids, Ids]:
    """In the order of indices; rows of one index stay as they are."""
    if _ascends(index):
        return index, rows
    order = np.argsort(index, kind="stable")
    return index[order], rows[order]


def _listed(relation: Relation, emitted: Mask) -> tuple[Ids, Ids]:
    row, index = expand(relation.start, relation.end)
    if not emitted.all():
        shown = emitted[index]
        row, index = row[shown], index[shown]
    return _by_index(index, row)


def _surplus(relation: Relation, rows: Ids, index: Ids, others: Ids, their: Ids) -> Ids:
    """The places in ``rows`` that are left when each of ``others`` cancels an equal row at its index."""
    both = np.concatenate([rows, others])
    numbers, _ = codes([column[both] for column in relation.columns.values()], len(both))
    span = int(max(index.max(), their.max())) + 1
    keys = numbers * span + np.concatenate([index, their])
    mine, cancelling = keys[: len(rows)], np.sort(keys[len(rows) :])
    owed = np.searchsorted(cancelling, mine, side="right") - np.searchsorted(cancelling, mine)
    if not owed.any():
        return np.arange(len(rows))
    order = np.argsort(mine, kind="stable")
    kept: Ids = np.sort(order[turns(mine[order]) >= owed[order]])
    return kept
