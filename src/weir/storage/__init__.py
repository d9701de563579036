"""What lasts: files that appear whole, logs that only grow, one writer, and one container for columns.

Whatever must outlive a process goes through here, so that one room knows what a crash and a failing disk may
leave behind. ``disk`` asks the operating system, and nobody else does; ``files`` has objects that are there
whole or not at all, ``log`` what is appended and synced before it is promised (``object_log`` where nothing
can be appended), ``commits`` which batch was written last, ``segments`` a log that goes away behind its
readers, ``lease`` the right to write. ``places`` are paths from what users write, ``remote`` those on stores.
``container`` has the bytes of columns (Arrow IPC),
``spool`` what is large and goes with its batch. The contract: decision storage.
"""

from weir.storage.commits import Commits
from weir.storage.container import Container, numbers, pack, unpack
from weir.storage.log import AppendFile
from weir.storage.object_log import record_log

__all__ = [
    "AppendFile",
    "Commits",
    "Container",
    "files",
    "lease",
    "numbers",
    "pack",
    "places",
    "record_log",
    "segments",
    "spool",
    "unpack",
]
