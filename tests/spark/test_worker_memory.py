"""Memory that a worker frees is used again without asking the system for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

COUNT = """
import resource
import numpy as np
from weir.spark.worker_memory import keep_memory

if {kept}:
    assert keep_memory()
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(64 << 20, np.uint8)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(faults)
"""


def faults(kept: bool) -> int:
    """Page faults of a slab's worth of memory, taken for the third time."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT.format(kept=kept)], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc is asked to keep memory")
def test_freed_memory_is_used_again() -> None:
    kept, given_back = faults(True), faults(False)
    # Pages may be 4 kB or 2 MB: what counts is that memory which is kept is not asked for again.
    assert kept < 32 <= given_back
