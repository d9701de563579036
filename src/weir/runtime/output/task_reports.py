"""What tasks tell the driver where results do not pass it: metrics, failures, and what was set aside.

A report is a file beside the control log. The driver hears it and removes it; until then whoever told it
waits, or whoever plans the next batch. So the driver has logged which queries failed before anything follows
from that, as where it takes the results itself.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from weir.errors import CheckpointError
from weir.runtime.output.outputs import Output
from weir.storage import pack, unpack
from weir.storage.files import make_folder, remove, remove_folder, replace_file

_KIND = "weir.report/1"
_REFUSED = "refused"
_LOOK = 0.005
_LONGEST = 120.0
"""Seconds after which the driver is taken for dead."""


class Reports:
    """The reports of a checkpoint, whose folder is ``own``."""

    def __init__(self, own: Path) -> None:
        self._folder = own / "reports"

    def tell(self, batch: int, name: str, rows: Sequence[Output]) -> None:
        """Leave rows for the driver; who tells the same again replaces it."""
        columns = {
            "kind": pa.array([row.kind for row in rows], pa.string()),
            "name": pa.array([row.name for row in rows], pa.string()),
            "slot": pa.array([row.slot for row in rows], pa.int64()),
            "data": pa.array([row.data[:] for row in rows], pa.large_binary()),
            "counts": pa.array([row.counts for row in rows], pa.list_(pa.int64())),
        }
        make_folder(self._folder)
        replace_file(self._folder / f"{batch}-{name}", bytes(pack(_KIND, {}, {"rows": columns})))

    def batches(self) -> list[int]:
        """The batches of which something is told."""
        return sorted({int(path.name.partition("-")[0]) for path in self._folder.glob("[0-9]*-*")})

    def read(self, batch: int) -> list[Output]:
        """All that is told of a batch."""
        found: list[Output] = []
        for path in sorted(self._folder.glob(f"{batch}-*")):
            columns = unpack(path.read_bytes(), _KIND).table("rows")
            found += [
                Output(*row) for row in zip(*(each.to_pylist() for each in columns.values()), strict=True)
            ]
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
