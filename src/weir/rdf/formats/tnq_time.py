"""The TIME of a stream line: integer milliseconds since 1970, or an xsd:dateTime; microseconds here.

A dateTime without a zone counts as UTC, and fractions finer than a microsecond are cut. Only the years
1 to 9999 are times, so that arithmetic on them never leaves 64 bits.
"""

from __future__ import annotations

import re
from decimal import ROUND_FLOOR, Decimal

import numpy as np
import polars as pl

from weir.rdf.columns import Ids, Mask
from weir.rdf.ids.inline import Inline, encode_inline, kinds, payloads
from weir.rdf.xsd.moments import XSD_DATETIME, parse_moment

FIRST_TIME = -62_135_596_800_000_000
"""0001-01-01T00:00:00Z."""
LAST_TIME = 253_402_300_799_999_999
"""9999-12-31T23:59:59.999999Z."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_UNITS = {
    Inline.DATETIME_UTC_S: 1_000_000,
    Inline.DATETIME_UTC_MS: 1_000,
    Inline.DATETIME_UTC_US: 1,
    Inline.DATETIME_LOCAL_S: 1_000_000,
    Inline.DATETIME_LOCAL_MS: 1_000,
}
_OFFSET_UNITS = {Inline.DATETIME_OFFSET_S: 1_000_000, Inline.DATETIME_OFFSET_MS: 1_000}


def read_times(texts: pl.Series) -> tuple[Ids, Mask]:
    """Microseconds of each text, and which texts are times at all; null is none."""
    milliseconds = texts.cast(pl.Int64, strict=False)
    good: Mask = milliseconds.is_between(FIRST_TIME // 1000, LAST_TIME // 1000).fill_null(False).to_numpy()
    time: Ids = np.where(good, milliseconds.fill_null(0).to_numpy(), 0) * 1000
    others = milliseconds.is_null().arg_true().to_numpy()
    if len(others):
        good = good.copy()
        time[others], good[others] = _read_moments(texts.gather(others).fill_null(""))
    return time, good


def _read_moments(texts: pl.Series) -> tuple[Ids, Mask]:
    """Common shapes a column at a time, the rest one by one."""
    ids = encode_inline(texts, pl.Series(["dateTime"]).new_from_index(0, len(texts)))
    kind, value = kinds(ids), payloads(ids)
    time = np.zeros(len(texts), np.int64)
    known = np.zeros(len(texts), np.bool_)
    for which, unit in _UNITS.items():
        rows = kind == which
        time[rows], known[rows] = value[rows] * unit, True
    for which, unit in _OFFSET_UNITS.items():
        rows = kind == which
        local, minutes = value[rows] >> 11, (value[rows] & 2047) - 1024
        time[rows], known[rows] = local * unit - minutes * 60_000_000, True
    good = known & (time >= FIRST_TIME) & (time <= LAST_TIME)
    for row in np.flatnonzero(~known).tolist():
        found = read_time(texts[row])
        if found is not None:
            time[row], good[row] = found, True
    return time, good


def read_time(text: str) -> int | None:
    """Microseconds of one text, None where it is no time."""
    if _INTEGER.fullmatch(text) and len(text) < 20:
        microseconds = int(text) * 1000
    else:
        moment = parse_moment(text, XSD_DATETIME)
        if moment is None:
            return None
        exact = moment.utc_seconds() * Decimal(1_000_000)
        microseconds = int(exact.to_integral_value(ROUND_FLOOR))
    return microseconds if FIRST_TIME <= microseconds <= LAST_TIME else None
