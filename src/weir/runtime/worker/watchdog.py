"""Ends a process in which compiled code lets no other thread of Python run: then nobody else could.

    DIR/N.work     the batch that slot N is at, and the queries that are being worked on
    DIR/N.stuck    where the process stood when it was ended, written by the one thread that needs no
                   interpreter (``faulthandler``); empty as long as it was not
    DIR/N.died     at which batch and queries processes died otherwise, and how many in a row

Somebody who can still run says so by ``beat``; where that does not come for ``seconds``, the process ends.
The next one that takes up the batch finds the files and knows which queries it was. A process that dies by
itself, of a lack of memory or a fault of a library, looks as if somebody had killed it: only when that
happens again and again at the same queries, it is theirs.
"""

from __future__ import annotations

import faulthandler
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from weir.errors import StorageError
from weir.storage.files import Scratch, make_folder

WORKING = "working"
"""The folder, in Weir's part of the checkpoint."""
DEATHS = 3
"""How many processes in a row die at the same queries in the same batch before these are to blame."""
_MOST = 1 << 16
"""Bytes of names: of thousands of queries that are evaluated together the first ones are told."""


class Watchdog:
    """For one slot, whose files are in ``folder``."""

    def __init__(self, folder: Path, slot: int, seconds: float) -> None:
        make_folder(folder, durable=False)
        self.seconds = seconds
        self._work = Scratch(folder / f"{slot}.work")
        self._stuck = Scratch(folder / f"{slot}.stuck")
        self._died = Scratch(folder / f"{slot}.died")
        self._batch = -1

    def begin(self, batch: int) -> tuple[list[str], bool]:
        """A batch is taken up; the queries that ended the processes that were at it before, and whether these
        were stuck, or died."""
        was, names = _told(self._work, [-1, []])
        stuck = bool(self._stuck.read())
        deaths = 0
        if was == batch and names and not stuck:
            before, at, deaths = _told(self._died, [-1, [], 0])
            deaths = deaths + 1 if (before, at) == (batch, names) else 1
        if stuck:
            _write(self._stuck, b"")
        if deaths or self._died.read():
            _write(self._died, json.dumps([batch, names, deaths]).encode() if deaths else b"")
        self._batch = batch
        self.at([])
        return (names if was == batch and (stuck or deaths >= DEATHS) else []), stuck

    def at(self, names: Sequence[str]) -> None:
        """These queries are worked on from now on."""
        text = json.dumps([self._batch, list(names)]).encode()
        while len(text) > _MOST:
            names = names[: len(names) // 2]
            text = json.dumps([self._batch, list(names)]).encode()
        _write(self._work, text)

    def beat(self) -> None:
        """The process is not stuck."""
        faulthandler.dump_traceback_later(self.seconds, file=self._stuck.file, exit=True)

    @staticmethod
    def rest() -> None:
        """Nothing is worked on."""
        faulthandler.cancel_dump_traceback_later()

    def close(self) -> None:
        for each in (self._work, self._stuck, self._died):
            each.close()


def _write(file: Scratch, data: bytes) -> None:
    """Write what helps to find a query, if it can be written: a full disk is nobody's query."""
    try:
        file.write(data)
    except (OSError, StorageError):
        with suppress(OSError, StorageError):
            file.write(b"")


def _told(file: Scratch, nothing: list[Any]) -> list[Any]:
    """What a file says, if it does: a process may have died while it wrote."""
    try:
        found: list[Any] = json.loads(file.read())
    except ValueError:
        return nothing
    return found


def working(folder: Path, batch: int) -> dict[str, float]:
    """The queries that slots are at in ``batch``, with the seconds since they were taken up."""
    found: dict[str, float] = {}
    for path in folder.glob("*.work"):
        with suppress(OSError, ValueError):
            at, names = json.loads(path.read_bytes())
            if at == batch:
                taken = max(time.time() - path.stat().st_mtime, 0.0)
                found |= {name: max(taken, found.get(name, 0.0)) for name in names}
    return found
