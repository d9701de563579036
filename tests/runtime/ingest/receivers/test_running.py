"""WebSocket, Server-Sent Events and TCP against real servers, and the heartbeats of all."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from network_peers import Events, dead, event_server, logged, until, websocket_server
from weir.runtime.ingest.receivers import Receivers
from weir.runtime.ingest.receivers.running import QUIET, Open, beat
from weir.runtime.ingest.receivers.sse_receiver import EventReader
from weir.runtime.ingest.sources import Place, source_from
from weir.runtime.ingest.sources.log_source import LogSource, read_log_part

pytestmark = pytest.mark.network


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("urn:s", tmp_path, "feed", 2)


def opened(place: Place, address: str) -> Receivers:
    receivers = Receivers(place.own)
    source = source_from(address)
    assert source is not None
    receivers.open(place.stream, source, place.log_name)
    return receivers


def line(number: int) -> str:
    return f"{number}\t<urn:s{number}> <urn:p> <urn:o> ."


def test_websocket_reconnects_greets_and_lives_with_bad_messages(place: Place) -> None:
    greeted: list[str] = []

    def talk(connection: Any) -> None:
        greeted.append(connection.recv())
        number = len(greeted)
        connection.send(line(number))
        connection.send(line(number + 10).encode())
        if number == 2:
            connection.send("x" * 200)
        if number == 3:
            connection.recv()

    with websocket_server(talk) as port:
        receivers = opened(place, f"ws://127.0.0.1:{port}/any?x=1#weir:hello=hi&max_message=100")
        until(lambda: len(logged(place)) == 6)
        receivers.close_all()
    assert greeted == ["hi"] * 3
    assert logged(place) == [("", line(n).encode()) for n in (1, 11, 2, 12, 3, 13)]
    assert dead(place) == ["larger than 100 bytes"]


def test_websocket_does_not_follow_to_another_host(place: Place) -> None:
    reached: list[Any] = []
    with websocket_server(reached.append) as elsewhere:

        def moved(connection: Any, request: Any) -> Any:
            response = connection.respond(302, "moved\n")
            response.headers["Location"] = f"ws://127.0.0.1:{elsewhere}/"
            return response

        with websocket_server(reached.append, process_request=moved) as port:
            receivers = opened(place, f"ws://127.0.0.1:{port}/")
            problem = until(lambda: receivers.state()["urn:s"]["problem"])
            receivers.close_all()
    assert "redirect" in problem
    assert not reached


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


def test_lines_of_a_socket_become_messages(place: Place) -> None:
    """One message ends with the next time, one with a pause, one with the connection; a line is too long."""
    listener = socket.create_server(("127.0.0.1", 0))
    sent = threading.Event()

    def lines() -> list[str]:
        return [each for _, payload in logged(place) for each in payload.decode().split("\n")]

    def serve() -> None:
        with listener.accept()[0] as peer:
            peer.sendall(f"{line(1)}\n{line(1)}\n{line(2)}\n{line(3)[:9]}".encode())
            until(lambda: len(logged(place)) == 1)
            peer.sendall(f"{line(3)[9:]}\n{'z' * 500}".encode())
            until(lambda: len(lines()) == 4)
            peer.sendall(f"zz\n{line(3)}".encode())
            sent.set()

    thread = threading.Thread(target=serve)
    thread.start()
    receivers = opened(place, f"tcp://127.0.0.1:{listener.getsockname()[1]}?max_message=200")
    until(lambda: sent.is_set() and len(lines()) == 5)
    receivers.close_all()
    thread.join()
    listener.close()
    assert lines() == [line(1), line(1), line(2), line(3), line(3)]
    assert logged(place)[0] == ("", f"{line(1)}\n{line(1)}".encode())
    assert logged(place)[-1] == ("", line(3).encode())
    assert dead(place) == ["larger than 200 bytes"]


@pytest.mark.parametrize(
    ("heartbeat", "beats"),
    [("last", range(5_001, 5_002)), ("run", range(1_005_000, 60_000_000)), ("off", None)],
)
def test_time_goes_on_after_the_last_message(place: Place, heartbeat: str, beats: range | None) -> None:
    source = LogSource(heartbeat=heartbeat)
    with source.writer(place) as writer:
        writer.append(line(5).encode())
        each = Open(source, writer, None, beaten=time.monotonic() - 60)
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
