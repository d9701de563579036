"""What tasks tell the driver where results do not pass it: metrics, failures, and what was set aside.

A report is a file beside the control log. The driver hears it and removes it; until then whoever told it
waits, or whoever plans the next batch. So the driver has logged which queries failed before anything follows
from that, as where it takes the results itself.

Who tells may be a process of Spark's beside the driver, so this module imports next to nothing: what is told
are bytes (``report_rows``). The driver looks for reports up to a hundred times a second, so a look is cheap.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from pathlib import Path

from weir.errors import CheckpointError
from weir.storage.files import make_folder, names, remove, remove_folder, replace_file

_REFUSED = "refused"
_LENGTH = struct.Struct("<q")
_LOOK = 0.005
_LONGEST = 120.0
"""Seconds after which the driver is taken for dead."""


class Reports:
    """The reports of a checkpoint, whose folder is ``own``."""

    def __init__(self, own: Path) -> None:
        self._folder = own / "reports"

    def tell(self, batch: int, name: str, told: Sequence[bytes]) -> None:
        """Leave word for the driver; who tells the same again replaces it."""
        make_folder(self._folder)
        pieces = (piece for each in told for piece in (_LENGTH.pack(len(each)), each))
        replace_file(self._folder / f"{batch}-{name}", b"".join(pieces))

    def batches(self) -> list[int]:
        """The batches of which something is told."""
        return sorted({int(name.partition("-")[0]) for name in names(self._folder) if name[:1].isdigit()})

    def read(self, batch: int) -> list[bytes]:
        """All that is told of a batch."""
        found: list[bytes] = []
        for path in sorted(self._folder.glob(f"{batch}-*")):
            data, at = path.read_bytes(), 0
            while at < len(data):
                (length,) = _LENGTH.unpack_from(data, at)
                at += _LENGTH.size + length
                found.append(data[at - length : at])
        return found

    def heard(self, batch: int) -> None:
        """The driver has done what a report asks of it."""
        for path in self._folder.glob(f"{batch}-*"):
            remove(path)

    def refuse(self, reason: str) -> None:
        """The driver cannot go on: so nobody else does."""
        make_folder(self._folder)
        replace_file(self._folder / _REFUSED, reason.encode())

    def wait(self) -> None:
        """Wait until the driver has heard everything; a ``CheckpointError`` where it cannot."""
        until = time.monotonic() + _LONGEST
        while self.batches():
            refused = self._folder / _REFUSED
            if refused.exists():
                raise CheckpointError("the driver cannot go on", detail=refused.read_text())
            if time.monotonic() > until:
                raise CheckpointError(
                    f"the driver did not take a report for {_LONGEST:g} s",
                    hint="see whether it runs, and start the job again with the same checkpoint",
                )
            time.sleep(_LOOK)

    def clear(self) -> None:
        """Forget everything."""
        remove_folder(self._folder)
