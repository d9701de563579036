"""All the way round: a fragments feed is a stream, a query over it runs on Spark, its results are published
as fragments again while the job runs."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fragments_kit import EX
from fragments_peers import serving
from weir.engine import Engine
from weir.errors import UsageError
from weir.fragments.protocol.annotation import Annotation, Fact, Labeling, Method
from weir.fragments.server import Dataset, FragmentsApp, Publisher, server
from weir.linked.http import WallClock
from weir.runtime.ingest.receivers.http_receivers import FragmentsReceiver
from weir.runtime.ingest.sources import Place, source_at
from weir.runtime.ingest.sources.push_sources import FragmentsSource
from weir.runtime.output.sinks.base import FragmentsSink

QUERY = f"""
PREFIX : <{EX}>
REGISTER RSTREAM <late> AS
SELECT ?train (MAX(?delay) AS ?most)
FROM NAMED WINDOW <w> ON <board> [RANGE 1600ms STEP 800ms]
WHERE {{ WINDOW <w> {{ ?train :delay ?delay }} }}
GROUP BY ?train
"""
STEP = 800_000
CONSTRUCT = f"CONSTRUCT {{ ?t <{EX}delay> ?d }} {{ ?t <{EX}delay> ?d }}"


def integer(value: int) -> str:
    return f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def board(begin: int, versions: int) -> Dataset:
    """Versions of two trains' delays, each valid for a step."""
    dataset = Dataset("board", annotation=Annotation(Method.GRAPHS, Labeling.INTERVAL))
    facts = [
        Fact(f"<{EX}t{n}>", f"<{EX}delay>", integer(v * (n + 1)), begin + v * STEP, begin + (v + 1) * STEP)
        for v in range(versions)
        for n in range(2)
    ]
    dataset.push(facts, begin)
    return dataset


def coming() -> int:
    return -(-WallClock.now() // STEP) * STEP


@pytest.mark.network
def test_each_evaluation_is_a_message_in_the_log(tmp_path: Path) -> None:
    begin = coming()
    with serving(lambda port: server(FragmentsApp([board(begin, 4)]), port=port)) as base:
        source = source_at(f"fragments+{base}/board#weir:query={CONSTRUCT.replace(' ', '+')}")
        assert isinstance(source, FragmentsSource)
        with source.writer(Place("board", tmp_path, "board")) as writer:
            receiver = FragmentsReceiver(source, writer)
            receiver.start()
            while WallClock.now() < begin + 3 * STEP + STEP // 2:
                time.sleep(0.05)
            receiver.stop()
            assert not receiver.state.connected
        lines = logged(tmp_path)
    for version in range(1, 4):
        at = (begin + version * STEP) // 1000
        assert [line for line in lines if line.startswith(f"{at}\t<")] == [
            f"{at}\t<{EX}t{n}> <{EX}delay> {integer(version * (n + 1))} ." for n in range(2)
        ]


def logged(folder: Path) -> list[str]:
    return [
        line
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for line in path.read_bytes().decode(errors="replace").splitlines()
    ]


def test_only_construct_makes_a_stream() -> None:
    with pytest.raises(UsageError, match="only CONSTRUCT"):
        source_at("fragments+http://127.0.0.1:9/d#weir:query=SELECT+*+{?s+?p+?o}")


@pytest.mark.network
@pytest.mark.spark
def test_from_fragments_through_spark_to_fragments(spark: SparkSession) -> None:
    begin = coming() + 4 * STEP
    published = Dataset("late", annotation=Annotation(Method.GRAPHS, Labeling.INTERVAL))
    sink = FragmentsSink({"late": Publisher(published, period=STEP, prefix=EX)})
    with serving(lambda port: server(FragmentsApp([board(begin, 400)]), port=port)) as base:
        engine = Engine(spark=spark)
        engine.stream("board", FragmentsSource(url=f"{base}/board", query=CONSTRUCT))
        engine.register(QUERY)
        job = engine.start(sinks=[sink])
        try:
            until = time.monotonic() + 90
            while len(found := reported(published)) < 3 and time.monotonic() < until:
                time.sleep(0.1)
        finally:
            job.stop()
    assert len(found) >= 3
    # A window that closed at the start of version v holds versions v - 2 and v - 1; the first may lack one.
    for at, most in sorted(found.items())[1:]:
        version = (at - begin) // STEP
        assert most == {f"<{EX}t0>": integer(version - 1), f"<{EX}t1>": integer(2 * (version - 1))}


def reported(published: Dataset) -> dict[int, dict[str, str]]:
    """The greatest delay of each train, by the time of the evaluation."""
    facts = [fact for segment in published.store.segments for fact in segment.facts()]
    trains = {fact.subject: fact.object for fact in facts if fact.predicate == f"<{EX}train>"}
    found: dict[int, dict[str, str]] = {}
    for fact in facts:
        if fact.predicate == f"<{EX}most>":
            found.setdefault(fact.start, {})[trains[fact.subject]] = fact.object
    return found
