"""Rows that operators gave, by the nodes of a plan."""

from __future__ import annotations

import numpy as np

from weir.kernel.operators.inputs.input import Present
from weir.kernel.operators.operator import Project, Union, Values
from weir.kernel.operators.row_counts import RowCounts
from weir.kernel.windows.instants import Instants
from weir.plan import nodes as p

LEFT, RIGHT = p.Values(("a",), ()), p.Values(("a", "b"), ())
JOINED = p.Union((LEFT, RIGHT))
ROOT = p.Project(JOINED, ("a",))


def counted() -> tuple[RowCounts, Project]:
    """A projection of two rows and one."""
    present = Present(Instants(np.zeros(1, np.int64), np.ones(1, np.bool_)))
    counts = RowCounts()
    one, two = Values(("a",), [[1], [2]], present), Values(("a", "b"), [[3, 4]], present)
    counts.hold(LEFT, 2)
    union = counts.watch(JOINED, Union([one, two]))
    root = Project(union, ("a",))
    counts.watch(ROOT, root)
    counts.begin(ROOT)
    return counts, root


def test_each_call_counts_once_however_methods_call_each_other() -> None:
    counts, root = counted()
    assert counts.of(ROOT) == [0, 0, 2, None]
    root.run()
    assert counts.of(ROOT) == [3, 3, 2, None]
    root.linear = False
    root.changes()  # It is ``run`` here.
    assert counts.of(ROOT) == [6, 6, 2, None]


def test_what_a_short_cut_answers_passes_the_root_and_what_keeps_its_rows() -> None:
    counts, _ = counted()
    counts.answered(5)
    assert counts.of(ROOT) == [5, 5, 2, None]
