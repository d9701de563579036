"""The Parquet store of a large graph: sorted triples of ids, partitioned by predicate, and their texts.

    DIR/store.json            version, key, sources, counts by graph and by predicate
    DIR/triples/part=N/*.parquet   columns g, s, p, o, sorted by p, s, o
    DIR/terms/*.parquet       columns id, text, sorted by id

A frequent predicate has a partition of its own, the rare ones share one; row-group statistics do the
rest, so a scan with a constant predicate reads little else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weir.errors import DataError, UsageError
from weir.extras import lazily
from weir.kernel.contract import GraphTable
from weir.linked.graphs.triple_tables import DEFAULT, Scan
from weir.rdf.columns import Ids
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI
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
        folders = ds.partitioning(_PARTS, flavor="hive")
        data = ds.dataset(self.folder / "triples", format="parquet", partitioning=folders)
        found = data.to_table(columns=["s", "p", "o"], filter=condition)
        return GraphTable(*(_column(found, name) for name in ("s", "p", "o")))

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


def _column(table: pa.Table, name: str) -> Ids:
    column: Ids = table[name].combine_chunks().to_numpy(zero_copy_only=False)
    return column


class StoreSource:
    """The graphs of a Parquet store, as ids of ``dictionary``'s key.

    Where the store has another key, what a scan finds is encoded anew by its texts: right, but as slow as
    the scan is large. A new checkpoint takes the key of its store, so that this is the exception.
    """

    def __init__(self, store: GraphStore, dictionary: Dictionary) -> None:
        self.store = store
        self.dictionary = dictionary
        self._own = Dictionary(store.key)
        self._same = store.key == dictionary.key

    def names(self) -> Sequence[str]:
        return tuple(name for name in self.store.manifest.graphs if name != DEFAULT)

    def scan(self, scan: Scan) -> GraphTable:
        graph, *constants = scan
        if graph not in self.store.manifest.graphs:
            return GraphTable.empty()
        number = 0 if graph == DEFAULT else self._own.encode(IRI(graph))
        found = self.store.table(number, *(None if each is None else self._there(each) for each in constants))
        if self._same:
            return found
        return GraphTable(*(self._here(column) for column in (found.subject, found.predicate, found.object)))

    def add_texts(self, ids: Ids) -> None:
        wanted = [each for each in np.unique(ids).tolist() if each and each not in self.dictionary]
        if self._same and wanted:
            missing = np.array(wanted, np.int64)
            self.dictionary.add(missing, self.store.texts(missing))

    def _there(self, identifier: int) -> int:
        if self._same or identifier < 0:
            return identifier
        return int(self._own.encode_texts([self.dictionary.text(identifier)])[0])

    def _here(self, column: Ids) -> Ids:
        distinct, where = np.unique(column, return_inverse=True)
        hashed = distinct > 0
        if hashed.any():
            distinct[hashed] = self.dictionary.encode_texts(self.store.texts(distinct[hashed]))
        return distinct[where]
