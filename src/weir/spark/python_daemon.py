"""Spark's Python daemon with Weir already imported, so that a worker is a fork and not a start.

Importing takes over a second of processor time and a job needs several workers before its first result.
The libraries start their thread pools at first use, not at import, so what a worker inherits is whole.
"""

from __future__ import annotations

import gc

from pyspark import daemon, worker

from weir.runtime.ingest import stage
from weir.spark import datasource, processor
from weir.spark.worker_memory import keep_memory

PRELOADED = (datasource, processor, stage, worker)

if __name__ == "__main__":
    gc.freeze()
    keep_memory()
    daemon.manager()
