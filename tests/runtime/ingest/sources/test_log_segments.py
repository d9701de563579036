"""A durable log on disk: blocks, segments that go, and what a crash leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from log_kit import drained, triple
from weir.errors import CheckpointError
from weir.runtime.ingest.sources import Place
from weir.runtime.ingest.sources.log_segments import (
    SYNCED,
    Dead,
    Header,
    LogEnd,
    Mark,
    block_bytes,
    blocks,
    get_mark,
    log_folder,
    segments,
)
from weir.runtime.ingest.sources.log_source import LogSource


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("urn:s", tmp_path, "feed", 2)


def test_a_block_is_read_back() -> None:
    header = Header(records=(3, 2), times=(None, 7), runs=(("a", "tnq", 2),), dead=(Dead("b", "why", "x"),))
    data = block_bytes(header, b"abcde") * 2
    found = list(blocks(data, 0, len(data), check=True))
    assert [data[block.body : block.end] for block in found] == [b"abcde", b"abcde"]
    assert found[0].header.times == (None, 7) and found[0].header.dead == header.dead


def test_a_damaged_body_ends_the_blocks() -> None:
    data = block_bytes(Header(records=(3,), times=(None,)), b"abc")
    assert list(blocks(data[:-1] + b"x", 0, len(data), check=True)) == []


def test_the_mark_moves_with_every_append_and_segment(tmp_path: Path) -> None:
    end = LogEnd(tmp_path / "log")
    end.append(block_bytes(Header(), b""))
    end.roll()
    end.append(block_bytes(Header(), b""))
    end.close()
    assert get_mark(tmp_path / "log", SYNCED) == Mark(1, end.mark.byte) and segments(tmp_path / "log") == [
        0,
        1,
    ]


def test_a_torn_end_is_cut_off_and_one_writer_is_enough(place: Place) -> None:
    source = LogSource()
    writer = source.writer(place)
    writer.append(triple(1), format="nt", time=0)
    with pytest.raises(CheckpointError, match="another process"):
        source.writer(place)
    writer.close()
    folder = log_folder(place)
    whole = (folder / "0000000000.seg").read_bytes()
    for torn in (
        whole + whole[:-3],
        whole + b"#{",
        whole + b'#{"length":5,"crc":1,"records":[5]}\nabcde',
    ):
        (folder / "0000000000.seg").write_bytes(torn)
        (folder / "synced").unlink()
        source.writer(place).close()
        assert (folder / "0000000000.seg").read_bytes() == whole
    with source.writer(place) as again:
        again.append(triple(2), format="nt", time=1_000)
    assert drained(source.feed(place)) == {"": [(0, ["<urn:s1>"]), (1, ["<urn:s2>"])]}


def test_old_segments_go_once_they_are_committed(place: Place) -> None:
    source = LogSource(segment_bytes=500)
    writer = source.writer(place)
    for number in range(20):
        writer.append(triple(number), format="nt", time=0, lane=f"lane{number}")
    feed = source.feed(place)
    reached = feed.latest({}, False)
    feed.committed(reached)
    assert segments(writer.folder) == [reached["segment"]]
    assert writer.backlog() == 0
    writer.append(b"", format="nt", time=9, lane="late")
    writer.close()
    again = source.writer(place)
    again.append(triple(99), format="nt", time=1_000, lane="lane0")
    again.close()
    assert drained(feed, reached) == {"late": [(0, [])], "lane0": [(1, ["<urn:s99>"])]}
    end = feed.latest(reached, True)
    finals = [part.lane for part in feed.parts(reached, end) if part.final]
    assert sorted(finals) == sorted([f"lane{number}" for number in range(20)] + ["late"])
    feed.refuse_more(end)
    with source.writer(place) as more:
        more.append(triple(1), format="nt", time=0)
    with pytest.raises(CheckpointError, match="there is more"):
        feed.refuse_more(end)
