"""When windows report: closes and periods are progressions, listed a bounded number at a time."""

from __future__ import annotations

import pytest

from kernel.windows.test_window import window
from weir.kernel.windows.reports import Progression, last_report, moving, never_empty, report_times


@pytest.mark.parametrize(
    ("after", "through", "limit", "expected", "more"),
    [
        (-9, 10, 99, [3, 5, 7, 9], False),
        (5, 10, 99, [7, 9], False),
        (-9, 10, 2, [3, 5], True),
        (9, 10, 5, [], False),
    ],
)
def test_a_progression_between_two_times(
    after: int, through: int, limit: int, expected: list[int], more: bool
) -> None:
    found, cut = Progression(3, 2).between(after, through, limit)
    assert (found.tolist(), cut) == (expected, more)


def test_a_progression_rounds_both_ways() -> None:
    assert (Progression(3, 5).up(4), Progression(3, 5).down(4), Progression(3, 5).up(8)) == (8, 3, 8)


def test_content_changes_are_the_times_of_messages() -> None:
    assert report_times(window(width=3, changes=True), -1, 9, 99)[0].tolist() == [0, 2, 5]


def test_closes_follow_the_step() -> None:
    assert report_times(window(width=4, step=2, closes=True), -1, 9, 99)[0].tolist() == [2, 4, 6, 8]


def test_the_end_of_input_reports_every_window_that_holds_a_message() -> None:
    assert last_report(window(width=4, step=2, closes=True)) == 8
    assert last_report(window(width=3, changes=True)) == 5


def test_a_moving_window_is_never_empty_when_it_reports() -> None:
    assert never_empty(window(width=3, changes=True))
    assert not never_empty(window(width=4, step=2, closes=True))


def test_under_a_time_driven_tick_what_leaves_is_reported() -> None:
    """Messages at 0, 2 and 5 leave (τ−3, τ] at 3, 5 and 8."""
    assert report_times(window(width=3, changes=True, unit=1), -1, 9, 99)[0].tolist() == [0, 2, 3, 5, 8]
    assert report_times(window(width=3, changes=True, unit=4), -1, 12, 99)[0].tolist() == [0, 4, 8]
    assert last_report(window(width=3, changes=True, unit=4)) == 8


def test_what_closed_last_is_reported_periodically() -> None:
    """[0, 4) and [4, 8) close at 4 and 8; every third time sees what closed last, until nothing is left."""
    made = window(width=4, step=4, period=3, closed=True)
    assert report_times(made, -1, 12, 99)[0].tolist() == [3, 6, 9, 12]
    assert last_report(made) == 9


def test_windows_that_move_with_time_report_so_long_after_each_message() -> None:
    assert moving(window(width=3, lag=1, changes=True, unit=1))[1] == (1, 4)  # type: ignore[index]
    assert moving(window(count=2, changes=True, unit=1))[1] == (0,)  # type: ignore[index]
    assert moving(window(width=4, step=2, changes=True, unit=1)) is None
