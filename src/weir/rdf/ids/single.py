"""The id of one term text without the fixed cost of columns: a few microseconds in plain Python.

Law: ``encode_text(t, key) == encode_texts(Series([t]), key)[0]`` for every text, tested at random. Results
of expressions and constants of queries come one at a time; data come in columns.
"""

from __future__ import annotations

import re
import struct
from datetime import date
from functools import lru_cache

from weir.rdf.ids.hashing import DEFAULT_KEY, GOLDEN, MIX1, MIX2, PERIOD, position_keys
from weir.rdf.ids.inline import INTEGER_RANGES, INTEGER_TYPES, LIMIT, TIME_SHAPES, TYPE_SHIFT, Inline

_TYPED = re.compile(r'"([^"\\]*)"\^\^<http://www\.w3\.org/2001/XMLSchema#([a-zA-Z]+)>')
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,16}")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]{1,15}")
_DOUBLE = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]{1,15})?")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]{1,6})?")
_EXPONENT = re.compile(r"(-?[1-9])\.([0-9]{1,14})E(0|-?[1-9][0-9]?)")
_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{3}|[0-9]{6}))?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_BOOLEANS = {"false": 0, "true": 1, "0": 2, "1": 3}
_WORD = (1 << 64) - 1
_GOLDEN, _MIX1, _MIX2 = int(GOLDEN), int(MIX1), int(MIX2)
_EPOCH = date(1970, 1, 1).toordinal()


def encode_text(text: str, key: bytes = DEFAULT_KEY) -> int:
    """The id of one canonical term text."""
    if text[-1:] == ">" and text[0] == '"':
        typed = _TYPED.fullmatch(text)
        if typed is not None:
            identifier = _inline(typed[1], typed[2])
            if identifier:
                return identifier
    return _hash(text.encode(), key)


@lru_cache(maxsize=16)
def _keys(key: bytes) -> list[int]:
    return [int(word) for word in position_keys(key)]


def _hash(data: bytes, key: bytes) -> int:
    keys = _keys(key)
    words = max((len(data) + 7) >> 3, 1)
    total = (len(data) * _GOLDEN + keys[0]) & _WORD
    for place, word in enumerate(struct.unpack(f"<{words}Q", data.ljust(8 * words, b"\0"))):
        mixed = word ^ keys[place % PERIOD]
        if words > PERIOD:
            mixed = (mixed + place // PERIOD * _GOLDEN) & _WORD
        mixed = (mixed * _MIX1) & _WORD
        mixed ^= mixed >> 29
        mixed = (mixed * _MIX2) & _WORD
        total += mixed ^ (mixed >> 32)
    total &= _WORD
    total ^= total >> 30
    total = (total * _MIX1) & _WORD
    total ^= total >> 27
    total = (total * _MIX2) & _WORD
    total ^= total >> 31
    return max(total & (_WORD >> 1), 1)


def _inline(lexical: str, datatype: str) -> int:
    """The inline id of a literal of an XSD type; 0 where it is not inline."""
    kind = INTEGER_TYPES.get(datatype)
    if kind is not None:
        low, high = INTEGER_RANGES.get(kind, (-LIMIT, LIMIT - 1))
        fits = _INTEGER.fullmatch(lexical) is not None and low <= int(lexical) <= high
        return _make(kind, int(lexical)) if fits else 0
    match datatype:
        case "decimal":
            return _decimal(lexical, Inline.DECIMAL, _DECIMAL, 15)
        case "double":
            return _decimal(lexical, Inline.DOUBLE, _DOUBLE, 15) or _exponent(lexical)
        case "float":
            return _decimal(lexical, Inline.FLOAT, _FLOAT, 7)
        case "boolean":
            value = _BOOLEANS.get(lexical)
            return 0 if value is None else _make(Inline.BOOLEAN, value)
        case "dateTime" | "date":
            return _time(lexical, datatype == "date")
    return 0


def _make(kind: int, payload: int) -> int:
    return -(1 << 63) | (kind << TYPE_SHIFT) | (payload & ((1 << TYPE_SHIFT) - 1))


def _decimal(lexical: str, kind: Inline, form: re.Pattern[str], most: int) -> int:
    if form.fullmatch(lexical) is None:
        return 0
    whole, _, fraction = lexical.partition(".")
    digits = whole + fraction
    if len(digits.lstrip("-0")) > most:
        return 0
    value = int(digits)
    if not value and lexical[0] == "-":
        return 0
    return _make(kind, (value << 4) | len(fraction))


def _exponent(lexical: str) -> int:
    parts = _EXPONENT.fullmatch(lexical)
    if parts is None:
        return 0
    power = int(parts[3])
    if abs(power - len(parts[2])) > 22 or abs(power) >= 64:
        return 0
    return _make(Inline.DOUBLE_E, (int(parts[1] + parts[2]) << 7) | (power + 64))


def _time(lexical: str, dates: bool) -> int:
    shape = TIME_SHAPES.get(len(lexical))
    parts = _TIME.fullmatch(lexical)
    if shape is None or parts is None:
        return 0
    kind, fraction, zone = shape
    if (kind is Inline.DATE) != dates:
        return 0
    try:
        days = date(int(parts[1]), int(parts[2]), int(parts[3])).toordinal() - _EPOCH
    except ValueError:
        return 0
    if kind is Inline.DATE:
        return _make(kind, days)
    if parts[4] is None or len(parts[7] or "") != fraction or bool(parts[8]) != bool(zone):
        return 0
    hour, minute, second = int(parts[4]), int(parts[5]), int(parts[6])
    if hour > 23 or minute > 59 or second > 59:
        return 0
    seconds = days * 86_400 + hour * 3_600 + minute * 60 + second
    value = seconds * 10**fraction + int(parts[7] or 0)
    if zone == "Z":
        if parts[8] != "Z":
            return 0
    elif zone:
        offset = _offset(parts[8])
        if offset is None:
            return 0
        value = (value << 11) | (offset + 1024)
    return _make(kind, value) if -LIMIT <= value < LIMIT else 0


def _offset(zone: str) -> int | None:
    if zone == "Z":
        return None
    hours, minutes = int(zone[1:3]), int(zone[4:])
    size = hours * 60 + minutes
    if minutes > 59 or size > 840 or (zone[0] == "-" and not size):
        return None
    return -size if zone[0] == "-" else size
