"""The control log: what changed, and from which batch on it counts.

Registrations, drops, graphs and streams are lines of one durable log beside the checkpoint. An entry names a
batch that was not yet planned when it was written, and every task applies exactly the entries up to the batch
it works on, so a replayed batch sees what it saw the first time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.errors import CheckpointError
from weir.storage import LineLog

CONTROL_FILE = "control.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """``operation`` is effective from ``batch`` on."""

    batch: int
    operation: str
    values: Mapping[str, Any]

    def line(self) -> bytes:
        return json.dumps({"batch": self.batch, "op": self.operation, **self.values}).encode()

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
        self._log = LineLog(folder / CONTROL_FILE)
        self._entries: list[Entry] = []

    def append(self, entries: Iterable[Entry]) -> None:
        """Add entries; they are durable when this returns."""
        self._log.append([entry.line() for entry in entries])

    def entries(self, batch: int | None = None) -> list[Entry]:
        """All entries, or those effective in ``batch``, in the order they were written."""
        self._entries += [Entry.parse(line) for line in self._log.more()]
        return [entry for entry in self._entries if batch is None or entry.batch <= batch]
