"""Streaming DataFrames that can be streams, and those that cannot."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from weir.errors import UsageError
from weir.spark.dataframes import DataFrameStream
from weir.spark.session import named_sources


@pytest.fixture
def rate(spark: SparkSession) -> DataFrame:
    """Columns ``timestamp`` and ``value``, a number."""
    with named_sources(spark):
        return spark.readStream.format("rate").name("rate").load()


def test_a_text_with_a_time_makes_messages(rate: DataFrame) -> None:
    stream = DataFrameStream(rate.selectExpr("timestamp AS time", "string(value) AS value"), "turtle")
    assert not stream.triples
    assert stream.names == ["rate"]
    assert stream.frames("folder", "s").columns == ["slot", "frame", "control"]


def test_columns_of_triples_make_messages(rate: DataFrame) -> None:
    parts = [f"string(value) AS {name}" for name in ("subject", "predicate", "object")]
    stream = DataFrameStream(rate.selectExpr("timestamp AS time", *parts))
    assert stream.triples


def test_what_makes_no_messages_is_refused(spark: SparkSession, rate: DataFrame) -> None:
    with pytest.raises(UsageError, match="which make no messages"):
        DataFrameStream(rate)
    with pytest.raises(UsageError, match="nothing tells the time"):
        DataFrameStream(rate.selectExpr("string(value) AS value"), "turtle")
    with pytest.raises(UsageError, match="not a streaming one"):
        DataFrameStream(spark.range(1))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (("value * 0.5D AS time",), "'time' is of type double, which is no time"),
        (("value AS object",), r"'object' is of type bigint, not a text .*\n.*XMLSchema#integer>', object\)"),
        (("value AS graph",), r"'graph' is of type bigint"),
        (("array(value) AS subject",), "'subject' is of type array<bigint>"),
        (("string(value) AS position",), "'position' is of type string, not an integer"),
    ],
)
def test_a_column_of_a_wrong_type_is_refused(rate: DataFrame, columns: tuple[str, ...], said: str) -> None:
    right = {"time": "timestamp", **dict.fromkeys(("subject", "predicate", "object"), "'<urn:a>'")}
    named = {column.rpartition(" ")[2]: column for column in columns}
    made = rate.selectExpr(*({name: f"{text} AS {name}" for name, text in right.items()} | named).values())
    with pytest.raises(UsageError, match=said):
        DataFrameStream(made)


def test_a_source_needs_a_name_of_its_own(rate: DataFrame) -> None:
    stream = DataFrameStream(rate.selectExpr("timestamp AS time", "string(value) AS value"))
    stream.check_named()
    with pytest.raises(UsageError, match="the name 'rate', which another source has"):
        stream.check_named([stream])
