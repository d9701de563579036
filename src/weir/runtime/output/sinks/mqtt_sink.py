"""Results to an MQTT broker: a result line a message, a topic a query.

A batch is done once the broker has confirmed every message of it. Where the job dies before that, the batch
is sent again: at least once.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Sequence

from paho.mqtt.client import Client, MQTTMessageInfo
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode

from weir.errors import RemoteError
from weir.runtime.mqtt_clients import leave
from weir.runtime.output.sinks.base import MQTT_TOPIC, Results, mqtt_topic
from weir.runtime.output.sinks.result_files import lines_of

_IN_FLIGHT = 1000


class MqttSink:
    """Publishes to ``topic``, in which ``{query}`` is the name of the query.

    While the broker is away a batch waits for ``timeout`` seconds, then the job fails.
    """

    form = "jsonl"

    def __init__(
        self,
        host: str,
        port: int = 1883,
        topic: str = MQTT_TOPIC,
        *,
        qos: int = 1,
        retain: bool = False,
        user: str = "",
        password: str | None = None,
        tls: bool = False,
        timeout: float = 60.0,
    ) -> None:
        self.host, self.port, self.topic, self.qos, self.retain = host, port, topic, qos, retain
        self.timeout = timeout
        self.promise = "at least once" if qos else "at most once (qos 0)"
        self._user, self._password, self._tls = user, password, tls
        self._client: Client | None = None

    def open(self) -> None:
        client = Client(CallbackAPIVersion.VERSION2)
        client.reconnect_delay_set(1, 10)
        client.max_inflight_messages_set(_IN_FLIGHT)
        if self._user:
            client.username_pw_set(self._user, self._password)
        if self._tls:
            client.tls_set_context(ssl.create_default_context())
        client.connect_async(self.host, self.port)
        client.loop_start()
        self._client = client

    def write(self, batch: int, results: Sequence[Results]) -> None:
        assert self._client is not None
        until = time.monotonic() + self.timeout
        waiting: list[MQTTMessageInfo] = []
        for result in results:
            topic = mqtt_topic(self.topic, result.name)
            for line in lines_of(result):
                waiting.append(self._client.publish(topic, line, qos=self.qos, retain=self.retain))
                if len(waiting) >= _IN_FLIGHT:
                    self._confirmed(waiting, until)
                    waiting = []
        self._confirmed(waiting, until)

    def close(self) -> None:
        if self._client is not None:
            leave(self._client)
            self._client = None

    def _confirmed(self, waiting: Sequence[MQTTMessageInfo], until: float) -> None:
        for token in waiting if self.qos else ():
            # One that found no connection waits in the client and is sent later: no error.
            token.rc = MQTTErrorCode.MQTT_ERR_SUCCESS
            while not token.is_published():
                if time.monotonic() > until:
                    raise RemoteError(
                        f"the MQTT broker {self.host}:{self.port} took no results for {self.timeout:g} s",
                        hint="start the job again with its checkpoint: the batch is sent again",
                    )
                token.wait_for_publish(0.5)
