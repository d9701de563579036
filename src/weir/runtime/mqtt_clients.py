"""What Weir's MQTT clients have in common: how they leave."""

from __future__ import annotations

from contextlib import suppress

from paho.mqtt.client import Client


def leave(client: Client) -> None:
    """Disconnect, and wait until the client's own thread has ended.

    That thread forgets itself when it ends, and paho looks for it twice without a lock: where it ends between
    the two looks, there is nothing left to wait for.
    """
    client.disconnect()
    with suppress(AttributeError):
        client.loop_stop()
