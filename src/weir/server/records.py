"""What the service remembers beside the checkpoint: names of streams in addresses, when things came, and
which results are published as fragments. A small JSON file, replaced whole."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

KINDS = ("streams", "queries", "published")


class Memory:
    """Values by kind and name; what is set is on disk when the call returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._values: dict[str, dict[str, dict[str, Any]]] = {kind: {} for kind in KINDS}
        if path.exists():
            self._values |= json.loads(path.read_text(encoding="utf-8"))

    def get(self, kind: str, name: str) -> dict[str, Any]:
        """What is known, nothing where nothing is."""
        return self._values[kind].get(name, {})

    def all(self, kind: str) -> dict[str, dict[str, Any]]:
        return dict(self._values[kind])

    def put(self, kind: str, name: str, values: dict[str, Any] | None) -> None:
        """Remember, or forget where there are no values."""
        with self._lock:
            if values is None:
                self._values[kind].pop(name, None)
            else:
                self._values[kind][name] = values
            partial = self.path.with_suffix(".partial")
            with open(partial, "w", encoding="utf-8") as file:
                json.dump(self._values, file, indent=1, sort_keys=True)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, self.path)
