"""What a driver controls and every task follows: the control log, the catalog, and changes while a job runs.

``entries`` are what the log holds and ``catalog`` is what they amount to as of a batch; ``checkpoint`` is
the folder that has both. ``registration`` makes entries of queries, ``registry`` and ``graph_updates`` take
changes from the user of a running job. ``extracts`` are the static graphs as queries see them, ``updates``
what changes in them. ``planning`` says what the next batch reads.
"""

__all__ = [
    "catalog",
    "checkpoint",
    "entries",
    "extracts",
    "graph_updates",
    "planning",
    "refresh",
    "registration",
    "registry",
    "updates",
]
