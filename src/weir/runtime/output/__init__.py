"""What comes of a batch: answers as result lines or columns, records that were set aside, and counters.

``outputs`` are the rows that a group sends to the driver. ``results`` writes the answers in them, ``compact``
those of queries evaluated together, ``text_columns`` is what both are made of; ``merging`` puts answers of
several slots together for the ``sinks``. ``metrics`` are the counters, ``subscriptions`` lets followers read
results while they come, ``subscription_server`` over HTTP.
"""

__all__ = [
    "compact",
    "merging",
    "metrics",
    "outputs",
    "results",
    "subscription_server",
    "subscriptions",
    "text_columns",
]
