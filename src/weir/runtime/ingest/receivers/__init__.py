"""Receivers: connections of the driver whose messages go into durable logs."""

from weir.runtime.ingest.receivers.open_streams import Receivers

__all__ = ["Receivers"]
