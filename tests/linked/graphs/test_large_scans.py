"""Large parts of stores are reduced where they lie: what comes of it is what comes of tables in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from graph_store_kit import written_store
from weir.kernel.contract import GraphTable
from weir.language import parse
from weir.language.update import parse_update
from weir.linked.graphs import StaticGraphs, large_scans
from weir.linked.graphs.large_scans import StreamedScan, assembled
from weir.linked.graphs.parquet_store import GraphStore
from weir.linked.graphs.store_source import StoreSource
from weir.linked.graphs.triple_tables import bounds
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control.extracts import load_extract, net_of, write_extract

PREFIX = "PREFIX : <urn:> SELECT * FROM NAMED WINDOW <w> ON <s> [RANGE 10] WHERE { WINDOW <w> { ?a :at ?r } "
BODIES = (
    "?x :p ?a . ?x :p ?b . ?b :q ?n }",
    "?x :p ?a . ?x :p <urn:3> . ?a :q ?n }",
    "?x :p ?a OPTIONAL { ?a :q ?n } }",
    "{ ?x :p ?a } UNION { ?a :q <urn:5> } }",
    "?a :p+ ?b . ?a ?any ?b }",
    "?x :p ?x . ?x :r ?a }",
)


@pytest.fixture
def store(tmp_path: Path) -> GraphStore:
    random = np.random.default_rng(4)
    rows = {
        (*random.integers(0, 40, 1), int(random.integers(3)), *random.integers(0, 40, 1)) for _ in range(500)
    }
    triples = [(f"<urn:{s}>", f"<urn:{'pqr'[p]}>", f"<urn:{o}>") for s, p, o in sorted(rows)]
    return written_store(tmp_path / "store", triples)


@pytest.fixture(params=[0, 60])
def little(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(large_scans, "LARGE", request.param)
    yield


def triples(background_table: GraphTable) -> list[tuple[int, ...]]:
    return sorted(in_order(background_table))


@pytest.mark.parametrize("body", BODIES)
def test_an_extract_is_the_same(body: str, store: GraphStore, tmp_path: Path, little: None) -> None:
    query, dictionary, other = parse(PREFIX + body), Dictionary(store.key), Dictionary(store.key)
    large = StaticGraphs(StoreSource(store, dictionary), dictionary).extract(query)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_scans, "LARGE", 1 << 40)
        plain = StaticGraphs(StoreSource(store, other), other).extract(query)
    assert triples(large.default) == triples(plain.default)
    loaded = load_extract(tmp_path / write_extract(large, dictionary, tmp_path), Dictionary(store.key))
    assert triples(loaded.default) == triples(plain.default)


def test_only_texts_that_are_written_are_fetched(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_scans, "LARGE", 0)
    dictionary = Dictionary(store.key)
    query = parse(PREFIX.replace("*", "?n") + BODIES[0])
    found = StaticGraphs(StoreSource(store, dictionary), dictionary).extract(query).default
    assert found.index is not None
    runs = found.index.runs
    written, joined = (dictionary.encode_texts([f"<urn:{name}>"])[0].item() for name in "qp")
    names, papers = (slice(*runs[each]) for each in (written, joined))
    assert all(each in dictionary for each in found.object[names].tolist())
    assert not all(each in dictionary for each in found.subject[papers].tolist())


def test_a_scan_gives_what_is_left_in_order(store: GraphStore) -> None:
    dictionary = Dictionary(store.key)
    (predicate,) = dictionary.encode_texts(["<urn:p>"]).tolist()
    whole, scan = store.table(0, predicate=predicate), StreamedScan(store, 0, predicate)
    assert len(scan) == len(whole.subject) == scan.count({})
    subjects, objects = np.unique(whole.subject)[:9], np.unique(whole.object)[3:20]
    left = np.isin(whole.subject, subjects) & np.isin(whole.object, objects)
    kept = {"subject": subjects, "object": objects}
    assert scan.count(kept) == left.sum() > 0
    assert scan.values("object", kept).tolist() == np.unique(whole.object[left]).tolist()
    either = scan.rows([{"subject": subjects}, {"object": objects}])
    wanted = np.isin(whole.subject, subjects) | np.isin(whole.object, objects)
    assert list(zip(either.subject, either.object, strict=True)) == sorted(
        zip(whole.subject[wanted], whole.object[wanted], strict=True)
    )
    assert scan.count({"subject": np.empty(0, np.int64)}) == 0


def test_tables_are_put_together_in_order_and_equal_rows_once() -> None:
    def table(*rows: tuple[int, int, int]) -> GraphTable:
        return GraphTable(*np.array(rows, np.int64).T)

    found = assembled([table((1, 7, 2), (3, 7, 1)), table((5, 6, 5), (1, 7, 2)), table((4, 8, 4), (2, 8, 4))])
    assert triples(found) == [(1, 7, 2), (2, 8, 4), (3, 7, 1), (4, 8, 4), (5, 6, 5)]
    assert found.index is not None and found.index.runs == {6: (0, 1), 7: (1, 3), 8: (3, 5)}
    assert found.object[found.index.by_object].tolist() == found.index.objects.tolist() == [5, 1, 2, 4, 4]


@pytest.mark.parametrize("body", BODIES[:3])
def test_updates_of_a_large_graph_add_what_they_add_to_any(
    body: str, store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    inserted, deleted = "<urn:1> <urn:p> <urn:new> . <urn:new> <urn:q> 3", "<urn:2> <urn:p> <urn:3>"
    request = f"INSERT DATA {{ {inserted} }} ; DELETE DATA {{ {deleted} }}"
    query, found = parse(PREFIX + body), []
    for large in (0, 1 << 40):
        monkeypatch.setattr(large_scans, "LARGE", large)
        dictionary = Dictionary(store.key)
        graphs = StaticGraphs(StoreSource(store, dictionary), dictionary)
        first = graphs.extract(query)
        number = graphs.apply(*net_of(parse_update(request), dictionary, "u"))
        change, later = graphs.change(query, number), graphs.extract(query)
        assert change is not None
        found.append([events(each.default) for each in (first, change, later)])
    assert found[0] == found[1]


def events(table: GraphTable) -> list[tuple[object, ...]]:
    return sorted(zip(in_order(table), *(b.tolist() for b in bounds(table)), strict=True))


def in_order(table: GraphTable) -> list[tuple[int, ...]]:
    return list(zip(*(c.tolist() for c in (table.subject, table.predicate, table.object)), strict=True))
