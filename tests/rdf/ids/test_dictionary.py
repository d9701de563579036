"""The dictionary: texts of hashed ids, collisions detected, what is not retained forgotten."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from weir.errors import DataError
from weir.rdf.ids.dictionary import Dictionary, TextTable
from weir.rdf.terms import IRI, XSD, BlankNode, Literal


def test_a_collision_is_detected() -> None:
    dictionary = Dictionary()
    identifier = dictionary.encode(IRI("a"))
    with pytest.raises(DataError, match="same id"):
        dictionary.add(np.array([identifier]), ["<b>"])


def test_unbound_is_zero_and_none() -> None:
    dictionary = Dictionary()
    ids = dictionary.encode_terms([IRI("a"), None, Literal("1", XSD + "integer")])
    assert ids[1] == 0
    assert dictionary.texts(ids) == ["<a>", None, f'"1"^^<{XSD}integer>']


def test_retain_forgets_the_rest() -> None:
    dictionary = Dictionary()
    ids = dictionary.encode_terms([IRI("a"), BlankNode("b")])
    dictionary.retain(ids[:1])
    assert dictionary.texts(ids[:1]) == ["<a>"]
    with pytest.raises(KeyError):
        dictionary.text(int(ids[1]))


def test_an_attached_table_is_looked_into_and_not_copied() -> None:
    dictionary, other = Dictionary(), Dictionary()
    ids = np.sort(other.encode_texts([f"<urn:{number}>" for number in range(5)]))
    dictionary.attach("some", TextTable(ids, pa.array(other.texts(ids), pa.large_string())))
    assert dictionary.texts(ids) == other.texts(ids)
    assert int(ids[0]) in dictionary and int(ids[0]) + 1 not in dictionary
    assert len(dictionary) == 0
    with pytest.raises(KeyError):
        dictionary.text(int(ids[0]) + 1)
