"""What all receivers share: large messages set aside, a full log waited for, connections tried again."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from network_peers import dead, logged, until
from weir.errors import RemoteError
from weir.runtime.ingest.receivers.receiver import Client
from weir.runtime.ingest.sources import Place
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.runtime.ingest.sources.push_sources import PushSource, TcpSource


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("urn:s", tmp_path, "feed", 2)


def source(**options: int) -> PushSource:
    return TcpSource(host="h", port=1, **options)  # type: ignore[arg-type]


class Broken(Client[PushSource]):
    """A session brings one message and breaks."""

    def __init__(self, source: PushSource, writer: LogWriter) -> None:
        super().__init__(source, writer)
        self.delay = 0.01

    def session(self) -> None:
        self.opened()
        self.put(b"1\t<urn:s> <urn:p> <urn:o> .")
        raise RemoteError("broken")


def test_a_message_that_is_too_large_is_set_aside(place: Place) -> None:
    pushed = source(max_message=10)
    with pushed.writer(place) as writer:
        intake = Broken(pushed, writer)
        for payload in (b"x" * 11, b"1\tx"):
            taken = intake.put(payload)
            assert taken is not None
            taken.result()
    assert dead(place) == ["larger than 10 bytes"] and len(logged(place)) == 1
    assert (intake.state.messages, intake.state.refused) == (1, 1)


def test_a_full_log_is_waited_for_until_the_receiver_is_stopped(place: Place) -> None:
    pushed = source(limit_bytes=1)
    with pushed.writer(place) as writer:
        intake = Broken(pushed, writer)
        results: list[object] = []
        thread = threading.Thread(target=lambda: results.append(intake.put(b"1\t")))
        thread.start()
        until(lambda: intake.state.problem)
        intake.stopping.set()
        thread.join()
    assert results == [None] and intake.state.messages == 0


def test_a_broken_connection_is_tried_again(place: Place) -> None:
    pushed = source()
    with pushed.writer(place) as writer:
        client = Broken(pushed, writer)
        client.start()
        until(lambda: client.state.connections >= 3)
        client.stop()
    assert client.state.problem == "broken" and not client.state.connected
    assert len(logged(place)) >= 3
