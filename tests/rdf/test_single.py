"""One text at a time gives the ids that columns give."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.rdf.ids.encoding import encode_texts
from weir.rdf.ids.inline import INTEGER_TYPES
from weir.rdf.ids.single import encode_text
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
