"""The rows that tasks tell the driver, as the bytes of a report (``task_reports``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

import pyarrow as pa

from weir.runtime.output.outputs import Output
from weir.runtime.output.sinks.part_folders import ResultPart
from weir.storage import pack, unpack

_KIND = "weir.report/1"
_PARTS = "parts"
"""The kind of the row that tells which parts a task has written."""


def packed_rows(rows: Sequence[Output]) -> bytes:
    """Rows as bytes."""
    columns = {
        "kind": pa.array([row.kind for row in rows], pa.string()),
        "name": pa.array([row.name for row in rows], pa.string()),
        "slot": pa.array([row.slot for row in rows], pa.int64()),
        "data": pa.array([row.data[:] for row in rows], pa.large_binary()),
        "counts": pa.array([row.counts for row in rows], pa.list_(pa.int64())),
    }
    return bytes(pack(_KIND, {}, {"rows": columns}))


def rows_of(told: Iterable[bytes]) -> list[Output]:
    """The rows of all that is told."""
    found: list[Output] = []
    for each in told:
        columns = unpack(each, _KIND).table("rows")
        found += [Output(*row) for row in zip(*(each.to_pylist() for each in columns.values()), strict=True)]
    return found


def parts_row(parts: Sequence[ResultPart]) -> Output:
    """The row of a task that has written these parts."""
    return Output(_PARTS, "", 0, json.dumps([asdict(part) for part in parts]).encode())


def parts_in(rows: Iterable[Output]) -> list[ResultPart]:
    """The parts that tasks have written, by what they told."""
    told = (json.loads(row.data[:]) for row in rows if row.kind == _PARTS)
    return [ResultPart(**part) for each in told for part in each]
