"""The compiled loops: equal triples, and matches grouped by what they are looked up by."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weir.kernel.matching.combinations import group, previous_equal
from weir.kernel.matching.trie import Trie

term = st.integers(1, 3)


@given(st.lists(st.tuples(term, term, term), max_size=30))
def test_the_last_earlier_triple_that_is_equal(triples):
    terms = np.array(triples, np.int64).reshape(-1, 3).T.copy()
    expected = []
    for place, triple in enumerate(triples):
        earlier = [before for before in range(place) if triples[before] == triple]
        expected.append(earlier[-1] if earlier else -1)
    assert previous_equal(terms).tolist() == expected


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
