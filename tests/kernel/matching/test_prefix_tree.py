"""The hash table of pairs against a dictionary, and the tree of prefixes against a set of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weir.kernel.matching.prefix_tree import ROOT, PairTable, PrefixTree

pairs = st.lists(st.tuples(st.integers(-1, 5), st.integers(-(2**62), 2**62)), max_size=40)
paths = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12)


def columns(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    both = np.array(rows, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


@given(pairs, pairs, pairs)
def test_a_table_gives_what_it_gave_before_until_it_is_removed(first, second, gone):
    table = PairTable()
    values, makers = table.intern(*columns(first))
    assert len(table) == len(makers) == len(set(first))
    known = dict(zip(first, values.tolist(), strict=True))
    removed = [pair for pair in dict.fromkeys(gone) if pair in known]
    table.remove(*columns(removed))
    for pair in removed:
        del known[pair]
    values, makers = table.intern(*columns(second))
    assert {second[maker] for maker in makers.tolist()} == set(second) - known.keys()
    known.update(zip(second, values.tolist(), strict=True))
    again, makers = table.intern(*columns(list(known)))
    assert (again.tolist(), makers.tolist()) == (list(known.values()), [])
    assert table.values().tolist() == sorted(known.values())
    assert len(set(known.values())) == len(known) == len(table)


def test_values_of_removed_pairs_are_given_out_again():
    table = PairTable()
    states = np.zeros(10, np.int64)
    for _ in range(5):
        table.intern(states, np.arange(1, 11))
        table.remove(states, np.arange(1, 11))
    assert (len(table), table.bound) == (0, 10)


def grown(tree: PrefixTree, rows: list[tuple[int, int]]) -> np.ndarray:
    ends = np.full(len(rows), ROOT)
    for depth, symbols in enumerate(columns(rows)):
        ends, _ = tree.descend(ends, symbols, depth)
    tree.hold(ends)
    return ends


@given(paths, paths)
def test_a_node_lives_while_a_row_ends_at_it_or_below_it(staying, passing):
    tree = PrefixTree()
    ends = grown(tree, staying)
    before = len(tree)
    gone = tree.drop(grown(tree, passing))
    assert len(tree) == before == len(set(staying)) + len({first for first, _ in staying})
    assert not np.isin(gone, ends).any()
    assert [tuple(tree.symbol[tree.path(end)].tolist()) for end in ends.tolist()] == staying
