"""Reading a range of offsets of a Kafka partition, in a worker."""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from weir.errors import RemoteError
from weir.rdf.formats.media import format_of
from weir.rdf.formats.payloads import parse_payloads
from weir.rdf.messages import Messages
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.sources.kafka import POSITION_SHIFT, KafkaSource

_CHUNK = 10_000
_consumers: dict[str, Consumer] = {}


def read_kafka_part(part: Part, key: bytes) -> tuple[Messages, int]:
    """The messages of a part, and how many bytes they were."""
    assert part.kafka is not None and part.end is not None
    told: dict[str, Any] = dict(part.kafka)
    partition, _ = told.pop("partition"), told.pop("beat")
    source = KafkaSource(**told)
    offsets, values, times = _fetched(source, partition, part.start, part.end)
    messages = parse_payloads(
        values,
        format_of(source.format),
        scope=f"{part.stream} {part.lane}",
        key=key,
        positions=[offset << POSITION_SHIFT for offset in offsets],
        times=[at * 1000 for at in times] if source.stamped else None,
        time_predicate=source.time,
    )
    return messages, sum(len(value) for value in values)


def _fetched(
    source: KafkaSource, partition: int, first: int, last: int
) -> tuple[list[int], list[bytes], list[int]]:
    """Offsets, payloads and timestamps (ms) in ``[first, last)``; offsets may have gaps."""
    offsets: list[int] = []
    values: list[bytes] = []
    times: list[int] = []
    place, until = first, time.monotonic() + source.timeout
    consumer = _consumer(source)
    if place < last:
        consumer.assign([TopicPartition(source.topic, partition, first)])
    try:
        while place < last:
            for message in consumer.consume(min(_CHUNK, last - place), timeout=0.5):
                error = message.error()
                if error is not None and error.code() != KafkaError._PARTITION_EOF:
                    raise _failed(source, partition, place, str(error))
                offset = message.offset() or 0
                place = max(place, offset + (error is None))
                until = time.monotonic() + source.timeout
                if error is None and offset < last:
                    offsets.append(offset)
                    values.append(message.value() or b"")
                    times.append(max(0, message.timestamp()[1]))
            if time.monotonic() > until:
                raise _failed(source, partition, place, f"no answer for {source.timeout:g} s")
    except KafkaException as error:
        raise _failed(source, partition, place, str(error)) from None
    finally:
        consumer.unassign()
    return offsets, values, times


def _consumer(source: KafkaSource) -> Consumer:
    """One for each cluster; a worker lives on between batches, and so does its connection."""
    known = f"{source.servers} {source.config_env}"
    if known not in _consumers:
        _consumers[known] = source.consumer()
    return _consumers[known]


def _failed(source: KafkaSource, partition: int, offset: int, detail: str) -> RemoteError:
    return RemoteError(
        f"cannot read {source.topic}, partition {partition}, at offset {offset} from {source.servers}",
        detail=detail,
        hint="messages that Kafka has dropped before they were read are lost: keep them longer",
    )
