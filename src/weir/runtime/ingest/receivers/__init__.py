"""Receivers: connections of the driver whose messages go into durable logs."""

from weir.runtime.ingest.receivers.receiver import Receiver, State
from weir.runtime.ingest.receivers.running import Receivers

__all__ = ["Receiver", "Receivers", "State"]
