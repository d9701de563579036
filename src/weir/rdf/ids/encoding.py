"""Term texts to 64-bit ids, a column at a time or one by one.

An id is 0 (unbound, or no graph), negative (an inline literal, see ``inline``) or a positive 63-bit keyed
hash. The same text under the same key has the same id in every process and version, and equal ids mean equal
terms but for a collision, which the dictionary detects where both texts meet.

The hash: a text is cut into 8-byte little-endian words; each word is mixed with a secret key of its position,
the mixed words are added, and the sum and the length are mixed once more. Without the key nobody can make
texts that collide; by chance, n distinct texts collide with probability about n² / 2⁶⁴ (10⁷ texts: five in a
million). It costs about 0.1 µs a term, and unlike polars' own it never changes with a library's version, so
stored graphs and checkpoints stay readable.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from weir.rdf.columns import Ids
from weir.rdf.compiled import is_up, njit
from weir.rdf.ids.inline import encode_inline, encode_inline_text

DEFAULT_KEY = b"weir"
"""For tests and single runs; a checkpoint draws its own key and keeps it."""

_TYPED = r'"([^"\\]*)"\^\^<http://www\.w3\.org/2001/XMLSchema#([a-zA-Z]+)>'
_ONE_TYPED = re.compile(_TYPED)
_QUOTE, _MORE = 34, 62
_PERIOD = 4096
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_63_BITS = np.uint64(0x7FFF_FFFF_FFFF_FFFF)


def encode_texts(texts: pl.Series | pa.LargeStringArray, key: bytes = DEFAULT_KEY) -> Ids:
    """The ids of canonical term texts (a column without nulls)."""
    column = texts.to_arrow().cast(pa.large_string()) if isinstance(texts, pl.Series) else texts
    _, places, data = column.buffers()
    offsets = np.frombuffer(places, np.int64)[column.offset : column.offset + len(column) + 1].copy()
    room = np.frombuffer(data or b"", np.uint8)
    out: Ids = _hashed(room, offsets, position_keys(key))
    full = np.flatnonzero(offsets[1:] > offsets[:-1])
    typed = full[(room[offsets[full]] == _QUOTE) & (room[offsets[full + 1] - 1] == _MORE)]
    if len(typed):
        some = pl.Series(column.take(pa.array(typed)))
        lexical, datatype = some.str.extract_groups(f"^{_TYPED}$").struct.unnest().get_columns()
        known = lexical.is_not_null().arg_true()
        inline = encode_inline(lexical.gather(known), datatype.gather(known))
        out[typed[known.to_numpy()][inline != 0]] = inline[inline != 0]
    return out


def encode_text(text: str, key: bytes = DEFAULT_KEY) -> int:
    """The id of one text, in a few microseconds: ``encode_texts`` of a column of one, without its fixed cost.

    Results of expressions and constants of queries come one at a time; data come in columns.
    """
    if text[-1:] == ">" and text[0] == '"':
        typed = _ONE_TYPED.fullmatch(text)
        if typed is not None:
            identifier = encode_inline_text(typed[1], typed[2])
            if identifier:
                return identifier
    data = text.encode()
    if not is_up():
        return _hashed_plainly(data, position_keys(key))
    return int(_hashed(np.frombuffer(data, np.uint8), np.array([0, len(data)]), position_keys(key))[0])


@lru_cache(maxsize=16)
def position_keys(key: bytes) -> NDArray[np.uint64]:
    """The secret of each word's position, drawn from the key."""
    return np.frombuffer(hashlib.shake_256(key).digest(8 * _PERIOD), dtype="<u8")


def _hashed_plainly(data: bytes, keys: NDArray[np.uint64]) -> int:
    """The same as ``_hashed`` of one text, for who has no compiled loops yet."""
    golden, mix1, mix2, all_bits = int(_GOLDEN), int(_MIX1), int(_MIX2), (1 << 64) - 1
    total = len(data) * golden + int(keys[0])
    for place in range(max((len(data) + 7) >> 3, 1)):
        word = int.from_bytes(data[8 * place : 8 * place + 8], "little")
        word = (word ^ int(keys[place % _PERIOD])) + (place // _PERIOD) * golden
        word = word * mix1 & all_bits
        word = (word ^ (word >> 29)) * mix2 & all_bits
        total += word ^ (word >> 32)
    total &= all_bits
    total = (total ^ (total >> 30)) * mix1 & all_bits
    total = (total ^ (total >> 27)) * mix2 & all_bits
    return (total ^ (total >> 31)) & int(_63_BITS) or 1


@njit(over=("data",), cache=True)
def _hashed(data: NDArray[np.uint8], offsets: Ids, keys: NDArray[np.uint64]) -> Ids:
    """A positive 63-bit id, never 0, for the texts whose bytes lie between two ``offsets`` each."""
    out = np.empty(len(offsets) - 1, np.int64)
    for row in range(len(out)):
        begin, end = offsets[row], offsets[row + 1]
        total = np.uint64(end - begin) * _GOLDEN + keys[0]
        for place in range(max((end - begin + 7) >> 3, 1)):
            word = np.uint64(0)
            first = begin + 8 * place
            for byte in range(min(first + 8, end) - 1, first - 1, -1):
                word = (word << np.uint64(8)) | np.uint64(data[byte])
            word = (word ^ keys[place % _PERIOD]) + np.uint64(place // _PERIOD) * _GOLDEN
            word *= _MIX1
            word ^= word >> np.uint64(29)
            word *= _MIX2
            total += word ^ (word >> np.uint64(32))
        total ^= total >> np.uint64(30)
        total *= _MIX1
        total ^= total >> np.uint64(27)
        total *= _MIX2
        total ^= total >> np.uint64(31)
        total &= _63_BITS
        out[row] = np.int64(total) if total else 1
    return out
