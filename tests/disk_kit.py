"""A disk that fails when it is told to: the requests of ``weir.storage.disk``, counted, and refused."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from weir.errors import StorageError
from weir.storage import disk

REQUESTS = (
    "open_file",
    "write",
    "sync",
    "sync_folder",
    "truncate",
    "rename",
    "link",
    "remove",
    "make_folder",
)
"""What can be refused."""


def newest(log: Path) -> Path:
    """The file of a log of records that counts."""
    return max(log.glob("*.log"), key=lambda each: int(each.stem))


class Faults:
    """Counts requests of each kind; refuses the ``n``-th of one kind, and so many after it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.counts: Counter[str] = Counter()
        self.refused = 0
        self._plan: tuple[str, int, int] | None = None
        for name in REQUESTS:
            monkeypatch.setattr(disk, name, self._counted(name, getattr(disk, name)))

    def plan(self, request: str, number: int, times: int = 1) -> None:
        """Refuse the requests ``number`` to ``number + times − 1`` of a kind, counted from now."""
        self.counts.clear()
        self.refused = 0
        self._plan = request, number, times

    def heal(self) -> None:
        """The disk is back."""
        self._plan = None

    @contextmanager
    def failing(self, request: str) -> Iterator[None]:
        """Every request of a kind is refused in here."""
        self.plan(request, 1, 1 << 62)
        try:
            yield
        finally:
            assert self.refused, f"nothing asked for {request}"
            self.heal()

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*arguments: Any, **options: Any) -> Any:
            self.counts[name] += 1
            if self._plan is not None:
                kind, number, times = self._plan
                if kind == name and number <= self.counts[name] < number + times:
                    self.refused += 1
                    if name == "write":
                        # A full disk takes the beginning: what is torn must not stay.
                        file, data, _ = arguments
                        os.write(file, memoryview(data)[: len(data) // 2])
                    raise StorageError(
                        f"{_path(arguments)} could not be asked for {name}: {os.strerror(errno.ENOSPC)}",
                        hint="make room there",
                    )
            return real(*arguments, **options)

        return asked


def _path(arguments: tuple[Any, ...]) -> Path | None:
    return next((each for each in arguments if isinstance(each, Path)), None)
