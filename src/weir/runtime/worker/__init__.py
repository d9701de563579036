"""What a worker does with frames: the queries of a slot take them in, evaluate, and keep their state.

``group`` has the queries of one slot, ``members`` each of them, alone or evaluated with others;
``texts`` the terms that they may write. ``state_store`` is where a group's state is kept between batches, and
``worker_cache`` what a worker remembers anyway.
"""

__all__ = ["group", "members", "state_store", "texts", "worker_cache"]
