"""A few stream lines, as they are pushed one by one: read without the fixed cost of columns.

Taken are lines of canonical N-Triples without blank nodes and triple terms, and heartbeats. Where there is
any other line this declines, and the way for many lines (``tnq``) reads them all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np
import polars as pl

from weir.rdf.columns import Ids
from weir.rdf.formats.times import FIRST_TIME, LAST_TIME
from weir.rdf.ids.encoding import encode_text
from weir.rdf.messages import NO_GRAPH_TEXT, Messages, Parsed, Terms

MOST = 8192
"""Bytes that are few."""
IRI = r"<[A-Za-z][A-Za-z0-9+.\-]*:[!#$&'()*+,\-./0-9:;=?@A-Z_a-z~]*>"
STRING = r'"(?:[^"\\\r\n]|\\["\\nr])*"'
TAG = r"@[a-z]{1,8}(?:-[a-z0-9]{1,8})*"
LITERAL = rf"{STRING}(?:{TAG}|\^\^{IRI})?"
UNWRITTEN = (
    r"\^\^<http://www\.w3\.org/(?:2001/XMLSchema#string|1999/02/22-rdf-syntax-ns#(?:dirL|l)angString)>$"
)
"""Datatypes that no canonical text has: that of plain strings, and those that only a tag gives."""

_MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{3}|\.[0-9]{6})?Z"
_LINE = re.compile(rf"([0-9]{{1,15}}|{_MOMENT})\t(?:({IRI}) ({IRI}) ({IRI}|{LITERAL}) \.)?")
_UNWRITTEN = re.compile(UNWRITTEN)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def parse_few(pieces: Sequence[bytes], positions: Sequence[int] | Ids, key: bytes) -> Parsed | None:
    """As ``tnq.parse_pieces``; None where a line needs more."""
    times: list[int] = []
    places: list[int] = []
    message: list[int] = []
    texts: tuple[list[str], list[str], list[str]] = ([], [], [])
    for piece, position in zip(pieces, positions, strict=True):
        found = _read(piece)
        if found is None:
            return None
        last: int | None = None
        for offset, time, triple in found:
            if time != last:
                times.append(time)
                places.append(int(position) + offset)
                last = time
            if triple is not None:
                message.append(len(times) - 1)
                for column, text in zip(texts, triple, strict=True):
                    column.append(text)
    terms = tuple(_terms(column, key) for column in texts)
    count = len(message)
    none = Terms(
        np.arange(count), pl.Series([NO_GRAPH_TEXT] * count, dtype=pl.String), np.zeros(count, np.int64)
    )
    owner = np.array(message, np.int64)
    triples = np.bincount(owner, minlength=len(times)).astype(np.int64)
    firsts = np.cumsum(triples) - triples
    quads = [each.ids for each in (*terms, none)]
    messages = Messages(
        np.array(times, np.int64),
        triples,
        owner,
        np.arange(count) - firsts[owner],
        *quads,
        marks={"position": np.array(places, np.int64)},
    )
    return Parsed(messages, (*terms, none))


def _read(piece: bytes) -> list[tuple[int, int, tuple[str, str, str] | None]] | None:
    """Where each line begins, its time in µs and its triple, if it has one."""
    try:
        lines = piece.decode().split("\n")
    except UnicodeDecodeError:
        return None
    if not lines[-1]:
        lines.pop()
    found: list[tuple[int, int, tuple[str, str, str] | None]] = []
    offset = 0
    for line in lines:
        match = _LINE.fullmatch(line)
        if match is None:
            return None
        clock, subject, predicate, object = match.groups()
        time = _microseconds(clock)
        if time is None or (object is not None and _UNWRITTEN.search(object)):
            return None
        found.append((offset, time, None if subject is None else (subject, predicate, object)))
        offset += len(line.encode()) + 1
    return found


def _microseconds(text: str) -> int | None:
    if text.isdigit():
        time = int(text) * 1000
    else:
        try:
            time = (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND
        except ValueError:
            return None
    return time if FIRST_TIME <= time <= LAST_TIME else None


def _terms(texts: list[str], key: bytes) -> Terms:
    ids = np.array([_id(text, key) for text in texts], np.int64)
    return Terms(np.arange(len(texts)), pl.Series(texts, dtype=pl.String), ids)


@lru_cache(maxsize=1 << 16)
def _id(text: str, key: bytes) -> int:
    """Pushed messages name the same things again and again."""
    return encode_text(text, key)
