"""Plots are well formed, have a point for each value, and grow upwards."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from weir_bench.pages.drawing import Plot, short


def points(plot: Plot) -> list[tuple[float, float]]:
    ElementTree.fromstring(plot.svg())
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="3.5"', plot.svg())
    return [(float(x), float(y)) for x, y in found]


def test_larger_is_higher_and_further_right() -> None:
    (x1, y1), (x2, y2) = points(Plot("a & b", [1, 2], {"s": [10.0, 20.0]}, "y"))
    assert x1 < x2 and y1 > y2


def test_equal_ratios_are_equal_distances_on_a_logarithmic_axis() -> None:
    (x1, y1), (x2, y2), (x3, y3) = points(
        Plot("t", [1, 10, 100], {"s": [2.0, 20.0, 200.0]}, "y", log_x=True, log_y=True)
    )
    assert abs((x2 - x1) - (x3 - x2)) < 0.2 and abs((y1 - y2) - (y2 - y3)) < 0.2


def test_what_is_missing_or_cannot_be_shown_is_left_out() -> None:
    assert len(points(Plot("t", ["a", "b", "c"], {"s": [1.0, None, 0.0]}, "y", log_y=True))) == 1
    assert points(Plot("t", [], {}, "y")) == []


def test_names_are_not_joined_by_a_line() -> None:
    assert 'stroke-width="1.5"' not in Plot("t", ["a", "b"], {"s": [1.0, 2.0]}, "y").svg()
    assert 'stroke-width="1.5"' in Plot("t", [1, 2], {"s": [1.0, 2.0]}, "y").svg()


def test_a_spread_is_a_bar() -> None:
    plot = Plot("t", [1, 2], {"s": [1.0, 2.0]}, "y", spread={"s": [(0.5, 1.5), None]})
    assert plot.svg().count("<path") == Plot("t", [1, 2], {"s": [1.0, 2.0]}, "y").svg().count("<path") + 1


def test_large_numbers_are_short() -> None:
    assert [short(value) for value in (0.5, 2000, 3e6, 4e9)] == ["0.5", "2k", "3M", "4G"]
