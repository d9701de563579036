"""What a window shows at an instant, drawn as a timeline.

time      0   1   2   3   4   5   6
message       a       b   c
"""

from __future__ import annotations

import pytest

from weir.errors import UsageError
from weir.kernel.reference.windows import Instant, Message, Stream, StreamWindow, can_close, effective_report
from weir.language.algebra.windows import (
    All,
    Elements,
    Now,
    Past,
    Range,
    Report,
    Triples,
    WindowDeclaration,
    WindowKind,
    WindowSemantics,
)
from weir.rdf.terms import IRI

ARRIVALS = ((1, "a"), (3, "b"), (4, "c"))


def declared(kind: WindowKind, **report: bool) -> WindowDeclaration:
    return WindowDeclaration("w", "s", kind, WindowSemantics(Report(**report)))


def shown(kind: WindowKind, time: int, **report: bool) -> str:
    window = StreamWindow(declared(kind, **report), "s")
    window.receive(Message(at, ((IRI(name), IRI("p"), IRI("o"), None),)) for at, name in ARRIVALS)
    return "".join(quad[0].value for _, quad in window.content(Instant(time)).quads)


@pytest.mark.parametrize(
    ("kind", "contents"),
    [
        (Range(3, None), {1: "a", 3: "ab", 4: "bc", 6: "c"}),
        (Range(2, 2), {2: "a", 3: "a", 4: "b", 6: "c"}),
        (Past(4, 2, None), {4: "a", 6: "bc"}),
        (Now(), {1: "a", 2: "", 3: "b"}),
        (All(), {0: "", 6: "abc"}),
        (Triples(2, None), {1: "a", 3: "ab", 4: "bc"}),
        (Triples(2, 2), {1: "", 3: "ab", 4: "ab"}),
        (Elements(1, None), {3: "b", 6: "c"}),
    ],
)
def test_what_each_kind_of_window_shows(kind: WindowKind, contents: dict[int, str]) -> None:
    assert {time: shown(kind, time) for time in contents} == contents


def test_a_window_reports_when_it_closes_or_when_its_content_changes() -> None:
    assert can_close(declared(Range(2, 2))) and not can_close(declared(All()))
    assert effective_report(declared(Range(2, 2))).window_close
    assert effective_report(declared(All())).content_change


def test_what_never_closes_cannot_report_its_close() -> None:
    with pytest.raises(UsageError, match="never closes"):
        effective_report(declared(All(), window_close=True))


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
