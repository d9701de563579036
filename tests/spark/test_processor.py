"""A group's step inside a task, its state in the variables of Spark; counters as metrics of Spark's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from pyspark import TaskContext
from pyspark.sql import Observation, SparkSession

from weir.errors import CheckpointError
from weir.rdf.formats.tnq import parse_lines
from weir.runtime.ingest.parts import LaneInput
from weir.runtime.output.metrics import SUMS
from weir.runtime.output.outputs import read_answers
from weir.spark.processor import CONTROL, GroupProcessor, observed
from weir.spark.tasks import BATCH_PROPERTY, slot_keys
from weir.testing import KEY, Scenario

QUERY = """REGISTER RSTREAM <q> AS SELECT ?s FROM NAMED WINDOW <w> ON <s> [RANGE PT1S STEP PT1S]
WHERE { WINDOW <w> { ?s <urn:p> ?o } }"""


def test_counts_are_summed_while_the_rows_pass(spark: SparkSession) -> None:
    counts = [[*range(len(SUMS)), 5], [*range(len(SUMS)), 3], None]
    rows = spark.createDataFrame([(each,) for each in counts], "counts array<bigint>")
    told = Observation("weir")
    assert observed(rows, told).count() == 3
    assert told.get == {**{name: 2 * place for place, name in enumerate(SUMS)}, "lag_ms": 5}


class Variables:
    """State variables as Spark gives them to a processor, in this process; and its clock."""

    def __init__(self) -> None:
        self.values: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def getValueState(self, name: str, *schemas: str) -> Variables:
        return Variables()

    getMapState = getValueState

    def get(self) -> tuple[Any, ...] | None:
        return self.values.get(())

    def update(self, value: tuple[Any, ...]) -> None:
        self.values[()] = value

    def getValue(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return self.values.get(key)

    def updateValue(self, key: tuple[Any, ...], value: tuple[Any, ...]) -> None:
        self.values[key] = value

    def removeKey(self, key: tuple[Any, ...]) -> None:
        del self.values[key]

    def clear(self) -> None:
        self.values.clear()

    def getCurrentProcessingTimeInMs(self) -> int:
        return 0


@pytest.fixture
def scenario() -> Iterator[Scenario]:
    """A query whose first batch is a task of this process."""
    context: Any = TaskContext._getOrCreate()
    context._localProperties = {BATCH_PROPERTY: "0"}
    yield Scenario(QUERY)
    TaskContext._setTaskContext(None)


def test_frames_become_answers_and_the_state_is_put_away(scenario: Scenario) -> None:
    checkpoint = scenario.job.checkpoint
    processor = GroupProcessor(str(checkpoint.folder), ["columns"])
    processor.init(Variables())  # type: ignore[arg-type]
    assert processor.head() is None
    line = b"1\t<urn:a> <urn:p> <urn:o> .\n"
    given = LaneInput("0", parse_lines(line, scope="s 0", key=KEY), 0, len(line), ended=True)
    ((_, frame),) = scenario.job.place.match_plan(0).frames("s", given)
    data = checkpoint.spool().put(0, frame.to_bytes())
    version = scenario.job.place.catalog(0).version
    rows = [pd.DataFrame({"frame": [data], "control": [version]})]
    key = slot_keys(checkpoint.slots)[0]
    (table,) = processor.handleInputRows((key,), rows, Variables())
    (answers,) = table[table["kind"] == "columns"]["data"]
    assert read_answers(checkpoint.spool().get(answers))["s"].to_pylist() == ["<urn:a>"]
    assert table[table["kind"] == CONTROL]["name"].tolist() == [str(version)]
    assert processor.head() is not None
    processor.put("pane", b"kept")
    assert processor.pane("pane") == b"kept"
    processor.clear()
    assert processor.head() is None
    with pytest.raises(RuntimeError, match="lacks the pane"):
        processor.pane("pane")


def test_frames_of_a_reader_that_saw_less_of_the_control_log_are_refused(scenario: Scenario) -> None:
    processor = GroupProcessor(str(scenario.job.checkpoint.folder), ["columns"])
    processor.init(Variables())  # type: ignore[arg-type]
    rows = [pd.DataFrame({"frame": [b""], "control": [scenario.job.place.catalog(0).version - 1]})]
    with pytest.raises(CheckpointError, match=r"(?s)batch 0 was read by 0 changes.*there are 1.*old log"):
        processor.advance((slot_keys(1)[0],), rows, Variables())
