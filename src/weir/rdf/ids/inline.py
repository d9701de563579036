"""Literals that are their own id (CQELS section 4.2): sign bit, 5 type bits, 58 bits of value.

Only forms that the id gives back to the letter are inline, so ``"01"`` and ``"1"`` stay different
terms: plain integers, decimals and doubles without superfluous signs or zeros before the first digit,
doubles in ``d.dEn`` form whose value a float division gives exactly, booleans, dates, and dateTimes
with 0, 3 or 6 fraction digits. An id is inline exactly where it is negative.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from enum import IntEnum

import numpy as np
import polars as pl

from weir.rdf.columns import NEVER, Ids
from weir.rdf.terms import XSD
from weir.rdf.xsd.moments import EPOCH, civil_text, read_zones


class Inline(IntEnum):
    """The type bits. What follows in the value bits is said beside each."""

    INTEGER = 1  # signed value, as are the next six
    LONG = 2
    INT = 3
    SHORT = 4
    BYTE = 5
    NON_NEGATIVE_INTEGER = 6
    POSITIVE_INTEGER = 7
    DECIMAL = 8  # signed digits << 4 | number of fraction digits
    DOUBLE = 9  # the same, without exponent
    DOUBLE_E = 10  # signed digits << 7 | exponent + 64, written d.dEn
    FLOAT = 11  # as DOUBLE
    BOOLEAN = 12  # 0 false, 1 true, 2 "0", 3 "1"
    DATE = 13  # days since 1970, no timezone
    DATETIME_UTC_S = 14  # seconds since 1970, "Z"
    DATETIME_UTC_MS = 15  # milliseconds, 3 fraction digits, "Z"
    DATETIME_UTC_US = 16  # microseconds, 6 fraction digits, "Z"
    DATETIME_LOCAL_S = 17  # no timezone
    DATETIME_LOCAL_MS = 18
    DATETIME_OFFSET_S = 19  # local seconds << 11 | offset minutes + 1024
    DATETIME_OFFSET_MS = 20  # local milliseconds << 11 | offset minutes + 1024


TYPE_SHIFT = 58
_VALUE_MASK = (1 << TYPE_SHIFT) - 1
LIMIT = 1 << (TYPE_SHIFT - 1)

INTEGER_TYPES = {
    "integer": Inline.INTEGER,
    "long": Inline.LONG,
    "int": Inline.INT,
    "short": Inline.SHORT,
    "byte": Inline.BYTE,
    "nonNegativeInteger": Inline.NON_NEGATIVE_INTEGER,
    "positiveInteger": Inline.POSITIVE_INTEGER,
}
INTEGER_RANGES = {
    Inline.INT: (-(2**31), 2**31 - 1),
    Inline.SHORT: (-(2**15), 2**15 - 1),
    Inline.BYTE: (-(2**7), 2**7 - 1),
    Inline.NON_NEGATIVE_INTEGER: (0, LIMIT - 1),
    Inline.POSITIVE_INTEGER: (1, LIMIT - 1),
}
_DATATYPES = {
    **{kind: name for name, kind in INTEGER_TYPES.items()},
    Inline.DECIMAL: "decimal",
    Inline.DOUBLE: "double",
    Inline.DOUBLE_E: "double",
    Inline.FLOAT: "float",
    Inline.BOOLEAN: "boolean",
    Inline.DATE: "date",
}
_BOOLEANS = ("false", "true", "0", "1")
_WHOLE = "-?(?:0|[1-9][0-9]*)"
_DECIMALS = {
    "decimal": (Inline.DECIMAL, rf"{_WHOLE}\.[0-9]{{1,15}}", 15),
    "double": (Inline.DOUBLE, rf"{_WHOLE}(?:\.[0-9]{{1,15}})?", 15),
    "float": (Inline.FLOAT, rf"{_WHOLE}(?:\.[0-9]{{1,6}})?", 7),
}
"""Digits with a point: the kind, the form and how many digits there may be."""


def kinds(ids: Ids) -> Ids:
    """The type bits of each id; 0 where it is not inline."""
    return np.where(ids < 0, (ids >> TYPE_SHIFT) & 31, 0)


def payloads(ids: Ids) -> Ids:
    """The signed value bits of inline ids."""
    return (ids << (63 - TYPE_SHIFT + 1)) >> (63 - TYPE_SHIFT + 1)


def make(kind: int, payload: Ids) -> Ids:
    """Inline ids of one kind; payloads must fit 58 signed bits."""
    high = np.int64(np.uint64((1 << 63) | (kind << TYPE_SHIFT)).astype(np.int64))
    return (payload & _VALUE_MASK) | high


def encode_inline(lexicals: pl.Series, datatypes: pl.Series) -> Ids:
    """Ids of literals of XSD types (names without the namespace); 0 where they are not inline."""
    out = np.zeros(len(lexicals), np.int64)
    for datatype in datatypes.unique().to_list():
        rows = (datatypes == datatype).arg_true().to_numpy()
        part = lexicals.gather(rows)
        if datatype in INTEGER_TYPES:
            out[rows] = _integers(part, INTEGER_TYPES[datatype])
        elif datatype in _DECIMALS:
            plain = _decimals(part, *_DECIMALS[datatype])
            out[rows] = np.where(plain != 0, plain, _exponents(part)) if datatype == "double" else plain
        elif datatype == "boolean":
            for value, text in enumerate(_BOOLEANS):
                hits = (part == text).to_numpy()
                out[rows[hits]] = make(Inline.BOOLEAN, np.int64(value))  # type: ignore[arg-type]
        elif datatype in ("dateTime", "date"):
            out[rows] = _times(part, datatype == "date")
    return out


def _integers(lexicals: pl.Series, kind: Inline) -> Ids:
    good = lexicals.str.contains(r"^(?:0|-?[1-9][0-9]{0,16})$")
    value = _cast(lexicals, good)
    low, high = INTEGER_RANGES.get(kind, (-LIMIT, LIMIT - 1))
    fits = good.to_numpy() & (value >= low) & (value <= high)
    return np.where(fits, make(kind, value), 0)


def _decimals(lexicals: pl.Series, kind: Inline, form: str, most: int) -> Ids:
    good = lexicals.str.contains(f"^(?:{form})$")
    digits = lexicals.str.replace(".", "", literal=True)
    long = digits.str.strip_chars_start("-0").str.len_bytes().to_numpy() > most
    value = _cast(digits, good & ~pl.Series(long))
    point = lexicals.str.find(".", literal=True).to_numpy(allow_copy=True)
    total = lexicals.str.len_bytes().to_numpy().astype(np.int64)
    scale = np.where(np.isnan(point.astype(np.float64)), 0, total - np.nan_to_num(point).astype(np.int64) - 1)
    signed_zero = (value == 0) & lexicals.str.starts_with("-").to_numpy()
    fits = good.to_numpy() & ~long & ~signed_zero & (scale < 16)
    return np.where(fits, make(kind, (value << 4) | scale), 0)


def _exponents(lexicals: pl.Series) -> Ids:
    parts = lexicals.str.extract_groups(r"^(-?[1-9])\.([0-9]{1,14})E(0|-?[1-9][0-9]?)$").struct.unnest()
    head, fraction, exponent = parts.get_columns()
    good = head.is_not_null()
    value = _cast(head + fraction, good)
    power = _cast(exponent, good)
    places = fraction.str.len_bytes().fill_null(0).to_numpy().astype(np.int64)
    fits = good.to_numpy() & (np.abs(power - places) <= 22) & (np.abs(power) < 64)
    return np.where(fits, make(Inline.DOUBLE_E, (value << 7) | (power + 64)), 0)


def _cast(texts: pl.Series, good: pl.Series) -> Ids:
    kept = pl.select(pl.when(good).then(texts)).to_series()
    return kept.cast(pl.Int64, strict=False).fill_null(0).to_numpy().astype(np.int64)


TIME_SHAPES = {
    10: (Inline.DATE, 0, ""),
    20: (Inline.DATETIME_UTC_S, 0, "Z"),
    24: (Inline.DATETIME_UTC_MS, 3, "Z"),
    27: (Inline.DATETIME_UTC_US, 6, "Z"),
    19: (Inline.DATETIME_LOCAL_S, 0, ""),
    23: (Inline.DATETIME_LOCAL_MS, 3, ""),
    25: (Inline.DATETIME_OFFSET_S, 0, "+00:00"),
    29: (Inline.DATETIME_OFFSET_MS, 3, "+00:00"),
}
_SHAPES = {kind: (fraction, zone) for kind, fraction, zone in TIME_SHAPES.values()}
_ZONES = {"": "", "Z": "Z", "+00:00": "[+-][0-9]{2}:[0-5][0-9]"}
_FIRST = (datetime(1, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


def _times(lexicals: pl.Series, dates: bool) -> Ids:
    out = np.zeros(len(lexicals), np.int64)
    lengths = lexicals.str.len_bytes()
    for length, (kind, fraction, zone) in TIME_SHAPES.items():
        rows = (lengths == length).arg_true().to_numpy()
        if len(rows) and (kind is Inline.DATE) == dates:
            out[rows] = _times_of_shape(lexicals.gather(rows), kind, fraction, zone)
    return out


def _times_of_shape(texts: pl.Series, kind: Inline, fraction: int, zone: str) -> Ids:
    clock = "" if kind is Inline.DATE else r"T[0-9]{2}:[0-9]{2}:[0-5][0-9]"
    parts = rf"\.[0-9]{{{fraction}}}" if fraction else ""
    form = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}{clock}{parts}{_ZONES[zone]}$"
    local = texts.str.slice(0, 20 + fraction if fraction else 19) if clock else texts + "T00:00:00"
    moments = local.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False)
    value: Ids = moments.to_physical().fill_null(NEVER).to_numpy()
    good = texts.str.contains(form).to_numpy() & (value >= _FIRST)
    value = value // (10 ** (6 - fraction) if clock else 86_400_000_000)
    if zone not in ("", "Z"):
        minutes, zoned = read_zones(texts.str.slice(-6))
        good &= zoned
        value = (value << 11) | (minutes + 1024)
    good &= (value >= -LIMIT) & (value < LIMIT)
    return np.where(good, make(kind, value), 0)


def inline_text(identifier: int) -> str:
    """The canonical text of one inline id."""
    kind = Inline((identifier >> TYPE_SHIFT) & 31)
    value = identifier & _VALUE_MASK
    if value >= LIMIT:
        value -= 1 << TYPE_SHIFT
    return f'"{_lexical(kind, value)}"^^<{XSD}{_DATATYPES.get(kind, "dateTime")}>'


def _lexical(kind: Inline, value: int) -> str:
    if kind <= Inline.POSITIVE_INTEGER:
        return str(value)
    if kind in (Inline.DECIMAL, Inline.DOUBLE, Inline.FLOAT):
        digits, scale = value >> 4, value & 15
        if not scale:
            return str(digits)
        text = str(abs(digits)).rjust(scale + 1, "0")
        return f"{'-' if digits < 0 else ''}{text[:-scale]}.{text[-scale:]}"
    if kind is Inline.DOUBLE_E:
        digits, power = value >> 7, (value & 127) - 64
        text = str(abs(digits))
        return f"{'-' if digits < 0 else ''}{text[0]}.{text[1:]}E{power}"
    if kind is Inline.BOOLEAN:
        return _BOOLEANS[value]
    if kind is Inline.DATE:
        return civil_text(value * 86_400_000_000, 0)[:10]
    fraction, zone = _SHAPES[kind]
    if zone not in ("", "Z"):
        value, offset = value >> 11, (value & 2047) - 1024
        zone = f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02d}:{abs(offset) % 60:02d}"
    return civil_text(value * 10 ** (6 - fraction), fraction) + zone


_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,16}")
_EXPONENT = re.compile(r"(-?[1-9])\.([0-9]{1,14})E(0|-?[1-9][0-9]?)")
_NO_SHAPE = (None, 0, "")


def encode_inline_text(lexical: str, datatype: str) -> int:
    """``encode_inline`` for one literal: its id, 0 where it is not inline."""
    kind = INTEGER_TYPES.get(datatype)
    if kind is not None:
        low, high = INTEGER_RANGES.get(kind, (-LIMIT, LIMIT - 1))
        fits = _INTEGER.fullmatch(lexical) is not None and low <= int(lexical) <= high
        return _make_one(kind, int(lexical)) if fits else 0
    if datatype in _DECIMALS:
        plain = _one_decimal(lexical, *_DECIMALS[datatype])
        return plain or (_one_exponent(lexical) if datatype == "double" else 0)
    if datatype == "boolean":
        return _make_one(Inline.BOOLEAN, _BOOLEANS.index(lexical)) if lexical in _BOOLEANS else 0
    return _one_time(lexical, datatype == "date") if datatype in ("date", "dateTime") else 0


def _make_one(kind: int, payload: int) -> int:
    return -(1 << 63) | (kind << TYPE_SHIFT) | (payload & ((1 << TYPE_SHIFT) - 1))


def _one_decimal(lexical: str, kind: Inline, form: str, most: int) -> int:
    if re.fullmatch(form, lexical) is None:
        return 0
    whole, _, fraction = lexical.partition(".")
    digits = whole + fraction
    if len(digits.lstrip("-0")) > most:
        return 0
    value = int(digits)
    if not value and lexical[0] == "-":
        return 0
    return _make_one(kind, (value << 4) | len(fraction))


def _one_exponent(lexical: str) -> int:
    parts = _EXPONENT.fullmatch(lexical)
    if parts is None:
        return 0
    power = int(parts[3])
    if abs(power - len(parts[2])) > 22 or abs(power) >= 64:
        return 0
    return _make_one(Inline.DOUBLE_E, (int(parts[1] + parts[2]) << 7) | (power + 64))


def _one_time(lexical: str, dates: bool) -> int:
    """A time is read leniently, and inline where its id gives the form back to the letter."""
    kind, fraction, zone = TIME_SHAPES.get(len(lexical), _NO_SHAPE)
    if kind is None or (kind is Inline.DATE) != dates:
        return 0
    try:
        moment = datetime.fromisoformat(lexical)
    except ValueError:
        return 0
    local = moment.replace(tzinfo=UTC) - EPOCH
    value = (local.days * 86_400 + local.seconds) * 10**fraction + local.microseconds // 10 ** (6 - fraction)
    if kind is Inline.DATE:
        value = local.days
    elif zone not in ("", "Z"):
        minutes = (moment.utcoffset() or timedelta()) // timedelta(minutes=1)
        if abs(minutes) > 840:
            return 0
        value = (value << 11) | (minutes + 1024)
    fits = -LIMIT <= value < LIMIT and _lexical(kind, value) == lexical
    return _make_one(kind, value) if fits else 0
