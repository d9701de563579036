"""The Parquet store of a large graph: sorted triples of ids, partitioned by predicate, and their texts.

    DIR/store.json            version, key, sources, counts by graph and by predicate
    DIR/triples/part=N/*.parquet   columns g, s, p, o, sorted by p, s, o
    DIR/terms/*.parquet       columns id, text, sorted by id

A frequent predicate has a partition of its own, the rare ones share one; row-group statistics do the
rest, so a scan with a constant predicate reads little else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weir.errors import DataError, UsageError
from weir.extras import lazily
from weir.kernel.contract import GraphTable
from weir.rdf.columns import Ids, one_of
from weir.rdf.ids.dictionary import TextTable
from weir.storage.files import replace_file

if TYPE_CHECKING:
    import pyarrow.dataset as ds
else:
    ds = lazily("pyarrow.dataset")

VERSION = 1
MANIFEST = "store.json"
OWN_PARTITIONS = 256
"""How many predicates have a partition of their own."""

REST = -1
"""The partition of all other predicates."""

TRIPLES = pa.schema([("g", pa.int64()), ("s", pa.int64()), ("p", pa.int64()), ("o", pa.int64())])
TERMS = pa.schema([("id", pa.int64()), ("text", pa.large_string())])


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a store holds. ``graphs`` counts triples by graph IRI ("" is the default graph)."""

    key: str
    sources: dict[str, str]
    graphs: dict[str, int]
    predicates: dict[str, int]
    triples: int
    terms: int
    partitions: dict[str, int] = field(default_factory=dict)
    version: int = VERSION

    def write(self, folder: Path) -> None:
        replace_file(folder / MANIFEST, json.dumps(asdict(self), indent=1, sort_keys=True).encode())


class GraphStore:
    """A store opened for reading; what it returns are the store's own ids, under ``key``."""

    def __init__(self, folder: Path) -> None:
        path = folder / MANIFEST
        if not path.is_file():
            raise UsageError(f"no graph store at {folder}", hint="make one with: weir load FILE… --into DIR")
        raw = json.loads(path.read_text())
        if raw.get("version") != VERSION:
            raise DataError(
                f"the graph store at {folder} has format {raw.get('version')}, this Weir reads {VERSION}",
                hint="load its sources again",
            )
        self.folder = folder
        self.manifest = Manifest(**raw)
        self.key = bytes.fromhex(self.manifest.key)

    def __len__(self) -> int:
        return self.manifest.triples

    def table(
        self,
        graph: int = 0,
        subject: int | None = None,
        predicate: int | None = None,
        object: int | None = None,
    ) -> GraphTable:
        """The triples of one graph, restricted as far as constants allow."""
        condition = pc.field("g") == graph
        if predicate is not None:
            condition &= pc.field("part") == self.manifest.partitions.get(str(predicate), REST)
        for name, constant in (("s", subject), ("p", predicate), ("o", object)):
            if constant is not None:
                condition &= pc.field(name) == constant
        found = self._triples().to_table(columns=["s", "p", "o"], filter=condition)
        return GraphTable(*(_column(found, name) for name in ("s", "p", "o")))

    def _triples(self) -> ds.Dataset:
        folders = ds.partitioning(_PARTS, flavor="hive")
        return ds.dataset(self.folder / "triples", format="parquet", partitioning=folders)

    def batches(self, graph: int, predicate: int) -> Iterator[tuple[Ids, Ids]]:
        """Subjects and objects of one predicate, in their order, some at a time."""
        part = pc.field("part") == self.manifest.partitions.get(str(predicate), REST)
        condition = part & (pc.field("g") == graph) & (pc.field("p") == predicate)
        found = self._triples().to_batches(columns=["s", "o"], filter=condition, **_AHEAD)
        return ((_numbers(each, "s"), _numbers(each, "o")) for each in found if len(each))

    def text_table(self, ids: Ids) -> TextTable:
        """The texts of those of the ids, ascending, that the store has: columns, and no more than a few rows
        beside them at a time."""
        known: list[Ids] = [np.empty(0, np.int64)]
        texts: list[pa.Array] = [pa.array([], pa.large_string())]
        for batch in ds.dataset(self.folder / "terms", format="parquet").to_batches(**_AHEAD):
            column = _numbers(batch, "id")
            near = ids[ids.searchsorted(column[:1])[0] :] if len(column) else column
            rows = np.flatnonzero(one_of(column, near[: near.searchsorted(column[-1:], side="right")[0]]))
            if len(rows):
                known.append(column[rows])
                texts.append(batch["text"].take(pa.array(rows)).cast(pa.large_string()))
        return TextTable(np.concatenate(known), pa.concat_arrays(texts))

    def texts(self, ids: Ids) -> list[str]:
        """The texts of ids that the store has, each id hashed and distinct, in the order given."""
        wanted = np.sort(ids)
        data = ds.dataset(self.folder / "terms", format="parquet")
        low, high = (wanted[0], wanted[-1]) if len(wanted) else (0, -1)
        inside = (pc.field("id") >= int(low)) & (pc.field("id") <= int(high))
        table = data.to_table(filter=inside & pc.field("id").isin(pa.array(wanted)))
        found = dict(zip(_column(table, "id").tolist(), table["text"].to_pylist(), strict=True))
        return [found[each] for each in ids.tolist()]


_PARTS = pa.schema([("part", pa.int64())])
_AHEAD = {"batch_size": 1 << 17, "batch_readahead": 2, "fragment_readahead": 1}
"""What is read before it is asked for, so that a scan takes little memory."""


def _numbers(batch: pa.RecordBatch, name: str) -> Ids:
    column: Ids = batch[name].to_numpy(zero_copy_only=False)
    return column


def _column(table: pa.Table, name: str) -> Ids:
    column: Ids = table[name].combine_chunks().to_numpy(zero_copy_only=False)
    return column
