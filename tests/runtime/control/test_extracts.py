"""Extracts of static graphs are written once and read back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from weir.kernel.contract import Background, GraphTable
from weir.language.update import parse_update
from weir.linked.graphs.history import graphs_of
from weir.rdf.ids.dictionary import Dictionary
from weir.runtime.control import extracts
from weir.runtime.control.extracts import load_extract, net_of, write_extract
from weir.runtime.output.text_columns import coded_texts

KEY = b"key of the checkpoint"


def some(dictionary: Dictionary) -> Background:
    text = (
        'INSERT DATA { <urn:b> <urn:p> "x" . <urn:a> <urn:p> 1 . GRAPH <urn:g> { <urn:a> <urn:q> <urn:c> } }'
    )
    return net_of(parse_update(text), dictionary, "")[0]


def texts(background: Background, dictionary: Dictionary) -> dict[str, set[tuple[str, ...]]]:
    return {
        name: set(zip(*(dictionary.texts(c) for c in (t.subject, t.predicate, t.object)), strict=True))
        for name, t in graphs_of(background).items()
    }


def test_graphs_and_texts_come_back_in_another_process(tmp_path: Path) -> None:
    writer, reader = Dictionary(KEY), Dictionary(KEY)
    background = some(writer)
    name = write_extract(background, writer, tmp_path)
    assert texts(load_extract(tmp_path / name, reader), reader) == texts(background, writer)


def test_equal_extracts_are_one_file(tmp_path: Path) -> None:
    dictionary = Dictionary(KEY)
    first = write_extract(some(dictionary), dictionary, tmp_path)
    assert write_extract(some(dictionary), dictionary, tmp_path) == first
    assert write_extract(Background(), dictionary, tmp_path) != first
    assert len(list(tmp_path.iterdir())) == 2


def test_validity_is_kept_where_a_graph_changes(tmp_path: Path) -> None:
    dictionary = Dictionary(KEY)
    plain = some(dictionary).default
    start, end = np.array([3, 1]), np.array([9, 8])
    changing = GraphTable(plain.subject, plain.predicate, plain.object, start, end)
    found = load_extract(tmp_path / write_extract(Background(changing), dictionary, tmp_path), dictionary)
    assert found.default.start is not None and found.default.end is not None
    assert sorted(zip(found.default.start, found.default.end, strict=True)) == [(1, 8), (3, 9)]
    assert (
        load_extract(
            tmp_path / write_extract(Background(plain), dictionary, tmp_path), dictionary
        ).default.start
        is None
    )


def test_texts_of_a_large_extract_stay_in_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, reader = Dictionary(KEY), Dictionary(KEY)
    background = some(writer)
    name = write_extract(background, writer, tmp_path)
    monkeypatch.setattr(extracts, "FEW_TEXTS", 0)
    found = load_extract(tmp_path / name, reader)
    assert len(reader) == 0
    assert texts(found, reader) == texts(background, writer)
    known = found.default.subject
    assert coded_texts(known, reader).texts.to_pylist() == coded_texts(known, writer).texts.to_pylist()
