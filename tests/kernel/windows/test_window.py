"""What a window shows, as two ends that only move forward.

time      0  1  2  3  4  5  6
message   a  .  b  .  .  c  .
"""

from __future__ import annotations

import numpy as np
import pytest

from weir.errors import UsageError
from weir.kernel.windows.arrivals import Arrivals
from weir.kernel.windows.instants import LOWEST, Instants
from weir.kernel.windows.window import Window, WindowSpec, spec_of
from weir.language.algebra.windows import Content, Now, Report, WindowDeclaration, WindowSemantics
from weir.rdf.messages import Messages

TIMES = np.array([0, 2, 5])


def window(**spec: object) -> Window:
    arrivals = Arrivals()
    ones, zeros, row = np.ones(3, np.int64), np.zeros(3, np.int64), np.arange(3)
    arrivals.advance(Messages(TIMES, ones, row, zeros, row, row, row, zeros), 10, None)
    made = Window(WindowSpec("w", "urn:s", **spec), arrivals)  # type: ignore[arg-type]
    made.notice()
    return made


def ends(made: Window, *times: int) -> list[tuple[int, int]]:
    at = Instants(np.array(times), np.ones(len(times), np.bool_))
    return list(zip(*(each.tolist() for each in made.bounds(at)), strict=True))


def test_a_moving_range_covers_what_came_last() -> None:
    assert ends(window(width=3, changes=True), 0, 2, 5) == [(-2, 1), (0, 3), (3, 6)]


def test_a_closed_window_shows_what_had_come_before_its_close() -> None:
    assert ends(window(width=4, step=2, closes=True), 2, 3, 4, 6) == [(-2, 2), (-2, 2), (0, 4), (2, 6)]


def test_a_count_window_shows_the_last_messages() -> None:
    assert ends(window(count=2, changes=True), 0, 2, 5) == [(0, 1), (0, 2), (1, 3)]


def test_nothing_shows_before_the_first_message() -> None:
    made = Window(WindowSpec("w", "urn:s", width=3, changes=True), Arrivals())
    assert ends(made, 0) == [(LOWEST, LOWEST)]


def test_a_window_that_never_closes_cannot_report_closes() -> None:
    declared = WindowDeclaration("w", "urn:s", Now(), WindowSemantics(Report(window_close=True), Content.BAG))
    with pytest.raises(UsageError, match="never closes"):
        spec_of(declared, "urn:s")


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"width": 3}, ("time", False, False, False)),
        ({"width": 3, "changes": True}, ("time", True, False, False)),
        ({"count": 2}, ("sequence", True, False, False)),
        ({"count": 2, "numbered": True}, ("number", True, False, False)),
        ({"width": 3, "closes": True, "changes": True}, ("time", True, True, False)),
        ({"width": 3, "closes": True, "period": 1, "unit": 1}, ("time", True, True, True)),
    ],
)
def test_what_follows_from_a_declaration(spec: dict[str, int], told: tuple[object, ...]) -> None:
    made = WindowSpec("w", "urn:s", **spec)  # type: ignore[arg-type]
    assert (made.rows_by, made.awaits_company, made.alternates, made.back_and_forth) == told
