"""MQTT against a real broker: at least once, whoever dies."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from network_peers import Broker, dead, logged, mosquitto, until
from weir.errors import UsageError
from weir.runtime.ingest.receivers import Receivers, mqtt_receiver
from weir.runtime.ingest.sources import Place
from weir.runtime.ingest.sources.source_addresses import source_from

pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with mosquitto(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place("urn:s", tmp_path, "feed", 2)


def opened(place: Place, broker: Broker, topic: str, options: str = "") -> Receivers:
    receivers = Receivers(place.own)
    source = source_from(f"mqtt://127.0.0.1:{broker.port}/{topic}?{options}".rstrip("?"))
    assert source is not None
    receivers.open(place.stream, source, place.log_name)
    until(lambda: receivers.state()[place.stream]["connected"])
    return receivers


def numbered(topic: str, first: int, last: int) -> list[tuple[str, bytes]]:
    return [(topic, f"{n}\t<urn:s{n}> <urn:p> <urn:o> .".encode()) for n in range(first, last)]


def test_topics_are_lanes_and_nothing_is_lost_while_nobody_listens(place: Place, broker: Broker) -> None:
    receivers = opened(place, broker, "away/#")
    broker.publish(numbered("away/b", 0, 3) + numbered("away/a", 0, 2))
    until(lambda: len(logged(place)) == 5)
    receivers.close_all()
    broker.publish(numbered("away/a", 2, 5))
    receivers = opened(place, broker, "away/#")
    until(lambda: len(logged(place)) == 8)
    broker.publish([("away/a", b"x" * 3000)])
    receivers.close_all()
    for topic, last in (("away/a", 5), ("away/b", 3)):
        assert [item for item in logged(place) if item[0] == topic][:last] == numbered(topic, 0, last)


def test_what_is_logged_when_the_receiver_stops_does_not_come_again(
    place: Place, broker: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    acknowledge = mqtt_receiver.Paho.ack

    def slowly(client: mqtt_receiver.Paho, mid: int, qos: int) -> object:
        time.sleep(0.2)
        return acknowledge(client, mid, qos)

    monkeypatch.setattr(mqtt_receiver.Paho, "ack", slowly)
    receivers = opened(place, broker, "stopping/#")
    broker.publish(numbered("stopping/a", 0, 3))
    until(lambda: len(logged(place)) == 3)
    receivers.close_all()
    receivers = opened(place, broker, "stopping/#")
    broker.publish(numbered("stopping/a", 3, 4))
    until(lambda: logged(place)[-1:] == numbered("stopping/a", 3, 4))
    receivers.close_all()
    assert logged(place) == numbered("stopping/a", 0, 4)


def test_a_broker_that_restarts_is_found_again_and_retained_messages_come_once(
    place: Place, tmp_path: Path
) -> None:
    with mosquitto(tmp_path / "own") as broker:
        broker.publish(numbered("kept", 0, 1), retain=True)
        receivers = opened(place, broker, "kept")
        until(lambda: len(logged(place)) == 1)
        broker.stop()
        until(lambda: not receivers.state()["urn:s"]["connected"])
        broker.start()
        until(lambda: receivers.state()["urn:s"]["connected"])
        broker.publish(numbered("kept", 1, 3))
        until(lambda: len(logged(place)) == 3)
        assert receivers.state()["urn:s"]["connections"] == 2
        receivers.close_all()
    assert logged(place) == numbered("kept", 0, 3)


def test_large_messages_are_set_aside_and_acknowledged(place: Place, broker: Broker) -> None:
    receivers = opened(place, broker, "large", "max_message=100&format=ttl")
    broker.publish(
        [("large", b"<urn:a> <urn:b> 1 ."), ("large", b"#" * 101), ("large", b"<urn:a> <urn:b> 2 .")]
    )
    until(lambda: len(logged(place)) == 2)
    receivers.close_all()
    assert dead(place) == ["larger than 100 bytes"]
    receivers = opened(place, broker, "large", "max_message=100&format=ttl")
    assert receivers.state()["urn:s"]["messages"] == 0
    receivers.close_all()


DIES = """
import os, sys, time
from pathlib import Path
from weir.runtime.ingest.receivers.mqtt_receiver import MqttReceiver
from weir.runtime.ingest.sources import Place
from weir.runtime.ingest.sources.source_addresses import source_from
source = source_from(sys.argv[2])
writer = source.writer(Place("urn:s", Path(sys.argv[1]), "feed", 2))
acknowledge = MqttReceiver._acknowledge
def dying(self, client, message, done):
    if b"<urn:s7>" in message.payload:
        os._exit(9)
    acknowledge(self, client, message, done)
MqttReceiver._acknowledge = dying
receiver = MqttReceiver(source, writer)
receiver.start()
print("up", flush=True)
time.sleep(30)
"""


def test_a_receiver_that_dies_between_sync_and_acknowledgement_loses_nothing(
    place: Place, broker: Broker
) -> None:
    opened(place, broker, "dies").close_all()
    broker.publish(numbered("dies", 0, 15))
    address = f"mqtt://127.0.0.1:{broker.port}/dies"
    run = subprocess.run([sys.executable, "-c", DIES, str(place.own), address], timeout=40, check=False)
    assert run.returncode == 9
    before = logged(place)
    assert (numbered("dies", 7, 8)[0]) in before
    receivers = opened(place, broker, "dies")
    broker.publish(numbered("dies", 15, 16))
    until(lambda: logged(place)[-1:] == numbered("dies", 15, 16))
    receivers.close_all()
    every = logged(place)
    assert set(every) == set(numbered("dies", 0, 16))
    assert len(every) > 16


def test_passwords_stay_out_of_the_checkpoint(monkeypatch: pytest.MonkeyPatch, place: Place) -> None:
    source = source_from("mqtt://me@127.0.0.1/t?password_env=WEIR_TEST_PASSWORD")
    assert source is not None
    with pytest.raises(UsageError, match="WEIR_TEST_PASSWORD"):
        Receivers(place.own).open("urn:s", source, "feed")
    monkeypatch.setenv("WEIR_TEST_PASSWORD", "secret")
    assert "secret" not in str(source.as_json())
