"""Parts: cuts at messages, equal shares of work, lines counted, and the one schema of dead letters."""

from __future__ import annotations

import gzip
import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.rdf.formats.tnq import BOM, parse_lines
from weir.rdf.messages import Rejected
from weir.runtime.ingest import parts
from weir.runtime.ingest.parts import (
    LineCounter,
    Part,
    dead_letters,
    message_start,
    part_size,
    read_part,
    shares_of,
    unpacked,
)
from weir.storage.remote import RemotePath


def line(time: int, name: str = "o") -> str:
    return f"{time}\t<http://e/s> <http://e/p> <http://e/{name}> .\n"


TEXTS = st.lists(
    st.sampled_from([line(1), line(2), line(2, "x"), line(3), "garbage\n", "\n", "x\ty\n", "# c\n"]),
    max_size=10,
).map("".join)


@given(TEXTS, st.lists(st.integers(0, 500), max_size=4), st.booleans())
def test_parts_are_whole_messages_wherever_a_file_is_cut(text: str, cuts: list[int], newline: bool) -> None:
    data = text.encode() if newline else text.encode().rstrip(b"\n")
    places = [0, *sorted(message_start(data, cut) for cut in cuts), len(data)]
    whole = parse_lines(data, scope="", key=b"k")
    times, triples, positions = [], [], []
    for begin, end in itertools.pairwise(places):
        part = parse_lines(data[begin:end], scope="", key=b"k", base=begin)
        times += part.messages.time.tolist()
        triples += part.messages.triples.tolist()
        positions += part.position.tolist()
    assert (times, triples) == (whole.messages.time.tolist(), whole.messages.triples.tolist())
    assert positions == whole.position.tolist()


def test_lines_before_a_byte(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a\nb\n\nc\n")
    counter = LineCounter()
    assert [counter.before(str(path), offset) for offset in (0, 2, 4, 5, 7, 4)] == [0, 1, 2, 3, 4, 2]


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=20), st.integers(1, 8))
def test_shares_are_all_parts_in_their_order(sizes: list[int], workers: int) -> None:
    parts = [Part("s", "l", f"f{n}", start=0, end=size) for n, size in enumerate(sizes)]
    shares = shares_of(parts, workers)
    assert [part for share in shares for part in share] == parts and 0 < len(shares) <= workers


def test_parts_are_neither_tiny_nor_huge() -> None:
    assert part_size(1000, 4) == 1 << 18
    assert part_size(1 << 30, 4) <= 12 << 20


def test_a_part_is_read_from_message_to_message(tmp_path: Path) -> None:
    path = tmp_path / "s.tnq"
    path.write_text(line(1) + line(2) + line(3))
    size = len(line(1))
    room, begin = read_part(Part("s", "l", str(path), start=1, end=size + 1))
    assert (bytes(room[:size]).decode(), begin) == (line(2), size)


class Held(RemotePath):
    """An object that is kept here, so that hundreds of cuts ask no server."""

    data = b""

    def read_range(self, begin: int, end: int | None = None) -> bytes:
        return self.data[begin:end]

    def stat(self, **_: Any) -> os.stat_result:
        return os.stat_result((0o100644, 0, 0, 1, 0, 0, len(self.data), 0, 0, 0))


@given(TEXTS, st.integers(0, 300), st.integers(0, 300), st.booleans(), st.integers(1, 40))
def test_a_part_of_an_object_is_that_of_a_file(
    tmp_path_factory: pytest.TempPathFactory, text: str, cut: int, size: int, bom: bool, around: int
) -> None:
    """However little of the object is looked at first."""
    data = BOM * bom + text.encode()
    path = tmp_path_factory.mktemp("parts") / "s.tnq"
    path.write_bytes(data)
    held = type("", (Held,), {"data": data})("/s3a:/b/s.tnq")
    for end in (None, min(cut + size, len(data))):
        part = Part("s", "l", str(path), start=min(cut, len(data)), end=end)
        expected = read_part(part)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parts, "_AROUND", around)
            patch.setattr(parts, "path_at", lambda _: held)
            found = read_part(part)
        assert (bytes(found[0]), found[1]) == (bytes(expected[0]), expected[1])


def test_what_is_left_of_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "s.tnq.gz"
    path.write_bytes(gzip.compress("".join(map(line, range(100_000))).encode())[:-4])
    data, damage = unpacked(path)
    assert data.startswith(line(0).encode()) and "cannot be unpacked" in str(damage)


def test_dead_letters_name_their_file_and_line_or_their_source() -> None:
    wrong = [Rejected(2, "why", "text", 1)]
    assert dead_letters("s", wrong, files=["a", "b"], before=5) == [
        {"stream": "s", "source": "b", "line": 7, "reason": "why", "text": "text"}
    ]
    assert dead_letters("s", wrong, source="topic/0") == [
        {"stream": "s", "source": "topic/0", "reason": "why", "text": "text"}
    ]
