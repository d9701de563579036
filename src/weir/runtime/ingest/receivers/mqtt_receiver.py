"""MQTT: a persistent session whose messages are acknowledged once they are synced.

A message that was synced but not yet acknowledged when the receiver died comes again: at least once. Retained
messages are asked for with the first subscription only, so that a new connection does not repeat them.
"""

from __future__ import annotations

import hashlib
import ssl
import threading
from concurrent.futures import Future
from typing import Any

from paho.mqtt.client import Client as Paho
from paho.mqtt.client import ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from weir.runtime.ingest.receivers.receiver import FIRST_DELAY, LONGEST_DELAY, Receiver
from weir.runtime.ingest.sources.log_writer import LogWriter
from weir.runtime.ingest.sources.push_sources import MqttSource
from weir.runtime.ingest.sources.source_addresses import password
from weir.runtime.mqtt_clients import leave

_KEEPALIVE = 60
_PATIENCE = 10.0
"""Seconds to wait for the acknowledgement of what was taken."""


class MqttReceiver(Receiver[MqttSource]):
    """Paho's own thread reads and reconnects; a callback that waits holds the broker back."""

    def __init__(self, source: MqttSource, writer: LogWriter) -> None:
        super().__init__(source, writer)
        client = Paho(
            CallbackAPIVersion.VERSION2,
            client_id=source.client or client_id(source, writer),
            clean_session=False,
            manual_ack=True,
        )
        client.reconnect_delay_set(max(1, round(FIRST_DELAY)), round(LONGEST_DELAY))
        client.connect_timeout = source.timeout
        if source.user:
            client.username_pw_set(source.user, password(source.password_env))
        if source.tls:
            client.tls_set_context(ssl.create_default_context())
        client.on_connect = self._connected
        client.on_subscribe = self._subscribed
        client.on_connect_fail = self._failed
        client.on_disconnect = self._disconnected
        client.on_message = self._message
        self._client = client
        self._open = 0
        self._settled = threading.Condition()

    def start(self) -> None:
        self._client.connect_async(self.source.host, self.source.port, keepalive=_KEEPALIVE)
        self._client.loop_start()

    def stop(self) -> None:
        self.stopping.set()
        with self._settled:
            # What is logged but not acknowledged would come again.
            self._settled.wait_for(lambda: not self._open, _PATIENCE)
        leave(self._client)

    def _connected(
        self, client: Paho, _: Any, flags: ConnectFlags, reason: ReasonCode, __: Properties | None
    ) -> None:
        if reason.is_failure:
            self.state.problem = f"the broker refused the connection: {reason}"
            return
        self.state.connections += 1
        self.state.problem = ""
        if flags.session_present:
            self.state.connected = True
        else:
            client.subscribe(self.source.topic, qos=self.source.qos)

    def _subscribed(
        self, _: Paho, __: Any, ___: int, reasons: list[ReasonCode], ____: Properties | None
    ) -> None:
        """Only now does the broker keep what is published."""
        refused = [reason for reason in reasons if reason.is_failure]
        if refused:
            self.state.problem = f"the broker refused the topic {self.source.topic!r}: {refused[0]}"
        else:
            self.state.connected = True

    def _failed(self, _: Paho, __: Any) -> None:
        self.state.problem = f"no connection to {self.source.host}:{self.source.port}"

    def _disconnected(
        self, _: Paho, __: Any, ___: DisconnectFlags, reason: ReasonCode, ____: Properties | None
    ) -> None:
        self.state.connected = False
        if reason.is_failure:
            self.state.problem = f"disconnected: {reason}"

    def _message(self, client: Paho, _: Any, message: MQTTMessage) -> None:
        taken = self.put(bytes(message.payload), lane=message.topic)
        if taken is not None:
            with self._settled:
                self._open += 1
            taken.add_done_callback(lambda done: self._acknowledge(client, message, done))

    def _acknowledge(self, client: Paho, message: MQTTMessage, done: Future[int]) -> None:
        """What could not be logged stays unacknowledged: the broker will send it again."""
        error = done.exception()
        try:
            if error is not None:
                self.state.problem = f"not logged: {error}"
            elif message.qos:
                client.ack(message.mid, message.qos)
        finally:
            with self._settled:
                self._open -= 1
                self._settled.notify_all()


def client_id(source: MqttSource, writer: LogWriter) -> str:
    """The same for the same stream of the same checkpoint, and for no other."""
    text = f"{writer.folder.absolute()} {source.topic}"
    return f"weir-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
