"""A stream as one window sees it."""

from __future__ import annotations

from weir.kernel.reference.term_messages import Instant, Message, Stream
from weir.rdf.terms import IRI

QUAD = (IRI("a"), IRI("p"), IRI("b"), None)


def message(time: int, triples: int = 1) -> Message:
    return Message(time, (QUAD,) * triples)


def stream(*messages: Message) -> Stream:
    found = Stream()
    found.add(messages)
    return found


def times(messages: list[Message]) -> list[int]:
    return [each.time for each in messages]


def test_heartbeats_are_left_out_and_the_rest_is_in_order():
    found = stream(message(3), message(5, 0), message(1))
    assert (times(found.messages), found.first, found.last) == ([1, 3], 1, 3)


def test_an_instant_sees_what_has_come_by_then():
    found = stream(message(1), message(2), message(2), message(3))
    assert times(found.seen("s", Instant(2))) == [1, 2, 2]
    assert times(found.seen("s", Instant(2, {"s": 1}, last=False))) == [1, 2]
    assert times(found.seen("s", Instant(2, {}, last=False))) == [1]


def test_what_is_dropped_still_counts():
    found = stream(message(1, 2), message(2, 2), message(3, 2))
    found.drop_before(3, keep_triples=2, keep_messages=0)
    assert (times(found.messages), found.dropped_triples, found.dropped_messages) == ([2, 3], 2, 1)


def test_positions_tell_where_kept_triples_stood():
    assert list(Message(1, (QUAD,), (4,), 7).placed()) == [(4, QUAD)]
    assert Message(1, (QUAD,), (4,), 7).triples == 7
