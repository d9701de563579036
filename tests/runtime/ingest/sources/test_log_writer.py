"""The writer of a durable log: what it acknowledged is there, once and as it was sent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from disk_kit import Faults
from log_kit import KEY, drained, triple
from weir.errors import BacklogFull, StorageError
from weir.runtime.ingest.sources import Place
from weir.runtime.ingest.sources.log_source import LogSource, log_folder, read_log_part
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.storage.segments import Segments


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("urn:s", tmp_path, "feed", 2)


def test_a_payload_has_its_position_once_it_is_synced(place: Place) -> None:
    with LogWriter(log_folder(place)) as writer:
        futures = [writer.submit(triple(number), format="nt", time=0) for number in (1, 2)]
        first, second = (future.result() for future in futures)
        assert second - first == len(triple(1)) and Segments(writer.folder).synced.byte > second


def test_without_a_time_a_message_counts_from_its_arrival(place: Place) -> None:
    source = LogSource()
    writer = source.writer(place)
    before = time.time_ns() // 1000
    writer.append(triple(1), format="nt")
    assert before <= (writer.latest_time or 0) <= time.time_ns() // 1000
    writer.close()
    part = source.feed(place).parts({}, source.feed(place).latest({}, False))[0]
    assert read_log_part(part, KEY)[0].parsed.messages.time[0] == writer.latest_time


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


def test_a_lane_is_complete_beyond_the_time_of_its_last_message(place: Place) -> None:
    source = LogSource()
    with source.writer(place) as writer:
        writer.append(b"1\t" + triple(1), lane="a")
        writer.append(b"2\t" + triple(2), lane="b")
        writer.complete(5_000_000, "a").result()
    assert drained(source.feed(place)) == {
        "a": [(1, ["<urn:s1>"]), (5000, [])],
        "b": [(2, ["<urn:s2>"])],
    }


@pytest.mark.parametrize("request_", ["write", "sync", "rename", "open_file"])
def test_what_cannot_be_written_fails_and_leaves_no_gap(place: Place, faults: Faults, request_: str) -> None:
    """A rename is that of the mark: what readers were not told of is not stored either."""
    source = LogSource()
    with source.writer(place) as writer:
        writer.append(triple(1), format="nt", time=0)
        before = writer.epoch
        with faults.failing(request_), pytest.raises(StorageError, match="No space left"):
            writer.append(triple(2), format="nt", time=0)
        with pytest.raises(StorageError, match="could not be written"):
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
