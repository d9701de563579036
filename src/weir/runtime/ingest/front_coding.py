"""Texts as what each has other than the one before it: IRIs of one namespace cost their local names.

A frame has each text that its slot needs, so with many slots a text travels many times. What all share
with their neighbours does not.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from weir.rdf.columns import Ids
from weir.rdf.compiled import njit

Bytes = NDArray[np.uint8]
_MOST = 255
"""The most bytes that are shared: their number is a byte."""


def coded(texts: pa.LargeStringArray, codes: Ids, owner: Ids) -> tuple[Bytes, Ids, Bytes]:
    """Of each of the texts by number how many bytes it shares with the one before of the same ``owner``, how
    many follow, and all that follow."""
    _, offsets, data = texts.buffers()
    begins = np.frombuffer(offsets, np.int64, len(texts) + 1, 8 * texts.offset)
    whole = np.frombuffer(data or b"", np.uint8)
    shared, rest = np.empty(len(codes), np.uint8), np.empty(len(codes), np.int64)
    out = np.empty(int((begins[codes + 1] - begins[codes]).sum()), np.uint8)
    return shared, rest, out[: _coded(begins, whole, codes, owner, shared, rest, out)]


@njit(over=("codes", "out"), cache=True)
def _coded(begins: Ids, data: Bytes, codes: Ids, owner: Ids, shared: Bytes, rest: Ids, out: Bytes) -> int:
    at, before, known, last = 0, 0, 0, -1
    for text in range(len(codes)):
        first = begins[codes[text]]
        length = begins[codes[text] + 1] - first
        if owner[text] != last:
            last, known = owner[text], 0
        most, same = min(length, known, _MOST), 0
        while same < most and data[first + same] == data[before + same]:
            same += 1
        shared[text], rest[text] = same, length - same
        for byte in range(first + same, first + length):
            out[at] = data[byte]
            at += 1
        before, known = first, length
    return at


def decoded(shared: Bytes, rest: NDArray[np.int_], data: Bytes) -> pa.LargeStringArray:
    """The inverse of ``coded``."""
    begins = np.zeros(len(shared) + 1, np.int64)
    np.cumsum(shared + rest.astype(np.int64), out=begins[1:])
    out = np.empty(int(begins[-1]), np.uint8)
    _decoded(begins, shared, data, out)
    return pa.Array.from_buffers(
        pa.large_string(), len(shared), [None, pa.py_buffer(begins), pa.py_buffer(out)]
    )


@njit(over=("out",), cache=True)
def _decoded(begins: Ids, shared: Bytes, data: Bytes, out: Bytes) -> None:
    at, before = 0, 0
    for text in range(len(shared)):
        first, same = begins[text], np.int64(shared[text])
        for byte in range(same):
            out[first + byte] = out[before + byte]
        for byte in range(first + same, begins[text + 1]):
            out[byte] = data[at]
            at += 1
        before = first
