"""Moments: parsing, the calendar, comparison with and without timezones."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.rdf.terms import XSD
from weir.rdf.xsd.moments import (
    Moment,
    civil_from_days,
    compare_moments,
    datetime_literal,
    datetime_text,
    days_from_civil,
    parse_moment,
    zone_text,
)

EXAMPLES = max(1, int(100 * float(os.environ.get("WEIR_EXAMPLES", "1"))))


def moment(lexical: str, name: str = "dateTime") -> Moment:
    parsed = parse_moment(lexical, XSD + name)
    assert parsed is not None
    return parsed


@given(st.dates())
@settings(max_examples=EXAMPLES)
def test_the_calendar_agrees_with_pythons(day: date) -> None:
    days = (day - date(1970, 1, 1)).days
    assert days_from_civil(day.year, day.month, day.day) == days
    assert civil_from_days(days) == (day.year, day.month, day.day)


@given(st.integers(-(10**9), 10**9))
@settings(max_examples=EXAMPLES)
def test_days_and_dates_are_inverse(days: int) -> None:
    assert days_from_civil(*civil_from_days(days)) == days


@pytest.mark.parametrize(
    ("lexical", "name"),
    [
        ("2024-02-29T23:59:59.999999+14:00", "dateTime"),
        ("-0044-03-15T12:00:00", "dateTime"),
        ("12024-01-01T00:00:00Z", "dateTime"),
        ("2024-01-01T24:00:00Z", "dateTime"),
        ("2024-01-01T00:00:00Z", "dateTimeStamp"),
        ("2024-01-01-05:00", "date"),
        ("13:20:00Z", "time"),
        ("2024", "gYear"),
        ("2024-05Z", "gYearMonth"),
        ("--05", "gMonth"),
        ("--02-29", "gMonthDay"),
        ("---31", "gDay"),
    ],
)
def test_good_forms(lexical: str, name: str) -> None:
    assert parse_moment(lexical, XSD + name) is not None


@pytest.mark.parametrize(
    ("lexical", "name"),
    [
        ("2023-02-29T00:00:00Z", "dateTime"),
        ("2024-01-01T24:00:01Z", "dateTime"),
        ("2024-01-01T00:00Z", "dateTime"),
        ("2024-01-01T00:00:00+15:00", "dateTime"),
        ("2024-01-01T00:00:00", "dateTimeStamp"),
        ("02024-01-01", "date"),
        ("2024-1-1", "date"),
        ("25:00:00", "time"),
        ("--13", "gMonth"),
        ("--04-31", "gMonthDay"),
    ],
)
def test_bad_forms(lexical: str, name: str) -> None:
    assert parse_moment(lexical, XSD + name) is None


def test_midnight_at_the_end_of_a_day_is_the_next_day() -> None:
    assert compare_moments(moment("2023-12-31T24:00:00Z"), moment("2024-01-01T00:00:00Z")) == 0


def test_zones_are_taken_into_account() -> None:
    assert compare_moments(moment("2024-01-01T12:00:00+02:00"), moment("2024-01-01T10:00:00Z")) == 0
    assert compare_moments(moment("2024-01-01T12:00:00+02:00"), moment("2024-01-01T11:00:00Z")) == -1


def test_a_missing_zone_leaves_near_times_open() -> None:
    local = moment("2024-01-01T12:00:00")
    assert compare_moments(local, moment("2024-01-01T12:00:00Z")) is None
    assert compare_moments(local, moment("2024-01-02T02:00:00Z")) is None
    assert compare_moments(local, moment("2024-01-02T02:00:01Z")) == -1
    assert compare_moments(local, moment("2024-01-01T12:00:00")) == 0


@given(st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31)))
@settings(max_examples=EXAMPLES)
def test_instants_as_literals(when: datetime) -> None:
    microseconds = (when.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    literal = datetime_literal(microseconds)
    assert moment(literal.lexical).utc_seconds() * 1_000_000 == microseconds
    fraction = literal.lexical.partition(".")[2].removesuffix("Z")
    assert len(fraction) in (0, 3, 6)


def test_texts() -> None:
    assert datetime_text(moment("2024-01-02T03:04:05.600-05:30")) == "2024-01-02T03:04:05.6-05:30"
    assert datetime_text(moment("-0044-03-15T12:00:00Z")) == "-0044-03-15T12:00:00Z"
    assert [zone_text(zone) for zone in (None, 0, 90, -840)] == ["", "Z", "+01:30", "-14:00"]


def test_far_times_are_exact() -> None:
    one, other = (moment(f"999999999999-12-31T00:00:00.00000000000000000{digit}Z") for digit in "12")
    assert compare_moments(one, other) == -1
    assert parse_moment("999999999999-12-31T24:00:00", XSD + "dateTime") is None
