"""Kafka as a source: a partition is a lane, and offsets are Kafka's own.

A batch is a range of offsets of each partition, planned in the driver and read by the workers, so that
nothing passes through the driver and a batch that is planned again is the same. It is one of Weir's own
sources, not Spark's connector: streams come and go without a restart, and no package has to match the version
of Spark (docs/decisions). Whoever wants that connector gives its DataFrame to ``weir.continuous``.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from confluent_kafka import Consumer, KafkaException, TopicPartition

from weir.errors import CheckpointError, RemoteError, UsageError
from weir.rdf.formats.media import format_of
from weir.runtime.ingest.parts import Part
from weir.runtime.ingest.sources.base import Place, Reached

STARTS = ("earliest", "latest")
HEARTBEATS = ("", "clock", "off")
POSITION_SHIFT = 20
"""A message's position in its lane is its offset shifted by this: a payload may hold many messages."""
_LOOK = 0.05
"""Seconds for which what the broker said of its partitions is good enough."""
_QUIET = 1_000_000
_MARGIN = 2_000_000
"""Microseconds: heartbeats after so much silence, and how far they stay behind the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSource:
    """The messages of a topic; ``servers`` are host:port, with commas between them.

    ``time`` is the predicate that states a message's time; where it is None and the format has none, it is
    Kafka's own timestamp. ``heartbeat``: with ``clock`` (the default with Kafka's timestamps) time goes on
    while nothing comes. ``config_env`` names a variable of the environment, of driver and workers, that holds
    more settings of the client as a JSON object, such as its credentials.
    """

    kind: ClassVar[str] = "kafka"
    endless: ClassVar[bool] = True
    promise: ClassVar[str] = "exactly once from the broker on, while it keeps the messages"

    servers: str
    topic: str
    format: str = "tnq"
    time: str | None = None
    start: str = "earliest"
    messages_per_batch: int = 500_000
    timeout: float = 30.0
    heartbeat: str = ""
    config_env: str = ""

    @property
    def stamped(self) -> bool:
        """Whether the time is Kafka's own."""
        return not format_of(self.format).timed and self.time is None

    def check(self) -> None:
        format_of(self.format)
        if not self.servers or not self.topic:
            raise UsageError("a Kafka source needs a server and a topic", hint="kafka://host:9092/topic")
        if self.start not in STARTS or self.heartbeat not in HEARTBEATS:
            raise UsageError("start is earliest or latest, heartbeat clock or off")
        if self.messages_per_batch < 1 or self.timeout <= 0:
            raise UsageError("messages_per_batch and timeout must be above 0")

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}

    def feed(self, place: Place) -> KafkaFeed:
        return KafkaFeed(self, place)

    def consumer(self) -> Consumer:
        """A consumer that belongs to no group and commits nothing: offsets are Spark's business."""
        return Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": "weir",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "error",
                "isolation.level": "read_committed",
                "log_level": 0,
                **_settings(self.config_env),
            }
        )


class KafkaFeed:
    """Offsets: ``p`` how far each partition is read, ``from`` where those begin that this batch is the first
    of, ``beat`` a time of the clock before which nothing will come."""

    def __init__(self, source: KafkaSource, place: Place) -> None:
        self.source = source
        self.stream = place.stream
        self._consumer: Consumer | None = None
        self._known: tuple[float, dict[str, tuple[int, int]]] = (0.0, {})
        self._moved = now()

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
        begins = {
            p: low if self.source.start == "earliest" else high
            for p, (low, high) in marks.items()
            if p not in before
        }
        room = max(1, self.source.messages_per_batch // max(1, len(marks)))
        reached = {
            p: min(high, before.get(p, begins.get(p, 0)) + room) if high > before.get(p, -1) else before[p]
            for p, (_, high) in marks.items()
        }
        over = finishing and all(reached[p] >= high for p, (_, high) in marks.items())
        out: dict[str, Any] = {"p": {**before, **reached}}
        out |= {"from": begins} if begins else {}
        out |= {"end": True} if over else {}
        if out["p"] != dict(before) or over:
            self._moved = now()
            return {**out, **({"beat": start["beat"]} if "beat" in start else {})}
        return self._beaten(start)

    def _beaten(self, start: Reached) -> Reached:
        """The same offsets with a later time, where nothing has come for a while."""
        beats = (self.source.heartbeat or ("clock" if self.source.stamped else "off")) == "clock"
        at = now()
        if not beats or not start.get("p") or at - max(self._moved, start.get("beat", 0) + _MARGIN) < _QUIET:
            return start
        return {"p": start["p"], "beat": at - _MARGIN}

    def parts(self, start: Reached, end: Reached) -> list[Part]:
        """A part for each partition that has something new."""
        before: Mapping[str, int] = start.get("p", {})
        beat = end.get("beat") if end.get("beat") != start.get("beat") else None
        parts = []
        for partition, last in end["p"].items():
            first = before.get(partition, end.get("from", {}).get(partition, 0))
            if first < last or beat is not None:
                told = {**self.source.as_json(), "partition": int(partition), "beat": beat}
                told.pop("kind")
                parts.append(Part(self.stream, partition, start=first, end=last, kafka=told))
        if end.get("end") and not start.get("end"):
            lanes = list(end["p"]) or [""]
            parts += [Part(self.stream, lane, number=1 << 22, final=True) for lane in lanes]
        return parts

    def committed(self, reached: Reached) -> None:
        """Kafka keeps its messages as long as it likes."""

    def refuse_more(self, reached: Reached) -> None:
        """Raise where the topic has grown after its end was reported."""
        if reached.get("end"):
            for partition, (_, high) in self._watermarks().items():
                if high > reached["p"].get(partition, 0):
                    raise CheckpointError(
                        f"the input of this checkpoint has ended, but there is more in {self.source.topic}",
                        hint="the end of the input ends its checkpoint: start again with a new one",
                    )

    def _watermarks(self) -> dict[str, tuple[int, int]]:
        """The first and the next offset of each partition."""
        at, known = self._known
        if time.monotonic() - at < _LOOK:
            return known
        source = self.source
        try:
            if self._consumer is None:
                self._consumer = source.consumer()
            topics = self._consumer.list_topics(source.topic, timeout=source.timeout).topics
            found = topics[source.topic].partitions if source.topic in topics else {}
            marks = {
                str(p): self._consumer.get_watermark_offsets(
                    TopicPartition(source.topic, p), timeout=source.timeout, cached=False
                )
                for p in sorted(found)
            }
        except KafkaException as error:
            raise RemoteError(f"Kafka at {source.servers} does not answer", detail=str(error)) from None
        self._known = time.monotonic(), marks
        return marks


def now() -> int:
    """The wall clock, in µs since 1970 UTC."""
    return time.time_ns() // 1000


def _settings(variable: str) -> dict[str, Any]:
    if not variable:
        return {}
    try:
        settings: dict[str, Any] = json.loads(os.environ[variable])
    except (KeyError, ValueError):
        raise UsageError(f"the variable {variable} does not hold a JSON object of Kafka settings") from None
    return settings
