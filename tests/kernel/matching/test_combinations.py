"""The compiled loops: matches grouped by what they are looked up by."""

from __future__ import annotations

import numpy as np

from weir.kernel.matching.combinations import group
from weir.kernel.matching.trie import Trie


def test_matches_are_grouped_by_the_value_they_are_looked_up_by():
    # One query: machine 0, then machine 1 with the same subject.
    trie = Trie()
    trie.add(np.array([[0, 1]]), np.array([[0, 1]]), np.array([[6, 6]]))
    terms = np.array([[7, 8, 7, 8], [1, 1, 2, 2], [3, 3, 4, 4]])
    rows, machines = np.arange(4), np.array([0, 0, 1, 1])
    groups = group(terms, rows, machines, 0, 4, trie.layout)
    runs = sorted(groups.rows[first:end].tolist() for _, _, first, end in groups.about.tolist())
    assert runs == [[2], [3]]
    assert groups.machines.tolist() == [1, 1]
