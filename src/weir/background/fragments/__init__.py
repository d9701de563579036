"""The fragments client: plain SPARQL, continuously, over Triple and Quad Pattern Fragments."""

from weir.background.fragments.clock import Clock, WallClock
from weir.background.fragments.follow import follow, follow_async, result_lines, stream_lines
from weir.background.fragments.limits import ClientLimits
from weir.background.fragments.streamer import Options, Update

__all__ = [
    "ClientLimits",
    "Clock",
    "Options",
    "Update",
    "WallClock",
    "follow",
    "follow_async",
    "result_lines",
    "stream_lines",
]
