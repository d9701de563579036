"""What a query over streaming DataFrames leaves out is told where it was made, by a ``WeirWarning``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import StreamingQueryListener

from weir.errors import warn

UNTYPED = "untyped"
_WHAT = {
    "rejected": "statements that cannot be read",
    "late": "late messages",
    "ahead": "messages too far ahead",
    UNTYPED: "values that are not of their column's type",
}


class LeftOut(StreamingQueryListener):
    """Sums up what the queries of a session leave out. Each sum is told once it is there, and again whenever
    it has doubled."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, list[int]]] = {}

    def onQueryStarted(self, event: Any) -> None: ...

    def onQueryProgress(self, event: Any) -> None:
        told = event.progress.observedMetrics
        for name in self.known.keys() & told.keys():
            self.take(name, told[name].asDict())

    def take(self, name: str, counts: Mapping[str, int | None]) -> None:
        """Take the counts of a batch."""
        sums = self.known[name]
        for each, what in _WHAT.items():
            total, last = sums.get(each, [0, 0])
            total += counts.get(each) or 0
            if total and total >= 2 * last:
                last = total
                warn(f"{what}, left out so far: {total:,}")
            sums[each] = [total, last]

    def onQueryIdle(self, event: Any) -> None: ...

    def onQueryTerminated(self, event: Any) -> None: ...


_LISTENERS: WeakKeyDictionary[SparkSession, LeftOut] = WeakKeyDictionary()


def warn_of(spark: SparkSession, name: str) -> None:
    """Warn of what the query whose metrics have this name leaves out."""
    if spark not in _LISTENERS:
        _LISTENERS[spark] = LeftOut()
        spark.streams.addListener(_LISTENERS[spark])
    _LISTENERS[spark].known[name] = {}
