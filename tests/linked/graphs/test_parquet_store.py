"""The Parquet store, written here by hand: what is scanned, under the store's key and under another."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weir.errors import DataError, UsageError
from weir.linked.graphs.parquet_store import MANIFEST, REST, TERMS, GraphStore, Manifest
from weir.linked.graphs.store_source import StoreSource
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI

A, B, P, Q, G = (IRI(f"http://e/{name}") for name in "abpqg")
QUADS = [("", A, P, B), ("", B, P, A), ("", A, Q, A), (G.value, A, P, A)]


@pytest.fixture
def store(tmp_path: Path) -> GraphStore:
    """``P`` has a partition of its own, ``Q`` is among the rest."""
    own = Dictionary(b"store")
    ids = {term: own.encode(term) for term in (A, B, P, Q, G)}
    for part, predicate in ((0, P), (REST, Q)):
        rows = [
            {"g": ids[IRI(g)] if g else 0, "s": ids[s], "p": ids[p], "o": ids[o]}
            for g, s, p, o in QUADS
            if p == predicate
        ]
        folder = tmp_path / "triples" / f"part={part}"
        folder.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows), folder / "0.parquet")
    (tmp_path / "terms").mkdir()
    texts = sorted((identifier, str(term)) for term, identifier in ids.items())
    terms = pa.table({"id": [i for i, _ in texts], "text": [text for _, text in texts]}, schema=TERMS)
    pq.write_table(terms, tmp_path / "terms" / "0.parquet")
    counts = {str(ids[P]): 3, str(ids[Q]): 1}
    Manifest(
        own.key.hex(), {}, {"": 3, G.value: 1}, counts, 4, len(texts), partitions={str(ids[P]): 0}
    ).write(tmp_path)
    return GraphStore(tmp_path)


@pytest.mark.parametrize("key", [b"store", b"another"])
def test_scans_are_in_ids_of_the_dictionary(store: GraphStore, key: bytes) -> None:
    dictionary = Dictionary(key)
    source = StoreSource(store, dictionary)
    p, a = dictionary.encode(P), dictionary.encode(A)
    assert source.names() == (G.value,) and len(store) == 4
    for scan, wanted in (
        (("", None, p, None), {(A, P, B), (B, P, A)}),
        (("", a, None, None), {(A, P, B), (A, Q, A)}),
        (("", None, None, a), {(B, P, A), (A, Q, A)}),
        ((G.value, None, None, None), {(A, P, A)}),
        (("http://e/none", None, None, None), set()),
    ):
        found = source.scan(scan)
        columns = (found.subject, found.predicate, found.object)
        source.add_texts(np.concatenate(columns))
        assert (
            set(zip(*(map(dictionary.decode, column.tolist()) for column in columns), strict=True)) == wanted
        )


def test_what_is_no_store_is_refused(store: GraphStore, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no graph store"):
        GraphStore(tmp_path / "triples")
    manifest = json.loads((tmp_path / MANIFEST).read_text()) | {"version": 99}
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(DataError, match="format 99"):
        GraphStore(tmp_path)
