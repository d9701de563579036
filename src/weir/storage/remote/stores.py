"""What every store of objects can do: six requests, whose law is the same on S3 and on HDFS.

Objects appear whole. A reader sees what was put before it asks (both are strongly consistent), and of several
who put the same absent name one is told that it did. There are no folders but by the names of what is in
them. What a store refuses is a ``StorageError``; what is not there is a ``FileNotFoundError``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from weir.errors import StorageError


@dataclass(frozen=True, slots=True)
class Status:
    """What a store says of a name: an object of ``size`` bytes, or a folder."""

    size: int = 0
    modified: float = 0.0
    folder: bool = False


class Store(ABC):
    """The objects of one bucket or one file system; a ``key`` is a path without a slash in front."""

    address: str
    """What comes before a key: ``s3a://bucket/``, ``hdfs://host:port/``."""

    @abstractmethod
    def status(self, key: str) -> Status | None:
        """What is there, None where nothing is."""

    @abstractmethod
    def children(self, key: str) -> Iterator[tuple[str, Status]]:
        """The names in a folder, none where it is not there."""

    @abstractmethod
    def read(self, key: str, begin: int = 0, end: int | None = None) -> bytes:
        """A range of an object's bytes, of which there may be fewer."""

    @abstractmethod
    def put(self, key: str, data: IO[bytes], size: int) -> None:
        """Make an object, in place of what has the name."""

    @abstractmethod
    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Make an object; False where another one has the name. One that was made by this very call, whose
        answer was lost, is its own."""

    @abstractmethod
    def move(self, old: str, new: str) -> None:
        """Give an object another name, in place of what has it; nothing where it is gone and the other one is
        there."""

    @abstractmethod
    def remove(self, key: str) -> None:
        """Remove an object, if it is there."""

    @abstractmethod
    def remove_tree(self, key: str) -> None:
        """Remove a folder with all that is in it, if it is there."""

    def refused(self, key: str, reason: object, hint: str = "") -> StorageError:
        """The error of a request that failed."""
        return StorageError(
            f"{self.address}{key}: the store did not do what it was asked",
            detail=str(reason),
            hint=hint or "see to it, then go on with the same checkpoint: what was promised is kept",
        )
