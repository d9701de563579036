"""The durable log: what was acknowledged is there, once and as it was sent, however the log is cut."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from weir.errors import BacklogFull, CheckpointError
from weir.rdf.messages import Parsed
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.sources import Place, source_of
from weir.runtime.ingest.sources.feeds import Reached
from weir.runtime.ingest.sources.log_segments import log_folder, segments
from weir.runtime.ingest.sources.log_source import LogFeed, LogSource, read_log_part

KEY = b"k" * 16


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("urn:s", tmp_path, "feed", 2)


def triple(number: int) -> bytes:
    return f"<urn:s{number}> <urn:p> <urn:o> .\n".encode()


def texts(messages: Parsed) -> list[tuple[int, list[str]]]:
    """Each message as (ms, its subjects)."""
    subjects = messages.terms[0].texts.gather(messages.terms[0].codes).to_list()
    out: list[tuple[int, list[str]]] = [(at // 1000, []) for at in messages.messages.time.tolist()]
    for number, subject in zip(messages.messages.message.tolist(), subjects, strict=True):
        out[number][1].append(subject)
    return out


def read(parts: list[Part]) -> dict[str, list[tuple[int, list[str]]]]:
    """The messages of each lane."""
    lanes: dict[str, list[tuple[int, list[str]]]] = {}
    for part in parts:
        if part.path is not None:
            for found in read_log_part(part, KEY):
                lanes.setdefault(found.lane, []).extend(texts(found.parsed))
    return lanes


def drained(feed: LogFeed, start: Reached | None = None) -> dict[str, list[tuple[int, list[str]]]]:
    """Everything that the feed offers, batch by batch."""
    reached: Reached = start or {}
    lanes: dict[str, list[tuple[int, list[str]]]] = {}
    while (after := feed.latest(reached, False)) != reached:
        for lane, messages in read(feed.parts(reached, after)).items():
            lanes.setdefault(lane, []).extend(messages)
        reached = after
    return lanes


def test_source_is_found_again_from_its_values() -> None:
    source = LogSource(time="http://www.w3.org/ns/prov#generatedAtTime", limit_bytes=1000)
    assert source_of(source.as_json()) == source


def test_pushes_of_equal_time_are_messages_of_their_own(place: Place) -> None:
    source = LogSource()
    writer = source.writer(place)
    writer.append_many([triple(1), triple(2) + triple(3)], format="nt", time=5_000)
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


def test_without_a_time_a_message_counts_from_its_arrival(place: Place) -> None:
    source = LogSource()
    writer = source.writer(place)
    before = time.time_ns() // 1000
    writer.append(triple(1), format="nt")
    assert before <= (writer.latest_time or 0) <= time.time_ns() // 1000
    writer.close()
    part = source.feed(place).parts({}, source.feed(place).latest({}, False))[0]
    assert read_log_part(part, KEY)[0].parsed.messages.time[0] == writer.latest_time


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
    assert len(segments(writer.folder)) > 5
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


def test_a_log_that_nobody_reads_fills_up_and_takes_more_once_read(place: Place) -> None:
    source = LogSource(limit_bytes=2_000)
    writer = source.writer(place)
    with pytest.raises(BacklogFull, match="unread"):
        for _ in range(1000):
            writer.append(triple(1), format="nt", time=0)
    assert writer.backlog() <= 2_500
    feed = source.feed(place)
    feed.committed(feed.latest({}, False))
    writer.append(triple(1), format="nt", time=0)
    writer.close()
    with pytest.raises(BacklogFull, match="closed"):
        writer.append(triple(1), format="nt", time=0)


def test_notes_outlive_segments_and_restarts(place: Place) -> None:
    source = LogSource(segment_bytes=400)
    with source.writer(place) as writer:
        for number in range(10):
            writer.submit(triple(number), format="nt", time=0, note=("id", str(number))).result()
        for number in range(10):
            writer.append(triple(number), format="nt", time=0)
    with source.writer(place) as writer:
        assert writer.notes == {"id": "9"}


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
        whole + b'#{"n":5,"crc":1,"r":[5],"l":[],"t":null}\nabcde',
    ):
        (folder / "0000000000.seg").write_bytes(torn)
        (folder / "synced").unlink()
        source.writer(place).close()
        assert (folder / "0000000000.seg").read_bytes() == whole
    with source.writer(place) as again:
        again.append(triple(2), format="nt", time=1_000)
    assert drained(source.feed(place)) == {"": [(0, ["<urn:s1>"]), (1, ["<urn:s2>"])]}


def test_heartbeats_reach_the_lanes_that_are_alive(place: Place) -> None:
    source = LogSource()
    with source.writer(place) as writer:
        writer.append(b"1\t" + triple(1), lane="a")
        writer.append(b"2\t" + triple(2), lane="b")
        assert writer.latest_time == 2_000
        writer.heartbeat(3_000_500)
    assert drained(source.feed(place)) == {
        "a": [(1, ["<urn:s1>"]), (3000, [])],
        "b": [(2, ["<urn:s2>"]), (3000, [])],
    }


def test_what_cannot_be_written_fails_and_leaves_no_gap(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "no space left on device")

    source = LogSource()
    with source.writer(place) as writer:
        writer.append(triple(1), format="nt", time=0)
        before = writer.epoch
        with monkeypatch.context() as broken:
            broken.setattr(os, "fdatasync", full)
            with pytest.raises(OSError, match="no space"):
                writer.append(triple(2), format="nt", time=0)
        with pytest.raises(OSError, match="could not be written"):
            writer.submit(triple(3), format="nt", time=0, epoch=before)
        writer.append(triple(4), format="nt", time=0)
    assert drained(source.feed(place)) == {"": [(0, ["<urn:s1>"]), (0, ["<urn:s4>"])]}


CHILD = """
import sys
from pathlib import Path
from weir.runtime.ingest.sources.log_source import LogSource
from weir.runtime.ingest.sources import Place
writer = LogSource(segment_bytes=20_000).writer(Place("urn:s", Path(sys.argv[1]), "feed", 2))
number = 0
while True:
    texts = [b"<urn:s%d> <urn:p> <urn:o> ." % (number + i) for i in range(7)]
    futures = [writer.submit(text, format="nt", time=0) for text in texts]
    for future in futures:
        future.result()
    number += 7
    print(number, flush=True)
"""


def test_what_was_acknowledged_outlives_kill_9(place: Place) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(place.own)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    acknowledged = 0
    for line in process.stdout:
        acknowledged = int(line)
        if acknowledged > 1_000:
            os.kill(process.pid, signal.SIGKILL)
            break
    rest = process.stdout.read().split()
    process.wait()
    process.stdout.close()
    acknowledged = int(rest[-1]) if rest else acknowledged
    source = LogSource()
    source.writer(place).close()
    found = [name for _, names in drained(source.feed(place))[""] for name in names]
    assert found == [f"<urn:s{number}>" for number in range(len(found))]
    assert len(found) >= acknowledged


def test_many_threads_share_a_sync(place: Place) -> None:
    source = LogSource()
    writer = source.writer(place)

    def push(thread: int) -> None:
        for number in range(20):
            writer.append(triple(number), format="nt", time=0, lane=f"lane{thread:02d}")

    threads = [threading.Thread(target=push, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close()
    lanes = drained(source.feed(place))
    assert len(lanes) == 16
    assert all(messages == [(0, [f"<urn:s{number}>"]) for number in range(20)] for messages in lanes.values())
