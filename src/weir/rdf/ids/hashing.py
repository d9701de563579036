"""The keyed hash of term texts: 63 bits, vectorised, the same in every process and version.

A text is cut into 8-byte little-endian words; each word is mixed with a secret key of its position,
the mixed words are added, and the sum and the length are mixed once more. Without the key nobody can
make texts that collide; by chance, n distinct texts collide with probability about n² / 2⁶⁴ (10⁷ texts:
five in a million). Measured beside polars' own hash the cost is about 0.1 µs a term, and unlike that
one it never changes with a library's version, so stored graphs and checkpoints stay readable.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from weir.rdf.columns import Ids

PERIOD = 4096
_CHUNK = 32_768
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX1 = np.uint64(0xBF58476D1CE4E5B9)
MIX2 = np.uint64(0x94D049BB133111EB)
_63_BITS = np.uint64(0x7FFF_FFFF_FFFF_FFFF)

DEFAULT_KEY = b"weir"
"""For tests and single runs; a checkpoint draws its own key and keeps it."""


@lru_cache(maxsize=16)
def position_keys(key: bytes) -> NDArray[np.uint64]:
    """The secret of each word's position, drawn from the key."""
    return np.frombuffer(hashlib.shake_256(key).digest(8 * PERIOD), dtype="<u8")


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

    mixed ^= keys[place % PERIOD]
    if len(place) and int(words.max()) > PERIOD:
        mixed += (place // PERIOD).astype(np.uint64) * GOLDEN
    mixed *= MIX1
    mixed ^= mixed >> np.uint64(29)
    mixed *= MIX2
    mixed ^= mixed >> np.uint64(32)
    total = np.add.reduceat(mixed, firsts) if len(firsts) else np.empty(0, np.uint64)
    total += lengths.astype(np.uint64) * GOLDEN + keys[0]
    total ^= total >> np.uint64(30)
    total *= MIX1
    total ^= total >> np.uint64(27)
    total *= MIX2
    total ^= total >> np.uint64(31)
    total &= _63_BITS
    hashed: Ids = np.maximum(total, np.uint64(1)).astype(np.int64)
    return hashed
