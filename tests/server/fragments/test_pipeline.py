"""All the way round: a fragments feed becomes a stream, a query over it runs on Spark, and its results are
published as fragments again."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fragments_kit import EX
from fragments_peers import serving
from weir.background.fragments import record
from weir.engine import Engine
from weir.errors import UsageError
from weir.rdf.annotation import Annotation, Fact, Labeling, Method
from weir.server.fragments import Dataset, FragmentsApp, FragmentsSink, Publisher, server
from weir.server.fragments.dataset import wall_clock

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


def recorded(folder: Path) -> int:
    """Six versions of two trains' delays, 800 ms each, followed into ``.tnq`` files; when they began."""
    begin = -(-wall_clock() // STEP) * STEP
    dataset = Dataset("board", annotation=Annotation(Method.GRAPHS, Labeling.INTERVAL))
    dataset.push(
        [
            Fact(
                f"<{EX}t{n}>", f"<{EX}delay>", integer(v * (n + 1)), begin + v * STEP, begin + (v + 1) * STEP
            )
            for v in range(6)
            for n in range(2)
        ],
        begin,
    )
    with serving(lambda port: server(FragmentsApp([dataset]), port=port)) as base:
        for update in record(CONSTRUCT, f"{base}/board", folder):
            if update.at >= begin + 5 * STEP:
                break
    return begin


@pytest.mark.network
def test_a_feed_is_recorded_in_order_and_whole(tmp_path: Path) -> None:
    begin = recorded(tmp_path)
    times = [begin // 1000 + v * STEP // 1000 for v in range(1, 6)]
    files = {int(file.stem): file.read_text().splitlines() for file in sorted(tmp_path.iterdir())}
    assert [time for time in files if time in times] == times
    assert files[times[1]] == [
        f"{times[1]}\t<{EX}t{n}> <{EX}delay> {integer(2 * (n + 1))} ." for n in range(2)
    ]
    with pytest.raises(UsageError, match="only CONSTRUCT"):
        next(record("SELECT * { ?s ?p ?o }", "http://127.0.0.1:9/d", tmp_path))


@pytest.mark.network
@pytest.mark.spark
def test_from_fragments_through_spark_to_fragments(tmp_path: Path, spark: SparkSession) -> None:
    begin = recorded(tmp_path / "feed")
    engine = Engine(spark=spark)
    engine.stream("board", tmp_path / "feed")
    engine.register(QUERY)
    published = Dataset("late", annotation=Annotation(Method.GRAPHS, Labeling.INTERVAL))
    sink = FragmentsSink({"late": Publisher(published, period=STEP, prefix=EX)})
    engine.run(sinks=[sink])
    facts = [fact for segment in published.store.segments for fact in segment.facts()]
    trains = {fact.subject: fact.object for fact in facts if fact.predicate == f"<{EX}train>"}
    at = begin + 4 * STEP
    most = {
        trains[fact.subject]: fact.object
        for fact in facts
        if fact.predicate == f"<{EX}most>" and fact.start <= at < fact.end
    }
    # The window closed at the start of version 4 holds versions 2 and 3.
    assert most == {f"<{EX}t0>": integer(3), f"<{EX}t1>": integer(6)}
