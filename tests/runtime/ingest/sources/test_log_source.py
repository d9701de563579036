"""The durable log as a source: the same messages however it is cut, by lanes, formats and times."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from log_kit import KEY, drained, read, triple
from weir.errors import CheckpointError, UsageError
from weir.runtime.ingest.sources import Place, source_of
from weir.runtime.ingest.sources.log_source import LogSource, read_log_part
from weir.storage.places import path_at
from weir.storage.segments import Segments


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("urn:s", tmp_path, "feed", 2)


def test_source_is_found_again_from_its_values() -> None:
    source = LogSource(time="http://www.w3.org/ns/prov#generatedAtTime", limit_bytes=1000)
    assert source_of(source.as_json()) == source


def test_a_log_is_refused_where_nothing_can_be_appended(tmp_path: Path) -> None:
    own = path_at("s3a://bucket/ck/weir")
    LogSource().check_place(tmp_path)
    LogSource(folder=str(tmp_path)).check_place(own)
    with pytest.raises(UsageError, match=r"(?s)push: cannot be kept at s3a://bucket/ck/weir: .*Kafka"):
        LogSource().check_place(own)


def test_pushes_of_equal_time_are_messages_of_their_own(place: Place) -> None:
    source = LogSource()
    writer = source.writer(place)
    writer.append(triple(1), format="nt", time=5_000)
    writer.append(triple(2) + triple(3), format="nt", time=5_000)
    writer.append(b"5\t" + triple(4) + b"5\t" + triple(5))
    writer.append(b"5\t" + triple(6).rstrip())
    writer.close()
    assert read(source.feed(place).parts({}, source.feed(place).latest({}, False))) == {
        "": [
            (5, ["<urn:s1>"]),
            (5, ["<urn:s2>", "<urn:s3>"]),
            (5, ["<urn:s4>", "<urn:s5>"]),
            (5, ["<urn:s6>"]),
        ]
    }


def test_formats_times_and_lanes(place: Place) -> None:
    source = LogSource(time="http://www.w3.org/ns/prov#generatedAtTime")
    writer = source.writer(place)
    stated = b"<urn:s1> <http://www.w3.org/ns/prov#generatedAtTime> 7 ."
    writer.append(stated, format="text/turtle; charset=utf-8", lane="a")
    writer.append(b'{"@id": "urn:s2", "urn:p": 1}', format="jsonld", time=8_000, lane="b")
    writer.append(b"", format="nq", time=9_000, lane="a")
    writer.append(triple(3), format=".nt", time=9_000_000_001, lane="b")
    lanes = read(source.feed(place).parts({}, source.feed(place).latest({}, False)))
    assert lanes == {
        "a": [(7, ["<urn:s1>"]), (9, [])],
        "b": [(8, ["<urn:s2>"]), (9_000_000, ["<urn:s3>"])],
    }
    writer.close()


def test_bad_payloads_are_set_aside_with_their_lane(place: Place) -> None:
    source = LogSource()
    writer = source.writer(place)
    writer.append(b"no turtle", format="ttl", lane="a", time=1_000)
    writer.append(triple(1), format="nt", lane="b", time=1_000)
    writer.append(b"\xff\xfe", format="nt", lane="b", time=1_000)
    writer.append(b"2\tgarbage\n3\t" + triple(2), lane="b")
    writer.set_aside(b"x" * 5000, "larger than 1000 bytes", lane="c").result()
    writer.close()
    found = [
        (each.lane, item.reason, len(item.text))
        for part in source.feed(place).parts({}, source.feed(place).latest({}, False))
        for each in read_log_part(part, KEY)
        for item in each.parsed.rejected
    ]
    assert [lane for lane, _, _ in found] == ["a", "b", "b", "c"]
    assert found[3][1:] == ("larger than 1000 bytes", 201)
    assert drained(source.feed(place))["b"] == [(1, ["<urn:s1>"]), (3, ["<urn:s2>"])]


def test_cuts_and_segments_change_nothing(place: Place) -> None:
    source = LogSource(segment_bytes=2_000, bytes_per_batch=700)
    writer = source.writer(place)
    chooser = random.Random(7)
    expected: dict[str, list[tuple[int, list[str]]]] = {}
    for number in range(200):
        lane = f"lane{chooser.randrange(3)}"
        writer.append(triple(number), format="nt", time=number // 3 * 1000, lane=lane)
        expected.setdefault(lane, []).append((number // 3, [f"<urn:s{number}>"]))
    writer.close()
    assert len(Segments(writer.folder).numbers) > 5
    assert drained(source.feed(place)) == expected
    wide = LogSource().feed(place)
    assert read(wide.parts({}, wide.latest({}, False))) == expected


def test_blank_nodes_do_not_depend_on_cuts(place: Place) -> None:
    writer = LogSource().writer(place)
    for number in range(20):
        writer.append(b"_:b <urn:p> _:b .", format="nt", time=number)
    writer.close()
    whole, cut = LogSource().feed(place), LogSource(bytes_per_batch=300).feed(place)
    labels = [name for _, names in read(whole.parts({}, whole.latest({}, False)))[""] for name in names]
    assert len(set(labels)) == 20
    assert [name for _, names in drained(cut)[""] for name in names] == labels


def test_old_segments_go_once_they_are_committed(place: Place) -> None:
    source = LogSource(segment_bytes=500)
    writer = source.writer(place)
    for number in range(20):
        writer.append(triple(number), format="nt", time=0, lane=f"lane{number}")
    feed = source.feed(place)
    reached = feed.latest({}, False)
    feed.committed(reached)
    assert Segments(writer.folder).numbers == [reached["segment"]]
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
