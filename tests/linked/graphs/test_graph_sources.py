"""Graphs that an engine was given, opened: names, extracts, updates, and what is malformed."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.errors import DataError, UsageError
from weir.kernel.contract import Background
from weir.language import parse
from weir.linked.graphs.extract import StaticGraphs
from weir.linked.graphs.graph_files import RemoteGraph
from weir.linked.graphs.graph_sources import GraphSources, read_graphs
from weir.rdf.ids.dictionary import Dictionary

ALL = parse("SELECT * { ?s ?p ?o }", dialect="sparql")


def opened(folder: Path, files: dict[str, str], graphs: dict[str, str | None]) -> StaticGraphs:
    sources = GraphSources()
    for name, text in files.items():
        (folder / name).write_text(text)
        sources.add(graphs[name], folder / name)
    return sources.open(Dictionary())


def subjects(found: Background, graphs: StaticGraphs) -> list[str]:
    return sorted(graphs.dictionary.text(each) for each in found.default.subject.tolist())


def test_statements_go_to_their_own_graph_or_to_that_of_their_file(tmp_path: Path) -> None:
    quads = "<urn:a> <urn:p> <urn:b> .\n<urn:a> <urn:p> <urn:b> <urn:h> .\n"
    graphs = opened(tmp_path, {"a.nq": quads}, {"a.nq": "urn:g"})
    assert graphs.names() == ("urn:g", "urn:h")


def test_several_sources_of_a_graph_are_one_set_of_triples(tmp_path: Path) -> None:
    same = "<urn:a> <urn:p> <urn:b> .\n"
    files = {"a.nt": same + same, "b.nt": same + "<urn:c> <urn:p> <urn:b> .\n"}
    graphs = opened(tmp_path, files, {"a.nt": None, "b.nt": None})
    assert subjects(graphs.extract(ALL, ()), graphs) == ["<urn:a>", "<urn:c>"]


def test_an_update_is_a_change_of_the_extract(tmp_path: Path) -> None:
    graphs = opened(tmp_path, {"a.nt": "<urn:a> <urn:p> <urn:b> .\n"}, {"a.nt": None})
    (tmp_path / "more.nt").write_text("<urn:x> <urn:p> <urn:b> .\n")
    more = read_graphs({"": [tmp_path / "more.nt"]}, graphs.dictionary)
    assert graphs.apply(more, Background()) == graphs.delta.number == 1
    change = graphs.change(ALL, 1, ())
    assert change is not None and subjects(change, graphs) == ["<urn:x>"]
    other = parse("SELECT * { ?s <urn:other> ?o }", dialect="sparql")
    assert graphs.change(other, 1, ()) is None


def test_malformed_lines_are_listed(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="1 malformed line in graph files") as told:
        opened(tmp_path, {"a.nt": "<urn:a> <urn:p> <urn:b> .\nnonsense\n"}, {"a.nt": None})
    assert "a.nt:2:" in str(told.value)


def test_a_remote_graph_needs_a_place_to_be_kept() -> None:
    sources = GraphSources()
    sources.add_remote("urn:g", RemoteGraph("http://127.0.0.1:1/g"))
    with pytest.raises(UsageError, match="nowhere to keep"):
        sources.open(Dictionary())
