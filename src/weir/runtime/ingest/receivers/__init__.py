"""Receivers: connections of the driver whose messages go into durable logs."""

from __future__ import annotations

from weir.runtime.ingest.receivers.base import Receiver, State
from weir.runtime.ingest.receivers.running import Receivers

__all__ = ["Receiver", "Receivers", "State"]
