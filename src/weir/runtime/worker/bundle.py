"""Small panes travel with the head: one value of the state store instead of a dozen.

Every access to Spark's state store is a message to the JVM and back. A group of a few queries has a handful
of panes of some hundred bytes, which change in every batch; those stand behind the head and come with it.
"""

from __future__ import annotations

import json

from weir.runtime.worker.live import StateStore

SMALL, ROOM = 16 << 10, 128 << 10
"""The largest pane that travels with the head, and the bytes of all that do."""

_MARK = b"WEIR"


class Bundle:
    """A state store over another one; ``head`` is asked for before anything else."""

    def __init__(self, inner: StateStore) -> None:
        self._inner = inner
        self._small: dict[str, bytes] = {}
        self._large: set[str] = set()
        self._held = 0

    def head(self) -> bytes | None:
        stored = self._inner.head()
        self._small, self._large, self._held = {}, set(), 0
        if stored is None or not stored.startswith(_MARK):
            return stored
        line = stored.index(b"\n") + 1
        index = json.loads(stored[len(_MARK) : line])
        self._large = set(index["large"])
        end = line + index["head"]
        place = end
        for name, length in index["small"]:
            self._small[name] = stored[place : place + length]
            place += length
        self._held = place - end
        return stored[line:end]

    def pane(self, name: str) -> bytes:
        found = self._small.get(name)
        return self._inner.pane(name) if found is None else found

    def put(self, name: str, data: bytes) -> None:
        self._leave(name)
        if len(data) <= SMALL and self._held + len(data) <= ROOM:
            self._small[name] = data
            self._held += len(data)
            if name in self._large:
                self._large.remove(name)
                self._inner.remove(name)
            return
        self._large.add(name)
        self._inner.put(name, data)

    def remove(self, name: str) -> None:
        if not self._leave(name):
            self._large.discard(name)
            self._inner.remove(name)

    def _leave(self, name: str) -> bool:
        """Whether a pane was with the head; it is no longer."""
        found = self._small.pop(name, None)
        self._held -= len(found or b"")
        return found is not None

    def set_head(self, data: bytes) -> None:
        small = [[name, len(each)] for name, each in self._small.items()]
        index = {"head": len(data), "small": small, "large": sorted(self._large)}
        line = _MARK + json.dumps(index).encode() + b"\n"
        self._inner.set_head(b"".join([line, data, *self._small.values()]))

    def clear(self) -> None:
        self._small, self._large, self._held = {}, set(), 0
        self._inner.clear()
