"""Results to Kafka: a result line a message, a topic a query.

A batch is done once the broker has confirmed every message of it. Where the job dies before that, the batch
is sent again: at least once.
"""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from weir.errors import RemoteError
from weir.runtime.ingest.sources.source_addresses import client_settings
from weir.runtime.output.sinks.base import KAFKA_TOPIC, Results, kafka_topic
from weir.runtime.output.sinks.result_files import lines_of


class KafkaSink:
    """Produces to ``topic``, in which ``{query}`` is the name of the query, with that name as the key.

    ``acks=all`` and an idempotent producer: retries of one run make no doubles. ``config_env`` names a
    variable of the environment that holds more settings as a JSON object, such as credentials.
    """

    form = "jsonl"
    promise = "at least once"

    def __init__(
        self, servers: str, topic: str = KAFKA_TOPIC, *, timeout: float = 60.0, config_env: str = ""
    ) -> None:
        self.servers, self.topic, self.timeout = servers, topic, timeout
        self._config_env = config_env
        self._producer: Producer | None = None
        self._problem: KafkaError | None = None

    def open(self) -> None:
        self._problem = None
        self._producer = Producer(
            {
                "bootstrap.servers": self.servers,
                "enable.idempotence": True,
                "linger.ms": 5,
                "message.timeout.ms": int(self.timeout * 1000),
                "log_level": 0,
                **client_settings(self._config_env),
            }
        )

    def write(self, batch: int, results: Sequence[Results]) -> None:
        assert self._producer is not None
        for result in results:
            topic = kafka_topic(self.topic, result.name)
            for line in lines_of(result):
                self._produce(topic, result.name.encode(), line)
        left = self._producer.flush(self.timeout)
        if left or self._problem is not None:
            raise self._failed(str(self._problem or f"{left} messages are not confirmed"))

    def close(self) -> None:
        if self._producer is not None:
            self._producer.flush(1)
            self._producer = None

    def _produce(self, topic: str, key: bytes, line: bytes) -> None:
        assert self._producer is not None
        while True:
            try:
                self._producer.produce(topic, value=line, key=key, on_delivery=self._delivered)
            except BufferError:
                self._producer.poll(0.1)
                continue
            except KafkaException as error:
                raise self._failed(str(error)) from None
            self._producer.poll(0)
            return

    def _delivered(self, error: KafkaError | None, _: Message) -> None:
        self._problem = self._problem or error

    def _failed(self, detail: str) -> RemoteError:
        return RemoteError(
            f"Kafka at {self.servers} did not take the results",
            detail=detail,
            hint="start the job again with its checkpoint: the batch is sent again",
        )
