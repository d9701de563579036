"""Results to whoever is watching, over real connections."""

from __future__ import annotations

import json
import socket

import httpx
import pytest
import websockets.sync.client

from answers_kit import line_results as results
from network_peers import until
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
        slow.sendall(b"GET /results?query=q HTTP/1.1\r\nHost: x\r\n\r\n")
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
