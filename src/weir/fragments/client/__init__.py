"""The fragments client: plain SPARQL, continuously, over Triple and Quad Pattern Fragments."""

from weir.fragments.client.page import ClientLimits
from weir.fragments.client.streamer import (
    Options,
    Streamer,
    Update,
    follow,
    follow_async,
    result_lines,
    stream_lines,
)
from weir.linked.http import Clock, WallClock

__all__ = [
    "ClientLimits",
    "Clock",
    "Options",
    "Streamer",
    "Update",
    "WallClock",
    "follow",
    "follow_async",
    "result_lines",
    "stream_lines",
]
