"""Ends a process in which compiled code lets no other thread of Python run: then nobody else could.

    DIR/N.work     the batch that slot N is at, and the queries that are being worked on
    DIR/N.stuck    where the process stood when it was ended, written by the one thread that needs no
                   interpreter (``faulthandler``); empty as long as it was not

Somebody who can still run says so by ``beat``; where that does not come for ``seconds``, the process ends.
The next one that takes up the batch finds both files and knows which queries it was.
"""

from __future__ import annotations

import faulthandler
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from weir.storage.files import Scratch, make_folder

WORKING = "working"
"""The folder, in Weir's part of the checkpoint."""
_MOST = 1 << 16
"""Bytes of names: of thousands of queries that are evaluated together the first ones are told."""


class Watchdog:
    """For one slot, whose files are in ``folder``."""

    def __init__(self, folder: Path, slot: int, seconds: float) -> None:
        make_folder(folder, durable=False)
        self.seconds = seconds
        self._work = Scratch(folder / f"{slot}.work")
        self._stuck = Scratch(folder / f"{slot}.stuck")
        self._batch = -1

    def begin(self, batch: int) -> list[str]:
        """A batch is taken up; the queries at which a process was ended that was at it before."""
        found: list[str] = []
        if self._stuck.read():
            told = self._work.read()
            was, names = json.loads(told) if told else (-1, [])
            found = names if was == batch else []
            self._stuck.write(b"")
        self._batch = batch
        return found

    def at(self, names: Sequence[str]) -> None:
        """These queries are worked on from now on."""
        text = json.dumps([self._batch, list(names)]).encode()
        while len(text) > _MOST:
            names = names[: len(names) // 2]
            text = json.dumps([self._batch, list(names)]).encode()
        self._work.write(text)

    def beat(self) -> None:
        """The process is not stuck."""
        faulthandler.dump_traceback_later(self.seconds, file=self._stuck.file, exit=True)

    @staticmethod
    def rest() -> None:
        """Nothing is worked on."""
        faulthandler.cancel_dump_traceback_later()

    def close(self) -> None:
        self._work.close()
        self._stuck.close()


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
