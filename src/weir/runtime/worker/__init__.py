"""What a worker does with frames: the queries of a slot take them in, evaluate, and keep their state.

``group`` has the queries of one slot, ``members`` each of them, alone or evaluated with others;
``texts`` the terms that they may write. ``alone`` keeps the failure of one from the rest. ``state_store`` is
where a group's state is kept between batches, and ``worker_cache`` what a worker remembers anyway. Queries
that ask endpoints take ``turns``; the ``watchdog`` knows what is being worked on.
"""

__all__ = [
    "alone",
    "group",
    "members",
    "state_store",
    "texts",
    "together",
    "turns",
    "watchdog",
    "worker_cache",
]
