"""The fragments client: plain SPARQL, continuously, over Triple and Quad Pattern Fragments."""

from weir.fragments.client.follow import follow, follow_async, result_lines, stream_lines
from weir.fragments.client.limits import ClientLimits
from weir.fragments.client.streamer import Options, Update
from weir.linked.http.clocks import Clock, WallClock

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
