"""When windows report, and the instants at which a query is evaluated."""

from __future__ import annotations

import pytest

from weir.errors import UsageError
from weir.kernel.reference.reports import Schedule, horizon, last_report, report_times
from weir.kernel.reference.windows import Message, StreamWindow
from weir.language.algebra.windows import (
    All,
    Range,
    Report,
    Tick,
    TickKind,
    Triples,
    WindowDeclaration,
    WindowKind,
    WindowSemantics,
)
from weir.rdf.terms import IRI

QUAD = (IRI("a"), IRI("p"), IRI("o"), None)


def window(
    kind: WindowKind, *times: int, report: Report | None = None, tick: Tick | None = None
) -> StreamWindow:
    semantics = WindowSemantics(report or Report(), tick=tick or Tick())
    found = StreamWindow(WindowDeclaration("w", "s", kind, semantics), "s")
    found.receive(Message(time, (QUAD,)) for time in times)
    return found


def test_a_range_window_reports_its_closes():
    assert sorted(report_times(window(Range(4, 2), 1, 5), 0, 9)) == [2, 4, 6, 8]


def test_a_count_window_reports_with_the_message_that_closes_it():
    assert sorted(report_times(window(Triples(2, 2), 1, 3, 4, 7), 0, 9)) == [3, 7]


def test_content_changes_and_periods_are_reported():
    both = Report(content_change=True, periodic=4)
    assert sorted(report_times(window(All(), 1, 3, report=both), 0, 9)) == [1, 3, 4, 8]


def test_the_last_report_is_that_of_the_last_window_with_a_message():
    assert last_report(window(Range(4, 2), 1, 5)) == 8
    assert last_report(window(Range(4, 2))) is None


def test_each_instant_is_due_once():
    one = window(Range(2, 2), 1, 3)
    schedule = Schedule([one], ["s"])
    assert [instant.time for instant in schedule.due(3, end=False)] == [2]
    assert [instant.time for instant in schedule.due(4, end=False)] == [4]
    assert [instant.time for instant in schedule.due(4, end=True)] == []


def test_a_tuple_driven_query_is_evaluated_at_every_message_of_a_time():
    schedule = Schedule([window(All(), 1, 1, 2, tick=Tick(TickKind.TUPLE))], ["s"])
    due = list(schedule.due(2, end=True))
    assert [(instant.time, instant.shown) for instant in due] == [(1, {"s": 1}), (1, {"s": 2}), (2, {"s": 1})]


def test_a_query_has_one_tick():
    with pytest.raises(UsageError, match="different ticks"):
        Schedule([window(All(), tick=Tick(TickKind.TUPLE)), window(All())], ["s"])


def test_a_window_keeps_what_it_can_still_show():
    assert horizon(window(Range(4, 2)), 100)[0] <= 100 - 4
    assert horizon(window(Triples(3, None)), 100)[1] >= 3
