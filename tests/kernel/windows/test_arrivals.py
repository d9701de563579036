"""Messages of one stream: those before T are ready, in order; others wait; late ones are counted."""

from __future__ import annotations

import numpy as np

from weir.kernel.windows.arrivals import Arrivals, Ready, Single
from weir.rdf.messages import Messages


def batch(*messages: tuple[int, int]) -> Messages:
    """(time, number of triples) each; every triple is kept, and its subject is its message's time."""
    time = np.array([each[0] for each in messages], np.int64)
    count = np.array([each[1] for each in messages], np.int64)
    message = np.repeat(np.arange(len(messages)), count)
    position = np.arange(len(message)) - np.repeat(np.cumsum(count) - count, count)
    columns = [time[message]] + [np.ones(len(message), np.int64)] * 2 + [np.zeros(len(message), np.int64)]
    return Messages(time, count, message, position, *columns)


def subjects(found: list[Ready | Single]) -> list[int]:
    lists = [each.column("subject").tolist() if isinstance(each, Ready) else [each[0]] for each in found]
    return [subject for each in lists for subject in each]


def test_messages_before_t_are_ready_in_the_order_of_time() -> None:
    arrivals = Arrivals()
    assert subjects(arrivals.advance(batch((3, 1), (7, 2)), 5, None)) == [3]
    assert subjects(arrivals.advance(batch((5, 1), (6, 1)), 8, 5)) == [5, 6, 7, 7]
    assert arrivals.times.tolist() == [3, 5, 6, 7]
    assert (arrivals.messages, arrivals.total, arrivals.last) == (4, 5, 7)


def test_late_messages_and_heartbeats_leave_no_trace() -> None:
    arrivals = Arrivals()
    arrivals.advance(batch((9, 1)), 10, None)
    assert arrivals.advance(batch((4, 1), (10, 0)), 12, 10) == []
    assert (arrivals.late, arrivals.messages) == (1, 1)


def test_triples_are_numbered_throughout_the_stream() -> None:
    arrivals = Arrivals()
    (ready,) = arrivals.advance(batch((1, 2), (2, 3)), 5, None)
    assert isinstance(ready, Ready)
    assert ready.column("number").tolist() == [0, 1, 2, 3, 4]
    assert ready.column("sequence").tolist() == [0, 0, 1, 1, 1]
    assert arrivals.before(np.array([0, 1, 2])).tolist() == [0, 2, 5]
