"""Results to a real MQTT broker."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from answers_kit import line_results as results
from network_peers import Broker, mosquitto, until
from weir.errors import RemoteError
from weir.runtime.mqtt_clients import leave
from weir.runtime.output.sinks.making import sink_at
from weir.runtime.output.sinks.mqtt_sink import MqttSink

pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with mosquitto(tmp_path_factory.mktemp("broker")) as running:
        yield running


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
    maker = sink_at(f"mqtt://127.0.0.1:{broker.port}/out/{{query}}")
    assert maker is not None
    sink = maker(Path())
    sink.open()
    sink.write(0, [results("q1", 1, 2), results("q2", 3)])
    until(lambda: len(got) == 3)
    sink.close()
    leave(client)
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
