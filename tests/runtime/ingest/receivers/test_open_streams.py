"""The receivers of a job: heartbeats, and how each stream is doing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from network_peers import line, opened
from weir.errors import UsageError
from weir.runtime.ingest.receivers.open_streams import QUIET, OpenStream, beat
from weir.runtime.ingest.sources import Place
from weir.runtime.ingest.sources.log_source import LogSource, read_log_part


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("urn:s", tmp_path, "feed", 2)


def test_a_stream_that_is_pushed_into_has_a_log_and_no_connection(place: Place) -> None:
    receivers = opened(place, "push:")
    receivers.writer("urn:s").append(line(1).encode())
    told = receivers.state()["urn:s"]
    receivers.close_all()
    assert told["kind"] == "log" and told["backlog"] > 0 and "connected" not in told
    with pytest.raises(UsageError, match="does not take messages"):
        receivers.writer("urn:s")


@pytest.mark.parametrize(
    ("heartbeat", "beats"),
    [("last", range(5_001, 5_002)), ("run", range(1_005_000, 60_000_000)), ("off", None)],
)
def test_time_goes_on_after_the_last_message(place: Place, heartbeat: str, beats: range | None) -> None:
    source = LogSource(heartbeat=heartbeat)
    with source.writer(place) as writer:
        writer.append(line(5).encode())
        each = OpenStream(source, writer, None, beaten=time.monotonic() - 60)
        beat(each)
        writer._last_append -= QUIET
        beat(each)
        beat(each)
        each.beaten -= 60
        if heartbeat == "last":
            beat(each)
    feed = source.feed(place)
    part = feed.parts({}, feed.latest({}, False))[0]
    found = read_log_part(part, b"k")[0].parsed.messages.time.tolist()
    assert found[0] == 5_000
    assert len(found) == (1 if beats is None else 2)
    assert beats is None or found[1] in beats
