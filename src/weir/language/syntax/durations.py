"""Durations and instants as text, in int64 microseconds.

Months and years have no fixed length, so a window cannot be that long; nothing finer than a
microsecond exists.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from weir.language.algebra.windows import DAY

UNITS: dict[str, int] = {}
for _names, _size in (
    ("US", 1),
    ("MS MSEC MSECS MILLISECOND MILLISECONDS", 1_000),
    ("S SEC SECS SECOND SECONDS", 1_000_000),
    ("M MIN MINS MINUTE MINUTES", 60_000_000),
    ("H HR HRS HOUR HOURS", 3_600_000_000),
    ("D DAY DAYS", DAY),
    ("W WEEK WEEKS", 7 * DAY),
):
    UNITS |= dict.fromkeys(_names.split(), _size)

XSD_DURATION = re.compile(
    r"P(?=[0-9T])(?:(?P<days>[0-9]{1,9})D)?"
    r"(?:T(?=[0-9])(?:(?P<hours>[0-9]{1,12})H)?(?:(?P<minutes>[0-9]{1,12})M)?"
    r"(?:(?P<seconds>[0-9]{1,12}(?:\.[0-9]{1,9})?)S)?)?(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
COMPACT = re.compile(r"(?:[0-9]{1,12}(?:\.[0-9]{1,9})?[A-Za-z]+)+(?![A-Za-z0-9_])")
PIECE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]+)")
INSTANT = re.compile(
    r"(-?[0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST = 2**62


def microseconds(amount: Decimal) -> int | None:
    """A whole count of microseconds that fits, or None."""
    whole = int(amount)
    return whole if whole == amount and 0 <= whole < _LONGEST else None


def from_xsd(match: re.Match[str]) -> int | None:
    """The length of an ``XSD_DURATION`` match."""
    total = Decimal(0)
    for name, unit in (("days", "D"), ("hours", "H"), ("minutes", "M"), ("seconds", "S")):
        total += Decimal(match[name] or 0) * UNITS[unit]
    return microseconds(total)


def from_units(text: str) -> int | None:
    """The length of a ``COMPACT`` match such as ``1m30s``; None where a unit is unknown or too fine."""
    total = Decimal(0)
    for piece in PIECE.finditer(text):
        unit = piece[2].upper()
        if unit == "NS":
            total += Decimal(piece[1]) / 1000
        elif unit in UNITS:
            total += Decimal(piece[1]) * UNITS[unit]
        else:
            return None
    return microseconds(total)


def from_instant(match: re.Match[str]) -> int | None:
    """Microseconds since 1970 of an ``INSTANT`` match; without a zone it is UTC."""
    date, time, fraction, zone = match.groups()
    try:
        moment = datetime.fromisoformat(f"{date}T{time}{zone or 'Z'}")
    except ValueError:
        return None
    micro = Decimal(f"0.{fraction or 0}") * 1_000_000
    if micro != int(micro):
        return None
    return (moment - _EPOCH) // timedelta(microseconds=1) + int(micro)


def written(length: int) -> str:
    """A duration as xsd:duration."""
    days, rest = divmod(length, DAY)
    hours, rest = divmod(rest, UNITS["H"])
    minutes, rest = divmod(rest, UNITS["M"])
    seconds, micro = divmod(rest, UNITS["S"])
    time = f"{hours}H" if hours else ""
    time += f"{minutes}M" if minutes else ""
    if seconds or micro:
        time += f"{seconds}" + (f".{micro:06d}".rstrip("0") if micro else "") + "S"
    if not days and not time:
        return "PT0S"
    return "P" + (f"{days}D" if days else "") + (f"T{time}" if time else "")


def written_instant(moment: int) -> str:
    """Microseconds since 1970 as xsd:dateTime in UTC."""
    stamp = _EPOCH + timedelta(microseconds=moment)
    text = stamp.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
    return text + (f".{stamp.microsecond:06d}".rstrip("0") if stamp.microsecond else "") + "Z"
