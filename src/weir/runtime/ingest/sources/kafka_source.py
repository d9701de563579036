"""Kafka as a source: a partition is a lane, and offsets are Kafka's own.

A batch is a range of offsets of each partition, planned in the driver and read by the workers, so that
nothing passes through the driver and a batch that is planned again is the same. It is one of Weir's own
sources, not Spark's connector: streams come and go without a restart, and no package has to match the version
of Spark (docs/decisions). Whoever wants that connector gives its DataFrame to ``weir.continuous``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from weir.errors import UsageError
from weir.extras import load
from weir.rdf.formats.media import format_of
from weir.runtime.ingest.sources.feeds import Feed, Place, Source

STARTS = ("earliest", "latest")
HEARTBEATS = ("", "clock", "off")


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSource(Source):
    """The messages of a topic; ``servers`` are host:port, with commas between them.

    ``time`` is the predicate that states a message's time; where it is None and the format has none, it is
    Kafka's own timestamp. ``heartbeat``: with ``clock`` (the default with Kafka's timestamps) time goes on
    while nothing comes. ``config_env`` names a variable of the environment, of driver and workers, that holds
    more settings of the client as a JSON object, such as its credentials.
    """

    kind: ClassVar[str] = "kafka"
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
    times_distinct: bool = False

    @property
    def address(self) -> str:
        return f"kafka://{self.servers}/{self.topic}"

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

    def feed(self, place: Place) -> Feed:
        client = load("weir.runtime.ingest.sources.kafka_client")
        found: Feed = client.KafkaFeed(self, place)
        return found
