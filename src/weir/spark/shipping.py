"""Weir's own code for the workers of a cluster: a zip that Spark hands to every executor.

What Weir depends on (numpy, Arrow, Polars, …) is compiled and has to be installed on the workers; Weir is
not, so the code that runs there is always that of the driver.
"""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

from pyspark.sql import SparkSession

_PATIENCE = 30.0


def package_zip(folder: Path) -> Path:
    """The Python files of this package in ``folder/weir.zip``."""
    root = Path(__file__).parents[1]
    target = folder / "weir.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob("*.py")):
            archive.write(path, Path("weir") / path.relative_to(root))
    return target


def await_executors(session: SparkSession, patience: float = _PATIENCE) -> None:
    """Wait until executors have come: a job gets as many slots as there are cores when it begins.

    The driver itself counts as one of those that Spark lists. Executors come one by one; when none has come
    for a second, these are all.
    """
    tracker = session.sparkContext._jsc.sc().statusTracker()
    began = changed = time.monotonic()
    known = 1
    while time.monotonic() - began < patience:
        found = len(tracker.getExecutorInfos())
        if found != known:
            known, changed = found, time.monotonic()
        if known > 1 and time.monotonic() - changed > 1.0:
            return
        time.sleep(0.1)
