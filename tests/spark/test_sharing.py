"""Many queries that share an evaluator, on Spark: what each gets alone, also when they come and go."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from weir import Engine
from weir.runtime.control.catalog import Catalog
from weir.runtime.output.sinks.folders import ResultsFolder, read_results
from weir.runtime.output.sinks.result_files import FilePerQuery
from weir.runtime.running import RunningJob
from weir.testing import Scenario

BODIES = ["?x :p{n} ?y", "?x :p{n} ?y . ?x :q ?z", "?x ?p :o{n} . ?x :q ?y"]


def text(number: int) -> str:
    body = BODIES[number % 3].replace("{n}", str(number // 3 % 9))
    return (
        f"PREFIX : <http://e/> REGISTER ISTREAM <q{number}> AS SELECT * FROM NAMED WINDOW <w> ON <s> "
        f"[TRIPLES 6 CONTENT BAG] WHERE {{ WINDOW <w> {{ {body} }} }}"
    )


def lines(batch: int) -> str:
    return "".join(
        f"{100 * batch + n}\t<http://e/x{n % 4}> <http://e/{'q' if n % 3 == 1 else f'p{(n + batch) % 9}'}> "
        f"<http://e/o{n % 5}> .\n"
        for n in range(40)
    )


def alone(numbers: range, *batches: int) -> dict[str, list[Any]]:
    """What queries answer that see nothing but some batches, each in an evaluator of its own."""
    scenario = Scenario({f"q{n}": text(n) for n in numbers}, evaluator="interval")
    found: dict[str, list[Any]] = {}
    for batch in batches:
        scenario.lane("s").put(lines(batch))
        for line in scenario.batch():
            found.setdefault(line["query"], []).append(line)
    return found


def send(folder: Path, batch: int) -> None:
    (folder / "half").write_text(lines(batch))
    (folder / "half").rename(folder / f"{batch}.tnq")


def told(folder: Path) -> dict[str, list[Any]]:
    return {
        path.stem: [json.loads(line) for line in path.read_text().splitlines()]
        for path in folder.glob("*.jsonl")
        if path.stat().st_size
    }


def wait_for(job: RunningJob, triples: int) -> None:
    until = time.monotonic() + 400
    while job.metrics.triples < triples:
        job.wait(1)
        assert time.monotonic() < until, job.metrics.as_json()


@pytest.mark.spark
@pytest.mark.timeout(1200)
def test_sixty_queries_together_give_what_each_gives_alone(spark: SparkSession, tmp_path: Path) -> None:
    """file   0      1      2
    q0–q49    |------|------|     q0–q9 are dropped before 1
    q50–q59          |------|     registered before 1; the job is started again before 2
    """
    stream, out, kept = tmp_path / "s", tmp_path / "out", tmp_path / "kept"
    stream.mkdir()
    engine = Engine(checkpoint=tmp_path / "checkpoint", spark=spark)
    engine.stream("s", stream, watch=True)
    names = engine.register_all("\n---\n".join(text(n) for n in range(50)))
    assert names == [f"q{n}" for n in range(50)]
    sinks = [lambda logs: FilePerQuery(out, logs), lambda logs: ResultsFolder(kept, logs / "kept.log")]
    send(stream, 0)
    job = engine.start(sinks=sinks)
    wait_for(job, 40)
    for number in range(10):
        job.drop(f"q{number}")
    job.register_all({f"q{n}": text(n) for n in range(50, 60)})
    assert {info.name for info in job.queries()} == {f"q{n}" for n in range(10, 60)}
    assert {info.evaluator for info in job.queries()} == {"shared"}
    send(stream, 1)
    wait_for(job, 80)
    job.stop()
    catalog = Catalog.of(job.checkpoint.control().entries())
    assert all(registration.graphs is None for registration in catalog.queries.values())

    again = Engine(checkpoint=tmp_path / "checkpoint", spark=spark)
    send(stream, 2)
    job = again.start(sinks=sinks, resume=True)
    wait_for(job, 40)
    job.stop()
    early, late = alone(range(10), 0), alone(range(50, 60), 1, 2)
    expected = {**early, **alone(range(10, 50), 0, 1, 2), **late}
    assert len(expected) > 40
    assert told(out) == expected
    counted: dict[str, int] = {}
    for name, table in read_results(kept):
        counted[name] = counted.get(name, 0) + table.num_rows
    assert counted == {name: len(found) for name, found in expected.items()}
