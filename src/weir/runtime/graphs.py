"""Static graphs as encoded files beside the checkpoint: read once by the driver, mapped by workers.

A file is an Arrow IPC file of triples and one of texts, named by its content, so equal graphs share it.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyoxigraph as ox

from weir.errors import DataError, UsageError
from weir.kernel.background import GraphTable
from weir.rdf.dictionary import Dictionary
from weir.rdf.ids import encode_texts
from weir.rdf.statements import QuadText, quad_texts

_FORMATS = {
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".nq": ox.RdfFormat.N_QUADS,
    ".ttl": ox.RdfFormat.TURTLE,
    ".trig": ox.RdfFormat.TRIG,
    ".jsonld": ox.RdfFormat.JSON_LD,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
    ".xml": ox.RdfFormat.RDF_XML,
}


def store_graph(sources: Sequence[Path], folder: Path, key: bytes) -> str:
    """Encode graph files, merged into one graph, into ``folder``; the name of the result.

    A malformed file is an error and leaves nothing behind.
    """
    quads = [quad for source in sources for quad in _read(source)]
    digest = hashlib.sha256(repr(sorted(quads)).encode()).hexdigest()[:20]
    name = f"{digest}.graph"
    target = folder / name
    if target.exists():
        return name
    columns = [pl.Series([quad[place] for quad in quads], dtype=pl.String) for place in range(3)]
    ids = [encode_texts(column, key) for column in columns]
    rows = np.unique(np.stack(ids), axis=1) if quads else np.empty((3, 0), np.int64)
    texts = pl.concat(columns)
    every, first = np.unique(np.concatenate(ids), return_index=True)
    named = every > 0
    folder.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".partial")
    partial.mkdir(exist_ok=True)
    _write(
        partial / "triples.arrow", {"s": pa.array(rows[0]), "p": pa.array(rows[1]), "o": pa.array(rows[2])}
    )
    kept = texts.gather(first[named]).to_arrow().cast(pa.large_string())
    _write(partial / "texts.arrow", {"id": pa.array(every[named]), "text": kept})
    os.replace(partial, target)
    return name


def load_graph(path: Path, dictionary: Dictionary) -> GraphTable:
    """The graph of a stored file; its texts go into ``dictionary``."""
    texts = _map(path / "texts.arrow")
    dictionary.add(texts["id"].to_numpy(), texts["text"].to_pylist())
    triples = _map(path / "triples.arrow")
    return GraphTable(*(triples[name].to_numpy() for name in ("s", "p", "o")))


def _read(source: Path) -> Iterator[QuadText]:
    suffixes = source.suffixes
    packed = suffixes[-1:] == [".gz"]
    suffix = suffixes[-2] if packed and len(suffixes) > 1 else suffixes[-1] if suffixes else ""
    form = _FORMATS.get(suffix)
    if form is None:
        raise UsageError(
            f"unknown graph format: {source.name}",
            hint=f"known endings: {', '.join(_FORMATS)}, each with .gz",
        )
    if not source.is_file():
        raise UsageError(f"no such graph file: {source}")
    base = "file://" + str(source.resolve())
    try:
        with gzip.open(source, "rb") if packed else open(source, "rb") as file:
            prefix = hashlib.sha256(str(source.resolve()).encode()).hexdigest()[:8]
            for quad in quad_texts(ox.parse(file, format=form, base_iri=base)):  # type: ignore[arg-type]
                yield tuple(f"_:g{prefix}x{t[2:]}" if t.startswith("_:") else t for t in quad)  # type: ignore[misc]
    except (SyntaxError, ValueError, OSError, EOFError) as error:
        raise DataError(f"cannot read the graph file {source}", detail=str(error)) from error


def _write(path: Path, columns: dict[str, pa.Array]) -> None:
    batch = pa.record_batch(list(columns.values()), names=list(columns))
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)


def _map(path: Path) -> pa.Table:
    with pa.memory_map(str(path)) as source:
        return pa.ipc.open_file(source).read_all()
