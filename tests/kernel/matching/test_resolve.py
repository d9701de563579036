"""Combinations of triples that satisfy the links of a query while all of them are visible."""

from __future__ import annotations

import numpy as np
import pytest

from weir.errors import EvaluationError
from weir.kernel.matching import resolve
from weir.kernel.matching.resolve import Visible, Wanted, combinations, passed
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
