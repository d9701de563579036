"""Keeping memory that slabs use again and again.

glibc returns large freed blocks to the system at once and takes them back page by page; a slab's columns
are a few hundred kilobytes each, so a process that evaluates slabs spends as much time on that as on the
data. Whoever owns the process (a worker, a benchmark) may ask to keep what is freed.
"""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
KEPT = 256 << 20


def keep_memory(limit: int = KEPT) -> bool:
    """Keep up to ``limit`` bytes of freed memory in this process; False where that cannot be asked for."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    # Blocks above 32 MB are mapped apart whatever is asked; smaller ones come from the kept memory.
    return bool(mallopt(_MMAP_THRESHOLD, 32 << 20)) and bool(mallopt(_TRIM_THRESHOLD, limit))
