"""Durations and instants are written as they are read."""

from __future__ import annotations

import pytest

from weir.language.syntax.durations import (
    INSTANT,
    XSD_DURATION,
    from_instant,
    from_units,
    from_xsd,
    written,
    written_instant,
)

SECOND = 1_000_000
DAY = 86_400 * SECOND


@pytest.mark.parametrize("length", [1, 999, SECOND, 90 * SECOND, DAY, DAY + 1, 3 * DAY + 18_000_250_000])
def test_durations(length: int) -> None:
    assert XSD_DURATION.fullmatch(written(length)) and from_xsd(written(length)) == length


def test_no_time_at_all() -> None:
    assert written(0) == "PT0S"


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("1m30s", 90 * SECOND),
        ("1.5s", 1_500_000),
        ("5000ns", 5),
        ("1ns", None),
        ("3x", None),
        ("2w", 14 * DAY),
    ],
)
def test_units(text: str, length: int | None) -> None:
    assert from_units(text) == length


@pytest.mark.parametrize("moment", [0, 1, -1, 1_433_116_800_000_000, -62_000_000_000_000_000, 250_000])
def test_instants_are_written_as_they_are_read(moment: int) -> None:
    assert INSTANT.fullmatch(written_instant(moment)) and from_instant(written_instant(moment)) == moment


def test_an_instant_that_is_no_date() -> None:
    assert INSTANT.fullmatch("2015-02-30T00:00:00Z") and from_instant("2015-02-30T00:00:00Z") is None


@pytest.mark.parametrize("text", ["P1Y", "P1M", "P", "PT", "PT1.0000001S", "P999999999999999999D"])
def test_lengths_that_cannot_be_kept(text: str) -> None:
    assert from_xsd(text) is None
