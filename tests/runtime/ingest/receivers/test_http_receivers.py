"""Server-Sent Events against a real server: resuming by ids, refusals, and events cut anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_peers import Events, dead, event_server, line, logged, opened, until
from weir.runtime.ingest.receivers.http_receivers import EventReader
from weir.runtime.ingest.sources import Place

pytestmark = pytest.mark.network


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("urn:s", tmp_path, "feed", 2)


def test_events_resume_after_every_break_without_loss_or_doubles(place: Place) -> None:
    events = Events([line(n) for n in range(1, 11)] + [f"{line(11)}\n{line(11)}"], each=3)
    with event_server(events) as base:
        receivers = opened(place, f"sse+{base}/events")
        until(lambda: len(logged(place)) >= 4)
        receivers.close_all()
        receivers = opened(place, f"sse+{base}/events")
        until(lambda: "11" in events.asked)
        receivers.close_all()
    assert [payload.decode() for _, payload in logged(place)] == events.events
    assert events.asked[:2] == [None, "3"]


def test_events_from_elsewhere_and_large_ones_are_refused(place: Place, tmp_path: Path) -> None:
    events = Events([line(1), "y" * 500, line(2)], each=10)
    with event_server(events) as base:
        receivers = opened(place, f"sse+{base}/moved")
        assert "307" in until(lambda: receivers.state()["urn:s"]["problem"])
        receivers.close_all()
        assert not events.asked
        receivers = opened(place, f"sse+{base}/events#weir:max_message=100")
        until(lambda: len(logged(place)) == 2)
        receivers.close_all()
    assert dead(place) == ["larger than 100 bytes"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_the_same_however_they_are_cut(size: int) -> None:
    text = b"data: a\r\ndata:b\r\rid: 7\ndata\n\n: comment\nevent: x\n\nretry: 10\ndata:  c\r\n\r\ndata: torn"
    reader = EventReader(100)
    events = [event for at in range(0, len(text), size) for event in reader.feed(text[at : at + size])]
    told = [(event.data, event.id, event.retry) for event in events if event.data is not None]
    assert told == [(b"a\nb", None, None), (b"", "7", None), (b" c", None, 0.01)]
