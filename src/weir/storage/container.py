"""The one container for columns: an Arrow IPC stream whose schema says what it is.

It holds tables of different lengths, each a set of named columns, and a header of plain values. The stream
has one record batch of one row: a table is a list of structs, so its columns lie in the stream as they are
and come back as views of it. The schema's metadata has the kind of content, with its version, and the header
as JSON. Content of another kind or version is refused, and so is what is damaged.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any, TypeAlias

import numpy as np
import pyarrow as pa

from weir.errors import CheckpointError

_KIND, _HEADER = b"weir.kind", b"weir.header"

Data: TypeAlias = bytes | bytearray | memoryview | mmap.mmap | pa.Buffer
Columns: TypeAlias = Mapping[str, np.ndarray | pa.Array]


@dataclass(frozen=True)
class Container:
    """What ``unpack`` found; a table that has no columns is not in ``tables``."""

    kind: str
    header: Mapping[str, Any]
    reader: pa.RecordBatchStreamReader = field(repr=False, compare=False)

    @cached_property
    def tables(self) -> Mapping[str, Mapping[str, pa.Array]]:
        """The columns of each table, read (and expanded, where they are compressed) when first asked for."""
        try:
            batch = self.reader.read_next_batch() if len(self.reader.schema) else None
        except (pa.ArrowInvalid, OSError, StopIteration) as error:
            raise CheckpointError(f"{self.kind} is damaged", detail=str(error)) from None
        tables = {}
        for name, each in zip(batch.schema.names, batch.columns, strict=True) if batch is not None else ():
            rows = each.values
            tables[name] = {
                rows.type.field(place).name: rows.field(place) for place in range(rows.type.num_fields)
            }
        return tables

    def table(self, name: str) -> Mapping[str, pa.Array]:
        """A table's columns, none where it has none."""
        return self.tables.get(name, {})


def pack(
    kind: str,
    header: Mapping[str, Any],
    tables: Mapping[str, Columns],
    *,
    compression: str | None = None,
    into: IO[bytes] | None = None,
) -> pa.Buffer:
    """The bytes of a container; equal content gives equal bytes. The columns of a table have one length.
    ``compression`` is one of Arrow IPC's: ``lz4``, ``zstd``. Written ``into`` an open file they are nowhere
    whole in memory, and what is returned is empty."""
    names = [name for name, columns in tables.items() if columns]
    lists = [_list(tables[name]) for name in names]
    metadata = {_KIND: kind.encode(), _HEADER: json.dumps(header, separators=(",", ":")).encode()}
    schema = pa.schema([pa.field(name, each.type) for name, each in zip(names, lists, strict=True)], metadata)
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(into or sink, schema, options=options) as writer:
        if lists:
            writer.write_batch(pa.record_batch(lists, schema=schema))
    return sink.getvalue()


def unpack(data: Data, kind: str) -> Container:
    """The inverse of ``pack``. Columns are views of ``data``."""
    try:
        reader = pa.ipc.open_stream(pa.py_buffer(data))
        metadata = reader.schema.metadata or {}
        found = metadata.get(_KIND, b"").decode()
        if found != kind:
            raise CheckpointError(
                f"this is {found or 'something else'}, and {kind} was expected",
                hint="go on with the version of Weir that wrote it, or start again with a new checkpoint",
            )
        return Container(kind, json.loads(metadata[_HEADER]), reader)
    except (pa.ArrowInvalid, OSError, StopIteration, ValueError) as error:
        raise CheckpointError(f"{kind} is damaged", detail=str(error)) from None


def numbers(column: pa.Array) -> np.ndarray:
    """A column of integers as 64-bit ones, without a copy where it has that width."""
    found: np.ndarray = column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return found


def _list(columns: Columns) -> pa.LargeListArray:
    arrays = [pa.array(each) if isinstance(each, np.ndarray) else each for each in columns.values()]
    rows = pa.StructArray.from_arrays(arrays, names=list(columns))
    return pa.LargeListArray.from_arrays(pa.array([0, len(rows)], pa.int64()), rows)
