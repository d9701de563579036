"""Every way to write results: what is written reads back, and a restart leaves no trace."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph as ox
import pytest

from weir.errors import UsageError
from weir.runtime.ingest.sources import path_source
from weir.runtime.ingest.sources.feeds import Place
from weir.runtime.ingest.stage import read_messages
from weir.runtime.output.sinks.base import Results, Sink
from weir.runtime.output.sinks.making import FORMATS, sink_at, sink_for
from weir.storage.files import numbered

SECOND = 1_000_000
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
TERMS = ["<http://e/é>", "_:b1", '"a\t\\"b\\"\\n,\\\\"', '"x"@en', f'"01"^^<{INTEGER}>', '"[bold]"', None]
VALUES = ["http://e/é", "b1", 'a\t"b"\n,\\', "x", "01", "[bold]", None]


def results(name: str, at: Sequence[float], op: str = "R", **columns: Sequence[str | None]) -> Results:
    base = {
        "at": pa.array([round(each * SECOND) for each in at]),
        "op": pa.array([op] * len(at), pa.large_string()),
    }
    texts = {
        key.replace("QUERY_", "?"): pa.array(list(value), pa.large_string()) for key, value in columns.items()
    }
    return Results(name, pa.table({**base, **texts}))


SELECT = results("http://e/my query", [1, 1, 2, 2, 2, 3, 3], x=TERMS, QUERY_at=TERMS[::-1])
CONSTRUCT = results(
    "made",
    [1, 1, 2.5],
    subject=["<http://e/a>", "_:b", "<http://e/c>"],
    predicate=["<http://e/p>"] * 3,
    object=TERMS[2:5],
)
ASK = results("asked", [1, 2], boolean=["true", "false"])
BATCHES: list[list[Results]] = [[SELECT], [], [CONSTRUCT], [ASK, SELECT], [SELECT], [CONSTRUCT, SELECT]]
"""What six batches bring; the second one nothing."""


def as_form(batch: Sequence[Results], form: str) -> list[Results]:
    """What a sink of this form gets."""
    if form == "columns":
        return list(batch)
    lines = [
        pa.array([f"{result.name} {row}\n" for row in range(len(result))], pa.large_string())
        for result in batch
    ]
    return [
        Results(result.name, pa.table({"at": result.table["at"], "line": text}))
        for result, text in zip(batch, lines, strict=True)
    ]


def write(sink: Sink, batches: Sequence[tuple[int, Sequence[Results]]]) -> None:
    sink.open()
    for number, batch in batches:
        sink.write(number, as_form(batch, sink.form))
    sink.close()


def content(path: Path) -> dict[str, bytes]:
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    return {str(each.relative_to(path.parent)): each.read_bytes() for each in files}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("survived", [2, 3, 5])
def test_a_killed_writer_leaves_what_an_undisturbed_one_does(
    tmp_path: Path, form: str, survived: int
) -> None:
    """It is killed before the commit of batch ``survived`` has its name; Spark brings that batch again."""
    every = list(enumerate(BATCHES))
    made = sink_for(form, tmp_path / "a" / "out", io.BytesIO())(tmp_path / "logs-a")
    assert made.promise == "exactly once"
    write(made, every)
    target, logs = tmp_path / "b" / "out", tmp_path / "logs-b"
    maker = sink_for(form, target, io.BytesIO())
    write(maker(logs), every[: survived + 1])
    (log,) = logs.iterdir()
    last = log / str(max(numbered(log)))
    last.rename(log / f".{last.name}.0123.partial")
    if target.is_dir():
        (target / "made").mkdir(exist_ok=True)
        (target / "made" / ".batch-00000099.parquet").write_bytes(b"half")
        (target / "made" / "batch-00000099.parquet").write_bytes(b"not logged")
    else:
        with target.open("ab") as file:
            file.write(b"half a batch")
    write(maker(logs), every[survived:])
    write(maker(logs), every[-1:])
    assert content(target) == content(tmp_path / "a" / "out")


def texts(form: str, batches: Sequence[Sequence[Results]]) -> str:
    """What is written to a stream."""
    out = io.BytesIO()
    sink = sink_for(form, None, out)(Path("unused"))
    assert sink.promise == "at least once"
    write(sink, list(enumerate(batches)))
    return out.getvalue().decode()


def read(table: Results) -> list[list[str | None]]:
    return [
        list(row) for row in zip(*(column.to_pylist() for column in table.table.columns[2:]), strict=True)
    ]


def test_csv_reads_back_and_says_which_variables_follow() -> None:
    rows = list(
        csv.reader(io.StringIO(texts("csv", [[SELECT], [CONSTRUCT], [CONSTRUCT], [SELECT]]), newline=""))
    )
    heads = [place for place, row in enumerate(rows) if row[0] == "query"]
    assert heads == [0, 8, 15]
    assert rows[0] == ["query", "at", "op", "x", "at"]
    assert rows[1] == ["http://e/my query", "1970-01-01T00:00:01.000Z", "R", "http://e/é", ""]
    assert [row[3] for row in rows[1:8]] == ["http://e/é", "_:b1", 'a\t"b"\n,\\', "x", "01", "[bold]", ""]


def test_tsv_is_a_sparql_result() -> None:
    solutions = results("q", [1, 1, 2, 2, 2, 3, 3], x=TERMS, y=TERMS[::-1])
    found = ox.parse_query_results(texts("tsv", [[solutions]]), format=ox.QueryResultsFormat.TSV)
    assert isinstance(found, ox.QuerySolutions)
    assert [variable.value for variable in found.variables] == ["query", "at", "op", "x", "y"]
    rows = [[each[name] for name in ("query", "at", "op", "x")] for each in found]
    assert str(rows[0][1]) == '"1970-01-01T00:00:01.000Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    assert [(row[0].value, row[2].value) for row in rows] == [("q", "R")] * 7
    assert [None if row[3] is None else row[3].value for row in rows] == VALUES


def test_srj_is_a_document_per_evaluation() -> None:
    lines = texts("srj", [[SELECT, ASK], [CONSTRUCT]]).splitlines()
    documents = [json.loads(line) for line in lines]
    assert [(each["query"], each["at"][17:19]) for each in documents] == [
        ("http://e/my query", "01"),
        ("http://e/my query", "02"),
        ("http://e/my query", "03"),
        ("asked", "01"),
        ("asked", "02"),
        ("made", "01"),
        ("made", "02"),
    ]
    parsed = [ox.parse_query_results(line, format=ox.QueryResultsFormat.JSON) for line in lines]
    assert [bool(each) for each in parsed[3:5]] == [True, False]
    values = [each["x"] for solutions in parsed[:3] for each in solutions]  # type: ignore[union-attr]
    assert [None if value is None else value.value for value in values] == VALUES
    assert documents[0]["head"] == {"vars": ["x", "at"]}
    assert [list(row) for row in documents[5]["results"]["bindings"]] == [
        ["subject", "predicate", "object"]
    ] * 2


@pytest.mark.parametrize("form", ["nquads", "trig", "tnq"])
def test_messages_read_back_as_a_stream(tmp_path: Path, form: str) -> None:
    path = tmp_path / "out"
    write(sink_for(form, path, io.BytesIO())(tmp_path), [(0, [CONSTRUCT]), (1, [SELECT]), (2, [ASK])])
    told = {"format": form} if form == "tnq" else {"format": form, "time": "prov:generatedAtTime"}
    feed = path_source(str(path), told).feed(Place("s", tmp_path / "weir", "s"))
    parts = feed.parts({}, feed.latest({}, True))
    (found,) = [read_messages(part, b"k") for part in parts if part.path]
    assert found.dead == []
    messages = found.parsed
    assert [at / SECOND for at in messages.messages.time.tolist()] == [1, 2.5, 1, 2, 3, 1, 2]
    stamps = 0 if form == "tnq" else 1
    assert messages.messages.triples.tolist() == [
        2 + stamps,
        1 + stamps,
        *(n + stamps for n in (3, 6, 3, 1, 1)),
    ]
    columns = [terms.texts.gather(terms.codes).to_list() for terms in messages.terms]
    rows = [row for row in zip(*columns, strict=True) if "generatedAtTime" not in row[1]]
    assert [row[:3] for row in rows[:3:2]] == [tuple(read(CONSTRUCT)[0]), tuple(read(CONSTRUCT)[2])]
    wanted = {text for text in TERMS if text and "_:" not in text[:2]}
    assert {row[2] for row in rows if row[1] == "<urn:weir:column:x>"} >= wanted
    assert rows[0][3] == "<urn:weir:made:1970-01-01T00:00:01.000Z>"
    assert rows[-1][2] == '"false"^^<http://www.w3.org/2001/XMLSchema#boolean>'


def test_parquet_has_a_folder_for_each_query(tmp_path: Path) -> None:
    write(sink_for("parquet", tmp_path / "out", io.BytesIO())(tmp_path), list(enumerate(BATCHES)))
    asked, made, named = sorted((tmp_path / "out").iterdir())
    assert (asked.name, made.name) == ("asked", "made")
    assert named.name.startswith("my-query-")
    table = pq.read_table(named)
    assert set(table["query"].to_pylist()) == {"http://e/my query"}
    assert table.column_names == ["query", "at", "op", "x", "?at"]
    assert table["x"].to_pylist() == TERMS * 4
    assert table["at"][0].as_py() == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)


def test_a_table_shows_terms_as_they_are() -> None:
    shown = texts("table", [[SELECT, ASK]])
    assert '"[bold]"' in shown
    assert [line.split()[-1] for line in shown.splitlines()[-2:]] == ["true", "false"]


def test_what_is_refused(tmp_path: Path) -> None:
    makers: list[tuple[Callable[[IO[bytes]], object], str]] = [
        (lambda out: sink_for("xml", None, out), "unknown format 'xml'"),
        (lambda out: sink_for("parquet", None, out), "parquet is written into a folder"),
        (lambda out: sink_for("csv", tmp_path, out), "is a folder"),
    ]
    for make, said in makers:
        with pytest.raises(UsageError, match=said):
            make(io.BytesIO())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("some/file.jsonl", "not the address of a sink"),
        ("ftp://h/x", "unknown kind of sink"),
        ("mqtt://me:pw@h/x", "a password does not belong"),
        ("mqtt://h/x?qos=2", "qos is 0 or 1"),
        ("mqtt://h/x?color=red", "unknown option 'color'"),
        ("live://here", "not a host and port"),
    ],
)
def test_a_wrong_address_is_told(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        sink_at(text)


def test_a_folder_of_files_is_an_address(tmp_path: Path) -> None:
    assert sink_at(f"files:{tmp_path}/per")(tmp_path).promise == "exactly once"
