"""What comes of a batch: answers as result lines or columns, records that were set aside, and counters.

``outputs`` are the rows that groups send to the driver, put together there for the ``sinks``. ``results``
writes the answers in them, ``compact`` those of queries evaluated together, ``text_columns`` is what both are
made of. ``partial_answers`` are those of slots that answer a query together, ``putting_together`` makes its
answers of them. ``metrics`` are the counters, ``task_reports`` what tasks tell that write results themselves,
``report_rows`` as what, ``subscriptions`` lets followers read results while they come.
"""

__all__ = [
    "answer_types",
    "compact",
    "metrics",
    "outputs",
    "partial_answers",
    "putting_together",
    "report_rows",
    "results",
    "subscriptions",
    "task_reports",
    "text_columns",
    "typed_columns",
]
