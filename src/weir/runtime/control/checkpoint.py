"""The folder of a run: Spark's checkpoint, the control log, and what else must outlive a process.

    DIR/spark      Spark's offsets, commits and state
    DIR/weir       meta.json, control.jsonl, graphs/, sources/, sinks/, spool/

``meta.json`` fixes what may never change: the key of the hash, the number of slots, the format, and the
origin, by which state is known to be of this checkpoint.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weir.errors import CheckpointError
from weir.runtime.control.catalog import ControlLog
from weir.storage import numbered, replace_file
from weir.storage.spool import Spool

FORMAT = 4


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """An open folder. Only the driver writes to it, but for Spark's own part and the spool."""

    folder: Path
    key: bytes
    slots: int
    origin: str
    durable: bool = True

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

    def control(self) -> ControlLog:
        """A reader of the control log, which also appends."""
        return ControlLog(self.own, self.durable)

    @staticmethod
    def open(
        folder: Path,
        *,
        version: str,
        slots: int,
        key: bytes | None = None,
        origin: str | None = None,
        durable: bool = True,
    ) -> Checkpoint:
        """Open, or make, the checkpoint in ``folder``; the rest counts for a new one, which draws a key
        and an origin of its own where none is given. What is written to one that is not ``durable`` may be
        lost with the machine."""
        path = folder / "weir" / "meta.json"
        if path.exists():
            meta = _read_meta(path)
            return Checkpoint(folder, bytes.fromhex(meta["key"]), meta["slots"], meta["origin"], durable)
        if folder.exists() and any(folder.iterdir()) and not (folder / "weir").exists():
            raise CheckpointError(
                f"{folder} is not a checkpoint of Weir, and not empty", hint="give an empty or a new folder"
            )
        made = Checkpoint(
            folder, key or secrets.token_bytes(16), slots, origin or secrets.token_hex(8), durable
        )
        meta = {"format": FORMAT, "version": version, "key": made.key.hex()}
        path.parent.mkdir(parents=True, exist_ok=True)
        told = {**meta, "slots": made.slots, "origin": made.origin}
        replace_file(path, json.dumps(told).encode(), durable=durable)
        return made

    def next_batch(self) -> int:
        """The first batch id that Spark has not planned yet."""
        return 1 + max(numbered(self.spark / "offsets"), default=-1)

    def committed(self) -> int:
        """The last batch that is done, −1 if none is."""
        return max(numbered(self.spark / "commits"), default=-1)

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


def _read_meta(path: Path) -> dict[str, Any]:
    """What a checkpoint fixes for good."""
    try:
        meta: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        missing = {"format", "version", "key", "slots", "origin"} - set(meta)
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
