"""Results as text; evaluations without results, where a query says EMPTY, show in every format.

time      0    5   10   15   20   25   30   35
messages    1                    21 23        35
windows   |--------|---------|---------|
results           a,b     nothing     c
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from weir.rdf.formats.tnq import parse_lines
from weir.runtime.output.results import result_columns
from weir.runtime.output.sinks.base import Results
from weir.runtime.output.sinks.formats import RENDERS, evaluations, variables
from weir.runtime.output.sinks.making import FORMATS, sink_for
from weir.testing import Scenario

WHERE = "FROM NAMED WINDOW <w> ON <s> [RANGE 10 STEP 10] EMPTY WHERE { WINDOW <w> { ?x <http://e/p> ?y } }"
FORMS = {
    "select": f"SELECT RSTREAM ?x ?y {WHERE}",
    "construct": f"CONSTRUCT RSTREAM {{ ?x <http://e/q> ?y }} {WHERE}",
}
LINES = """1\t<http://e/a> <http://e/p> <http://e/b> .
21\t<http://e/c> <http://e/p> <http://e/d> .
23\t<http://e/c> <http://e/p> <http://e/d> .
35\t<http://e/e> <http://e/p> <http://e/f> .
"""
FIRST, SECOND, THIRD = (f"1970-01-01T00:00:00.0{n}0Z" for n in (1, 2, 3))


def answered(form: str, evaluator: str = "interval") -> Results:
    scenario = Scenario({"asked": FORMS[form]}, evaluator=evaluator)
    scenario.lane("s").put(LINES)
    scenario.batch()
    (found,) = scenario.steps[-1].each()
    columns = result_columns(found.member.query, found.member.name, found.answers, scenario.group.dictionary)
    return Results("asked", pa.table(columns))


def written(result: Results, form: str, folder: Path) -> Path:
    out = folder / f"out.{form}"
    sink = sink_for(form, out, io.BytesIO())(folder / "logs")
    sink.open()
    sink.write(0, [result])
    sink.close()
    return out


@pytest.mark.parametrize("evaluator", ["interval", "reference"])
def test_nothing_is_a_row_in_its_place(evaluator: str) -> None:
    table = answered("select", evaluator).table
    assert table["op"].to_pylist() == ["R", None, "R"]
    assert table["at"].to_pylist() == [10_000, 20_000, 30_000]
    assert table["x"].to_pylist() == ["<http://e/a>", None, "<http://e/c>"]


def test_csv_and_tsv_have_a_row_with_a_time_alone(tmp_path: Path) -> None:
    result = answered("select")
    rows = list(csv.reader(written(result, "csv", tmp_path).read_text().splitlines()))
    assert rows[1:] == [
        ["asked", FIRST, "R", "http://e/a", "http://e/b"],
        ["asked", SECOND, "", "", ""],
        ["asked", THIRD, "R", "http://e/c", "http://e/d"],
    ]
    line = written(result, "tsv", tmp_path).read_text().splitlines()[2]
    assert line.split("\t") == [
        '"asked"',
        f'"{SECOND}"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
        "",
        "",
        "",
    ]


@pytest.mark.parametrize("form", FORMS)
def test_json_results_have_a_document_without_solutions(form: str, tmp_path: Path) -> None:
    documents = [
        json.loads(line) for line in written(answered(form), "srj", tmp_path).read_text().splitlines()
    ]
    assert [(each["at"], each["op"], len(each["results"]["bindings"])) for each in documents] == [
        (FIRST, "R", 1),
        (SECOND, None, 0),
        (THIRD, "R", 1),
    ]


def test_messages_are_heartbeats(tmp_path: Path) -> None:
    result = answered("construct")
    graph = f"<urn:weir:asked:{SECOND}>"
    stamp = "<http://www.w3.org/ns/prov#generatedAtTime>"
    assert f"{graph} {stamp}" in written(result, "nquads", tmp_path).read_text()
    assert f"{graph} {{\n}}\n" in written(result, "trig", tmp_path).read_text()
    out = written(result, "tnq", tmp_path)
    assert f"{SECOND}\t\n" in out.read_text()
    messages = parse_lines(out.read_bytes(), scope="s", key=b"0" * 16, base=0)
    assert messages.messages.time.tolist() == [10_000, 20_000, 30_000]
    assert len(messages.messages.message) == 2


def test_parquet_has_a_row_of_nulls(tmp_path: Path) -> None:
    (path,) = written(answered("select"), "parquet", tmp_path).glob("*/*.parquet")
    rows = pq.read_table(path).to_pylist()
    assert [(row["op"], row["x"]) for row in rows] == [
        ("R", "<http://e/a>"),
        (None, None),
        ("R", "<http://e/c>"),
    ]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("format", [name for name in FORMATS if name not in ("jsonl", "parquet")])
def test_every_text_names_the_time(form: str, format: str, tmp_path: Path) -> None:
    assert SECOND in written(answered(form), format, tmp_path).read_text()


def test_rows_of_one_time_are_one_evaluation() -> None:
    result = answered("select")
    assert variables(result) == ["x", "y"]
    assert [(at, op, len(rows)) for at, op, rows in evaluations(result)] == [
        (FIRST, "R", 1),
        (SECOND, None, 0),
        (THIRD, "R", 1),
    ]


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_a_header_is_written_where_the_variables_change(format: str) -> None:
    result = answered("select")
    first, note = RENDERS[format]([result], "")
    again, _ = RENDERS[format]([result], note)
    assert isinstance(first, bytes) and isinstance(again, bytes)
    assert first.endswith(again) and len(first.splitlines()) == len(again.splitlines()) + 1
