"""Spark's Python daemon with Weir already imported, so that a worker is a fork and not a start.

Importing takes over a second of processor time and a job needs several workers before its first result.
The libraries start their thread pools at first use, not at import, so what a worker inherits is whole.
"""

from __future__ import annotations

import gc
from contextlib import suppress

from pyspark import daemon, worker

from weir.errors import UsageError
from weir.extras import load
from weir.runtime.ingest import stage
from weir.spark import processor, writers

PRELOADED = (processor, stage, worker, writers)
with suppress(UsageError):
    # Before pyspark 4.2 there is no engine, whose source this is.
    load("weir.spark.datasource")

if __name__ == "__main__":
    gc.freeze()
    daemon.manager()
