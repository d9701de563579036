"""``weir.query``: all results of a query over streams that end."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

import weir
from weir.errors import EvaluationError, UsageError
from weir.notebook.asking import query

MEANS = """PREFIX ex: <http://e/>
REGISTER RSTREAM <mean> AS SELECT ?room (AVG(?t) AS ?mean) (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <readings> [RANGE PT4S STEP PT2S]
WHERE { WINDOW <w> { ?room ex:temperature ?t } } GROUP BY ?room"""
FRAME = pl.DataFrame(
    {"ms": [0, 1500, 3000], "room": ["hall", "hall", "lab"], "celsius": ["20.5", "21.5", "18.0"]}
)
EXPECTED = [(2, "hall", 21.0, 2), (4, "hall", 21.0, 2), (4, "lab", 18.0, 1), (6, "lab", 18.0, 1)]


def readings() -> weir.FrameStream:
    return weir.FrameStream(
        FRAME,
        time="ms",
        subject="http://e/{room}",
        predicate="http://e/temperature",
        object=weir.literal("celsius", "xsd:decimal"),
    )


def shown(results: weir.Results) -> list[tuple[int, str, float, int]]:
    return [
        (int(row["at"].timestamp()), row["room"].rpartition("/")[2], float(row["mean"]), row["n"])
        for row in results
    ]


@pytest.mark.parametrize("runner", ["direct", pytest.param("spark", marks=pytest.mark.spark)])
def test_rows_of_a_frame_and_of_a_file(runner: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if runner == "spark":
        assert isinstance(request.getfixturevalue("spark"), SparkSession)
    assert shown(query(MEANS, {"readings": readings()}, runner=runner)) == EXPECTED
    path = tmp_path / "readings.tnq"
    path.write_bytes(readings().lines())
    found = weir.query(MEANS, {"readings": str(path)}, runner=runner)
    assert shown(found) == EXPECTED
    assert found.metrics.triples == 3


def test_construct_ask_graphs_and_variables_with_names_of_columns(tmp_path: Path) -> None:
    graph = tmp_path / "g.nt"
    graph.write_text("<http://e/hall> <http://e/floor> <http://e/1> .\n")
    window = "FROM NAMED WINDOW <w> ON <readings> [RANGE PT4S STEP PT4S]"
    where = "WHERE { WINDOW <w> { ?at ?p ?op } GRAPH <g> { ?at <http://e/floor> ?f } }"
    named = query(f"SELECT ?at ?f {window} {where}", {"readings": readings()}, {"g": graph})
    assert named.columns == ["at", "op", "?at", "f"]
    assert [(row["?at"], row["f"]) for row in named] == [("http://e/hall", "http://e/1")] * 2
    made = query(
        f"CONSTRUCT {{ ?at <http://e/on> ?f }} {window} {where}", {"readings": readings()}, {"g": graph}
    )
    assert made.columns[2:] == ["subject", "predicate", "object"]
    assert {row["object"] for row in made} == {"http://e/1"}
    asked = query(f"ASK {window} {where}", {"readings": readings()}, {"g": graph})
    assert [row["boolean"] for row in asked] == [True]


def test_no_results_are_a_table_with_all_columns() -> None:
    found = query(MEANS.replace("ex:temperature", "ex:humidity"), {"readings": readings()})
    assert (len(found), found.columns, list(found)) == (0, ["at", "op", "room", "mean", "n"], [])
    assert found.to_arrow().num_rows == 0


def test_streams_that_do_not_end_and_queries_that_fail(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not end"):
        query(MEANS, {"readings": "push:"})
    with pytest.raises(UsageError, match="unknown stream"):
        query(MEANS, {"other": readings()})
    remote = MEANS.replace(
        "{ WINDOW", "{ SERVICE <http://127.0.0.1:9/sparql#weir:on_failure=error> { ?room ex:on ?x } WINDOW"
    )
    with pytest.raises(EvaluationError, match="the query failed"):
        query(remote, {"readings": readings()})


def test_malformed_lines_are_counted_in_a_warning(tmp_path: Path) -> None:
    (tmp_path / "s.tnq").write_text("1000\t<http://e/a> <http://e/p> <http://e/b> .\n2000\tnonsense\n")
    text = "SELECT ?s FROM NAMED WINDOW <w> ON <s> [NOW] WHERE { WINDOW <w> { ?s ?p ?o } }"
    with pytest.warns(weir.WeirWarning, match="lines or messages that cannot be read, left out: 1"):
        assert len(weir.query(text, {"s": tmp_path / "s.tnq"})) == 1
