"""Moments: dateTime, date, time and the Gregorian fragments, with or without a timezone (XSD 1.1, 3.3.7).

Values of one type compare on the UTC time line. One with and one without a zone compare only where the
answer is the same for every zone from −14:00 to +14:00.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from weir.extras import lazily
from weir.rdf.columns import Ids, Mask
from weir.rdf.terms import XSD, Literal
from weir.rdf.xsd.numbers import EXACT

if TYPE_CHECKING:
    import polars as pl
else:
    pl = lazily("polars")

XSD_DATETIME = XSD + "dateTime"
XSD_DATETIMESTAMP = XSD + "dateTimeStamp"
XSD_DATE = XSD + "date"
XSD_TIME = XSD + "time"

_ZONE = r"(Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))"
_YEAR = r"(-?(?:[1-9][0-9]{3,11}|0[0-9]{3}))"
_LAST_YEAR = 10**12 - 1
_MONTH = r"(0[1-9]|1[0-2])"
_DAY = r"(0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9](?:\.[0-9]{1,18})?)|(24):(00):(00(?:\.0{1,18})?))"

_FIELDS: dict[str, tuple[re.Pattern[str], tuple[str, ...]]] = {
    XSD_DATETIME: (re.compile(f"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_ZONE}?"), ("y", "m", "d", "clock")),
    XSD_DATETIMESTAMP: (re.compile(f"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_ZONE}"), ("y", "m", "d", "clock")),
    XSD_DATE: (re.compile(f"{_YEAR}-{_MONTH}-{_DAY}{_ZONE}?"), ("y", "m", "d")),
    XSD_TIME: (re.compile(f"{_CLOCK}{_ZONE}?"), ("clock",)),
    XSD + "gYearMonth": (re.compile(f"{_YEAR}-{_MONTH}{_ZONE}?"), ("y", "m")),
    XSD + "gYear": (re.compile(f"{_YEAR}{_ZONE}?"), ("y",)),
    XSD + "gMonthDay": (re.compile(f"--{_MONTH}-{_DAY}{_ZONE}?"), ("m", "d")),
    XSD + "gMonth": (re.compile(f"--{_MONTH}{_ZONE}?"), ("m",)),
    XSD + "gDay": (re.compile(f"---{_DAY}{_ZONE}?"), ("d",)),
}
MOMENT_TYPES = tuple(_FIELDS)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_HALF_DAY_OF_ZONES = 14 * 3_600
_EPOCH_DAYS = 719_468


@dataclass(frozen=True, slots=True)
class Moment:
    """A value of one of the nine types (``dateTimeStamp`` counts as ``dateTime``); parts that the type lacks
    have XSD's fillers. ``zone`` is in minutes, None without one."""

    datatype: str
    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: Decimal
    zone: int | None

    def local_seconds(self) -> Decimal:
        """Seconds since 1970 of the local time, as if it were UTC."""
        days = days_from_civil(self.year, self.month, self.day)
        return EXACT.add(days * 86_400 + self.hour * 3_600 + self.minute * 60, self.second)

    def utc_seconds(self) -> Decimal:
        """Seconds since 1970; a moment without zone counts as UTC."""
        return EXACT.subtract(self.local_seconds(), (self.zone or 0) * 60)


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970 in the proleptic Gregorian calendar; months count on beyond December."""
    year, month = year + (month - 3) // 12, (month - 3) % 12
    days = 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 1
    return days - _EPOCH_DAYS


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Year, month and day of a number of days since 1970."""
    years, month = divmod(int(np.datetime64(days, "D").astype("datetime64[M]").astype(np.int64)), 12)
    return 1970 + years, month + 1, days - days_from_civil(1970 + years, month + 1, 1) + 1


def parse_moment(lexical: str, datatype: str) -> Moment | None:
    """The value of a form of one of ``MOMENT_TYPES``, None where it is ill-typed."""
    pattern, fields = _FIELDS[datatype]
    match = pattern.fullmatch(lexical)
    if match is None:
        return None
    groups = list(match.groups())
    zone = _minutes(groups.pop())
    year, month, day, hour, minute, second = 1972, 12 if "m" in fields else 1, 1, 0, 0, Decimal(0)
    if "y" in fields:
        year = int(groups.pop(0))
    if "m" in fields:
        month = int(groups.pop(0))
    if "d" in fields:
        day = int(groups.pop(0))
        if day > days_from_civil(year, month + 1, 1) - days_from_civil(year, month, 1):
            return None
    if "clock" in fields:
        clock = [part for part in groups if part is not None]
        hour, minute, second = int(clock[0]), int(clock[1]), Decimal(clock[2])
        if hour == 24:
            hour = 0
            if "d" in fields:
                year, month, day = civil_from_days(days_from_civil(year, month, day) + 1)
                if year > _LAST_YEAR:
                    return None
    kept = XSD_DATETIME if datatype == XSD_DATETIMESTAMP else datatype
    return Moment(kept, year, month, day, hour, minute, second, zone)


def _minutes(zone: str | None) -> int | None:
    if zone is None:
        return None
    if zone == "Z":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[4:6])
    return -minutes if zone[0] == "-" else minutes


def compare_moments(left: Moment, right: Moment) -> int | None:
    """−1, 0 or 1 for two moments of one type; None where a missing zone leaves it open."""
    difference = EXACT.subtract(left.utc_seconds(), right.utc_seconds())
    if (left.zone is None) == (right.zone is None) or difference.copy_abs() > _HALF_DAY_OF_ZONES:
        return (difference > 0) - (difference < 0)
    return None


def zone_text(zone: int | None) -> str:
    """``Z``, ``+02:00``, or nothing (the function TZ)."""
    if zone is None:
        return ""
    if zone == 0:
        return "Z"
    return f"{'-' if zone < 0 else '+'}{abs(zone) // 60:02d}:{abs(zone) % 60:02d}"


def datetime_text(moment: Moment) -> str:
    """The form of a dateTime in its own zone, fraction digits without trailing zeros."""
    whole, _, fraction = format(moment.second, "f").partition(".")
    fraction = fraction.rstrip("0")
    clock = f"{moment.hour:02d}:{moment.minute:02d}:{int(whole):02d}{'.' + fraction if fraction else ''}"
    return f"{date_text(moment)}T{clock}{zone_text(moment.zone)}"


def date_text(moment: Moment) -> str:
    """``YYYY-MM-DD``, without zone."""
    sign = "-" if moment.year < 0 else ""
    return f"{sign}{abs(moment.year):04d}-{moment.month:02d}-{moment.day:02d}"


def datetime_literal(microseconds: int) -> Literal:
    """An instant as xsd:dateTime in UTC: whole seconds, else 3 or 6 fraction digits (inline forms)."""
    fraction = 6 if microseconds % 1_000 else 3 if microseconds % 1_000_000 else 0
    return Literal(f"{civil_text(microseconds, fraction)}Z", XSD_DATETIME)


def read_zones(texts: pl.Series) -> tuple[Ids, Mask]:
    """Minutes of zones ``±hh:mm``, and which are such zones, ``-00:00`` not among them; null is UTC."""
    hours, minutes = (
        texts.str.slice(place, 2).cast(pl.Int64, strict=False).fill_null(0).to_numpy() for place in (1, 4)
    )
    negative = texts.str.starts_with("-").fill_null(False).to_numpy()
    size: Ids = hours * 60 + minutes
    return np.where(negative, -size, size), (size <= 840) & ~(negative & (size == 0))


def civil_text(microseconds: int, fraction: int) -> str:
    """``YYYY-MM-DDThh:mm:ss`` with ``fraction`` digits, for years 1 to 9999."""
    moment = EPOCH + timedelta(microseconds=microseconds)
    whole = moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    return f"{whole}.{moment.microsecond:06d}"[: 20 + fraction] if fraction else whole
