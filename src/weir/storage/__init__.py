"""What lasts: files that appear whole, logs that only grow, and one container for columns.

Whatever must outlive a process goes through here, so that one room knows what a crash may leave behind.
``files`` has objects that are there whole or not at all, ``log`` what is appended and synced before it is
promised, ``segments`` a log that goes away behind its readers, ``container`` the bytes of columns (Arrow
IPC), ``spool`` what is large and goes with its batch.
"""

from weir.storage.container import Container, numbers, pack, read_header, unpack
from weir.storage.files import numbered, replace_file, writing
from weir.storage.log import AppendFile, LineLog

__all__ = [
    "AppendFile",
    "Container",
    "LineLog",
    "numbered",
    "numbers",
    "pack",
    "read_header",
    "replace_file",
    "segments",
    "spool",
    "unpack",
    "writing",
]
