"""WebSockets against a real server: reconnecting, greeting, refusing what is too large or elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from network_peers import dead, line, logged, opened, until, websocket_server
from weir.runtime.ingest.sources import Place

pytestmark = pytest.mark.network


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("urn:s", tmp_path, "feed", 2)


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
