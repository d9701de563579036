"""Results as frames, tables and in a notebook's cell."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import weir
from weir.notebook.result_set import Results
from weir.runtime.output.metrics import Metrics

TEXTS = {
    "s": ["<http://e/a>", "<http://e/b>", None],
    "n": ['"1"^^<http://www.w3.org/2001/XMLSchema#integer>', None, None],
    "t": ['"<b>"', '"' + "x" * 500 + '"', '"y"'],
}


@pytest.fixture
def results() -> Results:
    at = pa.chunked_array([pa.array([0, 1_000_000, 2_000_000], pa.timestamp("us", tz="UTC"))])
    op = pa.chunked_array([pa.array(["I", "I", "D"])])
    columns = {name: pa.chunked_array([pa.array(texts, pa.large_string())]) for name, texts in TEXTS.items()}
    parsed = weir.parse("SELECT ?s ?n ?t { STREAM <s> [NOW] { ?s ?n ?t } }")
    return Results(parsed, pa.table({"at": at, "op": op, **columns}), Metrics())


def test_numbers_with_gaps_stay_numbers_in_every_frame(results: Results) -> None:
    assert results.to_arrow()["n"].type == pa.int64()
    frame = results.to_pandas()
    assert frame["n"].dtype == pd.ArrowDtype(pa.int64())
    assert object not in set(frame.dtypes)
    assert frame["n"].sum() == 1
    assert results.to_polars().schema["n"] == pl.Int64
    assert results.to_polars()["s"].to_list() == ["http://e/a", "http://e/b", None]


def test_rows_in_order(results: Results) -> None:
    rows = list(results)
    assert [row["op"] for row in rows] == ["I", "I", "D"]
    assert rows[0] | {"at": None} == {"at": None, "op": "I", "s": "http://e/a", "n": 1, "t": "<b>"}
    assert len(results) == 3
    assert repr(results) == "<weir.Results: 3 rows of at, op, s, n, t>"


def test_a_cell_shows_the_first_rows_without_marks_of_html(results: Results) -> None:
    shown = results._repr_html_()
    assert "<td>&lt;b&gt;</td>" in shown and "<th>n</th>" in shown
    assert "x" * 200 not in shown and "x" * 199 + "…" in shown
    long = Results(results.query, pa.concat_tables([results.texts] * 20), results.metrics)
    assert "… and 40 more rows" in long._repr_html_()
