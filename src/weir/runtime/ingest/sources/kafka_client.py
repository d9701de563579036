"""The client of Kafka: ranges of offsets planned in the driver, and read by the workers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from weir.errors import RemoteError
from weir.linked.http import WallClock
from weir.rdf.columns import NEVER
from weir.rdf.formats.media import format_of
from weir.rdf.formats.payloads import parse_payloads
from weir.runtime.ingest.parts import OFFSET_SHIFT, LaneInput, Part, dead_letters
from weir.runtime.ingest.sources.feeds import Feed, Place, Reached
from weir.runtime.ingest.sources.kafka_source import KafkaSource
from weir.runtime.ingest.sources.source_addresses import client_settings

_LOOK = 0.05
"""Seconds for which what the broker said of its partitions is good enough."""
_QUIET = 1_000_000
_MARGIN = 2_000_000
"""Microseconds: heartbeats after so much silence, and how far they stay behind the clock."""
_CHUNK = 10_000


@cache
def consumer_of(servers: str, config_env: str) -> Consumer:
    """A consumer that belongs to no group and commits nothing: offsets are Spark's business. There is one for
    each cluster; a worker lives on between batches, and so does its connection."""
    return Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "weir",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "log_level": 0,
            **client_settings(config_env),
        }
    )


class KafkaFeed(Feed):
    """Offsets: ``p`` how far each partition is read, ``from`` where those begin that this batch is the first
    of, ``beat`` a time of the clock before which nothing will come."""

    def __init__(self, source: KafkaSource, place: Place) -> None:
        self.source = source
        self.stream = place.stream
        self._known: tuple[float, dict[str, tuple[int, int]]] = (0.0, {})
        self._moved = WallClock.now()

    def latest(self, start: Reached, finishing: bool) -> Reached:
        """As far as the partitions go, or as a batch has room for. A broker that goes away is waited for, one
        that was never there is an error."""
        if start.get("end"):
            return start
        try:
            marks = self._watermarks()
        except RemoteError:
            if not start.get("p"):
                raise
            return start
        before: Mapping[str, int] = start.get("p", {})
        earliest = self.source.start == "earliest"
        here = {p: before.get(p, low if earliest else high) for p, (low, high) in marks.items()}
        begins = {p: at for p, at in here.items() if p not in before}
        room = max(1, self.source.messages_per_batch // max(1, len(marks)))
        reached = {p: max(here[p], min(high, here[p] + room)) for p, (_, high) in marks.items()}
        over = finishing and all(reached[p] >= high for p, (_, high) in marks.items())
        out: dict[str, Any] = {"p": {**before, **reached}}
        out |= {"from": begins} if begins else {}
        out |= {"end": True} if over else {}
        if out["p"] != dict(before) or over:
            self._moved = WallClock.now()
            return {**out, **({"beat": start["beat"]} if "beat" in start else {})}
        return self._beaten(start)

    def _beaten(self, start: Reached) -> Reached:
        """The same offsets with a later time, where nothing has come for a while."""
        beats = (self.source.heartbeat or ("clock" if self.source.stamped else "off")) == "clock"
        at = WallClock.now()
        if not beats or not start.get("p") or at - max(self._moved, start.get("beat", 0) + _MARGIN) < _QUIET:
            return start
        return {"p": start["p"], "beat": at - _MARGIN}

    def parts(self, start: Reached, end: Reached) -> list[Part]:
        """A part for each partition that has something new."""
        before: Mapping[str, int] = start.get("p", {})
        high = end["beat"] if end.get("beat") != start.get("beat") else NEVER
        parts = []
        for lane, last in end["p"].items():
            first = before.get(lane, end.get("from", {}).get(lane, 0))
            if first < last or high != NEVER:
                parts.append(Part(self.stream, lane, start=first, end=last, kafka=self.source, high=high))
        if end.get("end") and not start.get("end"):
            lanes = list(end["p"]) or [""]
            parts += [Part(self.stream, lane, number=1 << 22, final=True) for lane in lanes]
        return parts

    def beyond(self, reached: Reached) -> str | None:
        """The topic, where a partition has grown."""
        grown = any(high > reached["p"].get(p, 0) for p, (_, high) in self._watermarks().items())
        return self.source.topic if grown else None

    def _watermarks(self) -> dict[str, tuple[int, int]]:
        """The first and the next offset of each partition."""
        at, known = self._known
        if time.monotonic() - at < _LOOK:
            return known
        source = self.source
        try:
            consumer = consumer_of(source.servers, source.config_env)
            topics = consumer.list_topics(source.topic, timeout=source.timeout).topics
            found = topics[source.topic].partitions if source.topic in topics else {}
            marks = {
                str(p): consumer.get_watermark_offsets(
                    TopicPartition(source.topic, p), timeout=source.timeout, cached=False
                )
                for p in sorted(found)
            }
        except KafkaException as error:
            raise RemoteError(f"Kafka at {source.servers} does not answer", detail=str(error)) from None
        self._known = time.monotonic(), marks
        return marks


def read_kafka_part(part: Part, key: bytes) -> LaneInput:
    """The messages of a range of offsets; a heartbeat says how far the lane is in any case."""
    assert part.end is not None
    source: KafkaSource = part.kafka
    offsets, values, times = _fetched(source, int(part.lane), part.start, part.end)
    parsed = parse_payloads(
        values,
        format_of(source.format),
        scope=f"{part.stream} {part.lane}",
        key=key,
        positions=[offset << OFFSET_SHIFT for offset in offsets],
        times=[at * 1000 for at in times] if source.stamped else None,
        time_predicate=source.time,
    )
    dead = dead_letters(part.stream, parsed.rejected, source=f"{source.topic}/{part.lane}")
    size = sum(map(len, values))
    return LaneInput(part.lane, parsed, part.start << OFFSET_SHIFT, size, dead, part.high)


def _fetched(
    source: KafkaSource, partition: int, first: int, last: int
) -> tuple[list[int], list[bytes], list[int]]:
    """Offsets, payloads and timestamps (ms) in ``[first, last)``; offsets may have gaps."""
    offsets: list[int] = []
    values: list[bytes] = []
    times: list[int] = []
    place, until = first, time.monotonic() + source.timeout
    consumer = consumer_of(source.servers, source.config_env)
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


def _failed(source: KafkaSource, partition: int, offset: int, detail: str) -> RemoteError:
    return RemoteError(
        f"cannot read {source.topic}, partition {partition}, at offset {offset} from {source.servers}",
        detail=detail,
        hint="messages that Kafka has dropped before they were read are lost: keep them longer",
    )
