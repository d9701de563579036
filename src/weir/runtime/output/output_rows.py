"""The rows in which a group's results, metrics and what was set aside leave a task."""

from __future__ import annotations

from dataclasses import dataclass

from weir.storage.spool import Buffer

OUTPUT_SCHEMA = "kind string, name string, slot bigint, data binary, counts array<bigint>"


@dataclass(frozen=True, slots=True)
class Output:
    """One row; what its ``kind`` says of the others stands in ``outputs``."""

    kind: str
    name: str
    slot: int
    data: Buffer
    counts: list[int] | None = None
