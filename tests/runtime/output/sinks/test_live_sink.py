"""Results to whoever is watching, over real connections."""

from __future__ import annotations

import json
import socket

import httpx
import pytest
import websockets.exceptions
import websockets.sync.client

from answers_kit import line_results as results
from network_peers import until
from weir.errors import UsageError
from weir.runtime.output.sinks.live_sink import LiveSink

pytestmark = pytest.mark.network


def test_live_results_by_events_and_websocket() -> None:
    sink = LiveSink()
    sink.open()
    url = f"{sink.address}/results?query=q1"
    with (
        httpx.Client(timeout=10) as client,
        client.stream("GET", f"http://{url}") as response,
        websockets.sync.client.connect(f"ws://{url}", proxy=None) as watcher,
    ):
        lines = response.iter_lines()
        assert next(lines) == ": ready"
        until(lambda: sink.subscribers == 2)
        sink.write(0, [results("q1", 1, 2), results("q2", 9)])
        assert [json.loads(watcher.recv(10))["n"] for _ in range(2)] == [1, 2]
        events = [
            json.loads(next(line for line in lines if line.startswith("data"))[6:])["n"] for _ in range(2)
        ]
        assert events == [1, 2]
    with httpx.Client(timeout=10) as client:
        assert client.get(f"http://{sink.address}/results").status_code == 400
    sink.write(1, [results("q1", 3)])
    until(lambda: not sink.subscribers)
    sink.close()
    sink.close()


def test_a_slow_subscriber_is_told_what_it_missed_and_holds_nobody_up() -> None:
    sink = LiveSink(buffer=3, subscribers=1)
    sink.open()
    with socket.create_connection((sink.host, sink.port)) as slow:
        slow.sendall(b"GET /results?query=q HTTP/1.1\r\nHost: localhost\r\n\r\n")
        until(lambda: sink.subscribers)
        assert httpx.get(f"http://{sink.address}/results?query=q").status_code == 503
        sink.write(0, [results("q", *range(10))])
        slow.settimeout(10)
        text = b""
        while b'"n": 9' not in text:
            text += slow.recv(1 << 16)
    assert b'event: missed\ndata: {"missed":7}' in text
    assert [number for number in range(10) if f'"n": {number}'.encode() in text] == [7, 8, 9]
    sink.close()


def test_watchers_are_admitted_as_in_the_service() -> None:
    with pytest.raises(UsageError, match="open to everybody"):
        LiveSink(host="0.0.0.0")
    sink = LiveSink(subscribers=5)
    sink.open()
    url = f"{sink.address}/results?query=q"
    assert httpx.get(f"http://{url}", headers={"host": "rebound.example"}).status_code == 403
    with pytest.raises(websockets.exceptions.InvalidStatus):
        websockets.sync.client.connect(f"ws://{url}", origin="http://evil.example", proxy=None)
    with httpx.stream("GET", f"http://{url}", headers={"origin": "http://evil.example"}) as response:
        assert not [name for name in response.headers if name.startswith("access-control-")]
    sink.close()


@pytest.mark.parametrize("shown", [None, "wrong", "right"])
def test_a_token_is_asked_for_where_one_is_set(shown: str | None) -> None:
    token = "t" * 20
    sink = LiveSink(host="0.0.0.0", token=token)
    sink.open()
    url = f"127.0.0.1:{sink.port}/results?query=q"
    secret = token if shown == "right" else shown
    headers = {} if secret is None else {"authorization": f"Bearer {secret}"}
    with httpx.stream("GET", f"http://{url}", headers=headers) as response:
        assert response.status_code == (200 if shown == "right" else 401)
    if shown == "right":
        with websockets.sync.client.connect(f"ws://{url}&access_token={secret}", proxy=None):
            until(lambda: sink.subscribers)
    else:
        with pytest.raises(websockets.exceptions.InvalidStatus):
            websockets.sync.client.connect(f"ws://{url}&access_token={secret}", proxy=None)
    assert token not in repr(vars(sink))
    sink.close()
