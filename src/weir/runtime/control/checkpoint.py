"""The folder of a run: Spark's checkpoint, the control log, and what else must outlive a process.

    DIR/spark      Spark's offsets, commits and state
    DIR/weir       meta.json, control/, lock, epochs/, graphs/, sources/, sinks/, spool/

``meta.json`` fixes what may never change: the key of the hash, the number of slots, the format, and the
origin, by which state is known to be of this checkpoint.
"""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.errors import CheckpointError
from weir.runtime.control.control_log import PATIENCE, ControlLog
from weir.runtime.control.overdue import OverdueNotes
from weir.storage.files import make_folder, numbered, replace_file
from weir.storage.lease import Lease
from weir.storage.spool import Spool

FORMAT = 10
_META = "meta.json"
_LOOK = 0.1


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """An open folder. Only the driver writes to it, but for Spark's own part and the spool; the ``lease``
    says that it may."""

    folder: Path
    key: bytes
    slots: int
    origin: str
    durable: bool = True
    lease: Lease | None = None
    partitions: int = 0
    """Tasks over which the slots are spread."""

    @property
    def own(self) -> Path:
        """Weir's part of the folder."""
        return self.folder / "weir"

    @property
    def spark(self) -> Path:
        """Spark's part of the folder."""
        return self.folder / "spark"

    @property
    def graphs(self) -> Path:
        return self.own / "graphs"

    def spool(self) -> Spool:
        """Where workers leave what is large until a batch is done."""
        return Spool(self.own)

    def overdue(self) -> OverdueNotes:
        """Where workers leave why they ended."""
        return OverdueNotes(self.own)

    def control(self) -> ControlLog:
        """A reader of the control log, which also appends."""
        return ControlLog(self.own, self.durable)

    def check(self) -> None:
        """Raise where another driver has taken over: to be called before every commit."""
        if self.lease is not None:
            self.lease.check()

    @staticmethod
    def take(folder: Path) -> Lease:
        """The right to write to the checkpoint in ``folder``, which may yet be made; one driver has it."""
        _refuse_others(folder)
        return Lease(folder / "weir")

    @staticmethod
    def read(folder: Path, patience: float = PATIENCE) -> Checkpoint:
        """The checkpoint in ``folder`` for a worker, which only reads it. Storage that is shared may show it
        a while after the driver has made it."""
        until = time.monotonic() + patience
        while not (folder / "weir" / _META).exists():
            if time.monotonic() > until:
                raise CheckpointError(
                    f"this worker sees no checkpoint at {folder}",
                    hint="put it on storage that driver and workers see under the same path",
                )
            time.sleep(_LOOK)
        return Checkpoint.open(folder, version="", slots=0)

    @staticmethod
    def open(
        folder: Path,
        *,
        version: str,
        slots: int,
        key: bytes | None = None,
        origin: str | None = None,
        durable: bool = True,
        lease: Lease | None = None,
        partitions: int | None = None,
    ) -> Checkpoint:
        """Open, or make, the checkpoint in ``folder``; the rest counts for a new one, which draws a key
        and an origin of its own where none is given, and has a partition for each slot. What is written to
        one that is not ``durable`` may be lost with the machine."""
        path = folder / "weir" / _META
        if path.exists():
            meta = _read_meta(path)
            known = bytes.fromhex(meta["key"]), meta["slots"], meta["origin"]
            return Checkpoint(folder, *known, durable, lease, meta["partitions"])
        _refuse_others(folder)
        drawn = key or secrets.token_bytes(16), slots, origin or secrets.token_hex(8)
        made = Checkpoint(folder, *drawn, durable, lease, partitions or slots)
        meta = {"format": FORMAT, "version": version, "key": made.key.hex()}
        make_folder(path.parent, durable=durable)
        told = {**meta, "slots": made.slots, "partitions": made.partitions, "origin": made.origin}
        replace_file(path, json.dumps(told).encode(), durable=durable)
        return made

    def with_partitions(self, partitions: int) -> None:
        """Note that Spark's part has another number of partitions from now on."""
        path = self.own / _META
        replace_file(path, json.dumps({**_read_meta(path), "partitions": partitions}).encode())

    def refuse_other(self, slots: int | None, partitions: int | None) -> None:
        """Raise where other numbers are asked for than those that were fixed at the first start."""
        for name, asked, known in (
            ("slots", slots, self.slots),
            ("partitions", partitions, self.partitions),
        ):
            if asked not in (None, known):
                raise CheckpointError(
                    f"the checkpoint has {known} {name}, and {asked} are asked for",
                    hint=f"leave out --{name}, or start again with a new checkpoint"
                    + (", or change it by weir rescale" if name == "partitions" else ""),
                )

    def next_batch(self) -> int:
        """The first batch id that Spark has not planned yet."""
        return 1 + max(numbered(self.spark / "offsets"), default=-1)

    def committed(self) -> int:
        """The last batch that is done, −1 if none is."""
        return max(numbered(self.spark / "commits"), default=-1)

    def planned(self, batch: int) -> float | None:
        """When Spark planned a batch, in seconds since 1970; None where it is not known."""
        try:
            return (self.spark / "offsets" / str(batch)).stat().st_mtime
        except OSError:
            return None

    def under_way(self) -> bool:
        """Whether a batch is planned and not done."""
        return self.next_batch() - 1 > self.committed()

    def offset(self, source: str) -> dict[str, Any] | None:
        """The last offset that Spark planned for the source of this name."""
        planned = self.next_batch() - 1
        if planned < 0:
            return None
        for line in (self.spark / "offsets" / str(planned)).read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name == source and value != "-":
                found: dict[str, Any] = json.loads(value)
                return found
        return None


def _refuse_others(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()) and not (folder / "weir").exists():
        raise CheckpointError(
            f"{folder} is not a checkpoint of Weir, and not empty", hint="give an empty or a new folder"
        )


def _read_meta(path: Path) -> dict[str, Any]:
    """What a checkpoint fixes for good."""
    try:
        meta: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        missing = {"format", "version", "key", "slots", "partitions", "origin"} - set(meta)
        if missing:
            raise ValueError(f"without {', '.join(sorted(missing))}")
    except (ValueError, TypeError) as error:
        raise CheckpointError(f"{path} is damaged", detail=str(error), hint="use a new folder") from None
    if meta["format"] != FORMAT:
        raise CheckpointError(
            f"the checkpoint has format {meta['format']}, this version of Weir writes {FORMAT}",
            detail=f"it was made by Weir {meta['version']}",
            hint="finish it with that version, or start again with a new folder",
        )
    return meta
