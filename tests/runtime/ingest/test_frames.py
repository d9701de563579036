"""Frames: what goes into the container comes out of it, and plain columns cost next to nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.errors import CheckpointError
from weir.rdf.messages import Messages
from weir.runtime.ingest.frames import Frame

NUMBERS = st.integers(-(2**62), 2**62)


@st.composite
def messages(draw: st.DrawFn) -> Messages:
    times = draw(st.lists(NUMBERS, max_size=6))
    counts = np.array(draw(st.lists(st.integers(0, 3), min_size=len(times), max_size=len(times))), np.int64)
    message = np.repeat(np.arange(len(times)), counts)
    quads = [
        np.array(draw(st.lists(NUMBERS, min_size=len(message), max_size=len(message))), np.int64)
        for _ in range(4)
    ]
    return Messages(np.array(times, np.int64), counts, message, message * 0, *quads)


@given(messages(), st.text(max_size=5), st.integers(0, 2**62), st.booleans())
def test_what_is_sent_arrives(sent: Messages, lane: str, position: int, ended: bool) -> None:
    side = {"triples": 3, "rejected": [{"reason": "é"}]}
    texts = pa.array(["<a>", '"é"'], pa.large_string())
    frame = Frame("urn:s", lane, position, -5, ended, sent, np.array([7, 8]), texts, side)
    found = Frame.from_bytes(frame.to_bytes())
    assert (found.stream, found.lane, found.position, found.high) == ("urn:s", lane, position, -5)
    assert (found.ended, found.side) == (ended, side)
    assert {name: column.tolist() for name, column in found.messages.columns.items()} == {
        name: column.tolist() for name, column in sent.columns.items()
    }
    assert found.text_ids.tolist() == [7, 8] and list(map(str, found.texts)) == ["<a>", '"é"']


def test_marks_stay_behind() -> None:
    one = np.ones(1, np.int64)
    sent = Messages(one, one, one * 0, one, one, one, one, one, marks={"batch": one})
    assert Frame.from_bytes(Frame("s", "", messages=sent).to_bytes()).messages.marks == {}


def test_constant_and_counting_columns_are_numbers() -> None:
    count = 10_000
    each, none = np.arange(count), np.zeros(count, np.int64)
    ids = np.arange(count) * 7
    sent = Messages(each * 1000, none + 1, each, none, ids, none + 5, none + 6, none)
    assert len(Frame("s", "", messages=sent).to_bytes()) < 2 * 8 * count + 4096


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(CheckpointError):
        Frame.from_bytes(b"something else")
