"""Columns of terms and times as text: what one by one would give."""

from __future__ import annotations

import polars as pl

from weir.rdf.terms import json_term, parse_term
from weir.runtime.output.text_columns import compact, json_terms, stamps, timestamp, weave


def test_terms_as_json() -> None:
    texts = [
        "<http://e/a>",
        '"x"',
        '"x"@en',
        '"1"^^<http://e/t>',
        '"a\\"b"',
        '"tab\\t"^^<http://e/t>',
        "_:b",
        '"ä"',
    ]
    slow = [compact(json_term(parse_term(text))) for text in texts]
    assert json_terms(pl.Series([*texts, None])).to_list() == [*slow, None]


def test_stamps() -> None:
    times = [0, 999, -1, -1001, 1_407_110_400_123_456, 250_000_000_000_000_000]
    woven = weave(stamps(pl.Series(times).to_numpy()))
    assert woven.rows().to_pylist() == [timestamp(each) for each in times]
