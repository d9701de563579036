"""The time of a message, in microseconds since 1970: before a stream line, or by a declared predicate.

A line's TIME is integer milliseconds or an xsd:dateTime. One without a zone counts as UTC, and fractions
finer than a microsecond are cut. Only the years 1 to 9999 are times, so that arithmetic on them never leaves
64 bits.

A message in another format has its time as the object of a predicate: ``prov:generatedAtTime``,
``sosa:resultTime``, any IRI. It may stand in the default graph or in any graph. What is said of the message's
own graphs (the subject is a graph name in it) counts before what is said of things in it. Several equal times
are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR, Decimal

import numpy as np
import polars as pl

from weir.rdf.columns import Ids, Mask
from weir.rdf.messages import NO_GRAPH_TEXT
from weir.rdf.terms import XSD, XSD_STRING, Literal, parse_term
from weir.rdf.xsd.moments import XSD_DATETIME, civil_text, parse_moment, read_zones

FIRST_TIME = -62_135_596_800_000_000
"""0001-01-01T00:00:00Z."""
LAST_TIME = 253_402_300_799_999_999
"""9999-12-31T23:59:59.999999Z."""
PREFIXES = {
    "prov": "http://www.w3.org/ns/prov#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "dct": "http://purl.org/dc/terms/",
    "schema": "http://schema.org/",
}
"""Prefixes that a declared predicate may use."""

_INTEGERS = ["integer", "long", "int", "nonNegativeInteger", "unsignedLong"]
_MOMENTS = ["dateTime", "dateTimeStamp"]
_PLAIN = rf'^"([^"\\]*)"(?:\^\^<{re.escape(XSD)}([A-Za-z]+)>)?$'
_DIGITS = re.compile(r"[+-]?[0-9]+")
_COMMON = (
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](?:\.[0-9]{1,6})?)"
    r"(?:Z|([+-][0-9]{2}:[0-5][0-9]))?$"
)


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
    clock, zone = texts.str.extract_groups(_COMMON).struct.unnest().get_columns()
    minutes, zoned = read_zones(zone)
    local = clock.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False).to_physical()
    known = local.is_not_null().to_numpy() & zoned
    time: Ids = np.where(known, local.fill_null(0).to_numpy() - minutes * 60_000_000, 0)
    good = known & (time >= FIRST_TIME) & (time <= LAST_TIME)
    for row in np.flatnonzero(~known).tolist():
        found = read_time(texts[row])
        if found is not None:
            time[row], good[row] = found, True
    return time, good


def read_time(text: str) -> int | None:
    """Microseconds of one text, None where it is no time."""
    if _DIGITS.fullmatch(text) and len(text) < 20:
        microseconds = int(text) * 1000
    else:
        moment = parse_moment(text, XSD_DATETIME)
        if moment is None:
            return None
        exact = moment.utc_seconds() * Decimal(1_000_000)
        microseconds = int(exact.to_integral_value(ROUND_FLOOR))
    return microseconds if FIRST_TIME <= microseconds <= LAST_TIME else None


def write_time(microseconds: int) -> str:
    """How a stream line writes a time: milliseconds, or an xsd:dateTime where it is finer."""
    if microseconds % 1000 == 0:
        return str(microseconds // 1000)
    return civil_text(microseconds, 6) + "Z"


def predicate_iri(text: str) -> str:
    """The IRI of a declared predicate: in full, in ``<>``, or with one of the known prefixes."""
    text = text.strip().removeprefix("<").removesuffix(">")
    prefix, _, local = text.partition(":")
    return PREFIXES[prefix] + local if prefix in PREFIXES else text


def times_of(
    columns: Sequence[tuple[Ids, pl.Series]], payload: Ids, wanted: Iterable[int], predicate: str
) -> dict[int, int | str]:
    """For each wanted payload its time in µs, or the reason why it has none."""
    (subjects, subject_texts), (predicates, predicate_texts), (objects, object_texts), _ = columns
    stamped = (predicate_texts == f"<{predicate}>").to_numpy()
    rows = np.flatnonzero(stamped[predicates]) if len(predicates) else np.empty(0, np.int64)
    out: dict[int, int | str] = {}
    left = set(wanted)
    numbers, counts = np.unique(payload[rows], return_counts=True)
    alone = rows[np.isin(payload[rows], numbers[counts == 1])]
    at, good = _plain_times(object_texts.gather(objects[alone]))
    for number, microseconds in zip(payload[alone][good].tolist(), at[good].tolist(), strict=True):
        if number in left:
            out[number] = microseconds
    left -= out.keys()
    if not left:
        return out
    rows = rows[np.isin(payload[rows], list(left))]
    about = subject_texts.gather(subjects[rows]).to_list()
    said = object_texts.gather(objects[rows]).to_list()
    by_payload: dict[int, list[tuple[str, str]]] = {number: [] for number in left}
    for number, subject, text in zip(payload[rows].tolist(), about, said, strict=True):
        by_payload[number].append((subject, text))
    several = {number for number, pairs in by_payload.items() if len({text for _, text in pairs}) > 1}
    graphs = graph_names(columns, payload, several)
    for number, pairs in by_payload.items():
        own = [text for subject, text in pairs if subject in graphs.get(number, ())]
        out[number] = one_time(own or [text for _, text in pairs], predicate)
    return out


def _plain_times(texts: pl.Series) -> tuple[Ids, Mask]:
    """``moment_of`` for a column: microseconds, and which texts are surely times."""
    lexical, kind = texts.str.extract_groups(_PLAIN).struct.unnest().get_columns()
    at, good = read_times(lexical)
    digits = lexical.str.contains(r"^[+-]?[0-9]+$").fill_null(False)
    fits = kind.is_null() | (digits & kind.is_in(_INTEGERS)) | (~digits & kind.is_in(_MOMENTS))
    return at, good & lexical.is_not_null().to_numpy() & fits.to_numpy()


def graph_names(
    columns: Sequence[tuple[Ids, pl.Series]], payload: Ids, wanted: Iterable[int]
) -> dict[int, set[str]]:
    """The names of the graphs of each wanted payload."""
    codes, texts = columns[3]
    out = {}
    for number in wanted:
        first, last = np.searchsorted(payload, [number, number + 1])
        found = texts.gather(np.unique(codes[first:last])).to_list()
        out[number] = set(found) - {NO_GRAPH_TEXT}
    return out


def one_time(texts: Sequence[str], predicate: str) -> int | str:
    """The one time that term texts say, in µs, or what is wrong with them."""
    if not texts:
        return f"no <{predicate}>: the message has no time"
    found = set()
    for text in dict.fromkeys(texts):
        at = moment_of(text)
        if at is None:
            return f"the time of the message is neither an xsd:dateTime nor milliseconds: {text[:100]}"
        found.add(at)
    if len(found) > 1:
        return f"{len(found)} different times by <{predicate}>: a message has one"
    return found.pop()


def moment_of(text: str) -> int | None:
    """Microseconds of a term's text: an xsd:dateTime, an integer of milliseconds, or a string with one."""
    term = parse_term(text)
    if not isinstance(term, Literal) or term.language is not None:
        return None
    digits = _DIGITS.fullmatch(term.lexical.strip()) is not None
    allowed = _INTEGERS if digits else _MOMENTS
    if term.datatype != XSD_STRING and term.datatype not in [XSD + name for name in allowed]:
        return None
    return read_time(term.lexical.strip())
