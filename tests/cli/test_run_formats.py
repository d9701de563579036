"""Streams and results in other formats, from the command line through Spark: one job's output is read by
the next."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from cli_kit import EX, json_lines, localisation, weir

TIME = "http://www.w3.org/ns/prov#generatedAtTime"
SEEN = f"""PREFIX : <{EX}>
REGISTER RSTREAM <seen> AS
SELECT ?g ?x (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <made> [RANGE 10 STEP 10]
WHERE {{ WINDOW <w> {{ GRAPH ?g {{ ?x :reaches ?y }} }} }}
GROUP BY ?g ?x
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> Path:
    monkeypatch.chdir(tmp_path)
    localisation(tmp_path)
    return tmp_path


def test_results_become_a_stream_and_bad_messages_are_set_aside(folder: Path) -> None:
    """Table 1 played at 10 messages a second, its CONSTRUCT read back beside messages of other formats."""
    (folder / "in").mkdir()
    done = weir(
        "run",
        "reaches.rq",
        "--stream",
        "rfid=replay:rfid.tnq?rate=10",
        "--graph",
        "floorplan=floor.ttl",
        "--format",
        "nquads",
        "--out",
        "in/made.nq",
    )
    assert done.exit_code == 0, done.stderr
    assert "4 triples in, 4 evaluations, 3 results" in done.stderr
    (folder / "in" / "bad.ttl").write_text(f"@prefix : <{EX}> .\n:a :reaches :b")
    (folder / "in" / "more.jsonl").write_text(
        json.dumps(
            {"@id": f"{EX}g", TIME: 25, "@graph": [{"@id": f"{EX}m9", f"{EX}reaches": {"@id": f"{EX}m0"}}]}
        )
        + "\nnonsense\n"
        + json.dumps({"@id": f"{EX}m8", f"{EX}reaches": 1})
        + "\n"
    )
    (folder / "in" / "empty.trig").touch()
    (folder / "seen.rq").write_text(SEEN)
    done = weir(
        "run",
        "seen.rq",
        "--stream",
        "made=in?time=prov:generatedAtTime",
        "--format",
        "parquet",
        "--out",
        "out",
        "--checkpoint",
        "ck",
        "--dead-letters",
        "dead.jsonl",
    )
    assert done.exit_code == 0, done.stderr
    table = pq.read_table(folder / "out" / "seen")
    rows = [tuple(row) for row in zip(*(table[name].to_pylist() for name in ("g", "x")), strict=True)]
    made = [f"<urn:weir:reaches:1970-01-01T00:00:00.00{n}Z>" for n in (1, 2, 3)]
    assert rows == [(g, f"<{EX}m{n}>") for n, g in enumerate(made)] + [(f"<{EX}g>", f"<{EX}m9>")]
    assert [at.microsecond for at in table["at"].to_pylist()] == [10_000] * 3 + [30_000]
    letters = json_lines(folder / "dead.jsonl")
    assert [(Path(letter["source"]).name, letter["line"]) for letter in letters] == [
        ("bad.ttl", 2),
        ("more.jsonl", 2),
        ("more.jsonl", 3),
    ]
    assert letters[2]["reason"] == f"no <{TIME}>: the message has no time"


def test_what_is_wrong_is_said_before_spark_starts(folder: Path) -> None:
    (folder / "m.ttl").touch()
    for options, said in [
        (["--stream", "rfid=m.ttl"], "turtle messages, and where is their time?"),
        (["--stream", "rfid=replay:rfid.tnq"], "a replay has a rate or a speed"),
        (
            ["--stream", "rfid=rfid.tnq", "--format", "xml"],
            "one of table, jsonl, srj, csv, tsv, nquads, trig, tnq",
        ),
        (["--stream", "rfid=rfid.tnq", "--format", "parquet"], "name it with --out DIR"),
    ]:
        done = weir("run", "reaches.rq", *options)
        assert done.exit_code == 2
        assert said in done.stderr
