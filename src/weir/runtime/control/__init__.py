"""What a driver controls and every task follows: the control log, the catalog, and changes while a job runs.

``control_log`` is the log, ``catalog`` what it amounts to as of a batch, ``checkpoint`` the folder of both.
``failure`` is what is known of a query that failed, ``overdue`` what a worker leaves that one held up.
``registration`` makes entries of queries, by what ``samples`` tell of their streams; ``sharing`` says which
are evaluated together; ``registry`` and
``graph_updates`` take changes from the user of a running job. ``extracts`` are the static graphs as queries
see them. ``planning`` says what the next batch reads.
"""

__all__ = [
    "catalog",
    "checkpoint",
    "control_log",
    "extracts",
    "failure",
    "graph_updates",
    "overdue",
    "planning",
    "registration",
    "registry",
    "samples",
    "sharing",
]
