"""Equal triples in a window: taken over in a set, counted in a bag."""

from __future__ import annotations

import numpy as np

from weir.kernel.matching.duplicates import Duplicates

# Rows 0, 1 and 3 are the same triple; row 2 is another.
TERMS = np.array([[1, 1, 9, 1], [2, 2, 2, 2], [3, 3, 3, 3]])
START = np.array([0, 2, 2, 9], np.int32)
END = np.array([4, 6, 6, 12], np.int32)


def test_in_a_set_a_later_occurrence_takes_over():
    found = Duplicates(TERMS, START, END, as_set=True)
    assert found.end.tolist() == [2, 6, 6, 12]
    assert found.marked.tolist() == [True, True, False, False]


def test_in_a_bag_every_occurrence_stays():
    found = Duplicates(TERMS, START, END, as_set=False)
    assert found.end.tolist() == END.tolist()
    assert found.chain[0] == found.chain[1] != found.chain[3]


def test_a_combination_is_contested_where_a_triple_is_taken_over():
    found = Duplicates(TERMS, START, END, as_set=True)
    rows = np.array([[0, -1], [1, 2], [2, -1]], np.int32)
    contested = found.contested(rows, START[[0, 1, 2]], found.end[[0, 1, 2]])
    assert contested.tolist() == [True, True, False]


def test_changes_count_equal_solutions():
    found = Duplicates(TERMS, START, END, as_set=False)
    rows = np.array([[0], [1]], np.int32)
    assert found.changes(rows, np.array([0, 2], np.int32), rising=True).tolist() == [1, 1]
    assert found.changes(rows, np.array([4, 6], np.int32), rising=False).tolist() == [1, 1]
    as_set = Duplicates(TERMS, START, END, as_set=True)
    assert as_set.changes(rows, np.array([0, 2], np.int32), rising=True).tolist() == [1, 0]
