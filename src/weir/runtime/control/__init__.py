"""What a driver controls and every task follows: the control log, the catalog, and changes while a job runs.

``catalog`` has the log and what it amounts to as of a batch; ``checkpoint`` is the folder that has it.
``registration`` makes entries of queries, ``registry`` and ``graph_updates`` take changes from the user of a
running job. ``extracts`` are the static graphs as queries see them. ``planning`` says what the next batch
reads.
"""

__all__ = [
    "catalog",
    "checkpoint",
    "extracts",
    "graph_updates",
    "planning",
    "registration",
    "registry",
]
