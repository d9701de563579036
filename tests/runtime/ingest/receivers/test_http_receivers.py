"""Server-Sent Events against a real server: resuming by ids, refusals; members of an event stream."""

from __future__ import annotations

from pathlib import Path

import pytest

from fragments_kit import EX, SECOND, T0
from fragments_peers import serving
from network_peers import Events, dead, event_server, line, logged, opened, until
from weir.fragments.protocol.annotation import Fact
from weir.fragments.server import Dataset, FragmentsApp, server
from weir.runtime.ingest.receivers.http_receivers import BOOKMARK
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


def pushed(data: Dataset, begin: int, end: int) -> None:
    for number in range(begin, end):
        now = T0 + number // 3 * SECOND
        data.push([Fact(f"<{EX}s{number}>", f"<{EX}p>", f'"{number}"', now, now + SECOND)], now)


def test_members_of_an_event_stream_are_messages_without_loss_or_doubles(place: Place) -> None:
    data = Dataset("d")
    pushed(data, 0, 400)
    with serving(lambda port: server(FragmentsApp([data]), port=port)) as base:
        address = f"ldes+{base}/d/ldes#weir:poll=0.1"
        receivers = opened(place, address)
        until(lambda: len(logged(place)) >= 100)
        receivers.close_all()
        pushed(data, 400, 500)
        receivers = opened(place, address)
        until(lambda: len(logged(place)) >= 500)
        pushed(data, 500, 510)
        until(lambda: len(logged(place)) >= 510)
        assert receivers.state()["urn:s"]["connected"]
        until(lambda: "version:509" in receivers.writer("urn:s").notes[BOOKMARK])
        receivers.close_all()
    found = logged(place)
    assert len(found) == 510
    for number, (_, payload) in enumerate(found):
        assert f'<{EX}s{number}> <{EX}p> "{number}" .' in payload.decode().splitlines()


def test_members_since_a_time(place: Place) -> None:
    data = Dataset("d")
    pushed(data, 0, 30)
    with serving(lambda port: server(FragmentsApp([data]), port=port)) as base:
        # T0 is 2023-11-14T22:13:20Z; the members 15 to 17 came five seconds later.
        receivers = opened(place, f"ldes+{base}/d/ldes#weir:poll=0.1&since=2023-11-14T22:13:25Z")
        until(lambda: len(logged(place)) >= 15)
        receivers.close_all()
    assert f"<{EX}s15>" in logged(place)[0][1].decode() and len(logged(place)) == 15
