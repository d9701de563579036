"""Ids of texts: the same one by one and in columns, in every process, and different under another key."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.rdf.ids import encoding
from weir.rdf.ids.encoding import encode_text, encode_texts
from weir.rdf.ids.inline import INTEGER_TYPES
from weir.rdf.terms import IRI, XSD, BlankNode, Literal, Term

DATATYPES = st.sampled_from(
    [*INTEGER_TYPES, "decimal", "double", "float", "boolean", "dateTime", "date", "time", "unsignedInt"]
)
ZONES = st.sampled_from(["", "Z", "+00:00", "-00:00", "+14:00", "+14:01", "-05:30", "+05:61"])
FORMS = st.one_of(
    st.integers().map(str),
    st.integers(-200, 70_000).map(str),
    st.floats().map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map(
        lambda v: f"{v:.3E}".replace("E+0", "E").replace("E-0", "E-")
    ),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda v: f"{v:f}"),
    st.builds(lambda v, z: v.isoformat() + z, st.datetimes(), ZONES),
    st.builds(lambda v, z: v.isoformat(timespec="milliseconds") + z, st.datetimes(), ZONES),
    st.builds(lambda v, z: v.isoformat(timespec="seconds") + z, st.datetimes(), ZONES),
    st.dates().map(lambda v: v.isoformat()),
    st.text(alphabet="0123456789.-+eEINFaTZ:", max_size=30),
    st.text(max_size=10),
    st.sampled_from(["true", "false", "1", "0", "1.٣", "١", "2023-02-29", "2011-10-23T24:00:00Z"]),
)
TERMS = st.one_of(
    st.builds(lambda form, datatype: Literal(form, XSD + datatype), FORMS, DATATYPES),
    st.text(max_size=80).map(Literal),
    st.text(alphabet="abc/:", max_size=80).map(IRI),
    st.text(alphabet="abc", min_size=1).map(BlankNode),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(TERMS, min_size=1, max_size=80), st.sampled_from([b"weir", b"key"]))
def test_one_by_one_or_in_columns(terms: list[Term], key: bytes) -> None:
    texts = [str(term) for term in terms]
    assert [encode_text(text, key) for text in texts] == encode_texts(pl.Series(texts), key).tolist()


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 8 * 4096, 8 * 4096 + 1, 100_000])
def test_texts_of_every_length(length: int) -> None:
    text = '"' + "x" * length + '"'
    assert encode_text(text) == int(encode_texts(pl.Series([text]))[0])


def one(text: str) -> int:
    return int(encode_texts(pl.Series([text]))[0])


@given(st.lists(st.text(max_size=40), max_size=20))
def test_ids_do_not_depend_on_the_column_they_are_encoded_in(texts: list[str]) -> None:
    quoted = [str(Literal(text)) for text in texts]
    together = encode_texts(pl.Series(quoted, dtype=pl.String))
    assert together.tolist() == [one(text) for text in quoted]


def test_hashes_are_pinned() -> None:
    """Stored graphs and checkpoints rely on these numbers: they never change."""
    texts = ["<http://example.org/a>", "_:b", '"chat"@en', '"' + "x" * 40_000 + '"']
    assert encode_texts(pl.Series(texts), b"key").tolist() == PINNED


PINNED = [6234772278666571999, 6795154280325952989, 7578417860363984953, 4490234943255202072]


def test_the_key_changes_every_hash() -> None:
    texts = pl.Series([f"<http://example.org/{i}>" for i in range(1000)])
    assert not set(encode_texts(texts, b"a").tolist()) & set(encode_texts(texts, b"b").tolist())


def test_words_that_change_places_change_the_hash() -> None:
    block = "abcdefgh" * 4096
    assert one(f'"{block}ijklmnop"') != one(f'"{"ijklmnop"}{block}"')


@given(st.text(), st.sampled_from([1, 1, 3, 40_000]))
@settings(max_examples=50)
def test_the_plain_hash_is_the_compiled_one(text: str, times: int) -> None:
    data, keys = text.encode() * times, encoding.position_keys(b"key")
    compiled = encoding._hashed(np.frombuffer(data, np.uint8), np.array([0, len(data)]), keys)
    assert encoding._hashed_plainly(data, keys) == int(compiled[0])
