"""A job that starts with nothing, takes streams and queries, and comes back with them: on Spark."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from weir import Engine
from weir.errors import CheckpointError, UsageError
from weir.runtime.ingest.sources import FileSource
from weir.runtime.running import RunningJob
from weir.spark.job import Job
from weir.testing import Scenario

COUNT = """PREFIX : <http://e/>
REGISTER RSTREAM <{name}> AS SELECT (COUNT(*) AS ?n)
FROM NAMED WINDOW <w> ON <{stream}> [RANGE 10 STEP 10] WHERE {{ WINDOW <w> {{ ?x :p ?y }} }}"""


def count(name: str, stream: str = "s") -> str:
    return COUNT.format(name=name, stream=stream)


def send(folder: Path, number: int, *times: int) -> str:
    folder.mkdir(exist_ok=True)
    text = "".join(f"{time}\t<http://e/a> <http://e/p> <http://e/{time}> .\n" for time in times)
    partial = folder / f"{number}.partial"
    partial.write_text(text)
    partial.rename(folder / f"{number}.tnq")
    return text


def alone(name: str, *batches: str, end: bool = False) -> list[str]:
    """What a query answers that sees nothing but ``batches``."""
    scenario, found = Scenario({name: count(name)}), []
    for batch in batches:
        scenario.lane("s").put(batch)
        found += scenario.batch()
    if end:
        scenario.lane("s").end()
        found += scenario.batch()
    return [json.dumps(line) for line in found]


def results(out: Path, name: str) -> list[str]:
    lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    return [json.dumps(line) for line in lines if line["query"] == name]


def wait_for(job: RunningJob, out: Path, expected: dict[str, list[str]]) -> None:
    until = time.monotonic() + 200
    while any(results(out, name) != lines for name, lines in expected.items()):
        job.wait(1)
        told = {name: results(out, name) for name in expected}
        assert time.monotonic() < until, told


LAST = """PREFIX : <http://e/>
REGISTER RSTREAM <last> AS SELECT ?y FROM NAMED WINDOW <w> ON <s> [TRIPLES 1]
WHERE { WINDOW <w> { ?x :p ?y } }"""


def paused_meanwhile(
    job: Job, staging: Callable[[], AbstractContextManager[None]]
) -> Callable[[], AbstractContextManager[None]]:
    """``staging``, with a pause that comes when Spark's query is stopped and not yet started again."""

    @contextmanager
    def pausing() -> Iterator[None]:
        with staging():
            assert job._query is not None and not job._query.isActive and job.active
            job.pause("last")
            yield

    return pausing


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_live_job(spark: SparkSession, tmp_path: Path) -> None:
    """file   0      1      2      3
    a         |------|------|------|     from the beginning
    b                |------|            dropped again
    c                |paused|------|     paused, resumed after a restart
    f                                    reads a finite stream that is added on the way
    last                                 paused while the job restarts for the second stage of a
    """
    stream, out = tmp_path / "s", tmp_path / "out.jsonl"
    stream.mkdir()
    engine = Engine(checkpoint=tmp_path / "checkpoint", spark=spark)
    job = engine.start(out=out, live=True)
    assert isinstance(job, Job)
    job.add_stream("s", FileSource(str(stream), watch=True))
    job.register(LAST)
    staging = job.registry.staging
    job.registry.staging = paused_meanwhile(job, staging)
    assert job.register(count("a")) == "a"
    job.registry.staging = staging
    known = {each.name: each for each in job.queries()}
    info = known["a"]
    assert known["last"].paused and job.active
    assert info.staged and len(info.slots) > 1, "a second stage comes with the first query that needs it"
    texts = [send(stream, 0, 1, 12, 21)]
    wait_for(job, out, {"a": alone("a", *texts)})
    job.register_all({"b": count("b"), "c": count("c")})
    with pytest.raises(UsageError, match="unknown stream <nowhere>"):
        job.register(count("d", "nowhere"))
    texts.append(send(stream, 1, 22, 23, 35, 41))
    wait_for(job, out, {name: alone(name, *texts[name != "a" :]) for name in "abc"})
    job.drop("b")
    job.pause("c")
    other = send(tmp_path / "f", 0, 5, 6, 17)
    job.add_stream("finite", FileSource(str(tmp_path / "f")))
    job.register(count("f", "finite"))
    texts.append(send(stream, 2, 42, 53))
    wait_for(job, out, {"a": alone("a", *texts), "f": alone("f", other, end=True)})
    paused = {"a": False, "f": False, "c": True, "last": True}
    assert {query.name: query.paused for query in job.queries()} == paused
    assert not results(out, "last")
    job.stop()
    with pytest.raises(UsageError, match="the job has ended"):
        job.register(count("e"))
    with pytest.raises(CheckpointError, match=r"runs a query 'a' that is not given"):
        Engine(checkpoint=tmp_path / "checkpoint", spark=spark).start(live=True)
    job = Engine(checkpoint=tmp_path / "checkpoint", spark=spark).start(out=out, live=True, resume=True)
    assert [entry.iri for entry in job.streams()] == ["s", "finite"]
    job.resume("c")
    job.drop("f")
    job.drop_stream("finite")
    texts.append(send(stream, 3, 54, 61, 77))
    wait_for(
        job,
        out,
        {
            "a": alone("a", *texts),
            "b": alone("b", texts[1]),
            "c": alone("c", texts[1]) + alone("c", texts[3]),
            "f": alone("f", other, end=True),
        },
    )
    assert [entry.iri for entry in job.streams()] == ["s"]
    job.stop()


SPLIT = """PREFIX : <http://e/>
REGISTER RSTREAM <split> AS SELECT ?x (COUNT(*) AS ?n) (MAX(?y) AS ?last)
FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10] WHERE { WINDOW <w> { ?x :p ?y } } GROUP BY ?x"""


WINDOW = "FROM NAMED WINDOW <w> ON <s> [RANGE 20 STEP 10] WHERE { WINDOW <w> { ?x :p ?y } }"
STAGED = {
    "made": f"PREFIX : <http://e/> CONSTRUCT {{ :o :r ?y }} {WINDOW}",
    "counted": f"PREFIX : <http://e/> SELECT ?y (COUNT(*) AS ?n) {WINDOW} GROUP BY ?y ORDER BY ?y",
}


def test_more_slots_than_partitions_answer_as_one(spark: SparkSession, tmp_path: Path) -> None:
    texts = [
        "".join(
            f'{n}\t<http://e/{"abcdefgh"[n * 7 % 8]}> <http://e/{"pq"[n % 3 == 0]}> "{n}" .\n' for n in times
        )
        for times in (range(25), range(25, 60))
    ]
    (tmp_path / "s").mkdir()
    for number, text in enumerate(texts):
        (tmp_path / "s" / f"{number}.tnq").write_text(text)
    out = tmp_path / "out.jsonl"
    engine = Engine(checkpoint=tmp_path / "c", spark=spark, slots=5, partitions=2)
    engine.stream("s", FileSource(str(tmp_path / "s"), files_per_batch=1))
    engine.register(SPLIT)
    for name, text in STAGED.items():
        engine.register(text, name=name)
    metrics = engine.run(out=out)
    for name, text in {"split": SPLIT, **STAGED}.items():
        expected = [json.dumps(line) for line in Scenario({name: text}).run(texts, "s")]
        assert expected and results(out, name) == expected
    assert metrics.batches >= 2 and metrics.triples == 60
    engine.slots = 4
    with pytest.raises(CheckpointError, match="has 5 slots, and 4 are asked for"):
        engine.run(out=out)
    engine.partitions = 9
    with pytest.raises(UsageError, match="9 partitions for 4 slots"):
        engine.run(out=out)
