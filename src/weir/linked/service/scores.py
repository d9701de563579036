"""How long a refresh pays: the scores L and B and what follows from them (Planning Ahead, section 5.2).

Times are in any one unit (Weir: microseconds); scores count evaluations, the present one included.
A copy that expires at t is fresh at every evaluation before t, and stale at t itself.
"""

from __future__ import annotations

import numpy as np

from weir.rdf.columns import Ids


def remaining_life(arrival: Ids, width: int, now: int, slide: int) -> Ids:
    """L (formula 12): at how many evaluations from now on a window row takes part; never negative.

    Law: a row that arrived at t is seen at ``now``, ``now + slide``, … as long as that is < t + width.
    """
    return np.maximum(-((now - width - arrival) // slide), 0)


def evaluations_fresh(expiry: Ids, now: int, slide: int) -> Ids:
    """B: for how many evaluations a copy fetched now stays fresh; never negative."""
    return np.maximum(-((now - expiry) // slide), 0)


def capped_sums(group: Ids, life: Ids, of: Ids, cap: Ids) -> Ids:
    """For each pair (g, b) of ``of`` and ``cap``: the sum of min(life, b) over group g's rows.

    Rows are sorted by (group, life) once; a prefix sum then answers every pair by binary search.
    """
    top = int(max(life.max(initial=0), cap.max(initial=0))) + 1
    key = np.sort(group * top + life)
    total = np.concatenate(([0], np.cumsum(key % top)))
    base = of * top
    first, last = np.searchsorted(key, base), np.searchsorted(key, base + top)
    split = np.searchsorted(key, base + cap, side="right")
    return total[split] - total[first] + cap * (last - split)


def capped_table(group: Ids, life: Ids, groups: int, horizon: int) -> Ids:
    """``table[g, b]``: the sum of min(life, b) over group g's rows, for b = 0 … horizon."""
    wide = horizon + 1
    ends = np.bincount(group * wide + np.minimum(life, horizon), minlength=groups * wide)
    alive = np.cumsum(ends.reshape(groups, wide)[:, ::-1], axis=1)[:, ::-1]
    alive[:, 0] = 0
    return np.cumsum(alive, axis=1)
