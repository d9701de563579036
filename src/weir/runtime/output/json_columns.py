"""Columns of canonical terms as JSON: common forms by compiled loops, others one by one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from weir.extras import lazily
from weir.rdf.columns import Ids
from weir.rdf.compiled import njit
from weir.rdf.formats.tnq_split import Bytes
from weir.rdf.terms import json_term, parse_term

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = lazily("pyarrow.compute")

_CONTROLS, _QUOTE, _MINUS, _COLON, _LESS, _AT, _BACKSLASH, _CARET, _BELOW = 32, 34, 45, 58, 60, 64, 92, 94, 95
_OTHER, _IRI, _BLANK, _PLAIN, _TYPED, _TAGGED = 0, 1, 2, 3, 4, 5
_TO_DATATYPE, _TO_TAG = 4, 2
"""Bytes from the end of a lexical form to its datatype, ``"^^<``, and to its tag, ``"@``."""


def _written(text: str) -> Bytes:
    return np.frombuffer(text.encode(), np.uint8)


_URI, _NODE = _written('{"type":"uri","value":"'), _written('{"type":"bnode","value":"')
_LITERAL = _written('{"type":"literal","value":"')
_DATATYPE, _LANGUAGE, _END = _written('","datatype":"'), _written('","xml:lang":"'), _written('"}')


def compact(value: object) -> str:
    """JSON without superfluous blanks, text as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def bytes_of(column: pa.LargeStringArray) -> tuple[Ids, Bytes]:
    """Where each text begins, and the end of the last; and the bytes of all."""
    _, offsets, data = column.buffers()
    begins = np.frombuffer(offsets, np.int64)[column.offset : column.offset + len(column) + 1]
    return begins, np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)


def replaced(column: pa.LargeStringArray, rows: Ids, texts: Sequence[str | None]) -> pa.LargeStringArray:
    """Other texts in some rows, which ascend."""
    mask = np.zeros(len(column), np.bool_)
    mask[rows] = True
    return pc.replace_with_mask(column, pa.array(mask), pa.array(texts, pa.large_string()))


def json_terms(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Canonical texts as SPARQL JSON terms; null stays null."""
    begins, data = bytes_of(texts)
    forms, ends, offsets = _measured(begins, data)
    out = np.empty(int(offsets[-1]), np.uint8)
    _fill(out, offsets, begins, data, forms, ends)
    made = pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(offsets), pa.py_buffer(out))
    rest = np.flatnonzero(forms == _OTHER)
    if not len(rest):
        return made
    slow = [None if text is None else in_json(text) for text in texts.take(pa.array(rest)).to_pylist()]
    return replaced(made, rest, slow)


def in_json(text: str) -> str:
    """A canonical text as a SPARQL JSON term."""
    return compact(json_term(parse_term(text)))


def quoted(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """Texts as they stand inside a JSON string, without its quotes; the same column if none differs."""
    awkward = pc.match_substring_regex(texts, r'["\\\x00-\x1f]').fill_null(False)
    rows = np.flatnonzero(awkward.to_numpy(zero_copy_only=False))
    if not len(rows):
        return texts
    return replaced(texts, rows, [compact(text)[1:-1] for text in texts.take(pa.array(rows)).to_pylist()])


@njit(over=("data",), cache=True)
def _measured(begins: Ids, data: Bytes) -> tuple[NDArray[np.uint8], Ids, Ids]:
    """The form of each text, where its value ends, and where its JSON begins, and the end of the last."""
    rows = len(begins) - 1
    forms = np.zeros(rows, np.uint8)
    ends = np.zeros(rows, np.int64)
    offsets = np.empty(rows + 1, np.int64)
    total = 0
    for row in range(rows):
        offsets[row] = total
        first, last = begins[row], begins[row + 1] - 1
        if last <= first:
            continue
        begin = data[first]
        quotes, less, dashes, good, cut = 0, 0, 0, True, last
        for place in range(first + 1, last):
            byte = data[place]
            if byte < _CONTROLS or byte == _BACKSLASH:
                good = False
            elif byte == _QUOTE:
                quotes += 1
                cut = place
            elif byte == _LESS and (begin == _LESS or quotes == 1):
                less += 1
            elif byte == _MINUS and data[place - 1] == _MINUS:
                dashes += 1
        if not good:
            continue
        if begin == _LESS and quotes == 0 and less == 0:
            forms[row], ends[row] = _IRI, last
            total += len(_URI) + last - first - 1 + len(_END)
        elif begin == _BELOW and data[first + 1] == _COLON:
            forms[row], ends[row] = _BLANK, last + 1
            total += len(_NODE) + last - first - 1 + len(_END)
        elif begin == _QUOTE and quotes == 0 and data[last] == _QUOTE:
            forms[row], ends[row] = _PLAIN, last
            total += len(_LITERAL) + last - first - 1 + len(_END)
        elif begin == _QUOTE and quotes == 1 and less == 1 and data[cut + 1] == _CARET:
            forms[row], ends[row] = _TYPED, cut
            total += len(_LITERAL) + last - first - 1 - _TO_DATATYPE + len(_DATATYPE) + len(_END)
        elif begin == _QUOTE and quotes == 1 and less == 0 and dashes == 0 and data[cut + 1] == _AT:
            forms[row], ends[row] = _TAGGED, cut
            total += len(_LITERAL) + last - first - _TO_TAG + len(_LANGUAGE) + len(_END)
    offsets[rows] = total
    return forms, ends, offsets


@njit(over=(), inline="always")
def _copied(out: Bytes, at: int, data: Bytes, first: int, last: int) -> int:
    for place in range(first, last):
        out[at] = data[place]
        at += 1
    return at


@njit(over=("data",), cache=True)
def _fill(out: Bytes, offsets: Ids, begins: Ids, data: Bytes, forms: NDArray[np.uint8], ends: Ids) -> None:
    for row in range(len(forms)):
        form = forms[row]
        if form == _OTHER:
            continue
        at, first, end, last = offsets[row], begins[row] + 1, ends[row], begins[row + 1]
        if form == _IRI:
            at = _copied(out, at, _URI, 0, len(_URI))
        elif form == _BLANK:
            at = _copied(out, at, _NODE, 0, len(_NODE))
            first += 1
        else:
            at = _copied(out, at, _LITERAL, 0, len(_LITERAL))
        at = _copied(out, at, data, first, end)
        if form == _TYPED:
            at = _copied(out, at, _DATATYPE, 0, len(_DATATYPE))
            at = _copied(out, at, data, end + _TO_DATATYPE, last - 1)
        elif form == _TAGGED:
            at = _copied(out, at, _LANGUAGE, 0, len(_LANGUAGE))
            at = _copied(out, at, data, end + _TO_TAG, last)
        _copied(out, at, _END, 0, len(_END))
