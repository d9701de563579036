"""Sinks over a network, against real peers, and the routing of results by query."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pyarrow as pa
import pytest
import websockets.sync.client
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from network_peers import Broker, mosquitto, until
from weir.errors import RemoteError, UsageError
from weir.runtime.output.sinks.base import Results, kafka_topic, mqtt_topic, plain_name
from weir.runtime.output.sinks.live_sink import LiveSink
from weir.runtime.output.sinks.making import sink_from
from weir.runtime.output.sinks.mqtt_sink import MqttSink
from weir.runtime.output.sinks.routing import FilePerQuery, Router

pytestmark = pytest.mark.network


def results(query: str, *numbers: int) -> Results:
    lines = [json.dumps({"query": query, "n": number}) + "\n" for number in numbers]
    return Results(
        query, pa.table({"at": pa.array(numbers, pa.int64()), "line": pa.array(lines, pa.large_string())})
    )


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with mosquitto(tmp_path_factory.mktemp("broker")) as running:
        yield running


def test_names_that_differ_stay_different() -> None:
    names = ["q1", "http://e/q1", "http://f/q1", "a b", "a+b", "a/b", "é", ""]
    assert len({plain_name(name) for name in names}) == len(names)
    assert plain_name("q1") == "q1"
    assert all(
        set(plain_name(name)) <= set("-_.") | {c for c in plain_name(name) if c.isalnum()} for name in names
    )
    assert mqtt_topic("r/{query}/x", "http://e/#q+") == "r/http:%2F%2Fe%2F%23q%2B/x"
    assert len(kafka_topic("t-{query}", "x/" * 300)) < 249


def test_mqtt_sink_confirms_each_batch(broker: Broker) -> None:
    got: list[tuple[str, dict[str, object]]] = []
    client = Client(CallbackAPIVersion.VERSION2)
    client.on_message = lambda _, __, message: got.append((message.topic, json.loads(message.payload)))
    client.on_connect = lambda c, *_: c.subscribe("out/#", qos=1)
    ready: list[bool] = []
    client.on_subscribe = lambda *_: ready.append(True)
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    until(lambda: ready)
    maker = sink_from(f"mqtt://127.0.0.1:{broker.port}/out/{{query}}")
    assert maker is not None
    sink = maker(Path())
    sink.open()
    sink.write(0, [results("q1", 1, 2), results("q2", 3)])
    until(lambda: len(got) == 3)
    sink.close()
    client.disconnect()
    client.loop_stop()
    assert sink.promise == "at least once"
    assert got == [(f"out/{q}", {"query": q, "n": n}) for q, n in (("q1", 1), ("q1", 2), ("q2", 3))]


def test_mqtt_sink_waits_for_its_broker_but_not_for_ever(tmp_path: Path) -> None:
    with mosquitto(tmp_path / "b") as broker:
        broker.stop()
        sink = MqttSink("127.0.0.1", broker.port, timeout=0.3)
        sink.open()
        with pytest.raises(RemoteError, match="took no results"):
            sink.write(0, [results("q1", 1)])
        broker.start()
        sink.timeout = 20
        sink.write(0, [results("q1", 1)])
        sink.close()


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


def test_each_query_to_its_own_file_exactly_once(tmp_path: Path) -> None:
    files = FilePerQuery(tmp_path / "out", tmp_path / "logs")
    files.open()
    files.write(0, [results("a", 1), results("http://e/b", 2)])
    files.write(1, [results("a", 3)])
    files.close()
    with files.path("a").open("ab") as torn:
        torn.write(b"half a line")
    again = FilePerQuery(tmp_path / "out", tmp_path / "logs")
    again.open()
    again.write(1, [results("a", 3)])
    again.write(2, [results("a", 4)])
    again.close()
    assert [json.loads(line)["n"] for line in files.path("a").read_text().splitlines()] == [1, 3, 4]
    assert json.loads(files.path("http://e/b").read_text()) == {"query": "http://e/b", "n": 2}


def test_a_router_sends_by_rules_and_promises_the_least(tmp_path: Path) -> None:
    one, two = FilePerQuery(tmp_path / "1", tmp_path / "l1"), FilePerQuery(tmp_path / "2", tmp_path / "l2")
    router = Router([("alarm*", one), ("other", one), ("*", two)])
    assert router.promise == "exactly once"
    router.open()
    router.write(0, [results("alarm1", 1), results("other", 2), results("rest", 3)])
    router.close()
    assert sorted(path.stem for path in (tmp_path / "1").iterdir()) == ["alarm1", "other"]
    assert sorted(path.stem for path in (tmp_path / "2").iterdir()) == ["alarm1", "other", "rest"]
    assert Router([("*", one), ("*", LiveSink())]).promise.startswith("at most once")
    with pytest.raises(UsageError, match="needs a rule"):
        Router([])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ftp://h/x", "unknown kind of sink"),
        ("mqtt://me:pw@h/x", "a password does not belong"),
        ("mqtt://h/x?qos=2", "qos is 0 or 1"),
        ("mqtt://h/x?color=red", "unknown option 'color'"),
        ("live://here", "not a host and port"),
    ],
)
def test_a_wrong_address_is_told(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        sink_from(text)


def test_a_path_is_no_address(tmp_path: Path) -> None:
    assert sink_from("some/file.jsonl") is None
    maker = sink_from(f"files:{tmp_path}/per")
    assert maker is not None and maker(tmp_path).promise == "exactly once"
