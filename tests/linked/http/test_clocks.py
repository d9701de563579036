"""The server's clock, as the Date headers of its responses bound it."""

from __future__ import annotations

from email.utils import formatdate

from weir.linked.http.clocks import SECOND, Skew

T0 = 1_700_000_000 * SECOND


def date(second: float) -> str:
    return formatdate(T0 / SECOND + second, usegmt=True)


def test_a_correct_clock_is_never_corrected() -> None:
    skew = Skew()
    for second in (0.0, 0.4, 0.9, 1.3):
        sent = T0 + int(second * SECOND)
        skew.observe(date(int(second)), sent, sent + 50_000)
        assert skew.offset == 0


def test_a_date_that_was_kept_for_a_second_is_no_wrong_clock() -> None:
    skew = Skew()
    for late in (0.0, 0.5, 0.9):
        sent = T0 + int((1 + late) * SECOND)
        skew.observe(date(0), sent, sent + 50_000)
        assert skew.offset == 0
    skew.observe(date(-5), T0, T0 + 50_000)
    assert skew.offset == -4 * SECOND


def test_a_wrong_clock_is_found_out_the_better_the_more_responses() -> None:
    skew = Skew()
    for second in range(20):
        sent = T0 + int(second * 1.1 * SECOND)
        server = sent / SECOND - T0 / SECOND + 100.5
        skew.observe(date(int(server)), sent, sent + 10_000)
    assert abs(skew.offset - 100.5 * SECOND) < 0.6 * SECOND
    assert skew.low <= 100.5 * SECOND <= skew.high


def test_a_clock_that_was_set_is_believed_anew() -> None:
    skew = Skew()
    skew.observe(date(100), T0, T0 + 1000)
    assert skew.offset > 98 * SECOND
    skew.observe(date(10), T0 + 10 * SECOND, T0 + 10 * SECOND + 1000)
    assert skew.offset == 0
    for nonsense in (None, "", "yesterday", "Sun, 99 Nov 2099 99:99:99 GMT"):
        skew.observe(nonsense, T0, T0)
    assert skew.offset == 0
