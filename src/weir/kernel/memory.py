"""Keeping memory that slabs use again and again.

glibc returns large freed blocks to the system at once and takes them back page by page. A process that
evaluates slabs would spend as much time on that as on the data, and several times as much on a virtual
machine whose pages are made when they are first touched. Whoever owns the process (a worker, a benchmark) may
ask to keep what is freed.
"""

from __future__ import annotations

import ctypes
import os
import sys

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_LEAST, _MOST = 128 << 20, 1 << 30
_SHARE = 8
"""All processes of a machine, one a core, keep at most this part of its memory."""


def keep_memory(limit: int | None = None) -> bool:
    """Keep up to ``limit`` bytes of freed memory in this process; False where that cannot be asked for."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    # Blocks that are mapped one by one go back one by one: large ones come from the kept memory, too.
    return bool(mallopt(_MMAP_MAX, 0)) and bool(mallopt(_TRIM_THRESHOLD, limit or _kept()))


def _kept() -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(max(memory // (_SHARE * (os.cpu_count() or 1)), _LEAST), _MOST)
