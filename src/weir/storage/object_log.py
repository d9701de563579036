"""A log of numbered records on a store, where nothing is appended to: each append is an object.

    N    the N-th thing that was written: records that follow, or all that are left

Numbers are given once, so of two writers one is refused, as in ``Commits``: whoever opens the log for writing
takes the next number for all that there is, and the number that an earlier writer would take is gone. Readers
take the objects in their order; one with all that is left replaces those before it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from weir.errors import CheckpointError, StorageError
from weir.storage.files import numbered, put_if_absent, remove
from weir.storage.log import RecordLog
from weir.storage.remote import RemotePath

_MANY = 64
"""Appends after which all that is left is written as one object."""


def record_log(path: Path, *, durable: bool = True) -> RecordLog | ObjectLog:
    """The log in a folder."""
    return ObjectLog(path) if isinstance(path, RemotePath) else RecordLog(path, durable=durable)


class ObjectLog:
    """As ``RecordLog``, whose words it has; the folder is on a store."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.first = self.version = 0
        self._kept: list[bytes] = []
        self._name = secrets.token_hex(8)
        self._next = self._whole = self._read = 0
        self._writing = self._torn = False

    @property
    def end(self) -> int:
        """The number behind the last record."""
        return self.first + len(self._kept)

    def append(self, records: Sequence[bytes], at: int | None = None) -> None:
        """Add records, all or none; the first one gets the number ``at``, where that is given."""
        if not records:
            return
        self._begin()
        if at not in (None, self.end):
            raise self._taken()
        if self._torn or self._next - self._whole >= _MANY:
            self._put([*self._kept, *records], self.first, whole=True)
        else:
            self._put(records, self.end, whole=False)
        self._kept += records

    def rewrite(self, records: Sequence[bytes], end: int) -> None:
        """Put these records in place of all others; the number behind the last one is ``end``."""
        if len(records) > end:
            raise ValueError(f"{len(records)} records do not end at {end}")
        self._begin()
        if self.end != end:
            raise self._taken()
        self._put(records, end - len(records), whole=True)
        self._replace(end - len(records), list(records))

    def more(self) -> list[bytes]:
        """The records that this reader has not been given yet, or all that are left where the log was written
        anew: then ``version`` is another one."""
        if not self._writing:
            while not self._followed():
                pass
        found = self._kept[max(self._read - self.first, 0) :]
        self._read = self.end
        return found

    def _begin(self) -> None:
        """Become the one who writes: the next number is for all that there is."""
        while not self._writing:
            if self._followed() and self._made(self._next, self._kept, self.first, True):
                self._settled(self._next, True)
                self._writing = True

    def _put(self, records: Sequence[bytes], first: int, *, whole: bool) -> None:
        """Write the next object. One of this writer's that was never promised is replaced by what follows it,
        which has all in it."""
        number = self._next
        if self._torn and number in numbered(self.path) and self._object(number)[2] == self._name:
            number += 1
        self._torn = True
        # A number that was given and removed can be taken again: then there are later ones.
        if not self._made(number, records, first, whole) or max(numbered(self.path)) > number:
            self._torn = False
            raise self._taken()
        self._torn = False
        self._settled(number, whole)

    def _settled(self, number: int, whole: bool) -> None:
        self._next = number + 1
        if whole:
            self._whole = number
            with suppress(StorageError):
                for old in numbered(self.path):
                    if old < number:
                        remove(self.path / str(old))

    def _made(self, number: int, records: Sequence[bytes], first: int, whole: bool) -> bool:
        head = json.dumps([whole, first, self._name]).encode()
        return put_if_absent(self.path / str(number), b"\n".join([head, *records]))

    def _followed(self) -> bool:
        """Take in what was written since; False where some of it was removed meanwhile, as there is more."""
        found = []
        with suppress(FileNotFoundError):
            for number in reversed([each for each in numbered(self.path) if each >= self._next]):
                whole, first, _, records = self._object(number)
                found.append((number, whole, first, records))
                if whole:
                    break
            if found and not found[-1][1] and found[-1][0] != self._next:
                return False
            for number, whole, first, records in reversed(found):
                if not whole:
                    self._kept += records
                elif first == self.first and records[: len(self._kept)] == self._kept:
                    self._kept = records
                else:
                    self._replace(first, records)
                self._next = number + 1
            return True
        return False

    def _replace(self, first: int, records: list[bytes]) -> None:
        self.first, self._kept, self._read = first, records, first
        self.version += 1

    def _object(self, number: int) -> tuple[bool, int, str, list[bytes]]:
        path = self.path / str(number)
        head, *records = path.read_bytes().split(b"\n")
        try:
            whole, first, name = json.loads(head)
        except ValueError as error:
            raise CheckpointError(
                f"{path} is damaged",
                detail=str(error),
                hint="put the folder back as it was, or start again with a new one",
            ) from None
        return whole, first, name, records

    def _taken(self) -> CheckpointError:
        return CheckpointError(
            f"another process has written to {self.path}",
            hint="stop it: a checkpoint has one running job at a time",
        )
