"""Receivers: connections of the driver whose messages go into durable logs."""

from __future__ import annotations

from weir.runtime.receivers.base import Receiver, State
from weir.runtime.receivers.running import Receivers

__all__ = ["Receiver", "Receivers", "State"]
