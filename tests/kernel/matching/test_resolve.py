"""Combinations of triples that satisfy the links of a query while all of them are visible."""

from __future__ import annotations

import numpy as np
import pytest

from weir.errors import EvaluationError
from weir.kernel.matching import resolve
from weir.kernel.matching.resolve import Duplicates, Visible, Wanted, combinations, passed
from weir.kernel.matching.trie import Trie

#        0    1    2    3          row 0 is visible in [0, 2), row 1 in [0, 3), ...
START = np.array([0, 0, 1, 2], np.int32)
END = np.array([2, 3, 4, 4], np.int32)
SUBJECT = np.array([7, 8, 7, 7])
MACHINES = np.array([0, 0, 1, 1])


def found(wanted: Wanted | None = None) -> list[tuple[list[int], int, int]]:
    """Combinations of a match of machine 0 and one of machine 1 with the same subject."""
    trie = Trie()
    trie.add(np.array([[0, 1]]), np.array([[0, 1]]), np.array([[6, 6]]))
    terms = np.stack([SUBJECT, np.ones(4, np.int64), np.ones(4, np.int64)])
    visible = Visible(terms, START, END, END, 4)
    if wanted is None:
        wanted = Wanted(False, np.ones(4, np.bool_), np.zeros(trie.bound, np.bool_), None)
    blocks = combinations(visible, np.arange(4), MACHINES, trie.layout, wanted, 2)
    return [
        (rows, start, end)
        for block in blocks
        for rows, start, end in zip(
            block.rows.tolist(), block.start.tolist(), block.end.tolist(), strict=True
        )
    ]


def test_a_combination_is_visible_while_all_of_its_triples_are():
    # Row 3 comes when row 0 has gone; row 1 has another subject.
    assert found() == [([0, 2], 1, 2)]


def test_what_starts_at_an_index_that_is_not_shown_is_not_new():
    nothing = Wanted(True, np.zeros(4, np.bool_), np.zeros(2, np.bool_), None)
    assert found(nothing) == []


def test_too_many_combinations_are_an_error(monkeypatch):
    monkeypatch.setattr(resolve, "LIMIT", 0)
    with pytest.raises(EvaluationError, match="combinations"):
        found()


def test_passed_counts_the_edges_not_beyond_each_value():
    assert passed(np.array([1, 3, 3, 8]), np.array([0, 1, 3, 9])).tolist() == [0, 1, 3, 4]


# Rows 0, 1 and 3 are the same triple; row 2 is another.
TERMS = np.array([[1, 1, 9, 1], [2, 2, 2, 2], [3, 3, 3, 3]])
STARTS = np.array([0, 2, 2, 9], np.int32)
ENDS = np.array([4, 6, 6, 12], np.int32)


def test_in_a_set_a_later_occurrence_takes_over():
    found = Duplicates(TERMS, STARTS, ENDS, as_set=True)
    assert found.end.tolist() == [2, 6, 6, 12]
    assert found.marked.tolist() == [True, True, False, False]


def test_in_a_bag_every_occurrence_stays():
    found = Duplicates(TERMS, STARTS, ENDS, as_set=False)
    assert found.end.tolist() == ENDS.tolist()
    assert found.chain[0] == found.chain[1] != found.chain[3]


def test_changes_count_equal_solutions():
    found = Duplicates(TERMS, STARTS, ENDS, as_set=False)
    rows = np.array([[0], [1]], np.int32)
    assert found.changes(rows, np.array([0, 2], np.int32), rising=True).tolist() == [1, 1]
    assert found.changes(rows, np.array([4, 6], np.int32), rising=False).tolist() == [1, 1]
    as_set = Duplicates(TERMS, STARTS, ENDS, as_set=True)
    assert as_set.changes(rows, np.array([0, 2], np.int32), rising=True).tolist() == [1, 0]
