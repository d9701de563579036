"""Lanes, T, lateness and AHEAD."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.kernel.contract import FOREVER
from weir.rdf.columns import NEVER
from weir.rdf.messages import Messages
from weir.runtime.ingest.frames import Frame, Watermark
from weir.runtime.ingest.order import Inbox, InboxKey, Lane, Progress, judged, late, mergeable, too_far_ahead

SECOND = 1_000_000


def test_t_is_the_minimum_over_lanes_less_the_lateness() -> None:
    progress = Progress(lateness=5).advanced({"a": Lane(100), "b": Lane(40)}, now=0)
    assert progress.complete == 35


def test_t_never_goes_back_when_a_lane_appears_late() -> None:
    progress = Progress().advanced({"a": Lane(100)}, now=0).advanced({"b": Lane(40)}, now=0)
    assert progress.complete == 100


def test_nothing_is_complete_before_anything_came() -> None:
    assert Progress().complete == NEVER
    assert Progress().advanced({"a": Lane()}, now=0).complete == NEVER


def test_an_ended_lane_does_not_hold_time_back() -> None:
    progress = Progress().advanced({"a": Lane(10, ended=True), "b": Lane(50)}, now=0)
    assert progress.complete == 50
    assert not progress.ended


def test_when_all_lanes_have_ended_everything_is_complete() -> None:
    progress = Progress(lateness=5).advanced({"a": Lane(10, ended=True)}, now=0)
    assert progress.ended
    assert progress.complete == FOREVER


def test_an_idle_lane_is_given_up_and_taken_back() -> None:
    progress = Progress(idle=10 * SECOND).advanced({"a": Lane(5, 0), "b": Lane(5, 0)}, now=0)
    progress = progress.advanced({"a": Lane(90, 9 * SECOND)}, now=9 * SECOND)
    assert progress.complete == 5
    progress = progress.advanced({"a": Lane(100, 11 * SECOND)}, now=11 * SECOND)
    assert progress.complete == 100
    progress = progress.advanced({"b": Lane(101, 12 * SECOND), "a": Lane(150, 12 * SECOND)}, now=12 * SECOND)
    assert progress.complete == 101


def box(*batches: tuple[int, str, list[int]]) -> Inbox:
    """An inbox of lateness 5 after frames of (batch, lane, times)."""
    made = Inbox(5, 1_000, None)
    for batch, lane, times in batches:
        messages = Messages(np.array(times, np.int64), np.ones(len(times), np.int64))
        made.admit([Frame("s", lane, 10 * batch, messages=messages)], batch, 0)
    return made


def test_inboxes_are_one_once_they_have_come_to_the_same() -> None:
    """The younger takes 50, which is late for the elder; they have the same T and the same waiting once
    both have given out what is complete."""
    elder, younger = [(0, "a", [100])], [(1, "a", [50, 110])]
    keys: list[InboxKey] = [("s", 5, 1_000, False, since) for since in (0, 1)]
    found = []
    for more in ([], [(2, "a", [125])]):
        boxes = [box(*elder, *younger, *more), box(*younger, *more)]
        for each in boxes:
            each.forget(each.complete)
        found.append(mergeable(dict(zip(keys, boxes, strict=True))))
    assert found == [[(keys[0], keys[1])]] * 2


def test_late_is_older_than_t_not_equal_to_it() -> None:
    assert late(np.array([4, 5, 6]), 5).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("times", "high", "expected"),
    [
        ([5, 8, 16], NEVER, [False, False, False]),
        ([5, 16, 9], NEVER, [False, True, False]),
        ([99], NEVER, [False]),
        ([99], 5, [True]),
        ([99, 6, 99, 16, 26], 5, [True, False, True, False, False]),
        ([3, 2, 1], 5, [False, False, False]),
        ([], 5, []),
    ],
)
def test_a_message_too_far_ahead_of_its_lane_is_set_aside(
    times: list[int], high: int, expected: list[bool]
) -> None:
    assert too_far_ahead(np.array(times, np.int64), high, 10).tolist() == expected


@given(st.lists(st.integers(-50, 50)), st.none() | st.integers(-50, 50), st.integers(0, 30))
def test_ahead_against_its_definition(times: list[int], before: int | None, ahead: int) -> None:
    high, expected = before, []
    for time in times:
        bad = high is not None and time > high + ahead
        expected.append(bad)
        if not bad:
            high = time if high is None else max(high, time)
    found = too_far_ahead(np.array(times, np.int64), NEVER if before is None else before, ahead)
    assert found.tolist() == expected


@given(
    st.lists(st.integers(0, 60), min_size=1, max_size=12),
    st.integers(0, 80),
    st.booleans(),
    st.integers(1, 40),
    st.data(),
)
def test_a_watermark_tells_what_all_messages_would(
    times: list[int], before: int, known: bool, ahead: int, data: st.DataObject
) -> None:
    column, high = np.array(times, np.int64), before if known else NEVER
    mark = Watermark.of(column, ahead, 100)
    if mark is None:
        later = column[int(column.argmin()) :]
        assert int(later.max() - later.min()) > ahead
        return
    kept = [place for place in range(len(times)) if data.draw(st.booleans())]
    index = np.array(kept, np.int64)
    own = Messages(column[index], np.ones(len(kept), np.int64))
    bad, reached = judged(Frame("s", "0", messages=own, watermark=mark, index=index), high, ahead)
    expected = too_far_ahead(column, high, ahead)
    assert bad.tolist() == expected[index].tolist()
    assert reached == int(column[~expected].max(initial=NEVER))
