"""What comes of a batch: answers as result lines or columns, records that were set aside, and counters.

``outputs`` are the rows that groups send to the driver, put together there for the ``sinks``. ``results``
writes the answers in them, ``compact`` those of queries evaluated together, ``text_columns`` is what both are
made of. ``metrics`` are the counters, ``subscriptions`` lets followers read results while they come.
"""

__all__ = [
    "compact",
    "metrics",
    "outputs",
    "results",
    "subscriptions",
    "text_columns",
]
