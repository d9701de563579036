"""Loading graphs by Spark: what is stored is what was in the files, all of it or nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from weir.errors import DataError, UsageError
from weir.linked.graphs.parquet_store import GraphStore
from weir.linked.graphs.store_source import StoreSource
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI
from weir.spark import load
from weir.spark.load import load_graphs

pytestmark = pytest.mark.spark

PREFIX = "@prefix e: <http://e/> .\n"


def lines(count: int) -> str:
    return "".join(f'<http://e/{n}> <http://e/p{n % 3}> "{n}"^^<http://e/t> .\n' for n in range(count))


def texts_of(store: GraphStore, graph: str = "") -> set[tuple[str | None, ...]]:
    dictionary = Dictionary(store.key)
    table = store.table(dictionary.encode(IRI(graph)) if graph else 0)
    for column in (table.subject, table.predicate, table.object):
        StoreSource(store, dictionary).add_texts(column)
    columns = [dictionary.texts(column) for column in (table.subject, table.predicate, table.object)]
    return set(zip(*columns, strict=True))


def test_files_of_several_formats_and_graphs(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(lines(10) * 2)
    (tmp_path / "b.ttl").write_text(PREFIX + "e:x e:p0 21, e:y .")
    (tmp_path / "c.nq").write_text("<http://e/a> <http://e/b> <http://e/c> <http://e/g> .\n")
    sources = [("", tmp_path / "a.nt"), ("http://e/h", tmp_path / "b.ttl"), ("", tmp_path / "c.nq")]
    store = load_graphs(spark, sources, tmp_path / "store")
    assert store.manifest.graphs == {"": 10, "http://e/h": 2, "http://e/g": 1}
    assert texts_of(store, "http://e/h") == {
        ("<http://e/x>", "<http://e/p0>", '"21"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("<http://e/x>", "<http://e/p0>", "<http://e/y>"),
    }
    assert len(texts_of(store)) == 10


def test_a_scan_reads_what_its_constants_allow(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(lines(30))
    store = load_graphs(spark, [("", tmp_path / "a.nt")], tmp_path / "store")
    dictionary = Dictionary(store.key)
    p1, s4 = dictionary.encode(IRI("http://e/p1")), dictionary.encode(IRI("http://e/4"))
    table = store.table(predicate=p1)
    assert len(table.subject) == 10
    assert (table.predicate == p1).all()
    assert len(store.table(predicate=p1, subject=s4).subject) == 1
    assert np.array_equal(table.subject, np.sort(table.subject))


def test_loading_again_does_nothing_and_loading_more_adds(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(lines(10))
    first = load_graphs(spark, [("", tmp_path / "a.nt")], tmp_path / "store")
    written = (tmp_path / "store" / "store.json").stat().st_mtime_ns
    load_graphs(spark, [("", tmp_path / "a.nt")], tmp_path / "store")
    assert (tmp_path / "store" / "store.json").stat().st_mtime_ns == written
    (tmp_path / "b.nt").write_text(lines(20))
    more = load_graphs(spark, [("", tmp_path / "b.nt")], tmp_path / "store")
    assert (len(first), len(more)) == (10, 20)
    assert more.key == first.key


def test_malformed_lines_are_told_and_nothing_is_loaded(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "_SPLIT", 256)
    (tmp_path / "a.nt").write_text(lines(20) + "oops\n" + lines(5))
    (tmp_path / "b.nt").write_text("also bad\n")
    with pytest.raises(DataError, match="2 malformed lines: nothing was loaded") as caught:
        load_graphs(spark, [("", tmp_path / "a.nt"), ("", tmp_path / "b.nt")], tmp_path / "store")
    assert f"{tmp_path / 'a.nt'}:21: " in str(caught.value)
    assert f"{tmp_path / 'b.nt'}:1: " in str(caught.value)
    assert not (tmp_path / "store").exists()


def test_a_load_that_was_interrupted_goes_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.nt").write_text(lines(10))
    (tmp_path / "b.nt").write_text("oops\n")
    sources = [("", tmp_path / "a.nt"), ("", tmp_path / "b.nt")]
    with pytest.raises(DataError):
        load_graphs(spark, sources, tmp_path / "store")
    receipts = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "store.loading").glob("*.json")}
    (tmp_path / "b.nt").write_text(lines(12))
    store = load_graphs(spark, sources, tmp_path / "store")
    assert len(receipts) == 2
    assert len(store) == 12
    assert not (tmp_path / "store.loading").exists()


def test_no_store(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no graph store"):
        GraphStore(tmp_path)
