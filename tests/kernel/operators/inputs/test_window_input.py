"""The triples of a pattern in a window: visible from where it reaches them to where it leaves them."""

from __future__ import annotations

import numpy as np
import pytest

from bags import relation_of
from weir.kernel.operators.inputs.window_input import WindowInput, cut
from weir.kernel.windows.arrivals import Arrivals
from weir.kernel.windows.live_triples import Keeping, LiveTriples
from weir.kernel.windows.window import Window, WindowSpec
from weir.kernel.windows.window_index import IndexCounts

#      instant  0  1  2  3
LOW = np.array([0, 1, 2, 4])
HIGH = np.array([1, 3, 5, 6])


def window_input(keeping: Keeping, rows: list[tuple[int, int]]) -> WindowInput:
    triples = LiveTriples(("s", 1, None, None), ("time",), keeping)
    triples.add([np.array([row[0] for row in rows]), np.array([row[1] for row in rows])])
    window = Window(WindowSpec("w", "urn:s", width=2), Arrivals())
    made = WindowInput("w", triples, window, {"x": "s"}, IndexCounts())
    made.prepare(LOW, HIGH)
    return made


def listed(made: WindowInput) -> list[tuple[int, int, int]]:
    found = made.relation()
    return list(zip(found.columns["x"].tolist(), found.start.tolist(), found.end.tolist(), strict=True))


def test_rows_are_visible_between_the_ends_of_the_window() -> None:
    assert listed(window_input(Keeping.BAG, [(7, 0), (8, 2), (9, 5)])) == [(7, 0, 1), (8, 1, 3), (9, 3, 4)]


def test_of_equal_triples_the_later_takes_over() -> None:
    assert listed(window_input(Keeping.LATEST, [(7, 2), (7, 3)])) == [(7, 1, 2), (7, 2, 3)]


@pytest.mark.parametrize("size", [1, 40])
def test_partners_are_those_that_are_visible_with_the_flow(size: int) -> None:
    made = window_input(Keeping.BAG, [(7, 0), (8, 2), (7, 5)])
    flow = relation_of(("x", "n"), [((7, n + 1), 0, 4) for n in range(size)])
    joined = made.join(flow)
    pieces = sorted(set(zip(joined.start.tolist(), joined.end.tolist(), strict=True)))
    assert (len(joined), pieces) == (2 * size, [(0, 1), (3, 4)])


def test_a_row_is_cut_to_the_indices_of_a_mask() -> None:
    found = cut(relation_of(("x",), [((1,), 0, 5)]), np.array([True, False, True, True, False]))
    assert (found.start.tolist(), found.end.tolist()) == ([0, 2], [1, 4])
