"""Texts come back as they went, with and without compiled loops; neighbours alike cost little."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.runtime.ingest import front_coding
from weir.runtime.ingest.front_coding import coded, decoded

TEXTS = st.lists(
    st.text("<ab/é>", max_size=6) | st.sampled_from(["", "x" * 300, "x" * 299 + "y"]), min_size=1
)


@pytest.mark.parametrize("up", [True, False])
@given(st.data())
@settings(deadline=None, max_examples=60)
def test_texts_come_back(up: bool, data: st.DataObject) -> None:
    texts = data.draw(TEXTS)
    codes = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=20)), np.int64)
    owner = np.sort(
        np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(codes), max_size=len(codes))))
    )
    column = pa.array(["skipped", *texts], pa.large_string())[1:]
    shared, rest, following = coded(column, codes, owner.astype(np.int64))
    ends = np.concatenate([[0], np.cumsum(rest)])
    with pytest.MonkeyPatch.context() as patch:
        if not up:
            patch.setattr(front_coding, "_decoded", front_coding._decoded.py_func)
        for each in np.unique(owner):
            mine = np.flatnonzero(owner == each)
            first, last = int(mine[0]), int(mine[-1]) + 1
            found = decoded(shared[first:last], rest[first:last], following[ends[first] : ends[last]])
            assert found.to_pylist() == [texts[code] for code in codes[mine]]


def test_what_is_shared_is_not_said_again() -> None:
    texts = pa.array([f"<http://example.org/room/{number}>" for number in range(100, 200)], pa.large_string())
    shared, rest, following = coded(texts, np.arange(100), np.zeros(100, np.int64))
    assert len(following) < 30 + 4 * 100 and rest[0] == 29 and (shared[1:] >= 25).all()
