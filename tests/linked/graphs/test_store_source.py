"""What a store tells of its graphs without reading them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weir.linked.graphs.parquet_store import TERMS, GraphStore, Manifest
from weir.linked.graphs.store_source import StoreSource
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI

P, Q = IRI("http://e/p"), IRI("http://e/q")


@pytest.mark.parametrize("key", [b"store", b"another"])
def test_sizes_and_predicates_stand_in_the_manifest(tmp_path: Path, key: bytes) -> None:
    own, dictionary = Dictionary(b"store"), Dictionary(key)
    ids = {own.encode(each): str(each) for each in (P, Q)}
    (tmp_path / "terms").mkdir()
    texts = sorted(ids.items())
    terms = pa.table({"id": [i for i, _ in texts], "text": [text for _, text in texts]}, schema=TERMS)
    pq.write_table(terms, tmp_path / "terms" / "0.parquet")
    counts = dict.fromkeys(map(str, ids), 3)
    Manifest(own.key.hex(), {}, {"": 5, "http://e/g": 1}, counts, 6, 2).write(tmp_path)
    source = StoreSource(GraphStore(tmp_path), dictionary)
    assert [source.size(name) for name in ("", "http://e/g", "http://e/none")] == [5, 1, 0]
    found = source.predicates("")
    source.add_texts(found)
    assert {dictionary.decode(each) for each in found.tolist()} == {P, Q}
