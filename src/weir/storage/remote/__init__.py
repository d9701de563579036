"""Places that are not on a disk: paths on S3 and HDFS, and the requests that are made of such a store.

A store keeps whole objects by name. A ``RemotePath`` is a ``Path`` whose requests go to a store, so whoever
reads or lists does not ask where; what would open it as a local file is refused by it. Everything that
changes a store goes through ``weir.storage.files``, as for a disk.
"""

from weir.storage.remote.remote_path import SCHEMES, RemotePath
from weir.storage.remote.stores import Status, Store

__all__ = ["SCHEMES", "RemotePath", "Status", "Store"]
