"""Which texts are canonical terms, by compiled loops: those that the expressions of ``tnq_few`` match.

A text is a range of bytes, from ``begin`` to ``end`` of ``data``. What is declined here is not wrong yet: the
strict parser sees it.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from weir.rdf.columns import Ids, Mask
from weir.rdf.compiled import njit
from weir.rdf.formats.tnq_split import Bytes

Forms = NDArray[np.uint8]
NONE, IRI, UNSURE, BLANK, LITERAL = 0, 1, 2, 3, 4
"""The form of a text; an IRI with rare characters is for who knows them to judge."""

_LF, _CR, _SPACE, _QUOTE, _DOT, _MINUS, _COLON = 10, 13, 32, 34, 46, 45, 58
_LESS, _MORE, _AT, _BACKSLASH, _CARET, _BELOW = 60, 62, 64, 92, 94, 95
_LONGEST_TAG = 8


def _class(expression: str) -> NDArray[np.bool_]:
    return np.array([re.fullmatch(expression, chr(code)) is not None for code in range(256)])


_LETTER, _SCHEME = _class("[A-Za-z]"), _class(r"[A-Za-z0-9+.\-]")
_COMMON, _ANY = _class(r"[!#$&'()*+,\-./0-9:;=?@A-Z_a-z~]"), _class(r"[^\x00-\x20<>\"{}|^`\\]")
_SMALL, _SMALL_OR_DIGIT = _class("[a-z]"), _class("[a-z0-9]")
_LABEL, _ESCAPED = _class(r"[A-Za-z0-9_.\-]"), _class(r'["\\nr]')
_XSD, _RDF = b"<http://www.w3.org/2001/XMLSchema#", b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_UNWRITTEN = (_XSD + b"string>", _RDF + b"langString>", _RDF + b"dirLangString>")
_STRING, _TAGGED, _DIRECTED = (np.frombuffer(text, np.uint8) for text in _UNWRITTEN)


@njit(over=(), inline="always")
def _equal(data: Bytes, at: int, last: int, other: Bytes) -> bool:
    same = last - at == len(other)
    for place in range(len(other) if same else 0):
        same = same and data[at + place] == other[place]
    return same


@njit(over=(), cache=True)
def iri_end(data: Bytes, at: int, last: int) -> int:
    """The place behind the IRI that begins here, less than 0 where it has rare characters, 0 without one."""
    if last - at < 4 or data[at] != _LESS or not _LETTER[data[at + 1]]:
        return 0
    place = at + 2
    while place < last and _SCHEME[data[place]]:
        place += 1
    if place == last or data[place] != _COLON:
        return 0
    place += 1
    while place < last and _COMMON[data[place]]:
        place += 1
    if place < last and data[place] == _MORE:
        return place + 1
    while place < last and _ANY[data[place]]:
        place += 1
    if place < last and data[place] == _MORE:
        return -place - 1
    return 0


@njit(over=(), cache=True)
def literal_end(data: Bytes, at: int, last: int) -> tuple[int, int]:
    """The place behind the literal that begins here, 0 without one, and where its datatype begins, or 0."""
    place = at + 1
    while place < last and data[place] != _QUOTE:
        if data[place] == _BACKSLASH:
            place += 1
            if place == last or not _ESCAPED[data[place]]:
                return 0, 0
        elif data[place] == _LF or data[place] == _CR:
            return 0, 0
        place += 1
    if place >= last:
        return 0, 0
    place += 1
    if place < last and data[place] == _CARET:
        if place + 1 == last or data[place + 1] != _CARET:
            return 0, 0
        return max(iri_end(data, place + 2, last), 0), place + 2
    if place < last and data[place] == _AT:
        parts = 0
        while place < last and (parts == 0 or data[place] == _MINUS):
            place += 1
            begin = place
            while place < last and (_SMALL_OR_DIGIT if parts else _SMALL)[data[place]]:
                place += 1
            if not 0 < place - begin <= _LONGEST_TAG:
                return 0, 0
            parts += 1
    return place, 0


@njit(over=("data",), cache=True)
def forms_of(data: Bytes, begin: Ids, end: Ids) -> Forms:
    """The form of each text."""
    out = np.zeros(len(begin), np.uint8)
    for row in range(len(begin)):
        at, last = begin[row], end[row]
        if last - at < 2:
            continue
        if data[at] == _LESS:
            stop = iri_end(data, at, last)
            if stop == last:
                out[row] = IRI
            elif stop == -last:
                out[row] = UNSURE
        elif data[at] == _QUOTE:
            stop, datatype = literal_end(data, at, last)
            if stop == last and not (
                datatype
                and (
                    _equal(data, datatype, last, _STRING)
                    or _equal(data, datatype, last, _TAGGED)
                    or _equal(data, datatype, last, _DIRECTED)
                )
            ):
                out[row] = LITERAL
        elif data[at] == _BELOW and data[at + 1] == _COLON and last - at > 2:
            good = data[at + 2] != _DOT and data[at + 2] != _MINUS and data[last - 1] != _DOT
            for place in range(at + 2, last):
                good = good and _LABEL[data[place]]
            if good:
                out[row] = BLANK
    return out


@njit(over=("data",), cache=True)
def object_and_graph(data: Bytes, begin: Ids, end: Ids) -> tuple[Ids, Ids, Ids, Mask]:
    """Of what follows a predicate: where the object ends, where the graph begins and ends (an empty range
    where there is none), and whether a full stop and nothing else follows."""
    object_end, graph_begin, graph_end = end.copy(), end.copy(), end.copy()
    whole = np.zeros(len(begin), np.bool_)
    for row in range(len(begin)):
        at, last = begin[row], end[row]
        while last > at and (data[last - 1] == _LF or data[last - 1] == _CR):
            last -= 1
        if last - at < 3 or data[last - 1] != _DOT or data[last - 2] != _SPACE:
            continue
        last -= 2
        stop = at
        if data[at] == _QUOTE:
            stop = literal_end(data, at, last)[0]
        else:
            while stop < last and data[stop] != _SPACE and data[stop] != _QUOTE:
                stop += 1
        object_end[row], graph_begin[row], graph_end[row] = last, last, last
        if stop < last:
            if stop <= at or data[stop] != _SPACE or stop + 1 == last:
                continue
            plain = True
            for place in range(stop + 1, last):
                plain = plain and data[place] != _SPACE and data[place] != _QUOTE
            if not plain:
                continue
            object_end[row], graph_begin[row] = stop, stop + 1
        whole[row] = True
    return object_end, graph_begin, graph_end, whole
