"""Streams and queries as resources: their ids in addresses, and what the service remembers of each.

An id is short, safe in a path, and always the same for the same name. What is remembered beside the
checkpoint (the ids of streams, when things came, which results are published) is a small JSON file.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from weir.storage.files import replace_file
from weir.storage.places import file_name

ID = r"^[A-Za-z0-9_][A-Za-z0-9_.~-]{0,79}$"
"""What an id looks like, as a pattern for parameters."""

_KINDS = ("streams", "queries", "published", "graphs", "sinks")


def slug(name: str) -> str:
    """The id of a name: the name itself where it is plain, else its last part and a digest of the whole."""
    return file_name(name)


class Records:
    """Values by kind and name; what is put is on disk when the call returns. The file is replaced whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._values: dict[str, dict[str, dict[str, Any]]] = {kind: {} for kind in _KINDS}
        if path.exists():
            self._values |= json.loads(path.read_text(encoding="utf-8"))

    def get(self, kind: str, name: str) -> dict[str, Any]:
        """The values of a name; none where nothing was put."""
        return self._values[kind].get(name, {})

    def all(self, kind: str) -> dict[str, dict[str, Any]]:
        return dict(self._values[kind])

    def put(self, kind: str, name: str, values: dict[str, Any] | None) -> None:
        """Remember, or forget where there are no values."""
        with self._lock:
            known = dict(self._values[kind])
            if values is None:
                known.pop(name, None)
            else:
                known[name] = values
            changed = {**self._values, kind: known}
            replace_file(self.path, json.dumps(changed, indent=1, sort_keys=True).encode())
            self._values = changed
