"""Extracts as files: what is written is what is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from weir.kernel.contract import Background, GraphTable
from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.terms import IRI
from weir.runtime.control.extracts import load_extract, write_extract


def test_an_extract_keeps_empty_graphs_and_the_updates_that_made_them(tmp_path: Path) -> None:
    dictionary = Dictionary()
    node = dictionary.encode_terms([IRI("urn:a")])
    table = GraphTable(node, node, node, np.array([2]), np.array([7]))
    named = {"urn:given": GraphTable.empty(), "urn:made": table}
    for made in ({}, {"urn:made": (2, 5)}):
        name = write_extract(Background(named=named, made=made), dictionary, tmp_path)
        found = load_extract(tmp_path / name, Dictionary(dictionary.key))
        assert set(found.named) == set(named)
        assert found.made == made
        assert found.named["urn:made"].start is not None
