"""Every report policy × window kind × bounds, t0 and tick on one stream, derived by hand from the semantics
and decision semantics-time.

    0         5          11
    . a b . . cd e . . . . g       c and d in one message; at 6 two messages, e and f
                 f

With the end of input T is 11 and then moves past whatever a message brings.
"""

from __future__ import annotations

import pytest

from timelines import seen

STREAM = ".ab..(cd)e&f....g"
AT3 = 'STARTING AT "1970-01-01T00:00:00.003Z"'
OPEN = 'BOUNDS "(]"'
WC, CC, NE, P2, P3, P5 = (
    "WINDOW CLOSE",
    "CONTENT CHANGE",
    "NON EMPTY",
    "PERIODIC PT0.002S",
    "PERIODIC PT0.003S",
    "PERIODIC PT0.005S",
)

SLIDING = "RANGE 4 STEP 2"
GAPS = "RANGE 2 STEP 4"
MOVING = "MOVING RANGE 4"
PAST = "FROM NOW-4 TO NOW-2 STEP 2"
MOVING_PAST = "MOVING FROM NOW-4 TO NOW-2"

ALL = ("1:a", "2:ab", "5:abcd", "6:abcdef", "11:abcdefg")


def case(kind: str, report: str, options: str, *expected: str) -> pytest.param:
    text = f"{kind} {options}" + (f" REPORT {report}" if report else "")
    return pytest.param(text, list(expected), id=text)


def check(window: str, expected: list[str]) -> None:
    assert seen(window, STREAM) == expected


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        # [0,4) closes at 4, [2,6) at 6, …; [-2,2) is the first that closes after the first message
        case(SLIDING, WC, "", "2:a", "4:ab", "6:bcd", "8:cdef", "10:ef", "12:g", "14:g"),
        case(SLIDING, "", "", "2:a", "4:ab", "6:bcd", "8:cdef", "10:ef", "12:g", "14:g"),
        # (-2,2] (0,4] (2,6] …: what comes at a close is in
        case(SLIDING, WC, OPEN, "2:ab", "4:ab", "6:cdef", "8:cdef", "10:", "12:g", "14:g"),
        case(SLIDING, f"{WC}, {NE}", OPEN, "2:ab", "4:ab", "6:cdef", "8:cdef", "12:g", "14:g"),
        # from the open of the oldest window with a close > τ: at 2 that is [0,4), at 6 [4,8)
        case(SLIDING, CC, "", "1:a", "2:ab", "5:bcd", "6:cdef", "11:g"),
        # with a close ≥ τ: at 2 that is (-2,2], at 6 (2,6]
        case(SLIDING, CC, OPEN, "1:a", "2:ab", "5:cd", "6:cdef", "11:g"),
        case(SLIDING, f"{CC}, {NE}", "", "1:a", "2:ab", "5:bcd", "6:cdef", "11:g"),
        # at 15 nothing is left, so 12 is the last
        case(SLIDING, P3, "", "3:ab", "6:cdef", "9:ef", "12:g"),
        case(SLIDING, P3, OPEN, "3:ab", "6:cdef", "9:", "12:g"),
        case(SLIDING, f"{P3}, {NE}", OPEN, "3:ab", "6:cdef", "12:g"),
        # its own closes are seen closed, all else open: at 6 [2,6), not [4,6]
        case(
            SLIDING, f"{WC}, {CC}", "", "1:a", "2:a", "4:ab", "5:bcd", "6:bcd", "8:cdef", "10:ef", "11:g",
            "12:g", "14:g",
        ),
        case(
            SLIDING, f"{WC}, {P3}", "", "2:a", "3:ab", "4:ab", "6:bcd", "8:cdef", "9:ef", "10:ef", "12:g",
            "14:g",
        ),
        case(SLIDING, f"{CC}, {P3}", "", "1:a", "2:ab", "3:ab", "5:bcd", "6:cdef", "9:ef", "11:g", "12:g"),
        case(
            SLIDING, f"{WC}, {CC}, {P3}, {NE}", OPEN, "1:a", "2:ab", "3:ab", "4:ab", "5:cd", "6:cdef",
            "8:cdef", "11:g", "12:g", "14:g",
        ),
        # t0 = 3: [3,7) [5,9) …, and nothing before 3 is seen
        case(SLIDING, WC, AT3, "7:cdef", "9:cdef", "11:", "13:g", "15:g"),
        case(SLIDING, WC, f"{AT3} {OPEN}", "7:cdef", "9:ef", "11:g", "13:g"),
        case(SLIDING, CC, AT3, "5:cd", "6:cdef", "11:g"),
        case(SLIDING, P3, AT3, "6:cdef", "9:", "12:g"),
        # aligned to 1 ms: t0 is 1, the last multiple at the first message; windows before it exist too
        case(
            SLIDING, WC, "STARTING AT PT0.001S", "3:ab", "5:ab", "7:cdef", "9:cdef", "11:", "13:g", "15:g"
        ),
        # ticks every 4 ms: 2 and 4 are reported at 4, …, 14 at 16, where [12,16) is the latest closed
        case(SLIDING, WC, "TICK TIME PT0.004S", "4:ab", "8:cdef", "12:g", "16:"),
        # at 16 g has gone
        case(SLIDING, CC, "TICK TIME PT0.004S", "4:b", "8:ef", "12:g", "16:"),
        case(SLIDING, P3, "TICK TIME PT0.004S", "4:b", "8:ef", "12:g"),
        # tuple by tuple: closes of [) come before the messages of their time
        case(SLIDING, WC, "TICK TUPLE", "2:a", "4:ab", "6:bcd", "8:cdef", "10:ef", "12:g", "14:g"),
        case(SLIDING, CC, "TICK TUPLE", "1:a", "2:ab", "5:bcd", "6:cde", "6:cdef", "11:g"),
    ],
)  # fmt: skip
def test_range_with_step(window: str, expected: list[str]) -> None:
    check(window, expected)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        # every tick that is a close shows it, the others what is open: back and forth
        case(SLIDING, f"{WC}, {CC}", "TICK TIME PT0.003S", "3:ab", "6:bcd", "9:ef", "12:g", "15:"),
        case(SLIDING, f"{WC}, {CC}", "TICK TIME PT0.004S", "4:ab", "8:cdef", "12:g", "16:"),
        case(SLIDING, f"{WC}, {P5}", "TICK TIME PT0.003S", "3:ab", "6:bcd", "9:ef", "12:g", "15:"),
    ],
)
def test_closes_among_other_reports_under_a_time_tick(window: str, expected: list[str]) -> None:
    check(window, expected)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        # [0,2) [4,6) [8,10): T = 11 completes the close at 10
        case(GAPS, WC, "", "2:a", "6:cd", "10:"),
        case(GAPS, f"{WC}, {NE}", "", "2:a", "6:cd"),
        # at 2 the next window has not opened
        case(GAPS, CC, "", "1:a", "2:", "5:cd", "6:", "11:"),
        case(GAPS, f"{CC}, {NE}", "", "1:a", "5:cd"),
    ],
)
def test_range_with_gaps(window: str, expected: list[str]) -> None:
    check(window, expected)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        # (τ−4, τ], whatever the bounds
        case(MOVING, CC, "", "1:a", "2:ab", "5:bcd", "6:cdef", "11:g"),
        case(MOVING, CC, OPEN, "1:a", "2:ab", "5:bcd", "6:cdef", "11:g"),
        case(MOVING, f"{CC}, {NE}", "", "1:a", "2:ab", "5:bcd", "6:cdef", "11:g"),
        case(MOVING, P3, "", "3:ab", "6:cdef", "9:ef", "12:g"),
        case(MOVING, f"{P2}, {NE}", "", "2:ab", "4:ab", "6:cdef", "8:cdef", "12:g", "14:g"),
        case(MOVING, f"{CC}, {P3}", "", "1:a", "2:ab", "3:ab", "5:bcd", "6:cdef", "9:ef", "11:g", "12:g"),
        case(MOVING, CC, AT3, "5:cd", "6:cdef", "11:g"),
        case(MOVING, P3, AT3, "6:cdef", "9:ef", "12:g"),
        case(MOVING, CC, "TICK TIME PT0.004S", "4:ab", "8:cdef", "12:g", "16:"),
        # each time at which something comes or goes
        case(
            MOVING,
            CC,
            "TICK CHANGE",
            "1:a",
            "2:ab",
            "5:bcd",
            "6:cdef",
            "9:ef",
            "10:",
            "11:g",
            "15:",
        ),
        case(MOVING, f"{CC}, {NE}", "TICK CHANGE", "1:a", "2:ab", "5:bcd", "6:cdef", "9:ef", "11:g"),
        case(MOVING, CC, "TICK TUPLE", "1:a", "2:ab", "5:bcd", "6:cde", "6:cdef", "11:g"),
    ],
)
def test_range_that_moves_with_every_message(window: str, expected: list[str]) -> None:
    check(window, expected)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        case("NOW", "", "", "1:a", "2:b", "5:cd", "6:ef", "11:g"),
        case("NOW", CC, OPEN, "1:a", "2:b", "5:cd", "6:ef", "11:g"),
        case("NOW", P5, "", "5:cd", "10:"),
        case("NOW", f"{P5}, {NE}", "", "5:cd"),
        case("NOW", f"{CC}, {P5}", "", "1:a", "2:b", "5:cd", "6:ef", "10:", "11:g"),
        case("NOW", CC, AT3, "5:cd", "6:ef", "11:g"),
        # the messages of the current unit
        case("NOW", CC, "TICK TIME PT0.003S", "3:ab", "6:cdef", "9:", "12:g", "15:"),
        case("NOW", CC, "TICK TUPLE", "1:a", "2:b", "5:cd", "6:e", "6:ef", "11:g"),
        # 10 is looked at at 12, which shows g: the end of input brings it
        case("NOW", f"{P5}, {NE}", "TICK TIME PT0.004S", "8:cdef", "12:g"),
        case("ALL", "", "", *ALL),
        case("ALL", CC, OPEN, *ALL),
        case("ALL", f"{CC}, {NE}", "", *ALL),
        # the first periodic time that shows the last message ends it
        case("ALL", P3, "", "3:ab", "6:abcdef", "9:abcdef", "12:abcdefg"),
        case("ALL", f"{CC}, {P5}", "", *ALL[:4], "10:abcdef", ALL[4], "15:abcdefg"),
        case("ALL", CC, AT3, "5:cd", "6:cdef", "11:cdefg"),
        case("ALL", P3, AT3, "6:cdef", "9:cdef", "12:cdefg"),
        case("ALL", CC, "TICK TIME PT0.004S", "4:ab", "8:abcdef", "12:abcdefg"),
        case("ALL", CC, "TICK TUPLE", "1:a", "2:ab", "5:abcd", "6:abcde", "6:abcdef", "11:abcdefg"),
    ],
)
def test_now_and_all(window: str, expected: list[str]) -> None:
    check(window, expected)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        case("TRIPLES 3", "", "", "1:a", "2:ab", "5:bcd", "6:def", "11:efg"),
        case("TRIPLES 3", f"{CC}, {NE}", OPEN, "1:a", "2:ab", "5:bcd", "6:def", "11:efg"),
        case("TRIPLES 3", P3, "", "3:ab", "6:def", "9:def", "12:efg"),
        case("TRIPLES 3", f"{CC}, {P5}", "", "1:a", "2:ab", "5:bcd", "6:def", "10:def", "11:efg", "15:efg"),
        case("TRIPLES 3", CC, AT3, "5:cd", "6:def", "11:efg"),
        case("TRIPLES 3", CC, "TICK TIME PT0.004S", "4:ab", "8:def", "12:efg"),
        case("TRIPLES 3", CC, "TICK TUPLE", "1:a", "2:ab", "5:bcd", "6:cde", "6:def", "11:efg"),
        # closes with the third triple, c, and with the sixth, f; a seventh does not finish a step
        case("TRIPLES 3 STEP 3", "", "", "5:abc", "6:def"),
        case("TRIPLES 3 STEP 3", f"{WC}, {NE}", OPEN, "5:abc", "6:def"),
        case("TRIPLES 3 STEP 3", CC, "", "1:a", "2:ab", "5:bcd", "6:def", "11:efg"),
        case("TRIPLES 3 STEP 3", f"{WC}, {CC}", "", "1:a", "2:ab", "5:abc", "6:def", "11:efg"),
        case("TRIPLES 3 STEP 3", P3, "", "3:ab", "6:def", "9:def", "12:efg"),
        case("TRIPLES 3 STEP 3", f"{WC}, {P3}", "", "3:ab", "5:abc", "6:def", "9:def", "12:efg"),
        case("TRIPLES 3 STEP 3", WC, AT3, "6:cde"),
        case("TRIPLES 3 STEP 3", WC, "TICK TIME PT0.004S", "8:def"),
        case("TRIPLES 3 STEP 3", WC, "TICK TUPLE", "5:abc", "6:def"),
    ],
)
def test_triples(window: str, expected: list[str]) -> None:
    check(window, expected)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        case("ELEMENTS 2", "", "", "1:a", "2:ab", "5:bcd", "6:ef", "11:fg"),
        case("ELEMENTS 2", f"{CC}, {NE}", OPEN, "1:a", "2:ab", "5:bcd", "6:ef", "11:fg"),
        case("ELEMENTS 2", P3, "", "3:ab", "6:ef", "9:ef", "12:fg"),
        case("ELEMENTS 2", CC, AT3, "5:cd", "6:ef", "11:fg"),
        case("ELEMENTS 2", CC, "TICK TIME PT0.004S", "4:ab", "8:ef", "12:fg"),
        case("ELEMENTS 2", CC, "TICK TUPLE", "1:a", "2:ab", "5:bcd", "6:cde", "6:ef", "11:fg"),
        # closes with the third message, (cd), and with the sixth, g
        case("ELEMENTS 2 STEP 3", "", "", "5:bcd", "11:fg"),
        case("ELEMENTS 2 STEP 3", f"{WC}, {NE}", OPEN, "5:bcd", "11:fg"),
        case("ELEMENTS 2 STEP 3", CC, "", "1:a", "2:ab", "5:bcd", "6:ef", "11:fg"),
        case("ELEMENTS 2 STEP 3", f"{WC}, {CC}", "", "1:a", "2:ab", "5:bcd", "6:ef", "11:fg"),
        case("ELEMENTS 2 STEP 3", f"{WC}, {P3}", "", "3:ab", "5:bcd", "6:ef", "9:ef", "11:fg", "12:fg"),
        case("ELEMENTS 2 STEP 3", WC, AT3, "6:ef"),
        case("ELEMENTS 2 STEP 3", WC, "TICK TIME PT0.004S", "8:bcd", "12:fg"),
        case("ELEMENTS 2 STEP 3", WC, "TICK TUPLE", "5:bcd", "11:fg"),
    ],
)
def test_elements(window: str, expected: list[str]) -> None:
    check(window, expected)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        # [o, o+2) is reported at o + 4
        case(PAST, WC, "", "4:a", "6:b", "8:cd", "10:ef", "12:", "14:g"),
        case(PAST, WC, OPEN, "4:ab", "6:", "8:cdef", "10:", "12:", "14:g"),
        case(PAST, f"{WC}, {NE}", OPEN, "4:ab", "8:cdef", "14:g"),
        # up to and including τ−2, from the open of the oldest not reported: at 5 [2,3]
        case(PAST, CC, "", "1:", "2:", "5:b", "6:", "11:"),
        case(PAST, f"{CC}, {NE}", "", "5:b"),
        case(PAST, P3, "", "3:a", "6:", "9:ef"),
        case(PAST, P2, "", "2:", "4:b", "6:", "8:ef", "10:"),
        # [3,5) ends at the first message that it sees and is not reported
        case(PAST, WC, AT3, "9:cdef", "11:", "13:", "15:g"),
        case(PAST, WC, "TICK TIME PT0.004S", "4:a", "8:cd", "12:", "16:"),
        case(PAST, WC, "TICK TUPLE", "4:a", "6:b", "8:cd", "10:ef", "12:", "14:g"),
        # (τ−4, τ−2]
        case(MOVING_PAST, CC, "", "1:", "2:", "5:b", "6:", "11:"),
        case(MOVING_PAST, f"{CC}, {NE}", OPEN, "5:b"),
        case(MOVING_PAST, P3, "", "3:a", "6:", "9:ef"),
        case(MOVING_PAST, P2, "", "2:", "4:ab", "6:", "8:cdef", "10:", "12:", "14:g"),
        case(MOVING_PAST, CC, "TICK TIME PT0.004S", "4:ab", "8:cdef", "12:", "16:"),
        # a enters at 3 and leaves at 5, b is there from 4 to 6, c and d from 7 to 9, …
        case(
            MOVING_PAST,
            CC,
            "TICK CHANGE",
            "3:a",
            "4:ab",
            "5:b",
            "6:",
            "7:cd",
            "8:cdef",
            "9:ef",
            "10:",
            "13:g",
            "15:",
        ),
    ],
)
def test_past_windows(window: str, expected: list[str]) -> None:
    check(window, expected)


@pytest.mark.parametrize("bounds", ["", OPEN])
@pytest.mark.parametrize("kind", ["RANGE 3 STEP 1", "FROM NOW-5 TO NOW-2 STEP 1"])
def test_time_jumping_over_many_windows_reports_each(kind: str, bounds: str) -> None:
    """a at 0, b at 500: every millisecond closes a window, three of which hold each message."""
    found = seen(f"{kind} {bounds}", "a" + "." * 499 + "b")
    lag = 2 if "TO" in kind else 0
    first = lag if bounds else lag + 1
    assert [each.split(":")[0] for each in found] == [str(t) for t in range(first, first + 503)]
    assert [each for each in found if not each.endswith(":")] == [
        *(f"{first + k}:a" for k in range(3)),
        *(f"{500 + first + k}:b" for k in range(3)),
    ]
