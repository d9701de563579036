"""A graph store written by hand, as the load job would: sorted triples of ids, and their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from weir.linked.graphs.parquet_store import TERMS, GraphStore, Manifest
from weir.rdf.ids.dictionary import Dictionary


def written_store(folder: Path, triples: Sequence[tuple[str, str, str]], key: bytes = b"store") -> GraphStore:
    """The default graph of a store; the first of its predicates has two files."""
    own = Dictionary(key)
    columns = [own.encode_texts(list(column)).tolist() for column in zip(*triples, strict=True)]
    rows = sorted((p, s, o) for s, p, o in zip(*columns, strict=True))
    counts = Counter(p for p, _, _ in rows)
    partitions = {str(p): number for number, p in enumerate(counts)}
    for p, number in partitions.items():
        part = folder / "triples" / f"part={number}"
        part.mkdir(parents=True)
        mine = [{"g": 0, "s": s, "p": each, "o": o} for each, s, o in rows if each == int(p)]
        for place, some in enumerate((mine[: len(mine) // 2], mine[len(mine) // 2 :])):
            pq.write_table(pa.Table.from_pylist(some), part / f"{place}.parquet")
    (folder / "terms").mkdir()
    ids, texts = own.items()
    order = ids.argsort()
    terms = pa.table({"id": ids[order], "text": pa.array(texts, pa.large_string()).take(order)}, schema=TERMS)
    pq.write_table(terms, folder / "terms" / "0.parquet")
    predicates = {str(each): count for each, count in counts.items()}
    Manifest(key.hex(), {}, {"": len(rows)}, predicates, len(rows), len(ids), partitions).write(folder)
    return GraphStore(folder)
