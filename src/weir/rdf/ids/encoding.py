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
import struct
from functools import lru_cache

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from weir.rdf.columns import Ids
from weir.rdf.ids.inline import encode_inline, encode_inline_text

DEFAULT_KEY = b"weir"
"""For tests and single runs; a checkpoint draws its own key and keeps it."""

_TYPED = r'"([^"\\]*)"\^\^<http://www\.w3\.org/2001/XMLSchema#([a-zA-Z]+)>'
_ONE_TYPED = re.compile(_TYPED)
_PERIOD = 4096
_CHUNK = 32_768
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_63_BITS = np.uint64(0x7FFF_FFFF_FFFF_FFFF)
_WORD = (1 << 64) - 1
_INT_GOLDEN, _INT_MIX1, _INT_MIX2 = int(_GOLDEN), int(_MIX1), int(_MIX2)


def encode_texts(texts: pl.Series, key: bytes = DEFAULT_KEY) -> Ids:
    """The ids of canonical term texts (a string series without nulls)."""
    out = np.zeros(len(texts), np.int64)
    typed = (texts.str.ends_with(">") & texts.str.starts_with('"')).arg_true()
    if len(typed):
        lexical, datatype = (
            texts.gather(typed).str.extract_groups(f"^{_TYPED}$").struct.unnest().get_columns()
        )
        known = lexical.is_not_null().arg_true()
        rows = typed.gather(known).to_numpy()
        out[rows] = encode_inline(lexical.gather(known), datatype.gather(known))
    hashed = np.flatnonzero(out == 0)
    rest: pa.Array = (texts if len(hashed) == len(texts) else texts.gather(hashed)).to_arrow()
    out[hashed] = hash_texts(rest, key)
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
    return _hash_one(text.encode(), key)


@lru_cache(maxsize=16)
def position_keys(key: bytes) -> NDArray[np.uint64]:
    """The secret of each word's position, drawn from the key."""
    return np.frombuffer(hashlib.shake_256(key).digest(8 * _PERIOD), dtype="<u8")


def hash_texts(texts: pa.Array, key: bytes) -> Ids:
    """A positive 63-bit id for each text (an Arrow string array without nulls); never 0."""
    texts = texts.cast(pa.large_string())
    keys = position_keys(key)
    out = np.empty(len(texts), np.int64)
    for start in range(0, len(texts), _CHUNK):
        out[start : start + _CHUNK] = _hash_chunk(texts.slice(start, _CHUNK), keys)
    return out


def _hash_chunk(texts: pa.Array, keys: NDArray[np.uint64]) -> Ids:
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    begin, end = int(offsets[0]), int(offsets[-1])
    padded = np.zeros(end - begin + 8, np.uint8)
    if end > begin:
        padded[:-8] = np.frombuffer(texts.buffers()[2], np.uint8)[begin:end]
    offsets = offsets - begin
    words_at = np.ndarray((len(padded) - 7,), dtype="<u8", buffer=padded.data, strides=(1,))

    lengths = np.diff(offsets)
    words = np.maximum((lengths + 7) >> 3, 1)
    firsts = np.cumsum(words) - words
    place = np.arange(int(words.sum())) - np.repeat(firsts, words)
    mixed: NDArray[np.uint64] = words_at[np.repeat(offsets[:-1], words) + 8 * place].astype(np.uint64)
    tail = (lengths - 8 * (words - 1)).astype(np.uint64)
    mask = np.where(tail >= 8, ~np.uint64(0), (np.uint64(1) << (8 * np.minimum(tail, 7))) - np.uint64(1))
    mixed[firsts + words - 1] &= mask

    mixed ^= keys[place % _PERIOD]
    if len(place) and int(words.max()) > _PERIOD:
        mixed += (place // _PERIOD).astype(np.uint64) * _GOLDEN
    mixed *= _MIX1
    mixed ^= mixed >> np.uint64(29)
    mixed *= _MIX2
    mixed ^= mixed >> np.uint64(32)
    total = np.add.reduceat(mixed, firsts) if len(firsts) else np.empty(0, np.uint64)
    total += lengths.astype(np.uint64) * _GOLDEN + keys[0]
    total ^= total >> np.uint64(30)
    total *= _MIX1
    total ^= total >> np.uint64(27)
    total *= _MIX2
    total ^= total >> np.uint64(31)
    total &= _63_BITS
    hashed: Ids = np.maximum(total, np.uint64(1)).astype(np.int64)
    return hashed


@lru_cache(maxsize=16)
def _position_ints(key: bytes) -> list[int]:
    return [int(word) for word in position_keys(key)]


def _hash_one(data: bytes, key: bytes) -> int:
    keys = _position_ints(key)
    words = max((len(data) + 7) >> 3, 1)
    total = (len(data) * _INT_GOLDEN + keys[0]) & _WORD
    for place, word in enumerate(struct.unpack(f"<{words}Q", data.ljust(8 * words, b"\0"))):
        mixed = word ^ keys[place % _PERIOD]
        if words > _PERIOD:
            mixed = (mixed + place // _PERIOD * _INT_GOLDEN) & _WORD
        mixed = (mixed * _INT_MIX1) & _WORD
        mixed ^= mixed >> 29
        mixed = (mixed * _INT_MIX2) & _WORD
        total += mixed ^ (mixed >> 32)
    total &= _WORD
    total ^= total >> 30
    total = (total * _INT_MIX1) & _WORD
    total ^= total >> 27
    total = (total * _INT_MIX2) & _WORD
    total ^= total >> 31
    return max(total & (_WORD >> 1), 1)
