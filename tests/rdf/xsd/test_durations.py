"""Durations: two numbers that do not reduce to one."""

from __future__ import annotations

from decimal import Decimal

import pytest

from weir.rdf.terms import XSD
from weir.rdf.xsd.durations import (
    XSD_DAY_TIME,
    XSD_YEAR_MONTH,
    Duration,
    compare_durations,
    duration_literal,
    parse_duration,
)


def duration(lexical: str) -> Duration:
    parsed = parse_duration(lexical)
    assert parsed is not None
    return parsed


@pytest.mark.parametrize(
    ("lexical", "months", "seconds"),
    [
        ("P1Y2M3DT4H5M6.7S", 14, "273906.7"),
        ("-PT10M", 0, "-600"),
        ("P0D", 0, "0"),
        ("PT36H", 0, "129600"),
    ],
)
def test_parse(lexical: str, months: int, seconds: str) -> None:
    assert duration(lexical) == Duration(months, Decimal(seconds))


@pytest.mark.parametrize("lexical", ["P", "PT", "P1Y2DT", "1Y", "P1S", "PT1.S", "P-1D", "P1M1Y", "+P1D"])
def test_bad_forms(lexical: str) -> None:
    assert parse_duration(lexical) is None


def test_subtypes_have_only_their_parts() -> None:
    assert parse_duration("P1M", XSD_DAY_TIME) is None
    assert parse_duration("P1D", XSD_YEAR_MONTH) is None
    assert parse_duration("PT1H", XSD_DAY_TIME) == Duration(0, Decimal(3600))


@pytest.mark.parametrize(
    ("left", "right", "order"),
    [
        ("P1Y", "P12M", 0),
        ("PT1H", "PT61M", -1),
        ("P1M", "P27D", 1),
        ("P1M", "P28D", None),
        ("P1M", "P30D", None),
        ("P1M", "P32D", -1),
        ("P1Y", "P366D", None),
        ("P1Y", "P367D", -1),
        ("P1Y", "P364D", 1),
        ("-P1M", "-P27D", -1),
        ("P1M", "-P100D", 1),
    ],
)
def test_the_order_is_partial(left: str, right: str, order: int | None) -> None:
    assert compare_durations(duration(left), duration(right)) == order
    mirrored = None if order is None else -order
    assert compare_durations(duration(right), duration(left)) == mirrored


@pytest.mark.parametrize(
    ("lexical", "canonical"),
    [("P14M", "P1Y2M"), ("PT3600S", "PT1H"), ("-PT90M", "-PT1H30M"), ("P0Y", "PT0S"), ("PT1.50S", "PT1.5S")],
)
def test_canonical(lexical: str, canonical: str) -> None:
    assert duration_literal(duration(lexical)).lexical == canonical


def test_canonical_zero_of_months() -> None:
    assert duration_literal(Duration(0, Decimal(0)), XSD_YEAR_MONTH).lexical == "P0M"
    assert duration_literal(Duration(0, Decimal(-18000)), XSD + "dayTimeDuration").lexical == "-PT5H"


def test_long_durations_are_exact() -> None:
    one, other = (duration(f"-P{'9' * 18}DT0.00000000000000000{digit}S") for digit in "12")
    assert compare_durations(one, other) == 1
    assert one.order_key() > other.order_key()
    assert duration_literal(one).lexical == f"-P{'9' * 18}DT0.000000000000000001S"
