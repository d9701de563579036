"""Folders of parts: each task writes files of its own, and the manifest of a batch says which of them count.

    DIR/_owner           the checkpoint whose results these are
    DIR/_parts/N-…       what tasks of batch N have written; nobody knows yet whether it counts
    DIR/_batches/N       the manifest of batch N: its parts, with their rows and bytes
    DIR/batch-N-…        the parts that count; Parquet has a folder for each query

A task may run several times, and so may a batch: the first manifest of a batch counts, and what it names is
moved into the folder. A crash in between leaves what the next start, or the next writer, brings to its end.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow.parquet as pq

from weir.errors import CheckpointError, UsageError
from weir.runtime.output.results import COLUMNS, JSONL
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.folders import parquet_table
from weir.runtime.output.sinks.formats import RENDERS
from weir.runtime.output.sinks.result_files import pieces
from weir.storage.files import make_folder, move, numbered, put_if_absent, remove, writing
from weir.storage.places import file_name

PARQUET = "parquet"
FORMATS = (JSONL, *RENDERS, PARQUET)
"""What parts can be written as."""
_OWNER, _PARTS, _BATCHES = "_owner", "_parts", "_batches"


@dataclass(frozen=True, slots=True)
class ResultPart:
    """A file of ``rows`` results: its ``name`` in the folder, and under which it was ``written``."""

    name: str
    written: str
    rows: int
    bytes: int


class PartFolder:
    """The folder ``folder``, whose parts have the format ``format``."""

    def __init__(self, folder: Path, format: str) -> None:
        if format not in FORMATS:
            raise UsageError(f"unknown format {format!r} of parts", hint=f"one of {', '.join(FORMATS)}")
        self.folder, self.format = folder, format
        self.form = JSONL if format == JSONL else COLUMNS

    def open(self, origin: str) -> None:
        """Take the folder for the checkpoint of this origin, and bring to its end what a crash cut short."""
        for name in (_PARTS, _BATCHES):
            make_folder(self.folder / name)
        path, own = self.folder / _OWNER, f"{origin} {self.format}".encode()
        if not put_if_absent(path, own) and path.read_bytes() != own:
            raise CheckpointError(
                f"{self.folder} has results of another checkpoint, or in another format",
                hint="go on with that checkpoint, or give a new folder",
            )
        for batch in {int(path.name.partition("-")[0]) for path in (self.folder / _PARTS).glob("[0-9]*-*")}:
            if self._manifest(batch).exists():
                self._settle(batch)

    def write(self, batch: int, task: int, results: Sequence[Results]) -> list[ResultPart]:
        """Write what one task has of a batch; what came of it counts once it is published."""
        some = [result for result in results if len(result)]
        if self.format != PARQUET:
            return [self._written(batch, task, "", some)] if some else []
        return [self._written(batch, task, file_name(each.name) + "/", [each]) for each in some]

    def _written(self, batch: int, task: int, below: str, results: Sequence[Results]) -> ResultPart:
        aside = f"{batch:08}-{task:05}-{secrets.token_hex(8)}"
        path = self.folder / _PARTS / aside
        with writing(path) as file:
            if self.format == PARQUET:
                pq.write_table(parquet_table(results[0]), file)
            else:
                text = pieces(results) if self.format == JSONL else RENDERS[self.format](results, "")[0]
                file.writelines([text] if isinstance(text, bytes) else text)
        name = f"{below}batch-{batch:08}-{task:05}.{self.format}"
        return ResultPart(name, aside, sum(map(len, results)), path.stat().st_size)

    def publish(self, batch: int, parts: Sequence[ResultPart]) -> bool:
        """Make these the parts of a batch; False where it has been published, and those count."""
        told = {"batch": batch, "parts": [asdict(part) for part in parts]}
        made = bool(parts) and put_if_absent(self._manifest(batch), json.dumps(told).encode())
        self._settle(batch)
        return made

    def batches(self) -> list[int]:
        """The batches that have results."""
        return numbered(self.folder / _BATCHES)

    def parts(self, batch: int) -> list[ResultPart]:
        """The parts of a batch, none where it has no results."""
        try:
            told = json.loads(self._manifest(batch).read_bytes())
        except FileNotFoundError:
            return []
        return [ResultPart(**part) for part in told["parts"]]

    def _settle(self, batch: int) -> None:
        """Move the parts that count into the folder, and remove what else tasks left of the batch. What a
        crash undoes is done again."""
        pending = self.folder / _PARTS
        for part in self.parts(batch):
            if (pending / part.written).exists():
                make_folder((self.folder / part.name).parent)
                move(pending / part.written, self.folder / part.name, durable=False)
        for path in pending.glob(f"{batch:08}-*"):
            remove(path)

    def _manifest(self, batch: int) -> Path:
        return self.folder / _BATCHES / str(batch)
