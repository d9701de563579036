"""Addresses of streams: each form gives its source, and what is wrong is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.errors import UsageError
from weir.runtime.ingest.sources import source_at, source_of
from weir.runtime.ingest.sources.kafka_source import KafkaSource
from weir.runtime.ingest.sources.log_source import LogSource
from weir.runtime.ingest.sources.push_sources import MqttSource, SseSource, TcpSource, WebSocketSource
from weir.runtime.ingest.sources.source_addresses import source_from

GOOD = {
    "mqtt://h/a/+/b/#": MqttSource(host="h", topic="a/+/b/#"),
    "mqtts://me@h:9/t%20t?qos=0&format=ttl&time=sosa:resultTime": MqttSource(
        host="h",
        topic="t t",
        port=9,
        qos=0,
        user="me",
        tls=True,
        format="ttl",
        time="http://www.w3.org/ns/sosa/resultTime",
    ),
    "ws://h:1/p?q=1#weir:format=jsonld&time=arrival": WebSocketSource(url="ws://h:1/p?q=1", format="jsonld"),
    "wss://h/p": WebSocketSource(url="wss://h/p"),
    "sse+https://h/p?q#weir:silence=5": SseSource(url="https://h/p?q", silence=5.0),
    "tcp://[::1]:7?max_message=10": TcpSource(host="::1", port=7, max_message=10),
    "kafka://h:1,i:2/t?format=ttl&start=latest": KafkaSource(
        servers="h:1,i:2", topic="t", format="ttl", start="latest"
    ),
    "push:": LogSource(),
    "push:?times_distinct=true": LogSource(times_distinct=True),
    "push:?limit_bytes=5&heartbeat=run": LogSource(limit_bytes=5, heartbeat="run"),
}
BAD = {
    "ftp://h/x": "unknown kind of stream ftp://",
    "mqtt://h": "needs a topic",
    "mqtt:///t": "needs a host",
    "mqtt://h:x/t": "not a host and port",
    "mqtt://me:secret@h/t": "a password does not belong",
    "wss://me:secret@h/t": "a password does not belong",
    "mqtt://h/t?qos=2": "qos 2",
    "mqtt://h/t?qos=two": "qos is a number, not",
    "mqtt://h/t?host=h": "no option 'host'",
    "mqtt://h/t?format=doc": "unknown message format 'doc'",
    "mqtt://h/t?x": "name=value",
    "tcp://h": "not a TCP address",
    "tcp://h:1?format=ttl": "ttl has no lines",
    "kafka://h:1/": "needs a server and a topic",
    "kafka://h:1/t?start=now": "earliest or latest",
    "kafka://me:pw@h/t": "a password does not belong",
    "push:?heartbeat=always": "unknown heartbeat 'always'",
    "push:?limit_bytes=0": "at least 1 byte",
}


@pytest.mark.parametrize("text", GOOD)
def test_an_address_is_read(text: str) -> None:
    source = source_from(text)
    assert source == GOOD[text]
    assert source_of(GOOD[text].as_json()) == source
    assert source is not None and source.endless


@pytest.mark.parametrize("text", BAD)
def test_a_wrong_address_is_told(text: str) -> None:
    with pytest.raises(UsageError, match=BAD[text].replace("?", r"\?")):
        source_from(text)


def test_a_path_is_no_address() -> None:
    assert source_from("some/file.tnq") is None


def test_what_a_user_gives_is_a_source() -> None:
    pushed = source_at("push:")
    assert pushed.kind == "log" and source_at(pushed) is pushed
    assert source_at(Path(__file__).with_name("x.tnq")).kind == "files"
    assert source_at("mqtts://me@h/t").address == "mqtts://h:8883/t"
    with pytest.raises(UsageError, match="an int is no source"):
        source_at(5)  # type: ignore[arg-type]
