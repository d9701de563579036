"""Durations and instants as text, in int64 microseconds.

Months and years have no fixed length, so a window cannot be that long; nothing finer than a
microsecond exists.
"""

from __future__ import annotations

import re
from decimal import Decimal

from weir.language.algebra.windows import DAY
from weir.rdf.xsd.durations import XSD_DAY_TIME, Duration, duration_literal, parse_duration
from weir.rdf.xsd.moments import XSD_DATETIME, civil_text, parse_moment
from weir.rdf.xsd.numbers import EXACT

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

XSD_DURATION = re.compile(r"P[0-9DHMST.]+(?![A-Za-z0-9_])", re.IGNORECASE)
COMPACT = re.compile(r"(?:[0-9]{1,12}(?:\.[0-9]{1,9})?[A-Za-z]+)+(?![A-Za-z0-9_])")
PIECE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]+)")
INSTANT = re.compile(r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,}(?:Z|[+-][0-9]{2}:[0-9]{2})?")
_LONGEST = 2**62


def microseconds(seconds: Decimal) -> int | None:
    """A whole count of microseconds that fits, or None."""
    amount = EXACT.multiply(seconds, 1_000_000)
    whole = int(amount)
    return whole if whole == amount and abs(whole) < _LONGEST else None


def from_xsd(text: str) -> int | None:
    """The length of days, hours, minutes and seconds; None where it is none, or too fine."""
    found = parse_duration(text.upper(), XSD_DAY_TIME)
    return None if found is None else microseconds(found.seconds)


def from_units(text: str) -> int | None:
    """The length of a ``COMPACT`` match such as ``1m30s``; None where a unit is unknown or too fine."""
    total = Decimal(0)
    for piece in PIECE.finditer(text):
        unit = piece[2].upper()
        if unit not in UNITS and unit != "NS":
            return None
        total += Decimal(piece[1]) * UNITS.get(unit, Decimal("0.001"))
    return microseconds(total.scaleb(-6))


def from_instant(text: str) -> int | None:
    """Microseconds since 1970 of an xsd:dateTime; without a zone it is UTC."""
    found = parse_moment(text, XSD_DATETIME)
    return None if found is None else microseconds(found.utc_seconds())


def written(length: int) -> str:
    """A duration as xsd:duration."""
    return duration_literal(Duration(0, Decimal(length).scaleb(-6))).lexical


def written_instant(moment: int) -> str:
    """Microseconds since 1970 as xsd:dateTime in UTC."""
    return civil_text(moment, 6).rstrip("0").rstrip(".") + "Z"
