"""What lasts: files that appear whole, logs that only grow, and one container for columns.

Whatever must outlive a process goes through here, so that one room knows what a crash may leave behind.
``files`` has objects that are there whole or not at all, ``log`` what is appended and synced before it is
promised, ``container`` the bytes of columns (Arrow IPC). None of them shows an open file to its callers, so
that a store other than a local folder can take its place.
"""

from weir.storage.container import Container, numbers, pack, read_header, unpack
from weir.storage.files import numbered, put_if_absent, replace_file, sync_folder, writing
from weir.storage.log import AppendFile, LineLog

__all__ = [
    "AppendFile",
    "Container",
    "LineLog",
    "numbered",
    "numbers",
    "pack",
    "put_if_absent",
    "read_header",
    "replace_file",
    "sync_folder",
    "unpack",
    "writing",
]
