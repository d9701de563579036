"""Inline ids: canonical forms give themselves back to the letter, all others are hashed."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.rdf.ids.dictionary import Dictionary
from weir.rdf.ids.encoding import encode_texts
from weir.rdf.ids.inline import Inline, inline_text, kinds
from weir.rdf.terms import XSD, Literal


def one(text: str) -> int:
    return int(encode_texts(pl.Series([text]))[0])


INLINE = [
    ("0", "integer", Inline.INTEGER),
    ("-17", "integer", Inline.INTEGER),
    ("144115188075855", "long", Inline.LONG),
    ("-128", "byte", Inline.BYTE),
    ("1.50", "decimal", Inline.DECIMAL),
    ("-0.5", "decimal", Inline.DECIMAL),
    ("21.5", "double", Inline.DOUBLE),
    ("21", "double", Inline.DOUBLE),
    ("2.15E1", "double", Inline.DOUBLE_E),
    ("-1.0E-3", "double", Inline.DOUBLE_E),
    ("3.25", "float", Inline.FLOAT),
    ("true", "boolean", Inline.BOOLEAN),
    ("0", "boolean", Inline.BOOLEAN),
    ("2024-02-29", "date", Inline.DATE),
    ("2011-10-23T09:00:00Z", "dateTime", Inline.DATETIME_UTC_S),
    ("1969-12-31T23:59:59.999Z", "dateTime", Inline.DATETIME_UTC_MS),
    ("2011-10-23T09:00:00.000001Z", "dateTime", Inline.DATETIME_UTC_US),
    ("0001-01-01T00:00:00", "dateTime", Inline.DATETIME_LOCAL_S),
    ("2011-10-23T09:00:00.250", "dateTime", Inline.DATETIME_LOCAL_MS),
    ("2011-10-23T09:00:00-05:30", "dateTime", Inline.DATETIME_OFFSET_S),
    ("2011-10-23T09:00:00.100+14:00", "dateTime", Inline.DATETIME_OFFSET_MS),
]


@pytest.mark.parametrize(("lexical", "datatype", "kind"), INLINE)
def test_inline_forms_give_back_their_text(lexical: str, datatype: str, kind: Inline) -> None:
    text = str(Literal(lexical, XSD + datatype))
    identifier = one(text)
    assert identifier < 0
    assert int(kinds(np.array([identifier]))[0]) == kind
    assert inline_text(identifier) == text


@pytest.mark.parametrize(
    ("lexical", "datatype"),
    [
        ("01", "integer"),
        ("+1", "integer"),
        ("-0", "integer"),
        ("999999999999999999999", "integer"),
        ("128", "byte"),
        ("0", "positiveInteger"),
        ("-0.0", "decimal"),
        (".5", "decimal"),
        ("1.", "decimal"),
        ("INF", "double"),
        ("0.0E0", "double"),
        ("1.5e3", "double"),
        ("1.0E300", "double"),
        ("TRUE", "boolean"),
        ("2023-02-29", "date"),
        ("2011-13-01T00:00:00Z", "dateTime"),
        ("2011-10-23", "dateTime"),
        ("2011-10-23T09:00:00Z", "date"),
        ("1.٣", "decimal"),
        ("1.٣", "double"),
        ("2011-10-23T24:00:00Z", "dateTime"),
        ("2011-10-23T09:00:00.5Z", "dateTime"),
        ("2011-10-23T09:00:00-00:00", "dateTime"),
        ("9999-12-31T23:59:59.999999Z", "dateTime"),
    ],
)
def test_other_forms_are_hashed(lexical: str, datatype: str) -> None:
    assert one(str(Literal(lexical, XSD + datatype))) > 0


@given(
    st.one_of(
        st.integers().map(lambda v: Literal(str(v), XSD + "integer")),
        st.decimals(allow_nan=False, allow_infinity=False).map(lambda v: Literal(f"{v:f}", XSD + "decimal")),
        st.floats().map(lambda v: Literal(repr(v), XSD + "double")),
        st.datetimes().map(lambda v: Literal(v.isoformat() + "Z", XSD + "dateTime")),
        st.text().map(Literal),
        st.text(alphabet="0123456789.-+eETZ:", max_size=30).flatmap(
            lambda v: st.sampled_from(["integer", "decimal", "double", "float", "dateTime", "date"]).map(
                lambda d: Literal(v, XSD + d)
            )
        ),
    )
)
def test_every_literal_comes_back(term: Literal) -> None:
    dictionary = Dictionary()
    assert dictionary.decode(dictionary.encode(term)) == term
