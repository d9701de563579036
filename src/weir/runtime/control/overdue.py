"""Notes about queries that are to end in the middle of a batch.

Workers that had to end because a query held them leave which query it was: the next one that takes up the
batch finds the note and ends the query at once. The driver leaves which queries were paused while the batch
is under way: a worker that is at one of them ends it. When the batch is done, notes are removed or count no
more: by then what ended is in the control log.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from weir.runtime.control.failure import Failure
from weir.storage.files import make_folder, remove_folder, replace_file


class OverdueNotes:
    """The notes of a checkpoint, whose folder is ``own``."""

    def __init__(self, own: Path) -> None:
        self._folder = own / "overdue"
        self._asked = own / "asked.json"

    def leave(self, batch: int, slot: int, failures: Sequence[Failure]) -> None:
        """Note that these queries are to end in ``batch``; the last thing that a worker does."""
        make_folder(self._folder)
        told = [each.as_json() for each in (*self._of(batch, slot), *failures)]
        replace_file(self._folder / f"{batch}-{slot}.json", json.dumps(told).encode())

    def told(self, batch: int, slot: int) -> list[Failure]:
        """What workers noted while they were at ``batch``."""
        return self._of(batch, slot) if self._folder.exists() else []

    def ask(self, batch: int, name: str) -> None:
        """Note that a query is to end in ``batch``, which is under way, wherever it is being worked on. What
        was asked for in another batch is over."""
        names = sorted(self.asked(batch) | {name})
        replace_file(self._asked, json.dumps([batch, names]).encode(), durable=False)

    def asked(self, batch: int) -> frozenset[str]:
        """The queries that are to end in ``batch``. The note is not synced: what a machine that stopped left
        of it may say nothing."""
        try:
            asked_in, names = json.loads(self._asked.read_bytes())
        except (FileNotFoundError, ValueError):
            return frozenset()
        return frozenset(names) if asked_in == batch else frozenset()

    def _of(self, batch: int, slot: int) -> list[Failure]:
        try:
            return [
                Failure(**each) for each in json.loads((self._folder / f"{batch}-{slot}.json").read_bytes())
            ]
        except FileNotFoundError:
            return []

    def clear(self) -> None:
        """The batch is done."""
        if self._folder.exists():
            remove_folder(self._folder)
