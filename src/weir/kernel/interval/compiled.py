"""Inner loops that numba compiles: the same as their array statement, without a pass over memory a step."""

from __future__ import annotations

import numpy as np
from numba import njit

from weir.rdf.columns import Ids


@njit(cache=True)
def distinct_pairs(
    rows: Ids, start: Ids, counts: Ids, owner: Ids, number: Ids, codes: int
) -> tuple[Ids, Ids]:
    """The distinct (owner, number) of the pairs of each row with ``number[start : start + count]``.

    ``rows`` are in the order of their owners; numbers lie below ``codes``.
    """
    total = 0
    for row in rows:
        total += counts[row]
    owners = np.empty(total, np.int64)
    numbers = np.empty(total, np.int64)
    seen = np.full(codes, -1, np.int64)
    found = 0
    for row in rows:
        mine = owner[row]
        for place in range(start[row], start[row] + counts[row]):
            code = number[place]
            if seen[code] != mine:
                seen[code] = mine
                owners[found] = mine
                numbers[found] = code
                found += 1
    return owners[:found], numbers[:found]
