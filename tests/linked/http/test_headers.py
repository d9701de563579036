"""What header fields say: freshness, the server's clock by its Date, and content negotiation."""

from __future__ import annotations

from email.utils import formatdate

import httpx
import pytest

from weir.linked.http.headers import SECOND, Skew, freshness, negotiate

T0 = 1_700_000_000 * SECOND
OFFERED = ("application/json", "text/turtle", "text/event-stream")


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/*;q=0.5, application/json;q=0.4", "text/turtle"),
        ("text/event-stream", "text/event-stream"),
        ("TEXT/Turtle; Q=0.9", "text/turtle"),
        ("application/json;q=0, */*;q=0.1", "text/turtle"),
        ("*/*, text/event-stream", "text/event-stream"),
        ("image/png", None),
        ("text/turtle;q=x", None),
    ],
)
def test_the_best_type(accept: str, chosen: str | None) -> None:
    assert negotiate(accept, OFFERED) == chosen


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"cache-control": "no-cache"}, 0),
        ({"cache-control": "no-store, max-age=5"}, 0),
        ({"cache-control": "max-age=5"}, 5),
        ({"cache-control": "max-age=5, s-maxage=9"}, 9),
        ({"cache-control": "max-age=5", "age": "7"}, 0),
        ({"cache-control": "public"}, None),
        ({"expires": "Wed, 21 Oct 2026 07:28:10 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 10),
        ({"expires": "0", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 0),
        ({"expires": "Wed, 21 Oct 2026 07:28:10 GMT"}, 0),
    ],
)
def test_freshness_of_headers_for_a_shared_cache(headers: dict[str, str], seconds: float | None) -> None:
    assert freshness(httpx.Headers(headers), shared=True) == seconds


def test_a_private_cache_does_not_heed_what_shared_ones_are_told() -> None:
    assert freshness(httpx.Headers({"cache-control": "max-age=5, s-maxage=9"})) == 5


def date(second: float) -> str:
    return formatdate(T0 / SECOND + second, usegmt=True)


def test_a_correct_clock_is_never_corrected() -> None:
    skew = Skew()
    for second in (0.0, 0.4, 0.9, 1.3):
        sent = T0 + int(second * SECOND)
        skew.observe({"date": date(int(second))}, sent, sent + 50_000)
        assert skew.offset == 0


def test_a_date_that_was_kept_for_a_second_is_no_wrong_clock() -> None:
    skew = Skew()
    for late in (0.0, 0.5, 0.9):
        sent = T0 + int((1 + late) * SECOND)
        skew.observe({"date": date(0)}, sent, sent + 50_000)
        assert skew.offset == 0


def test_a_late_clock_is_corrected_to_the_second_that_its_date_leaves_open() -> None:
    skew = Skew()
    skew.observe({"date": date(-5)}, T0, T0 + 50_000)
    assert skew.offset == -4 * SECOND


def test_a_wrong_clock_is_found_out_the_better_the_more_responses() -> None:
    skew = Skew()
    for second in range(20):
        sent = T0 + int(second * 1.1 * SECOND)
        server = sent / SECOND - T0 / SECOND + 100.5
        skew.observe({"date": date(int(server))}, sent, sent + 10_000)
    assert abs(skew.offset - 100.5 * SECOND) < 0.6 * SECOND
    assert skew.low <= 100.5 * SECOND <= skew.high


def test_a_clock_that_was_set_is_believed_anew() -> None:
    skew = Skew()
    skew.observe({"date": date(100)}, T0, T0 + 1000)
    assert skew.offset > 98 * SECOND
    skew.observe({"date": date(61)}, T0 + 61 * SECOND, T0 + 61 * SECOND + 1000)
    assert skew.offset == 0
    for nonsense in ("", "yesterday", "Sun, 99 Nov 2099 99:99:99 GMT"):
        skew.observe({"date": nonsense}, T0, T0)
    skew.observe({}, T0, T0)
    assert skew.offset == 0


@pytest.mark.parametrize("made", [0, -7, -304, -3000])
def test_the_age_of_a_kept_response_is_no_wrong_clock(made: int) -> None:
    skew = Skew()
    skew.observe({"date": date(made), "age": str(-made)}, T0, T0 + 1000)
    assert skew.offset == 0


def test_an_age_that_was_passed_on_beside_another_date_is_no_wrong_clock() -> None:
    skew = Skew()
    skew.observe({"date": date(0), "age": "304"}, T0, T0 + 1000)
    assert skew.offset == 0


@pytest.mark.parametrize("ahead", [100, -100])
def test_a_wrong_clock_is_found_out_behind_a_cache(ahead: int) -> None:
    skew = Skew()
    for second, age in ((0, 40), (10, 0), (12, 2), (15, 5)):
        skew.observe(
            {"date": date(ahead + second - age), "age": str(age)}, T0 + second * SECOND, T0 + second * SECOND
        )
    assert abs(skew.offset - ahead * SECOND) <= 2 * SECOND


def test_a_date_that_a_cache_kept_and_does_not_say_so_loses_against_a_newer_one() -> None:
    skew = Skew()
    for made in (-304, 0, -304, -2):
        skew.observe({"date": date(made)}, T0, T0 + 1000)
    assert skew.offset == 0
