"""Updates of a running job: the control log, the groups and a restart, on Spark."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from weir import Engine
from weir.errors import UsageError
from weir.runtime.running import RunningJob

QUERY = """
PREFIX : <http://example.org/>
REGISTER ISTREAM <seen> AS
SELECT ?who ?name
FROM NAMED WINDOW <w> ON <rfid> [NOW]
WHERE { WINDOW <w> { ?who :at ?room } GRAPH <people> { ?who :name ?name } }
"""
PEOPLE = '<http://example.org/ann> <http://example.org/name> "Ann" .\n'
NAME = '<http://example.org/{who}> <http://example.org/name> "{name}"'


def send(folder: Path, number: int, *lines: tuple[int, str]) -> None:
    partial = folder / f"{number:03d}.partial"
    partial.write_text(
        "".join(f"{at}\t<http://example.org/{who}> <http://example.org/at> <urn:r> .\n" for at, who in lines)
    )
    partial.rename(folder / f"{number:03d}.tnq")


def results(out: Path) -> list[tuple[int, str, str]]:
    lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    return [
        (
            int(line["at"][-4:-1]),
            line["bindings"]["who"]["value"].rpartition("/")[2],
            line["bindings"]["name"]["value"],
        )
        for line in lines
    ]


def wait_for(job: RunningJob, out: Path, count: int) -> None:
    until = time.monotonic() + 200
    while len(results(out)) < count:
        job.wait(1)
        assert time.monotonic() < until, results(out)


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_running_job_follows_updates_also_across_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    stream, out = tmp_path / "stream", tmp_path / "out.jsonl"
    stream.mkdir()
    (tmp_path / "people.nt").write_text(PEOPLE)
    (tmp_path / "more.ttl").write_text("@prefix : <http://example.org/> . :cy :name 'Cy' .")

    def start() -> RunningJob:
        engine = Engine(checkpoint=tmp_path / "checkpoint", spark=spark)
        engine.stream("rfid", stream, watch=True)
        engine.graph("people", tmp_path / "people.nt")
        engine.register(QUERY)
        return engine.start(out=out)

    job = start()
    send(stream, 1, (10, "ann"), (11, "bob"), (20, "ann"))
    wait_for(job, out, 1)
    bob, ann = NAME.format(who="bob", name="Bob"), NAME.format(who="ann", name="Ann")
    assert job.update(f"INSERT DATA {{ GRAPH <people> {{ {bob} }} }}") == 1
    assert job.update(f"DELETE DATA {{ GRAPH <people> {{ {ann} }} }}", at="1970-01-01T00:00:00.030Z") == 2
    assert job.update("DELETE DATA {}") == 0
    send(stream, 2, (21, "bob"), (22, "ann"), (31, "ann"), (32, "bob"), (40, "nobody"))
    wait_for(job, out, 5)
    assert job.insert("people", tmp_path / "more.ttl") == 3
    job.stop()
    with pytest.raises(UsageError, match="the job has ended"):
        job.update(f"INSERT DATA {{ {bob} }}")
    job = start()
    assert job.update(f"INSERT DATA {{ GRAPH <people> {{ {ann} }} }}") == 4
    send(stream, 3, (41, "cy"), (42, "bob"), (43, "ann"), (50, "nobody"))
    wait_for(job, out, 8)
    job.stop()
    assert results(out) == [
        (10, "ann", "Ann"),
        (20, "ann", "Ann"),
        (21, "bob", "Bob"),
        (22, "ann", "Ann"),
        (32, "bob", "Bob"),
        (41, "cy", "Cy"),
        (42, "bob", "Bob"),
        (43, "ann", "Ann"),
    ]
