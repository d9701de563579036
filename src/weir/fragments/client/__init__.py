"""The fragments client: plain SPARQL, continuously, over Triple and Quad Pattern Fragments."""

from weir.fragments.client.page import ClientLimits
from weir.fragments.client.server_events import Event, EventReader
from weir.fragments.client.streamer import (
    Options,
    Streamer,
    Update,
    follow,
    follow_async,
    result_lines,
    stream_lines,
)

__all__ = [
    "ClientLimits",
    "Event",
    "EventReader",
    "Options",
    "Streamer",
    "Update",
    "follow",
    "follow_async",
    "result_lines",
    "stream_lines",
]
