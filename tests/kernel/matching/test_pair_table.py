"""The hash table of pairs, column by column, against a dictionary."""

from __future__ import annotations

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weir.kernel.matching.pair_table import PairTable

pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2**62)), max_size=40)


def columns(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    both = np.array(rows, np.int64).reshape(-1, 2)
    return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])


@given(pairs, pairs, pairs)
def test_a_table_finds_what_it_interned_until_it_is_removed(first, second, gone):
    table = PairTable()
    values, makers = table.intern(*columns(first))
    assert len(table) == len(makers) == len(set(first))
    known = dict(zip(first, values.tolist(), strict=True))
    removed = [pair for pair in dict.fromkeys(gone) if pair in known]
    table.remove(*columns(removed))
    for pair in removed:
        del known[pair]
    values, _ = table.intern(*columns(second))
    known.update(zip(second, values.tolist(), strict=True))
    table = pickle.loads(pickle.dumps(table))
    asked = [*first, *second, *gone]
    assert table.find(*columns(asked)).tolist() == [known.get(pair, -1) for pair in asked]
    assert len(set(known.values())) == len(known) == len(table)


def test_values_of_removed_pairs_are_given_out_again():
    table = PairTable()
    states = np.zeros(10, np.int64)
    for _ in range(5):
        table.intern(states, np.arange(1, 11))
        table.remove(states, np.arange(1, 11))
    assert (len(table), table.bound) == (0, 10)
