"""Rows found by their keys."""

from __future__ import annotations

import numpy as np

from bags import (
    relation_of,
)
from weir.kernel.relations.matches import join
from weir.kernel.relations.sorted_keys import Index


def test_an_index_can_be_dated_anew() -> None:
    view = relation_of(("x", "y"), [((1, 5), 0, 9), ((2, 6), 0, 9)])
    index = Index(view, ("x",)).during(np.array([0, 1]), np.array([1, 3]))
    joined = join(relation_of(("x",), [((2,), 0, 9), ((3,), 0, 9)]), index)
    assert (joined.start.tolist(), joined.end.tolist()) == ([1], [3])
