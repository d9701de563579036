"""Streams that are pushed over a network: what each checks, and how its time goes on."""

from __future__ import annotations

import pytest

from weir.errors import UsageError
from weir.runtime.ingest.sources import Source
from weir.runtime.ingest.sources.push_sources import (
    FragmentsSource,
    MqttSource,
    PushSource,
    SseSource,
    TcpSource,
    WebSocketSource,
)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (MqttSource(host="h", topic=""), "needs a topic"),
        (MqttSource(host="h", topic="t", qos=2), "qos 2"),
        (TcpSource(host="h", port=1, format="turtle"), "has no lines"),
        (SseSource(url="http://h", timeout=0), "above 0"),
        (WebSocketSource(url="ws://h", heartbeat="often"), "unknown heartbeat"),
        (FragmentsSource(url="http://h", query="SELECT * WHERE { ?s ?p ?o }"), "only CONSTRUCT"),
    ],
)
def test_what_cannot_be_read_is_told(source: Source, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        source.check()


@pytest.mark.parametrize(
    ("source", "beats"),
    [
        (TcpSource(host="h", port=1), "last"),
        (MqttSource(host="h", topic="t", format="turtle"), "clock"),
        (MqttSource(host="h", topic="t", format="turtle", time="urn:t"), "last"),
        (FragmentsSource(url="http://h"), "off"),
        (SseSource(url="http://h", heartbeat="run"), "run"),
    ],
)
def test_heartbeats_go_by_where_the_time_comes_from(source: PushSource, beats: str) -> None:
    source.check()
    assert source.beats == beats
