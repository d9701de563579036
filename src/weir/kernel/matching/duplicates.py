"""Equal triples in a window: what a set makes of them, and where their comings and goings cancel.

Where a window's content is a set, a later occurrence takes over from an earlier one: each is visible from
its own start until the later one's start, so a triple is visible once at a time (as in ``interval.track``).
ISTREAM and DSTREAM compare multisets: a solution that starts where an equal one ends is no change. Two
equal solutions that are not the same combination differ in some triple, so only combinations with a
triple that has an equal one nearby need to be compared at all: those rows are *marked*, and of the marked
combinations only those are *contested* that start, or end, where an equal triple ends, or starts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weir.kernel.interval.keys import codes
from weir.kernel.matching.resolve import Combinations, Rows
from weir.rdf.columns import Ids, Mask


class Duplicates(NamedTuple):
    """``end`` of each row after later occurrences took over, ``marked`` rows, and a number per triple."""

    end: Rows
    marked: Mask
    number: Ids


def find_duplicates(terms: NDArray[np.int64], start: Rows, end: Rows, *, as_set: bool) -> Duplicates:
    """Equal triples whose visibility overlaps or touches."""
    count = len(start)
    numbers, firsts = codes(list(terms), count)
    marked = np.zeros(count, np.bool_)
    if len(firsts) == count:
        return Duplicates(end, marked, numbers)
    order = np.argsort(numbers, kind="stable")
    earlier, later = order[:-1], order[1:]
    near = (numbers[earlier] == numbers[later]) & (start[later] <= end[earlier])
    earlier, later = earlier[near], later[near]
    marked[earlier] = marked[later] = True
    if as_set and len(later):
        end = end.copy()
        end[earlier] = np.minimum(end[earlier], start[later])
    return Duplicates(end, marked, numbers)


def contested(found: Combinations, duplicates: Duplicates, start: Rows, indices: int) -> Mask:
    """Which combinations may cancel, or be cancelled by, an equal one."""
    rows = found.rows
    here: Mask = np.zeros(len(found), np.bool_)
    touched = np.flatnonzero((duplicates.marked[rows] & (rows >= 0)).any(axis=1))
    if not len(touched):
        return here
    marked = np.flatnonzero(duplicates.marked)
    base = duplicates.number[marked] * (indices + 1)
    ends = np.unique(base + duplicates.end[marked])
    starts = np.unique(base + start[marked])
    rows = rows[touched]
    place = duplicates.number[rows] * (indices + 1)
    relevant = duplicates.marked[rows] & (rows >= 0)
    begins = relevant & _among(place + found.start[touched, None], ends)
    finishes = relevant & _among(place + found.end[touched, None], starts)
    here[touched] = (begins | finishes).any(axis=1)
    return here


def _among(keys: Ids, ordered: Ids) -> Mask:
    place = np.searchsorted(ordered, keys)
    np.minimum(place, len(ordered) - 1, out=place)
    found: Mask = ordered[place] == keys
    return found
