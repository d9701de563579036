"""Which batch was written last, and how far each thing is good that batches write to.

A writer of results writes and syncs its data, and then commits: one record with the batch and a mark for
each thing that changed, such as the length of a file. What is not committed never happened, and a batch that
is committed is not written again.

Records are objects with numbers in a folder, and a number is given once (``put_if_absent``). Whoever opens
the folder takes the next number for a record of all that is known, so the number that an earlier writer would
take is gone: what it commits from then on is refused, however long ago it looked whether it may.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.errors import CheckpointError, StorageError
from weir.storage.files import make_folder, numbered, put_if_absent, remove

_MANY = 64
"""Records after which one is written that has all in it, and older ones are removed."""


class Commits:
    """The records in the folder ``path``; ``last`` is the last batch, ``marks`` the latest of each name."""

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        self.path = path
        self.last = -1
        self.marks: dict[str, Any] = {}
        self._durable = durable
        self._writer = secrets.token_hex(8)
        self._next = self._whole = 0

    def open(self) -> None:
        """Read what was committed, and take over from whoever wrote here before."""
        make_folder(self.path, durable=self._durable)
        self._read()
        while not self._put_whole():
            self._read()

    def has(self, batch: int) -> bool:
        """Whether a batch was committed."""
        return batch <= self.last

    def commit(self, batch: int, marks: Mapping[str, Any]) -> None:
        """Promise a batch; where this raises, it is not committed. A ``CheckpointError`` says that another
        writer has taken over."""
        number = self._next
        # A number that was given and removed can be taken again: then there are later ones.
        if not self._put(number, batch, marks) or max(numbered(self.path)) > number:
            raise CheckpointError(
                f"another job has taken over what is committed in {self.path}",
                hint="this one has stopped and promises nothing more; go on with the other one",
            )
        self._next = number + 1
        self.last = max(self.last, batch)
        self.marks |= marks
        if self._next - self._whole > _MANY:
            # The batch is promised already; what fails here is done at the next commit.
            with suppress(StorageError):
                self._put_whole()

    def _read(self) -> None:
        """Everything since the last record with all in it."""
        numbers = numbered(self.path)
        self._next = numbers[-1] + 1 if numbers else 0
        records = []
        for number in reversed(numbers):
            try:
                batch, marks, whole, _ = self._record(number)
            except FileNotFoundError:
                break
            records.append((batch, marks))
            if whole:
                break
        self.last, self.marks = -1, {}
        for batch, marks in reversed(records):
            self.last = max(self.last, batch)
            self.marks |= marks

    def _record(self, number: int) -> tuple[int, dict[str, Any], bool, str]:
        path = self.path / str(number)
        data = path.read_bytes()
        try:
            batch, marks, whole, writer = json.loads(data)
        except ValueError as error:
            raise CheckpointError(
                f"{path} is damaged",
                detail=str(error),
                hint="put the folder back as it was, or start again with a new checkpoint",
            ) from None
        return batch, marks, whole, writer

    def _put_whole(self) -> bool:
        """Write all that is known as one record, and remove what it replaces; False where its number is
        taken."""
        number = self._next
        if not self._put(number, self.last, self.marks, whole=True):
            return False
        self._next, self._whole = number + 1, number
        with suppress(StorageError):
            for old in numbered(self.path):
                if old < number:
                    remove(self.path / str(old))
        return True

    def _put(self, number: int, batch: int, marks: Mapping[str, Any], whole: bool = False) -> bool:
        path = self.path / str(number)
        data = json.dumps([batch, marks, whole, self._writer], separators=(",", ":")).encode()
        if put_if_absent(path, data, durable=self._durable):
            return True
        with suppress(FileNotFoundError):
            if self._record(number)[3] != self._writer:
                return False
        # It is this writer's own: it could neither be promised nor taken back when the disk failed.
        remove(path)
        return put_if_absent(path, data, durable=self._durable)
