"""Extracts as files beside the checkpoint: written once by the driver, mapped by workers.

An extract is a folder of Arrow IPC files (triples by graph, and the texts of their terms), named by what is
in it, so that queries with equal extracts share one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from weir.background.graphs.tables import DEFAULT
from weir.kernel.background import Background, GraphTable
from weir.rdf.columns import Ids
from weir.rdf.dictionary import Dictionary

_VALIDITY = ("start", "end")
_MADE = "made"


def write_extract(background: Background, dictionary: Dictionary, folder: Path) -> str:
    """Write graphs and the texts of their terms into ``folder``; the name of the result."""
    tables: Mapping[str, GraphTable] = {DEFAULT: background.default, **background.named}
    triples = pa.concat_tables([_triples(table) for _, table in sorted(tables.items())])
    ids = np.unique(np.concatenate([triples[name].to_numpy() for name in ("s", "p", "o")]))
    ids = ids[ids > 0]
    texts = pa.table({"id": ids, "text": pa.array(dictionary.texts(ids), pa.large_string())})
    rows = [len(table.subject) for _, table in sorted(tables.items())]
    names = pa.table({"name": pa.array(sorted(tables), pa.string()), "rows": rows})
    if background.made:
        made = [background.made.get(name) for name in sorted(tables)]
        names = names.append_column(_MADE, pa.array(made, pa.list_(pa.int64())))
    parts = {"triples": triples, "texts": texts, "names": names}
    digest = hashlib.sha256()
    for part in parts.values():
        digest.update(_bytes(part))
    name = f"{digest.hexdigest()[:20]}.graphs"
    target = folder / name
    if target.exists():
        return name
    partial = target.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for part_name, part in parts.items():
        (partial / f"{part_name}.arrow").write_bytes(_bytes(part))
    os.replace(partial, target)
    return name


def load_extract(path: Path, dictionary: Dictionary) -> Background:
    """The graphs of an extract, mapped; their texts go into ``dictionary``."""
    texts = _map(path / "texts.arrow")
    dictionary.add(_column(texts, "id"), texts["text"].to_pylist())
    triples = _map(path / "triples.arrow")
    names = _map(path / "names.arrow")
    tables: dict[str, GraphTable] = {}
    first = 0
    for name, rows in zip(names["name"].to_pylist(), names["rows"].to_pylist(), strict=True):
        part = triples.slice(first, rows)
        validity = [_optional(part, each) for each in _VALIDITY]
        tables[name] = GraphTable(*(_column(part, each) for each in ("s", "p", "o")), *validity)
        first += rows
    default = tables.pop(DEFAULT, GraphTable.empty())
    if _MADE not in names.column_names:
        return Background(default, tables)
    made = zip(names["name"].to_pylist(), names[_MADE].to_pylist(), strict=True)
    return Background(default, tables, {name: tuple(each) for name, each in made if each})


def _triples(table: GraphTable) -> pa.Table:
    """A graph's triples sorted; validity is null where the graph never changes."""
    order = np.lexsort((table.object, table.subject, table.predicate))
    rows = len(order)
    columns = {"s": table.subject, "p": table.predicate, "o": table.object}
    data = {column: pa.array(values[order]) for column, values in columns.items()}
    for column, values in zip(_VALIDITY, (table.start, table.end), strict=True):
        data[column] = pa.nulls(rows, pa.int64()) if values is None else pa.array(values[order])
    return pa.table(data)


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        for batch in table.combine_chunks().to_batches():
            writer.write_batch(batch)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _map(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()


def _column(table: pa.Table, name: str) -> Ids:
    column: Ids = table[name].combine_chunks().to_numpy(zero_copy_only=False)
    return column


def _optional(table: pa.Table, name: str) -> Ids | None:
    return None if table[name].null_count == len(table) else _column(table, name)
