"""Kafka against a real broker: partitions are lanes, ranges of offsets are read again the same."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from confluent_kafka import Consumer

from kafka_broker import create_topic, kafka, produce
from network_peers import until
from weir.errors import CheckpointError, RemoteError, UsageError
from weir.runtime.ingest.sources import Place, source_of
from weir.runtime.ingest.sources.kafka_client import consumer_of, read_kafka_part
from weir.runtime.ingest.sources.kafka_source import KafkaSource
from weir.runtime.ingest.sources.source_addresses import source_from
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.kafka_sink import KafkaSink
from weir.runtime.output.sinks.making import sink_at

pytestmark = pytest.mark.network
KEY = b"k" * 16


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with kafka(tmp_path_factory.mktemp("kafka")) as running:
        yield running


def source(servers: str, topic: str, options: str = "") -> KafkaSource:
    made = source_from(f"kafka://{servers}/{topic}?{options}".rstrip("?"))
    assert isinstance(made, KafkaSource)
    assert source_of(made.as_json()) == made
    return made


def line(number: int) -> bytes:
    return f"{number}\t<urn:s{number}> <urn:p> <urn:o> .".encode()


def test_a_topic_is_read_by_partitions_and_ranges(servers: str, tmp_path: Path) -> None:
    create_topic(servers, "lines", 2)
    sent = [(number % 2, line(number), 0) for number in range(10)]
    produce(servers, "lines", [*sent, (0, b"garbage", 0)])
    made = source(servers, "lines", "messages_per_batch=4")
    feed = made.feed(Place("urn:s", tmp_path, "f", 2))
    reached, found, wrong, batches = {}, [], [], []
    while (after := feed.latest(reached, False)) != reached:
        for part in made.feed(Place("urn:s", tmp_path, "f", 2)).parts(reached, after):
            messages = read_kafka_part(part, KEY).parsed
            found += [(part.lane, at // 1000) for at in messages.messages.time.tolist()]
            wrong += [item.reason for item in messages.rejected]
        reached = dict(after)
        batches.append(after["p"])
    assert sorted(found) == sorted((str(number % 2), number) for number in range(10))
    assert len(wrong) == 1
    assert batches == [{"0": 2, "1": 2}, {"0": 4, "1": 4}, {"0": 6, "1": 5}]
    produce(servers, "lines", [(1, line(11), 0)])
    time.sleep(0.1)
    end = feed.latest(reached, True)
    assert [(part.lane, part.start, part.end, part.final) for part in feed.parts(reached, end)] == [
        ("1", 5, 6, False),
        ("0", 0, None, True),
        ("1", 0, None, True),
    ]
    feed.refuse_more(end)
    produce(servers, "lines", [(1, line(12), 0)])
    with pytest.raises(CheckpointError, match="there is more"):
        made.feed(Place("urn:s", tmp_path, "f", 2)).refuse_more(end)


def test_messages_without_a_time_have_kafkas_and_a_silent_topic_beats(servers: str, tmp_path: Path) -> None:
    create_topic(servers, "stamped", 1)
    made = source(servers, "stamped", "format=ttl&start=latest")
    produce(servers, "stamped", [(0, b"<urn:a> <urn:b> 0 .", 1_000)])
    feed = made.feed(Place("urn:s", tmp_path, "f", 2))
    begin = feed.latest({}, False)
    assert not feed.parts({}, begin)
    produce(servers, "stamped", [(0, b"<urn:a> <urn:b> 1 .", 2_000), (0, b"<urn:a> <urn:b> 2 .", 2_000)])
    time.sleep(0.1)
    after = feed.latest(begin, False)
    (part,) = feed.parts(begin, after)
    messages = read_kafka_part(part, KEY).parsed
    assert messages.messages.time.tolist() == [2_000_000, 2_000_000]
    beaten = until(lambda: (later := feed.latest(after, False)) != after and later)
    (part,) = feed.parts(after, beaten)
    assert part.high == beaten["beat"] <= time.time_ns() // 1000
    assert len(read_kafka_part(part, KEY).parsed.messages) == 0


def test_results_go_to_a_topic_of_their_query(servers: str) -> None:
    rows = [json.dumps({"n": number}) + "\n" for number in range(3)]
    table = pa.table({"at": pa.array([1, 2, 3]), "line": pa.array(rows, pa.large_string())})
    maker = sink_at(f"kafka://{servers}/out-{{query}}")
    assert maker is not None
    sink = maker(Path())
    sink.open()
    sink.write(0, [Results("q1", table)])
    sink.close()
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "t", "auto.offset.reset": "earliest", "log_level": 0}
    )
    consumer.subscribe(["out-q1"])
    got = consumer.consume(3, timeout=20)
    consumer.close()
    assert [(message.key(), json.loads(message.value())["n"]) for message in got] == [
        (b"q1", number) for number in range(3)
    ]


def test_a_broker_that_is_away_is_told(tmp_path: Path) -> None:
    made = source("127.0.0.1:1", "t", "timeout=0.5")
    with pytest.raises(RemoteError, match="does not answer"):
        made.feed(Place("urn:s", tmp_path, "f", 2)).latest({}, False)
    sink = KafkaSink("127.0.0.1:1", timeout=0.5)
    sink.open()
    with pytest.raises(RemoteError, match="did not take"):
        sink.write(0, [Results("q", pa.table({"at": [1], "line": pa.array(["{}\n"], pa.large_string())}))])
    sink.close()
    with pytest.raises(UsageError, match="WEIR_NO_SUCH"):
        consumer_of("127.0.0.1:1", "WEIR_NO_SUCH")
