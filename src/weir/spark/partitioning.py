"""Slots and the partitions Spark puts them in.

There are as many slots as shuffle partitions, and the key of slot i is chosen so that Spark's own hash
sends it to partition i: every core gets its queries and none gets two slots while another has none.
"""

from __future__ import annotations

from functools import lru_cache

_SEED = 42
_32 = 0xFFFFFFFF


def _rotated(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) & _32


def _mixed(hash_: int, word: int) -> int:
    word = _rotated(word * 0xCC9E2D51 & _32, 15) * 0x1B873593 & _32
    return (_rotated(hash_ ^ word, 13) * 5 + 0xE6546B64) & _32


def spark_hash(value: int) -> int:
    """Spark's Murmur3 hash of a bigint, as a signed 32-bit integer."""
    hash_ = _mixed(_mixed(_SEED, value & _32), (value >> 32) & _32) ^ 8
    hash_ = (hash_ ^ (hash_ >> 16)) * 0x85EBCA6B & _32
    hash_ = (hash_ ^ (hash_ >> 13)) * 0xC2B2AE35 & _32
    hash_ ^= hash_ >> 16
    return hash_ - (1 << 32) if hash_ >> 31 else hash_


@lru_cache(maxsize=64)
def slot_keys(slots: int) -> tuple[int, ...]:
    """The grouping key of each slot: slot i of ``slots`` lands in partition i."""
    keys: dict[int, int] = {}
    candidate = 0
    while len(keys) < slots:
        keys.setdefault(spark_hash(candidate) % slots, candidate)
        candidate += 1
    return tuple(keys[slot] for slot in range(slots))
