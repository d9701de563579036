"""An index of live triples finds what a search of all visible rows finds, however rows come."""

from __future__ import annotations

import numpy as np
import pytest

from weir.kernel.fast.hash_index import hash_index, table_of
from weir.kernel.relations.relation import Relation
from weir.kernel.windows.live_triples import Keeping, LiveTriples


@pytest.mark.parametrize("sizes", [(1, 1, 1), (5, 1, 70, 2), (100, 3)])
def test_rows_are_found_however_many_come_at_once(sizes: tuple[int, ...]) -> None:
    triples = LiveTriples(("s", 9, "o", None), ("time",), Keeping.BAG)
    index = hash_index(triples, "w", (0,), (1,))
    dice = np.random.default_rng(3)
    for size in sizes:
        start = triples.rows.end
        if size == 1:
            triples.add_row([int(dice.integers(4)), start, start])
        else:
            triples.add(
                [dice.integers(0, 4, size), np.arange(start, start + size), np.arange(start, start + size)]
            )
        low, high = triples.rows.end // 4, triples.rows.end
        found = index.find([0, 1, 2, 3], low, high)
        subject = triples.rows.column(0)[low:high]
        for key, entry in enumerate(found):
            expected = (np.flatnonzero(subject == key) + low).tolist()
            assert ([] if entry is None else list(entry[0])) == expected
            assert ([] if entry is None else list(entry[1])) == expected


def test_one_index_serves_all_that_ask_the_same() -> None:
    triples = LiveTriples(("s", 9, "o", None), ("time",), Keeping.BAG)
    assert hash_index(triples, "w", (0,), (1,)) is hash_index(triples, "w", (0,), (1,))
    assert hash_index(triples, "w", (0,), (1,)) is not hash_index(triples, "v", (0,), (1,))


def test_a_static_view_by_two_columns() -> None:
    always = np.zeros(3, np.int64)
    view = Relation(
        {"x": np.array([1, 1, 2]), "y": np.array([5, 5, 6]), "z": np.array([7, 8, 9])}, always, always + 1
    )
    table = table_of(view, ("x", "y"), ("z",))
    assert table is not None
    assert [list(values) for values in table[1, 5]] == [[0, 1], [7, 8]]
