"""Every window kind and report policy on a drawn timeline, through both evaluators (see ``timelines``)."""

from __future__ import annotations

import pytest

from timelines import MS, messages, over, seen, seen_by
from weir.errors import WeirError
from weir.kernel.reference import Message
from weir.language import parse

#              0123456789
TUMBLING = "ab.c....d."


@pytest.mark.parametrize(
    ("window", "drawing", "expected"),
    [
        # tumbling: [0,4) [4,8) [8,12); the empty one is reported too
        ("RANGE 4 STEP 4", TUMBLING, ["4:abc", "8:", "12:d"]),
        # sliding: [-2,2) [0,4) [2,6) …; windows that close at or before the first message are not
        ("RANGE 4 STEP 2", TUMBLING, ["2:ab", "4:abc", "6:c", "8:", "10:d", "12:d"]),
        # a step wider than the range leaves gaps: [0,2) [4,6) [8,10)
        ("RANGE 2 STEP 4", TUMBLING, ["2:ab", "6:", "10:d"]),
        # the other bounds: (-4,0] (0,4] (4,8] (8,12]
        ('RANGE 4 STEP 4 BOUNDS "(]"', TUMBLING, ["0:a", "4:bc", "8:d"]),
        ('RANGE 4 STEP 4 BOUNDS "(]"', "....a....", ["4:a"]),
        ("RANGE 4 STEP 4", "....a....", ["8:a"]),
        # only what is not empty
        ("RANGE 4 STEP 4 REPORT WINDOW CLOSE, NON EMPTY", TUMBLING, ["4:abc", "12:d"]),
        ("RANGE 4 STEP 4 REPORT NON EMPTY", TUMBLING, ["4:abc", "12:d"]),
    ],
)
def test_window_close(window: str, drawing: str, expected: list[str]) -> None:
    assert seen(window, drawing) == expected


@pytest.mark.parametrize(
    ("window", "drawing", "expected"),
    [
        # with a step: from the open of the oldest window not closed
        ("RANGE 4 STEP 4 REPORT CONTENT CHANGE", TUMBLING, ["0:a", "1:ab", "3:abc", "8:d"]),
        #     at 3 the oldest open window is [0,4); at 4 it is [2,6)
        ("RANGE 4 STEP 2 REPORT CONTENT CHANGE", "a.bcd", ["0:a", "2:ab", "3:abc", "4:bcd"]),
        #     under (] the window (0,4] is not closed at 4
        ('RANGE 4 STEP 2 BOUNDS "(]" REPORT CONTENT CHANGE', "ab.cd", ["0:a", "1:ab", "3:bc", "4:bcd"]),
        ("NOW", "a&b.c", ["0:ab", "2:c"]),
        ("ALL", "a&b.c", ["0:ab", "2:abc"]),
        ("TRIPLES 2", "a(bc)d", ["0:a", "1:bc", "2:cd"]),
        ("TRIPLES 2", "(abc)", ["0:bc"]),
        ("ELEMENTS 2", "a(bc)d", ["0:a", "1:abc", "2:bcd"]),
        ("ELEMENTS 1", "a&b", ["0:b"]),
        (
            "FROM NOW-4 TO NOW-2 STEP 2 REPORT CONTENT CHANGE",
            "abcdef",
            ["0:", "1:", "2:a", "3:ab", "4:c", "5:cd"],
        ),
    ],
)
def test_content_change(window: str, drawing: str, expected: list[str]) -> None:
    assert seen(window, drawing) == expected


def test_a_range_that_moves_with_every_message() -> None:
    query = parse("SELECT ?s WHERE { STREAM <urn:s> [RANGE 2ms] { ?s ?p ?o } }", "cqels")
    # (-2,0] (-1,1] (0,2] (1,3], each against the instant before; at 2 a leaves, at 3 b, at 5 all is empty
    assert seen_by(query, messages("ab.c")) == ["0:a", "1:b", "2:", "3:c"]


@pytest.mark.parametrize(
    ("window", "drawing", "expected"),
    [
        # every 3 ms since 1970, from the first message on; the last is the first after all messages
        ("ALL REPORT PERIODIC PT0.003S", ".a.b.c", ["3:ab", "6:abc"]),
        ("TRIPLES 2 REPORT PERIODIC PT0.002S", "ab.c", ["0:a", "2:ab", "4:bc"]),
        ("NOW REPORT PERIODIC PT0.002S", "abc.", ["0:a", "2:c"]),
        # a range window is looked at until it is empty again
        ("RANGE 4 STEP 4 REPORT PERIODIC PT0.001S", ".ab", ["1:a", "2:ab", "3:ab"]),
        ("RANGE 4 STEP 4 REPORT PERIODIC PT0.003S, NON EMPTY", "a....b", ["0:a", "3:a", "6:b"]),
    ],
)
def test_periodic(window: str, drawing: str, expected: list[str]) -> None:
    assert seen(window, drawing) == expected


@pytest.mark.parametrize(
    ("window", "drawing", "expected"),
    [
        # every 2 triples, the 3 latest
        ("TRIPLES 3 STEP 2", "a(bc)d.e", ["1:ab", "2:bcd"]),
        # one evaluation a timestamp, of its last close
        ("TRIPLES 2 STEP 2", "(abcde)f", ["0:cd", "1:ef"]),
        ("ELEMENTS 2 STEP 2", "a(bc)d&e", ["1:abc", "2:de"]),
        # a step that is not finished never closes
        ("ELEMENTS 5 STEP 3", "ab", []),
    ],
)
def test_count_windows_close_by_their_step(window: str, drawing: str, expected: list[str]) -> None:
    assert seen(window, drawing) == expected


@pytest.mark.parametrize(
    ("window", "drawing", "expected"),
    [
        # NOW-4 to NOW-2: [o, o+2), reported at o+4
        ("FROM NOW-4 TO NOW-2 STEP 2", "abc", ["4:ab", "6:c"]),
        ('FROM NOW-4 TO NOW-2 STEP 2 BOUNDS "(]"', "abc", ["2:a", "4:bc"]),
        ("FROM NOW-4 TO NOW STEP 2", "abc", ["2:ab", "4:abc", "6:c"]),
        # gaps: [0,2) is reported at 4, [5,7) at 9
        ("FROM NOW-4 TO NOW-2 STEP 5", "abc....h", ["4:ab"]),
    ],
)
def test_past_windows(window: str, drawing: str, expected: list[str]) -> None:
    assert seen(window, drawing) == expected


@pytest.mark.parametrize(
    ("window", "drawing", "expected"),
    [
        # t0 = 1 ms: [1,5) [5,9), nothing before
        ('RANGE 4 STEP 4 STARTING AT "1970-01-01T00:00:00.001Z"', "ab...c", ["5:b", "9:c"]),
        ('RANGE 4 STEP 4 STARTING AT "1970-01-01T00:00:00.001Z" BOUNDS "(]"', "ab...c", ["5:c"]),
        # windows that close before the first message are not reported, whatever set t0
        ('RANGE 2 STEP 2 STARTING AT "1970-01-01T00:00:00.001Z"', "....e", ["5:e"]),
        ('ALL STARTING AT "1970-01-01T00:00:00.001Z"', "abc", ["1:b", "2:bc"]),
        # aligned to a duration: t0 is its last multiple at or before the first message
        ("RANGE 4 STEP 4 STARTING AT PT0.002S", "..a...b", ["6:a", "10:b"]),
        ("RANGE 4 STEP 4 STARTING AT PT0.004S", "..a...b", ["4:a", "8:b"]),
    ],
)
def test_where_windows_start(window: str, drawing: str, expected: list[str]) -> None:
    assert seen(window, drawing) == expected


@pytest.mark.parametrize(
    ("window", "drawing", "expected"),
    [
        # each message by itself, also two of one time
        ("ALL TICK TUPLE", "a&bc", ["0:a", "0:ab", "1:abc"]),
        ("NOW TICK TUPLE", "a&bc", ["0:a", "0:ab", "1:c"]),
        ("TRIPLES 2 STEP 1 TICK TUPLE", "(abc)&d", ["0:bc", "0:cd"]),
        # closes of [) come before the messages of their time
        ("RANGE 2 STEP 2 TICK TUPLE", "a.b&c", ["2:a", "4:bc"]),
        (
            "RANGE 2 STEP 2 REPORT WINDOW CLOSE, CONTENT CHANGE TICK TUPLE",
            "a.b",
            ["0:a", "2:a", "2:a", "4:b"],
        ),
        # closes of (] come after them
        ('RANGE 2 STEP 2 BOUNDS "(]" TICK TUPLE', "a.b&c", ["0:a", "2:bc"]),
        # every 3 ms the engine looks: messages since the last look are reported together
        ("ALL TICK TIME PT0.003S", "ab...f", ["0:a", "3:ab", "6:abf"]),
        ("NOW TICK TIME PT0.003S", "ab...f", ["0:a", "3:b", "6:f", "9:"]),
        # multiples of 2 ms by which something came or went
        ("MOVING RANGE 3 TICK TIME PT0.002S", "a.b.......c", ["0:a", "2:ab", "4:b", "6:", "10:c", "14:"]),
        # every instant at which something comes or goes
        ("MOVING RANGE 3 TICK CHANGE", "a.b.......c", ["0:a", "2:ab", "3:b", "5:", "10:c", "13:"]),
        ("RANGE 4 STEP 2 REPORT CONTENT CHANGE TICK CHANGE", "ab.c", ["0:a", "1:ab", "3:abc", "4:c", "6:"]),
        ("ALL TICK CHANGE", "ab.c", ["0:a", "1:ab", "3:abc"]),
        ("TRIPLES 2 TICK CHANGE", "ab.c", ["0:a", "1:ab", "3:bc"]),
        ("NOW TICK CHANGE", "a.b", ["0:a", "0.001:", "2:b", "2.001:"]),
        ("RANGE 2 STEP 2 TICK CHANGE", "ab.c", ["2:ab", "4:c"]),
        ("RANGE 2 STEP 1 TICK TIME PT0.004S", "a.c", ["4:c"]),
    ],
)
def test_ticks(window: str, drawing: str, expected: list[str]) -> None:
    assert seen(window, drawing) == expected


@pytest.mark.parametrize(
    ("window", "drawing", "expected"),
    [
        # T = 3: c ≤ T
        ("RANGE 3 STEP 3", "a..b", ["3:a"]),
        ("RANGE 3 STEP 3", "a.b.", []),
        # c < T
        ('RANGE 3 STEP 3 BOUNDS "(]"', "a..b", ["0:a"]),
        ('RANGE 3 STEP 3 BOUNDS "(]"', "a..bc", ["0:a", "3:b"]),
        # τ < T
        ("ALL", "abc", ["0:a", "1:ab"]),
        # as it comes
        ("ALL TICK TUPLE", "abc", ["0:a", "1:ab", "2:abc"]),
        ("ALL TICK TUPLE LATENESS PT0.001S", "abc", ["0:a"]),
        ("RANGE 2 STEP 2 LATENESS PT0.002S", "a.b.c", ["2:a"]),
        ("ALL REPORT PERIODIC PT0.002S", "abc", ["0:a"]),
    ],
)
def test_what_is_complete_before_the_end(window: str, drawing: str, expected: list[str]) -> None:
    assert seen(window, drawing, end=False) == expected


def test_time_jumping_over_many_windows_reports_each() -> None:
    found = seen("RANGE 2 STEP 1", "a" + "." * 1_000 + "b")
    assert found[:3] == ["1:a", "2:a", "3:"]
    assert len(found) == 1_003
    assert found[-3:] == ["1001:", "1002:b", "1003:b"]


@pytest.mark.parametrize(
    ("r2s", "expected"),
    [
        # windows [-2,2) [0,4) [2,6)
        ("", ["2:b", "4:bc", "6:c"]),
        ("RSTREAM", ["2:b", "4:bc", "6:c"]),
        ("ISTREAM", ["2:b", "4:c", "6:"]),
        ("DSTREAM", ["2:", "4:", "6:b"]),
    ],
)
@pytest.mark.parametrize("after", ["", "PREVIOUS EVALUATION", "PREVIOUS INSTANT"])
def test_r2s(r2s: str, after: str, expected: list[str]) -> None:
    assert seen("RANGE 4 STEP 2", "b.c", r2s=r2s, after=after) == expected


def test_r2s_differences_are_of_multisets() -> None:
    # 0 to 1: one more a; at 3 both of the first window are gone, one is new
    assert seen("RANGE 2 STEP 1 CONTENT BAG", "aa.a", r2s="ISTREAM") == ["1:a", "2:a", "3:", "4:", "5:"]
    assert seen("RANGE 2 STEP 1 CONTENT BAG", "aa.a", r2s="DSTREAM") == ["1:", "2:", "3:a", "4:", "5:"]


def test_the_instant_before_forgets_what_now_showed() -> None:
    """A tag seen again in the same room five seconds later is reported again."""
    again = "a.a"
    assert seen("NOW", again, r2s="ISTREAM") == ["0:a", "2:"]
    assert seen("NOW", again, r2s="ISTREAM", after="PREVIOUS INSTANT") == ["0:a", "2:a"]
    assert seen("NOW", again, r2s="DSTREAM", after="PREVIOUS INSTANT") == ["0:", "2:"]


def test_the_instant_before_sees_what_expires() -> None:
    # at 4 the message of 0 has left (0,4] … (1,4]: at 3.999 it was still there
    query = parse("SELECT ?s WHERE { STREAM <urn:s> [RANGE 4ms] { ?s ?p ?o } }", "cqels")
    assert seen_by(query, messages("a...b")) == ["0:a", "4:b"]


def test_graph_and_bag() -> None:
    #                         two messages hold the same triple
    assert seen("RANGE 4 STEP 4", "aa") == ["4:a"]
    assert seen("RANGE 4 STEP 4 CONTENT BAG", "aa") == ["4:aa"]
    assert seen("RANGE 4 STEP 4 CONTENT BAG", "(aa)") == ["4:aa"]
    assert seen("TRIPLES 2", "(aab)") == ["0:ab"]
    assert seen("TRIPLES 2 CONTENT BAG", "b(aa)") == ["0:b", "1:aa"]


@pytest.mark.parametrize(
    ("window", "expected"),
    [("ALL", ["2:a"]), ("ELEMENTS 3", ["2:a"]), ("RANGE 2 STEP 2", ["4:a", "6:", "8:"])],
)
def test_heartbeats_only_move_time(window: str, expected: list[str]) -> None:
    stream = [Message(0), *messages("..a"), Message(9 * MS)]
    assert seen_by(over(window), stream, end=False) == expected


def test_without_messages_nothing_is_evaluated() -> None:
    for window in ("ALL", "RANGE 2 STEP 2", "TRIPLES 2 STEP 2", "NOW REPORT PERIODIC PT1S"):
        assert seen(window, "....") == []


@pytest.mark.parametrize("window", ["NOW", "ALL", "TRIPLES 3", "ELEMENTS 3"])
def test_what_never_closes_cannot_report_closes(window: str) -> None:
    with pytest.raises(Exception, match="close"):
        seen(f"{window} REPORT WINDOW CLOSE", "a")


def test_a_query_has_one_tick() -> None:
    with pytest.raises(WeirError, match="different ticks"):
        parse(
            "SELECT ?s FROM NAMED WINDOW <urn:v> ON <urn:s> [NOW TICK TUPLE] "
            "FROM NAMED WINDOW <urn:w> ON <urn:s> [ALL TICK BATCH] WHERE { WINDOW <urn:w> { ?s ?p ?o } }",
            "rspql",
        )
