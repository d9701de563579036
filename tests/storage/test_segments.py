"""A log in segments: blocks, marks, segments that go, one writer, and what a crash leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.errors import CheckpointError
from weir.storage.segments import Mark, Segments, SegmentWriter, block_bytes, blocks


def bodies(log: Segments) -> list[bytes]:
    """Everything that is synced."""
    return [
        log.path(number).read_bytes()[block.body : block.end]
        for number, block in log.blocks(log.read, log.synced)
    ]


def test_blocks_are_read_back_up_to_one_that_is_damaged() -> None:
    data = block_bytes(b"abc") + block_bytes(b"") + block_bytes(b"de")
    found = list(blocks(data, 0, len(data), check=True))
    assert [data[block.body : block.end] for block in found] == [b"abc", b"", b"de"]
    assert list(blocks(data[:-1] + b"x", 0, len(data), check=True)) == found[:2]
    assert list(blocks(data, 0, len(data) - 1)) == found[:2]


def test_the_mark_moves_with_every_append_and_segment(tmp_path: Path) -> None:
    log = SegmentWriter(tmp_path / "log")
    log.append(b"one")
    log.roll()
    log.append(b"two")
    log.close()
    assert log.synced == Mark(1, log.mark.byte) and log.numbers == [0, 1]
    assert bodies(log) == [b"one", b"two"]


def test_what_was_read_goes(tmp_path: Path) -> None:
    log = SegmentWriter(tmp_path / "log")
    log.append(b"one")
    log.roll()
    log.append(b"two")
    middle = log.mark
    log.append(b"three")
    Segments(tmp_path / "log").forget(middle)
    assert log.numbers == [1] and bodies(log) == [b"three"]
    assert log.unread(look=True) == len(block_bytes(b"three"))
    log.close()


@pytest.mark.parametrize("torn", [block_bytes(b"abcde")[:-3], b"\x05\x00", block_bytes(b"abcde")[:-1] + b"x"])
def test_a_torn_end_is_cut_off(tmp_path: Path, torn: bytes) -> None:
    log = SegmentWriter(tmp_path / "log")
    log.append(b"one")
    log.close()
    whole = log.path(0).read_bytes()
    log.path(0).write_bytes(whole + torn)
    (tmp_path / "log" / "synced").unlink()
    again = SegmentWriter(tmp_path / "log")
    again.close()
    assert again.found == [b"one"] and log.path(0).read_bytes() == whole


def test_damage_before_what_was_synced_is_refused(tmp_path: Path) -> None:
    log = SegmentWriter(tmp_path / "log")
    log.append(b"one")
    log.close()
    log.path(0).write_bytes(log.path(0).read_bytes()[:-1])
    with pytest.raises(CheckpointError, match="damaged before byte"):
        SegmentWriter(tmp_path / "log")


def test_one_writer_is_enough(tmp_path: Path) -> None:
    log = SegmentWriter(tmp_path)
    with pytest.raises(CheckpointError, match="another process"):
        SegmentWriter(tmp_path)
    log.close()
    SegmentWriter(tmp_path).close()
