"""Memory that a worker uses again in every batch stays with the worker.

glibc gives large freed blocks back to the system at once and takes them again page by page. Slabs free and
take the same hundreds of megabytes in every batch; each page costs a fault, and on a virtual machine several
times that.
"""

from __future__ import annotations

import ctypes
import os
import sys

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_LEAST, _MOST = 128 << 20, 1 << 30
_SHARE = 8
"""All workers of a machine, one a core, keep at most this part of its memory."""


def keep_memory() -> bool:
    """Keep what is freed in this process and those forked from it; False where that cannot be asked for."""
    if not sys.platform.startswith("linux"):
        return False
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    kept = min(max(memory // (_SHARE * (os.cpu_count() or 1)), _LEAST), _MOST)
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    # Blocks that are mapped one by one go back one by one: large ones come from the kept memory, too.
    return bool(mallopt(_MMAP_MAX, 0)) and bool(mallopt(_TRIM_THRESHOLD, kept))
