"""The control log: what changed, and from which batch on it counts (DESIGN.md, "Control log").

Registrations, drops, graphs and streams are lines of one append-only file beside the checkpoint. An entry
names a batch that was not yet planned when it was written, and every task applies exactly the entries up
to the batch it works on, so a replayed batch sees what it saw the first time. A line is written whole and
synced before anything relies on it; a torn last line never happened.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.errors import CheckpointError

CONTROL_FILE = "control.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """``operation`` is effective from ``batch`` on."""

    batch: int
    operation: str
    values: Mapping[str, Any]

    def line(self) -> bytes:
        return json.dumps({"batch": self.batch, "op": self.operation, **self.values}).encode() + b"\n"

    @staticmethod
    def parse(line: bytes) -> Entry:
        try:
            values = json.loads(line)
            return Entry(values.pop("batch"), values.pop("op"), values)
        except (ValueError, LookupError, AttributeError) as error:
            raise CheckpointError(
                f"the control log is damaged: {line[:80]!r}",
                detail=str(error),
                hint="put the folder back as it was, or start again with a new one",
            ) from None


class ControlLog:
    """Reads and appends; a reader keeps what it has read and looks only at what is new."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / CONTROL_FILE
        self._read = 0
        self._entries: list[Entry] = []

    def append(self, entries: Iterable[Entry]) -> None:
        """Write and sync; a torn line that a crash left behind is cut off first."""
        data = b"".join(entry.line() for entry in entries)
        if not data:
            return
        with open(self.path, "ab+") as file:
            file.seek(0)
            whole = file.read().rfind(b"\n") + 1
            file.truncate(whole)
            file.seek(whole)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def entries(self, batch: int | None = None) -> list[Entry]:
        """All entries, or those effective in ``batch``, in the order they were written."""
        self._refresh()
        return [entry for entry in self._entries if batch is None or entry.batch <= batch]

    def _refresh(self) -> None:
        try:
            size = os.stat(self.path).st_size
        except FileNotFoundError:
            return
        if size == self._read:
            return
        with open(self.path, "rb") as file:
            file.seek(self._read)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        self._entries += [Entry.parse(line) for line in data[:whole].splitlines()]
        self._read += whole
