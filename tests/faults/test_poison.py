"""A message fails one query, through ``weir run`` on Spark: the others write what they always do."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import weir as product
from cli_kit import COUNTS, EX, detected, weir
from weir.runtime.control.failure import QueryLimits
from weir.runtime.output.sinks.result_files import ExactFile, json_lines_sink

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

CALLS = f"""PREFIX : <{EX}>
REGISTER RSTREAM <calls> AS
SELECT ?p ?x
FROM NAMED WINDOW <w> ON <rfid> [RANGE PT1S STEP PT1S]
WHERE {{ WINDOW <w> {{ ?p :address ?e }} SERVICE ?e {{ ?p :q ?x }} }}
"""
"""Fails as soon as an address is no IRI."""

SLOW = f"""PREFIX : <{EX}>
REGISTER RSTREAM <slow> AS
SELECT (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <rfid> [RANGE PT1S STEP PT1S]
WHERE {{ WINDOW <w> {{ ?a :detectedAt ?x . ?b :detectedAt ?y . ?c :detectedAt ?z . ?d :detectedAt ?u }} }}
"""
"""Millions of solutions, one by one where the evaluator is ``reference``."""


def write(folder: Path) -> None:
    """Five files of a second each; the poison is in the third."""
    (folder / "counts.rq").write_text(COUNTS)
    (folder / "calls.rq").write_text(CALLS)
    (folder / "slow.rq").write_text(SLOW)
    (folder / "stream").mkdir()
    for number in range(5):
        lines = [detected(1000 * number + 10 * i, i, 1 + i % 3) for i in range(40)]
        if number == 2:
            lines.append(f'2500\t<{EX}m1> <{EX}address> "no endpoint" .\n')
        (folder / "stream" / f"{number}.tnq").write_text("".join(lines))


RUN = ("--stream", "rfid=stream", "--files-per-batch", "1", "--format", "jsonl")


def test_the_run_goes_on_and_ends_with_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    alone = weir("try", "counts.rq", *RUN, "--out", "alone.jsonl")
    assert alone.exit_code == 0, alone.stderr
    both = weir("run", "counts.rq", "calls.rq", *RUN, "--out", "both.jsonl", "--checkpoint", "ck")
    assert both.exit_code == 1
    assert "the query 'calls' failed at 1970-01-01T00:00:03" in both.stderr
    assert "no endpoint" in both.stderr
    assert (tmp_path / "both.jsonl").read_bytes() == (tmp_path / "alone.jsonl").read_bytes()
    again = weir("run", "counts.rq", "calls.rq", *RUN, "--out", "both.jsonl", "--checkpoint", "ck")
    assert again.exit_code == 1
    assert "the query 'calls' failed" in again.stderr
    assert (tmp_path / "both.jsonl").read_bytes() == (tmp_path / "alone.jsonl").read_bytes()


def test_a_query_that_takes_too_long_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    assert weir("try", "counts.rq", *RUN, "--out", "alone.jsonl").exit_code == 0
    engine = product.Engine(limits=QueryLimits(seconds=3.0))
    engine.stream("rfid", "stream", files_per_batch=1)
    engine.register((tmp_path / "counts.rq").read_text())
    engine.register((tmp_path / "slow.rq").read_text(), evaluator="reference")
    sink = json_lines_sink(ExactFile(tmp_path / "both.jsonl", tmp_path / "both.log"))
    metrics = engine.run(sinks=[sink])
    assert "longer than 3 s" in metrics.failures["slow"].reason
    assert set(metrics.failures) == {"slow"}
    assert (tmp_path / "both.jsonl").read_bytes() == (tmp_path / "alone.jsonl").read_bytes()
