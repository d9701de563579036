"""Receivers: connections of the driver whose messages go into durable logs."""

from weir.runtime.ingest.receivers.open_streams import Receivers
from weir.runtime.ingest.receivers.receiver import Receiver, State

__all__ = ["Receiver", "Receivers", "State"]
