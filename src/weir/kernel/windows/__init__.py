"""Windows: the messages of a stream in order, what a window shows at each instant, and when it reports.

A window is two ends that only move forward (``window``); its reports (``reports``) make the evaluation
times of a query (``evaluation_times``), which a slab lays out as ``instants``. ``live_triples`` keeps the
triples of one pattern while a window can show them, ``reduction`` those of them that a join can use,
``window_index`` finds them by their terms; ``streams`` is everything that is kept. ``one_failure`` finds the
evaluation that fails, ``likeness`` whether two that keep a stream show the same from here on.
"""

__all__ = [
    "arrivals",
    "buffer",
    "evaluation_times",
    "instants",
    "likeness",
    "live_triples",
    "one_failure",
    "reduction",
    "stream_state",
    "window",
    "window_index",
]
