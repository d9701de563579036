"""The driver's side of updates and the worker's, joined by the control log, without Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from weir.errors import UsageError
from weir.language import parse
from weir.linked.graphs.graph_sources import GraphSources
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control import control_log
from weir.runtime.control.catalog import Catalog, Registration, StreamEntry, entry_of
from weir.runtime.control.checkpoint import Checkpoint
from weir.runtime.control.extracts import Extractor, load_extract
from weir.runtime.control.graph_updates import BASE, GraphUpdates, moment
from weir.runtime.control.planning import ControlWriter
from weir.runtime.worker.worker_cache import WorkerCache

PEOPLE = (
    "SELECT ?n FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x <urn:at> ?r } ?x <urn:name> ?n }"
)
ROOMS = "SELECT ?r FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?x <urn:at> ?r } ?r <urn:in> ?h }"


def live(folder: Path, library: GraphSources, durable: bool = True) -> GraphUpdates:
    checkpoint = Checkpoint.open(folder, version="1", slots=1, durable=durable)
    static_graphs = library.open(Dictionary(checkpoint.key), checkpoint.graphs / BASE)
    log = checkpoint.control()
    extractor = Extractor(static_graphs, checkpoint)
    if not log.entries():
        entries = [entry_of(StreamEntry("s"), 0)]
        for name, text in (("people", PEOPLE), ("rooms", ROOMS)):
            graphs, updates = extractor.extract(parse(text), ("s",))
            entries.append(entry_of(Registration(name, text, graphs=graphs, updates=updates), 0))
        log.append(entries)
    return GraphUpdates(ControlWriter(checkpoint, lambda: False), extractor)


def catalog(graphs: GraphUpdates) -> Catalog:
    return Catalog.of(graphs.control.checkpoint.control().entries())


def library(folder: Path) -> GraphSources:
    (folder / "base.nt").write_text('<urn:a> <urn:name> "A" .\n<urn:r> <urn:in> <urn:h> .\n')
    made = GraphSources()
    made.add(None, folder / "base.nt")
    return made


def test_an_update_names_only_the_queries_that_it_concerns(tmp_path: Path) -> None:
    graphs = live(tmp_path / "c", library(tmp_path))
    assert graphs.update('INSERT DATA { <urn:b> <urn:name> "B" }', at=5) == 1
    assert graphs.update("INSERT DATA { <urn:b> <urn:other> 1 }") == 2
    assert graphs.update("INSERT DATA {}") == 0
    assert [(update.number, update.at, set(update.parts)) for update in catalog(graphs).updates] == [
        (1, 5, {"people"}),
        (2, None, set()),
    ]


def test_a_driver_that_starts_again_has_the_updates(tmp_path: Path) -> None:
    live(tmp_path / "c", library(tmp_path)).update('DELETE DATA { <urn:a> <urn:name> "A" }', at=7)
    again = live(tmp_path / "c", library(tmp_path))
    assert again.update('INSERT DATA { <urn:a> <urn:name> "A" }', at=9) == 2
    place = WorkerCache(str(tmp_path / "c"))
    group = place.new_group(0, 0)
    place.follow(group, 0)
    assert group.members["people"].effective == {1: 7, 2: 9}
    assert group.members["people"].followed == (1, 2)
    assert group.members["rooms"].effective == {}


def test_hundreds_of_updates_are_a_few_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the doublings of their number; a driver and a query that come later see each of them."""
    monkeypatch.setattr(Checkpoint, "committed", lambda _: 10**6)
    monkeypatch.setattr(control_log, "_SPARE", 20)
    graphs = live(tmp_path / "c", library(tmp_path), durable=False)
    for number in range(300):
        insert = f'INSERT DATA {{ <urn:b{number}> <urn:name> "{number}" }}'
        assert graphs.update(insert, at=number + 1) == number + 1
    entries = catalog(graphs).updates
    assert len(entries) < 30
    assert [number for entry in entries for number, _, _ in entry.each] == list(range(1, 301))
    assert len(graphs.control.checkpoint.control().entries()) < 40
    again = live(tmp_path / "c", library(tmp_path))
    assert again.update("DELETE DATA { <urn:b7> <urn:name> '7' }", at=2000) == 301
    place = WorkerCache(str(tmp_path / "c"))
    group = place.new_group(0, 0)
    place.follow(group, 0)
    member = group.members["people"]
    assert member.effective == {**{n: n for n in range(1, 301)}, 301: 2000}
    assert group.members["rooms"].effective == {}
    folder = tmp_path / "c" / "weir" / "graphs"
    before = len(list(folder.glob("*.graphs")))
    assert again.extractor is not None
    again.extractor.sweep(again.control.checkpoint.control().entries())
    assert before > 300 > 100 > len(list(folder.glob("*.graphs")))
    assert WorkerCache(str(tmp_path / "c")).new_group(0, 0).members.keys() == {"people", "rooms"}
    extracted, updates = again.extractor.extract(parse(PEOPLE), ("s",))
    assert updates == 301
    table = load_extract(folder / extracted, Dictionary()).default
    assert len(table.subject) == 302


def test_a_file_is_inserted_whole_or_not_at_all(tmp_path: Path) -> None:
    graphs = live(tmp_path / "c", library(tmp_path))
    (tmp_path / "more.ttl").write_text("<urn:q> <urn:in> <urn:h>, <urn:i> .")
    assert graphs.insert(None, tmp_path / "more.ttl") == 1
    with pytest.raises(UsageError, match="no such graph file"):
        graphs.insert(None, tmp_path / "none.ttl")
    assert set(catalog(graphs).updates[0].parts) == {"rooms"}


@pytest.mark.parametrize(
    "given, expected",
    [
        (None, None),
        (1500, 1500),
        ("1970-01-01T00:00:01Z", 1_000_000),
        (datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC), 2_000_000),
    ],
)
def test_times_of_updates(given: object, expected: int | None) -> None:
    assert moment(given) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["yesterday", datetime(1970, 1, 1)])
def test_times_that_are_none(given: object) -> None:
    with pytest.raises(UsageError):
        moment(given)  # type: ignore[arg-type]
