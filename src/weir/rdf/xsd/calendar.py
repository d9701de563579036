"""Dates and microseconds: the proleptic Gregorian calendar, vectorised over bytes of fixed width."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from weir.rdf.columns import Ids, Mask

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MONTH_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])


def days_of(text: NDArray[np.uint8]) -> tuple[Ids, Mask]:
    """Days since 1970 of rows ``YYYY-MM-DD``, and which rows are real dates of years 1 to 9999."""
    digits = text.astype(np.int64) - 48
    number = digits[:, [0, 1, 2, 3, 5, 6, 8, 9]]
    good: Mask = np.all((number >= 0) & (number <= 9), axis=1, keepdims=True)[:, 0]
    good &= (text[:, 4] == ord("-")) & (text[:, 7] == ord("-"))
    year = number[:, :4] @ np.array([1000, 100, 10, 1])
    month = number[:, 4] * 10 + number[:, 5]
    day = number[:, 6] * 10 + number[:, 7]
    good &= (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
    month = np.where(good, month, 1)
    leap = (month == 2) & (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    good &= day <= _MONTH_DAYS[month] + leap
    # Days of a year that starts in March, so that the leap day comes last.
    shifted = np.where(month <= 2, year - 1, year)
    era = shifted // 400
    of_era = shifted - era * 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468
    return days, good


def time_of_day(text: NDArray[np.uint8], fraction: int) -> tuple[Ids, Mask]:
    """Ticks of rows ``Thh:mm:ss[.f…]`` in units of 10^-fraction seconds, and which rows are times."""
    places = [1, 2, 4, 5, 7, 8, *range(10, 10 + fraction)]
    number = text[:, places].astype(np.int64) - 48
    good: Mask = np.all((number >= 0) & (number <= 9), axis=1, keepdims=True)[:, 0]
    good &= (text[:, 0] == ord("T")) & (text[:, 3] == ord(":")) & (text[:, 6] == ord(":"))
    if fraction:
        good &= text[:, 9] == ord(".")
    hour, minute = number[:, 0] * 10 + number[:, 1], number[:, 2] * 10 + number[:, 3]
    second = number[:, 4] * 10 + number[:, 5]
    good &= (hour < 24) & (minute < 60) & (second < 60)
    ticks = (hour * 3600 + minute * 60 + second) * 10**fraction
    if fraction:
        ticks = ticks + number[:, 6:] @ (10 ** np.arange(fraction - 1, -1, -1))
    return ticks, good


def civil_text(microseconds: int, fraction: int) -> str:
    """``YYYY-MM-DDThh:mm:ss`` with ``fraction`` digits, for years 1 to 9999."""
    moment = EPOCH + timedelta(microseconds=microseconds)
    whole = moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    return f"{whole}.{moment.microsecond:06d}"[: 20 + fraction] if fraction else whole
